//! [E0616] What is in a unit vector is the engine's.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn look(units: &Units<Gf48>) -> usize {
    units.lanes
}

fn main() {}
