//! [E0382] A mask hides one value.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Mask, Shared};

fn twice(b: &mut BlackBox, x: &Shared<Gf8>, y: &Shared<Gf8>, r: Mask<Gf8>) -> Result<(), Abort> {
    b.reconst_masked(x, r)?;
    b.reconst_masked(y, r).map(drop)
}

fn main() {}
