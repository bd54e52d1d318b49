//! [E0308] A byte in the clear is no shared byte.
use divisi_core::{Abort, Bytes, Plain};
use divisi_field::Gf48;
use divisi_spdz::Spdz;

fn mix(e: &mut Spdz<Gf48>) -> Result<(), Abort> {
    let y = Plain.public(&[1]);
    let mut x = e.public(&[2]);
    e.add(&mut x, &y)
}

fn main() {}
