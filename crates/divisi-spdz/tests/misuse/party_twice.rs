//! [E0382] A session has one engine and one check at a time.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{Party, Source, Spdz, SpdzProtocol};

fn twice(p: Party<Gf48>, s: Box<dyn Source<Gf48>>, t: Box<dyn Source<Gf48>>) -> Result<(), Abort> {
    Spdz::new(p, s, SpdzProtocol::Lookup)?;
    Spdz::new(p, t, SpdzProtocol::Lookup).map(drop)
}

fn main() {}
