//! [E0616] Only the engine can read a unit vector.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn look(units: &Units<Gf48>) -> usize {
    units.lanes
}

fn main() {}
