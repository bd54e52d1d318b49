//! [E0616] What is in a one-hot vector is the engine's.
use divisi_rep3::OneHots;

fn look(vectors: OneHots) {
    let _ = vectors.made;
}

fn main() {}
