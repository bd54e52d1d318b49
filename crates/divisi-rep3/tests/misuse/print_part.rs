//! [E0277] A dealer's part does not print.
use divisi_rep3::deal::Part;

fn print(x: &Part) {
    println!("{x:?}");
}

fn main() {}
