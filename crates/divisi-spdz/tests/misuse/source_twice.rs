//! [E0382] A source belongs to one engine: two engines would use the same values.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{Party, Source, Spdz, SpdzProtocol};

fn twice(p: Party<Gf48>, q: Party<Gf48>, s: Box<dyn Source<Gf48>>) -> Result<(), Abort> {
    Spdz::new(p, s, SpdzProtocol::Lookup)?;
    Spdz::new(q, s, SpdzProtocol::Lookup).map(drop)
}

fn main() {}
