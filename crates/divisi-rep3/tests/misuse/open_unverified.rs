//! [E0308] A value that is not verified cannot be opened.
use divisi_rep3::{Byte, Trio};

fn leak(trio: &mut Trio, x: Vec<Byte>) {
    let _ = trio.open(&x);
}

fn main() {}
