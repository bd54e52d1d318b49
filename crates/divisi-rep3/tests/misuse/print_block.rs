//! [E0277] Nor does a shared block.
use divisi_field::Gf128;
use divisi_rep3::Rep;

fn print(x: &Rep<Gf128>) {
    println!("{x:?}");
}

fn main() {}
