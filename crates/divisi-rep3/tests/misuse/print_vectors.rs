//! [E0277] A one-hot vector does not print.
use divisi_rep3::OneHots;

fn print(vectors: &OneHots) {
    println!("{vectors:?}");
}

fn main() {}
