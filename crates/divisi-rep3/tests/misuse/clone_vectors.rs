//! [E0308] One-hot vectors are not cloned.
use divisi_rep3::OneHots;

fn twice(vectors: &OneHots) -> OneHots {
    vectors.clone()
}

fn main() {}
