//! [private fields] Nobody but a source makes a unit vector.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn chosen() -> Units<Gf48> {
    Units {}
}

fn main() {}
