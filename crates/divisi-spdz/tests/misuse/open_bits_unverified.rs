//! [E0308] Bits that nobody verified cannot be opened to one party.
use divisi_core::PartyId;
use divisi_field::Gf48;
use divisi_spdz::{AuthBit, Spdz};

fn leak(e: &mut Spdz<Gf48>, to: PartyId, x: AuthBit<Gf48>) {
    let _ = e.output_bits_to(to, x);
}

fn main() {}
