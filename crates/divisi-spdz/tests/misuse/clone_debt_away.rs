//! [E0308] A pending value cannot be cloned: its debt would be settled for one copy only.
use divisi_core::Pending;
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings};

fn twice(x: &Pending<AuthByte<Gf48>, Openings<Gf48>>) -> Pending<AuthByte<Gf48>, Openings<Gf48>> {
    x.clone()
}

fn main() {}
