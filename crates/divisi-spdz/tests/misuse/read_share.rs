//! [E0616] What is in a share is the engine's.
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn look(x: &AuthByte<Gf48>) -> usize {
    x.m.len()
}

fn main() {}
