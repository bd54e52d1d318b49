//! [E0616] Only the engine can read a share.
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn look(x: &AuthByte<Gf48>) -> usize {
    x.m.len()
}

fn main() {}
