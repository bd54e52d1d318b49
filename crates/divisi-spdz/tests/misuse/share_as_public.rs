//! [E0308] A share is no public value.
use divisi_core::{Abort, Bytes};
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Spdz};

fn add(e: &mut Spdz<Gf48>, x: &mut AuthByte<Gf48>, y: &AuthByte<Gf48>) -> Result<(), Abort> {
    e.add_public(x, y)
}

fn main() {}
