//! [E0369] What reconst gives cannot be compared: no branch depends on it.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Unverified;

fn leak(c: &Unverified<Gf8>, d: &Unverified<Gf8>) -> bool {
    *c == *d
}

fn main() {}
