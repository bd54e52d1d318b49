//! [E0308] A party is not cloned: alpha has one place.
use divisi_field::Gf48;
use divisi_spdz::Party;

fn twice(p: &Party<Gf48>) -> Party<Gf48> {
    p.clone()
}

fn main() {}
