//! [E0624] The share of alpha cannot be read from outside of this crate.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::Party;

fn look(p: &Party<Gf48>) -> Result<Gf48, Abort> {
    p.alpha()
}

fn main() {}
