//! The two worlds of what one party gives to a garbled circuit and alone learns the results of; the other is
//! curious.

use super::program;
use crate::circuits::{agreed, hops};
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::testing::party;
use divisi_core::{Abort, Session};
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::{Base, SetupConfig};

fn play(session: Session, run: WorldRun, way: LookupMethod) -> Result<Vec<u8>, Abort> {
    let config = SetupConfig { base: Base::Half, ..SetupConfig::default() };
    let mut garbler = Garbler::new(Gmw::new(session, config)?, way)?;
    let (me, owner) = (garbler.gmw().session().me(), party(1));
    let garbled = garbler.garble(&Wiring::new(&program()), 1)?;
    let secret = [[1, 0, 1], [1, 1, 0]][run.world];
    let mut inputs = Vec::new();
    for bit in secret {
        let value = GmwBit::of([bit].into_iter());
        inputs.push(garbler.gmw().input(owner, 1, Some(&value).filter(|_| me == owner))?);
    }
    let outputs = garbler.evaluate(garbled, &inputs)?;
    garbler.gmw().output(&[owner], &outputs)?;
    Ok(Vec::new())
}

fn demand(name: &str, way: LookupMethod) {
    let agreed = agreed(&way);
    let shape = WorldShape::new(name, 2, &[2], move |session, run| play(session, run, way.clone()));
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes: vec![shape.agreeing(agreed)] };
    assert_eq!(net.judge(), [] as [String; 0]);
}

#[test]
fn the_other_cannot_tell_two_worlds_apart() {
    demand("transfers", LookupMethod::Transfers);
}

#[test]
#[ignore = "keys looked up by ciphertexts"]
fn the_other_cannot_tell_two_worlds_of_hops_apart() {
    demand("hops", hops(2));
}
