//! [E0308] A share that nobody verified cannot be opened.
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Spdz};

fn leak(e: &mut Spdz<Gf48>, x: AuthByte<Gf48>) {
    let _ = e.output(x);
}

fn main() {}
