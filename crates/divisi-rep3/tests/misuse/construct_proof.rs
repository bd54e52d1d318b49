//! [E0451] Only verify_mul proves products.
use divisi_rep3::blackbox::VerifiedMul;

fn forge() -> VerifiedMul {
    VerifiedMul { origin: unreachable!(), owed: u64::MAX }
}

fn main() {}
