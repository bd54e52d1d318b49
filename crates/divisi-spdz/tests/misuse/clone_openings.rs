//! [E0308] A debt that belongs to no value cannot be cloned either.
use divisi_field::Gf48;
use divisi_spdz::Openings;

fn twice(x: &Openings<Gf48>) -> Openings<Gf48> {
    x.clone()
}

fn main() {}
