//! [E0308] A share is no wire of TinyTable.
use divisi_core::{Abort, Bytes};
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Tiny, TinyByte};

fn mix(e: &mut Tiny<Gf48>, x: &mut TinyByte<Gf48>, y: &AuthByte<Gf48>) -> Result<(), Abort> {
    e.add(x, y)
}

fn main() {}
