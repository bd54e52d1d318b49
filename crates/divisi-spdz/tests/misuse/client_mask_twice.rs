//! [E0382] A client's mask hides one input.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{ClientMask, Spdz};

fn twice(e: &mut Spdz<Gf48>, mask: ClientMask<Gf48>) -> Result<(), Abort> {
    e.client_input(mask, &[1])?;
    e.client_input(mask, &[2]).map(drop)
}

fn main() {}
