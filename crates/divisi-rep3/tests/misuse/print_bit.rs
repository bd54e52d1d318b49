//! [E0277] A shared bit does not print.
use divisi_rep3::Bit;

fn print(x: &Bit) {
    println!("{x:?}");
}

fn main() {}
