//! [E0369] Shared bits are not compared.
use divisi_rep3::Bit;

fn same(x: &Bit, y: &Bit) -> bool {
    x == y
}

fn main() {}
