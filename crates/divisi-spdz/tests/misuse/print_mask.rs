//! [E0277] A mask cannot be printed.
use divisi_field::Gf48;
use divisi_spdz::InputMask;

fn print(x: &InputMask<Gf48>) {
    println!("{x:?}");
}

fn main() {}
