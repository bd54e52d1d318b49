//! [E0423] Nobody but a verification says that a value is verified.
use divisi_core::Verified;
use divisi_rep3::Byte;

fn declare(x: Vec<Byte>) -> Verified<Vec<Byte>> {
    Verified(x)
}

fn main() {}
