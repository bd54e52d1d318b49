//! [E0308] An additive share is opened only after a reshare.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{Additive, BlackBox};

fn leak(b: &mut BlackBox, x: &Additive<Gf8>) -> Result<(), Abort> {
    b.reconst(x).map(drop)
}

fn main() {}
