//! [E0308] What is still owed a verification cannot be opened.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products, Trio};

fn leak(trio: &mut Trio, x: Pending<Vec<Byte>, Products>) {
    let _ = trio.open(&x);
}

fn main() {}
