//! [E0308] One-hot vectors whose products are still owed serve no layer.
use divisi_core::{Abort, Direction, Pending};
use divisi_rep3::{Byte, OneHots, Products, Rep3};

fn early(e: &mut Rep3, x: &mut Byte, vectors: Pending<OneHots, Products>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

fn main() {}
