//! [E0308] A value that still owes a check cannot be shown to a client.
use divisi_core::Pending;
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings, Spdz};

fn leak(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) {
    let _ = e.show(x);
}

fn main() {}
