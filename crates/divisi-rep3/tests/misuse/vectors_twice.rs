//! [E0382] One-hot vectors serve one layer: two openings under one would show their difference.
use divisi_core::{Abort, Direction, Verified};
use divisi_rep3::{Byte, OneHots, Rep3};

fn twice(e: &mut Rep3, x: &mut Byte, y: &mut Byte, vectors: Verified<OneHots>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)?;
    e.sbox_with(Direction::Encrypt, &mut [y], vectors)
}

fn main() {}
