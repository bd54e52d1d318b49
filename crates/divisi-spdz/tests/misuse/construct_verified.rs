//! [E0423] Only a check can say that a value is verified.
use divisi_core::Verified;
use divisi_field::Gf48;
use divisi_spdz::AuthByte;

fn declare(x: AuthByte<Gf48>) -> Verified<AuthByte<Gf48>> {
    Verified(x)
}

fn main() {}
