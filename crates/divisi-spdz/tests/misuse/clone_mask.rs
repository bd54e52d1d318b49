//! [E0308] A mask cannot be cloned.
use divisi_field::Gf48;
use divisi_spdz::InputMask;

fn twice(mask: &InputMask<Gf48>) -> InputMask<Gf48> {
    mask.clone()
}

fn main() {}
