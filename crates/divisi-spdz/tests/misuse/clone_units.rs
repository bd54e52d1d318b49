//! [E0308] The units of tables are not cloned: a table serves one lookup.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn twice(units: &Units<Gf48>) -> Units<Gf48> {
    units.clone()
}

fn main() {}
