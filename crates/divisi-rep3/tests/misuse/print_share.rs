//! [E0277] A share does not print.
use divisi_rep3::Byte;

fn print(x: &Byte) {
    println!("{x:?}");
}

fn main() {}
