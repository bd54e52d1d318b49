//! [E0308] What is not verified is not worth storing.
use divisi_rep3::{Byte, Trio};

fn store(trio: &mut Trio, x: Byte) {
    let _ = trio.part(&x);
}

fn main() {}
