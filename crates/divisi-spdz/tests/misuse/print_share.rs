//! [E0277] A share cannot be printed.
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn print(x: &AuthByte<Gf48>) {
    println!("{x:?}");
}

fn main() {}
