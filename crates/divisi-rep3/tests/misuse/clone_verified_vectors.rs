//! [E0308] Nor are they when they are verified.
use divisi_core::Verified;
use divisi_rep3::OneHots;

fn twice(vectors: &Verified<OneHots>) -> Verified<OneHots> {
    vectors.clone()
}

fn main() {}
