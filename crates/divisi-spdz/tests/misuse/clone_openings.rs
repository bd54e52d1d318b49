//! [E0308] Nor by itself.
use divisi_field::Gf48;
use divisi_spdz::Openings;

fn twice(x: &Openings<Gf48>) -> Openings<Gf48> {
    x.clone()
}

fn main() {}
