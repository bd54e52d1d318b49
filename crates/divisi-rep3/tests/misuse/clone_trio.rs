//! [E0308] A strand is not cloned: its streams would be read twice.
use divisi_rep3::Trio;

fn twice(trio: &Trio) -> Trio {
    trio.clone()
}

fn main() {}
