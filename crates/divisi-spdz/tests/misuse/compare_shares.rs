//! [E0369] Shares cannot be compared: control flow would depend on them.
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn same(x: &AuthByte<Gf48>, y: &AuthByte<Gf48>) -> bool {
    x == y
}

fn main() {}
