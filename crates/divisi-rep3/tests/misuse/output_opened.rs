//! [E0308] What reconst gives is no output.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Unverified};

fn leak(b: &mut BlackBox, c: &Unverified<Gf8>) -> Result<Vec<Gf8>, Abort> {
    b.output(c)
}

fn main() {}
