//! [private] A coin demands the proof that views were compared.
use divisi_core::Abort;
use divisi_rep3::{Coin, Trio};

fn toss(trio: &mut Trio) -> Result<Coin, Abort> {
    trio.coin(&divisi_rep3::Fixed(()))
}

fn main() {}
