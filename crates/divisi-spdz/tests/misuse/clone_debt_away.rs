//! [E0308] A debt is not cloned: one copy settled would leave the other.
use divisi_core::Pending;
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings};

fn twice(x: &Pending<AuthByte<Gf48>, Openings<Gf48>>) -> Pending<AuthByte<Gf48>, Openings<Gf48>> {
    x.clone()
}

fn main() {}
