//! [E0382] A pending value is settled once.
use divisi_core::{Abort, Pending, settle};
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, Openings, Spdz};

fn twice(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) -> Result<(), Abort> {
    settle(e, x)?;
    settle(e, x)?;
    Ok(())
}

fn main() {}
