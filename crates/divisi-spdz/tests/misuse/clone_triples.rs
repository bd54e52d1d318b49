//! [E0308] Products cannot be cloned: each is used once.
use divisi_field::{Gf8, Gf48};
use divisi_spdz::Triples;

fn twice(triples: &Triples<Gf8, Gf48>) -> Triples<Gf8, Gf48> {
    triples.clone()
}

fn main() {}
