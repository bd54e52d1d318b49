//! [E0277] The result of `reconst` cannot be printed.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Unverified;

fn leak(c: &Unverified<Gf8>) {
    println!("{c:?}");
}

fn main() {}
