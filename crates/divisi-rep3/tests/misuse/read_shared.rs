//! [E0616] A share cannot be read.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Shared;

fn leak(x: &Shared<Gf8>) {
    let _ = &x.rep;
}

fn main() {}
