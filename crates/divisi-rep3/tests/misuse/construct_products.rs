//! [private fields] Nobody but the engine says what is owed: an empty debt cannot be made.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products};

fn free(x: Vec<Byte>) -> Pending<Vec<Byte>, Products> {
    Pending::owing(x, Products { linear: true })
}

fn main() {}
