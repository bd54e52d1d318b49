//! The two worlds of what one party gives and alone learns the results of; all others are curious together.

use super::{How, WHOLE, small};
use crate::common::{agreed, plain, product};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::testing::party;
use divisi_core::{Abort, Boolean, ProgramRun, Session};
use divisi_mixed::{Gmw, GmwBit, Mixed, num};
use divisi_ot::{Base, SetupConfig};
use std::sync::Arc;

/// In two calls, a circuit, conversions both ways, a lookup, products, and outputs to the first party.
fn play(
    session: Session,
    run: WorldRun,
    bits: Option<&Arc<Ring>>,
    numbers: Option<&Arc<Ring>>,
) -> Result<Vec<u8>, Abort> {
    let (plain, owner) = (plain(), party(1));
    let gmw = Gmw::new(session, SetupConfig { base: Base::Half, ..SetupConfig::default() })?;
    let mut mixed = Mixed::new(gmw, plain, bits, numbers)?;
    let me = mixed.session().me();
    // the worlds differ in the sums of neighbouring lanes, and of lanes of the two calls
    for (call, lanes) in [3, 1].into_iter().enumerate() {
        let secret = GmwBit::of((0..lanes).map(|i| [0, (i * (i + 1) / 2 + call) % 2][run.world] as u64));
        let bit = mixed.gmw().input(owner, lanes, Some(&secret).filter(|_| me == owner))?;
        let program = product();
        let mut jobs = [ProgramRun::new(&program, vec![bit.clone(), bit.clone()])];
        mixed.gmw().run(&mut jobs)?;
        let number = mixed.b2a(&[bit.clone(), jobs[0].wires[0].clone()])?;
        let signs = mixed.prep_lut(1, lanes)?;
        let looked = mixed.lookup(&[&[3, 4]], std::slice::from_ref(&bit), signs)?;
        num::open_to(mixed.session(), plain, &[owner], &looked[0])?;
        mixed.gmw().output(&[owner], &jobs[0].wires)?;
        // products of numbers, and their bits, need ciphertexts
        if numbers.is_some() {
            let product = mixed.multiply(&number, &looked[0])?;
            num::open_to(mixed.session(), plain, &[owner], &product)?;
            let bits = mixed.a2b(&product)?;
            mixed.gmw().output(&[owner], &bits)?;
        }
    }
    Ok(Vec::new())
}

fn demand(shapes: Vec<WorldShape>) {
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}

#[test]
fn the_other_cannot_tell_two_worlds_apart() {
    let play = |session, run| play(session, run, None, None);
    demand(vec![WorldShape::new("transfers", 2, &[2], play).agreeing(agreed())]);
}

#[test]
#[ignore = "three parties, with ciphertexts"]
fn the_others_cannot_tell_two_worlds_apart() {
    let ways: [(&str, How); 3] = [
        ("transfers", None),
        ("lean tree", Some((Form::LeanTree, WHOLE))),
        ("refreshed ring", Some((Form::LeanRing, 1))),
    ];
    let numbers = small(Operation::Triples, 3, (Form::LeanTree, WHOLE));
    let shapes = ways.into_iter().map(|(name, how)| {
        let (bits, numbers) = (how.map(|how| small(Operation::Bits, 3, how)), numbers.clone());
        let rings = bits.iter().chain([&numbers]);
        let agreed = rings.fold(agreed(), |all, ring| ring.parameters().describe(all));
        WorldShape::new(name, super::PARTIES, &[2, 3], move |session, run| {
            play(session, run, bits.as_ref(), Some(&numbers))
        })
        .agreeing(agreed)
    });
    demand(shapes.collect());
}
