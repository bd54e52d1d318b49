//! [E0308] A share cannot be sent like bytes.
use divisi_core::{Abort, PartyId, Session, step};
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn send(s: &mut Session, to: PartyId, x: &AuthByte<Gf48>) -> Result<(), Abort> {
    s.send(step!("mine"), to, x, 8)
}

fn main() {}
