//! The two worlds of a circuit to which one party gives a value that only it learns the results of.

use super::program;
use crate::common::quick;
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::{Abort, Session};
use divisi_rep3::adversary::harness::party;
use divisi_rep3::{Rounds, Trio};
use divisi_symphony::circuit::OwnedCircuit;

fn play(session: Session, run: WorldRun, owner: u8, rounds: Rounds) -> Result<Vec<u8>, Abort> {
    let mut rep = quick(Trio::new(session)?);
    rep.use_rounds(rounds);
    let (me, program, owner) = (rep.trio().me(), program(), party(owner));
    let receivers = vec![vec![owner]; program.outputs().len()];
    let circuit = OwnedCircuit::with_receivers(&program, &[7; 32], &[owner; 3], &receivers)?;
    let mut all = Vec::new();
    // in one world both calls have the same secret, in the other one they have two
    for call in [0, 1] {
        let secret: Vec<u8> = (0..33).map(|i| [i % 3 % 2, (i + call) % 5 % 2][run.world]).collect();
        let mine: &[u8] = if me == owner { &secret } else { &[] };
        let learned = circuit.evaluate(&mut rep, mine)?;
        if me != owner {
            all.extend_from_slice(&learned);
        }
    }
    Ok(all)
}

#[test]
fn no_party_can_tell_two_worlds_apart() {
    let mut shapes = Vec::new();
    for corrupt in 1..=3 {
        let owner = 1 + corrupt % 3;
        for rounds in [Rounds::OfLevels, Rounds::Constant] {
            let name = format!("{rounds:?}, party {corrupt} corrupt");
            shapes.push(WorldShape::new(name, 3, &[corrupt], move |session, run| {
                play(session, run, owner, rounds)
            }));
        }
    }
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}
