//! [E0308] A value that still owes a check cannot be opened to one party.
use divisi_core::{PartyId, Pending};
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings, Spdz};

fn leak(e: &mut Spdz<Gf48>, to: PartyId, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) {
    let _ = e.output_to(to, x);
}

fn main() {}
