//! [E0382] What proves an output to a client is told under one challenge: two would tell its MAC.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{ForClient, Spdz};

fn twice(e: &mut Spdz<Gf48>, of: ForClient<Gf48>) -> Result<(), Abort> {
    e.prove(of, &[1; 16])?;
    e.prove(of, &[2; 16]).map(drop)
}

fn main() {}
