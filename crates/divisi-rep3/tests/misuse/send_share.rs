//! [E0308] A share is no bytes to be sent.
use divisi_core::{Abort, PartyId, Session, step};
use divisi_rep3::Byte;

fn send(s: &mut Session, to: PartyId, x: &Byte) -> Result<(), Abort> {
    s.send(step!("mine"), to, x, 8)
}

fn main() {}
