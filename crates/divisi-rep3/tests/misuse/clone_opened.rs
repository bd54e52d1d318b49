//! [E0277] A copy of an opening would outlive its proof.
use divisi_field::Gf8;
use divisi_rep3::blackbox::Unverified;

fn copy(c: &Unverified<Gf8>) -> Unverified<Gf8> {
    Unverified::clone(c)
}

fn main() {}
