//! [E0382] A pending value is settled once.
use divisi_core::{Abort, Pending, settle};
use divisi_rep3::{Byte, Products, Rep3};

fn twice(e: &mut Rep3, x: Pending<Byte, Products>) -> Result<(), Abort> {
    settle(e, x)?;
    settle(e, x)?;
    Ok(())
}

fn main() {}
