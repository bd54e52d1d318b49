//! [E0308] What reconst gives is no public value.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Shared, Unverified};

fn leak(b: &mut BlackBox, x: &Shared<Gf8>, c: &Unverified<Gf8>) -> Result<Shared<Gf8>, Abort> {
    b.add_public(x, c)
}

fn main() {}
