//! [E0308] Unit vectors cannot be cloned: a table made of one serves one lookup.
use divisi_field::Gf48;
use divisi_spdz::Units;

fn twice(units: &Units<Gf48>) -> Units<Gf48> {
    units.clone()
}

fn main() {}
