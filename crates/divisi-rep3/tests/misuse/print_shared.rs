//! [E0277] A share cannot be printed.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Shared;

fn leak(x: &Shared<Gf8>) {
    println!("{x:?}");
}

fn main() {}
