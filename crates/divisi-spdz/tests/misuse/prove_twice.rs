//! [E0382] An output is proven to a client under one challenge: the secret matrix of a proof is used once.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{ForClient, Spdz};

fn twice(e: &mut Spdz<Gf48>, of: ForClient<Gf48>) -> Result<(), Abort> {
    e.prove(of, &[1; 16])?;
    e.prove(of, &[2; 16]).map(drop)
}

fn main() {}
