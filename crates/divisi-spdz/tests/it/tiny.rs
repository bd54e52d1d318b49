//! TinyTable's two runs: bytes that are joined, and what does not go together, from the second time on.

use crate::engines::dealt;
use divisi_core::testing::party;
use divisi_core::{
    Abort, Boolean, Bytes, Direction, Lanes, Lookup, Lookups, Misuse, ProgramRun, PublicParameters, Settles,
    local,
};
use divisi_field::{Field, Gf2, Gf48};
use divisi_spdz::{Spdz, SpdzProtocol, Tiny, TinyBit, TinyBits};
use divisi_symmetric::des::SBOXES;

fn ends<R: Send>(act: impl Fn(Spdz<Gf48>) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
    let ends = local::run(2, &PublicParameters::new("tiny"), |session| {
        Ok(dealt::<Gf48>(session, 1, SpdzProtocol::Lookup).and_then(&act))
    });
    ends.unwrap()
}

/// What is joined has the lanes of each part in order, in the run over masks and in the run over values.
#[test]
fn bytes_that_are_joined_are_looked_up_together() {
    let values = [&[0x00, 0x01, 0x53][..], &[0xff], &[0x10, 0x53]];
    let opened = ends(|e| {
        let mut tiny = Tiny::new(e);
        let mine = tiny.engine().session().me() == party(1);
        let masks = values.map(|values| tiny.engine().input_mask(party(1), values.len()));
        let masks = masks.into_iter().collect::<Result<Vec<_>, _>>()?;
        let wires: Vec<_> = masks.iter().map(|mask| Tiny::mask(mask.shares().clone())).collect();
        let mut wire = tiny.join_bytes(&wires.iter().collect::<Vec<_>>())?;
        tiny.sbox(Direction::Encrypt, &mut [&mut wire])?;
        tiny.open_indices()?;
        let mut publics = Vec::new();
        for (mask, values) in masks.into_iter().zip(values) {
            publics.push(Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(values))?));
        }
        let mut public = tiny.join_bytes(&publics.iter().collect::<Vec<_>>())?;
        tiny.sbox(Direction::Encrypt, &mut [&mut public])?;
        let out = tiny.output(wire, public)?;
        let mut e = tiny.into_engine();
        let out = e.settled(out)?;
        Ok(e.output(out)?.into_iter().map(|x| x.0).collect::<Vec<u8>>())
    });
    assert!(opened.iter().all(|end| *end == Ok(vec![0x63, 0x7c, 0xed, 0x16, 0xca, 0xed])), "{opened:?}");
}

/// Refused by a party, after what fits.
fn refused(what: &str, act: impl Fn(&mut TinyBits<Gf48>, bool) -> Result<(), Abort> + Sync) {
    let fits = ends(|e| act(&mut TinyBits::new(e), true));
    assert!(fits.iter().all(Result::is_ok), "{what}: {fits:?}");
    let ends = ends(|e| {
        let mut tiny = TinyBits::new(e);
        act(&mut tiny, false)
    });
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{what}: {ends:?}");
}

fn masked(lanes: usize) -> TinyBit<Gf48> {
    TinyBits::masked(vec![Gf2::ONE; lanes])
}

#[test]
fn what_does_not_go_together_is_refused_again() {
    refused("public sums of other lengths", |tiny, fits| {
        tiny.open_indices()?;
        tiny.add_bit(&mut masked(3), &masked(3))?;
        tiny.add_bit(&mut masked(3), &masked(1))?;
        tiny.add_bit(&mut masked(3), &masked(if fits { 3 } else { 2 }))
    });
    refused("a second lookup of fewer wires", |tiny, fits| {
        let mask = tiny.engine().bit_mask(party(1), 3)?;
        let wires = |count| vec![TinyBits::mask(mask.shares().clone()); count];
        let [one, two] = [6, if fits { 6 } else { 5 }].map(wires);
        tiny.look_up(&mut [
            Lookup { table: &SBOXES[0], wires: one },
            Lookup { table: &SBOXES[0], wires: two },
        ])
    });
    refused("an output that has 256 lanes more", |tiny, fits| {
        let mask = tiny.engine().bit_mask(party(1), 1)?;
        let mask = TinyBits::mask(mask.shares().clone());
        tiny.open_indices()?;
        tiny.output(mask, masked(if fits { 1 } else { 257 })).map(drop)
    });
}

/// One lane serves all, and 257 lanes are not one.
#[test]
fn a_program_has_as_many_lanes_as_its_wires() {
    let program = crate::nets::online::program();
    let lanes = ends(|mut e| {
        let wires =
            (0..program.input_bits()).map(|i| e.constant_bit(&vec![true; if i == 0 { 1 } else { 257 }]));
        let mut jobs = [ProgramRun::new(&program, wires.collect())];
        e.run(&mut jobs)?;
        Ok(jobs[0].wires.iter().map(Lanes::lanes).collect::<Vec<_>>())
    });
    assert!(lanes.iter().all(|lanes| *lanes == Ok(vec![257; program.output_bits()])), "{lanes:?}");
    let differ = ends(|mut e| {
        let wire = |i: usize| e.constant_bit(&vec![true; [2, 258][i % 2]]);
        let wires = (0..program.input_bits()).map(wire).collect();
        e.run(&mut [ProgramRun::new(&program, wires)])
    });
    let refused = |end: &_| matches!(end, Err(Abort::Misuse { what: Misuse::LanesDiffer, .. }));
    assert!(differ.iter().any(refused), "{differ:?}");
}
