//! [E0616] What reconst gives cannot be read.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Unverified;

fn leak(c: Unverified<Gf8>) -> Vec<Gf8> {
    c.value
}

fn main() {}
