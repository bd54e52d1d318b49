//! [E0308] A share is no public value.
use divisi_core::{Abort, Bytes};
use divisi_rep3::{Byte, Rep3};

fn add(e: &mut Rep3, x: &mut Byte, y: &Byte) -> Result<(), Abort> {
    e.add_public(x, y)
}

fn main() {}
