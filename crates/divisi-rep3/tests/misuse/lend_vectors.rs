//! [E0308] One-hot vectors are not lent to a layer.
use divisi_core::{Abort, Direction, Verified};
use divisi_rep3::{Byte, OneHots, Rep3};

fn lend(e: &mut Rep3, x: &mut Byte, vectors: &Verified<OneHots>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

fn main() {}
