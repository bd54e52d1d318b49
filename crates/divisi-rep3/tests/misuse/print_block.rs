//! [E0277] Nor does a shared block.
use divisi_rep3::Block;

fn print(x: &Block) {
    println!("{x:?}");
}

fn main() {}
