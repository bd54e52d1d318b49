//! [E0277] Nor does a dealer's part.
use divisi_rep3::deal::Part;

fn print(x: &Part) {
    println!("{x:?}");
}

fn main() {}
