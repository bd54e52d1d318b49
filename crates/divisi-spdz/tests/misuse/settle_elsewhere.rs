//! [E0271] What an engine over one field owes, one over another does not pay.
use divisi_core::{Abort, Pending, settle};
use divisi_field::{Gf40, Gf48};
use divisi_spdz::{AuthByte, Openings, Spdz};

fn elsewhere(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf40>, Openings<Gf40>>) -> Result<(), Abort> {
    settle(e, x).map(drop)
}

fn main() {}
