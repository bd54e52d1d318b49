//! [E0382] A mask hides one value: two openings under one would show their difference.
use divisi_core::Abort;
use divisi_rep3::{Byte, ByteMask, Rep3};

fn twice(e: &mut Rep3, x: &Byte, y: &Byte, r: ByteMask) -> Result<(), Abort> {
    e.open_masked(x, r)?;
    e.open_masked(y, r)?;
    Ok(())
}

fn main() {}
