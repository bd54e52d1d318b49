//! [E0308] A party cannot be cloned: alpha lies in one place of memory.
use divisi_field::Gf48;
use divisi_spdz::Party;

fn twice(p: &Party<Gf48>) -> Party<Gf48> {
    p.clone()
}

fn main() {}
