//! [E0382] A one-hot vector serves one lookup.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Shared};
use divisi_rep3::ohverture::{OneHotsAdd, LookupTable};

fn twice(b: &mut BlackBox, t: &LookupTable<Gf8>, x: &Shared<Gf8>, e: OneHotsAdd) -> Result<(), Abort> {
    b.lookup_sqrt(t, x, e)?;
    b.sample_additive(t, e).map(drop)
}

fn main() {}
