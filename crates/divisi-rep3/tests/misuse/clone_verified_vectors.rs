//! [E0308] Verified one-hot vectors are not cloned either.
use divisi_core::Verified;
use divisi_rep3::OneHots;

fn twice(vectors: &Verified<OneHots>) -> Verified<OneHots> {
    vectors.clone()
}

fn main() {}
