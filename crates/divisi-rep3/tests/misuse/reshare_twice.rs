//! [E0382] An additive share is reshared once.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{Additive, BlackBox};

fn twice(b: &mut BlackBox, x: Additive<Gf8>) -> Result<(), Abort> {
    b.reshare(x)?;
    b.reshare(x).map(drop)
}

fn main() {}
