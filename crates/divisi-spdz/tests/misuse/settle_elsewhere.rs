//! [E0271] An engine over one field cannot pay what a value of an engine over another field owes.
use divisi_core::{Abort, Pending, settle};
use divisi_field::{Gf40, Gf48};
use divisi_spdz::{AuthByte, Openings, Spdz};

fn elsewhere(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf40>, Openings<Gf40>>) -> Result<(), Abort> {
    settle(e, x).map(drop)
}

fn main() {}
