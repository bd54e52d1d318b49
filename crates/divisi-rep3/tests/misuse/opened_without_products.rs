//! [E0308] An opening counts when products are verified too.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Unverified, VerifiedRecon};

fn leak(b: &mut BlackBox, c: Unverified<Gf8>, recon: &VerifiedRecon) -> Result<Vec<Gf8>, Abort> {
    b.opened(c, recon, recon)
}

fn main() {}
