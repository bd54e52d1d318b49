//! [E0624] Nobody but the check has the share of alpha.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::Party;

fn look(p: &Party<Gf48>) -> Result<Gf48, Abort> {
    p.alpha()
}

fn main() {}
