//! [E0382] One-hot vectors of three factors serve one lookup.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Shared};
use divisi_rep3::ohverture::{Cube, OneHotsCube};

fn twice(b: &mut BlackBox, t: &Cube<Gf8>, x: &Shared<Gf8>, e: OneHotsCube) -> Result<(), Abort> {
    b.lookup_cube(t, &[(x, 8)], e)?;
    b.sample_cube(t, e).map(drop)
}

fn main() {}
