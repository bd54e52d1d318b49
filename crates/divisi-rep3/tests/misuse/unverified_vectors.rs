//! [E0308] One-hot vectors that are not verified serve no layer.
use divisi_core::{Abort, Direction};
use divisi_rep3::{Byte, OneHots, Rep3};

fn early(e: &mut Rep3, x: &mut Byte, vectors: OneHots) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

fn main() {}
