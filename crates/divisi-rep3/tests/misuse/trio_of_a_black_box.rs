//! [E0599] A black box keeps its strand: proofs of another one would do for its own coins.
use divisi_rep3::Trio;
use divisi_rep3::blackbox::BlackBox;

fn swap(b: &mut BlackBox, other: &mut Trio) {
    std::mem::swap(b.trio(), other);
}

fn main() {}
