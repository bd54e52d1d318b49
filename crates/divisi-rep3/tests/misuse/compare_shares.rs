//! [E0369] Shares are not compared: control flow would depend on them.
use divisi_rep3::Byte;

fn same(x: &Byte, y: &Byte) -> bool {
    x == y
}

fn main() {}
