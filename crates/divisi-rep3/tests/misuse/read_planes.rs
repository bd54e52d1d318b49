//! [E0616] The components of a share are the engine's.
use divisi_rep3::Byte;

fn planes(x: &Byte) -> usize {
    x.tiles.len()
}

fn main() {}
