//! [private fields] Only a source can make unit vectors.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn chosen() -> Units<Gf48> {
    Units {}
}

fn main() {}
