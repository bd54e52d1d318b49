//! [E0277] A shared block does not print.
use divisi_rep3::Block;

fn print(x: &Block) {
    println!("{x:?}");
}

fn main() {}
