//! [E0277] Nor does a mask.
use divisi_field::Gf48;
use divisi_spdz::InputMask;

fn print(x: &InputMask<Gf48>) {
    println!("{x:?}");
}

fn main() {}
