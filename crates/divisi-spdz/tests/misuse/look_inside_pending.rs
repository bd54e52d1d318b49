//! [E0616] A value that owes a check cannot be taken out without the check.
use divisi_core::Pending;
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings};

fn look(x: Pending<AuthByte<Gf48>, Openings<Gf48>>) -> AuthByte<Gf48> {
    x.value
}

fn main() {}
