//! [E0308] A debt is not cloned: one copy settled would leave the other.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products};

fn twice(x: &Pending<Byte, Products>) -> Pending<Byte, Products> {
    x.clone()
}

fn main() {}
