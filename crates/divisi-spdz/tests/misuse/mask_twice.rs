//! [E0382] A mask hides one input: two inputs under one mask would reveal their difference.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{InputMask, Spdz};

fn twice(e: &mut Spdz<Gf48>, mask: InputMask<Gf48>) -> Result<(), Abort> {
    e.masked_input(mask, Some(&[1]))?;
    e.masked_input(mask, Some(&[2])).map(drop)
}

fn main() {}
