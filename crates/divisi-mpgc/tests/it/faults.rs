//! A party that stops at every step of every phase: it is cut off, or sends too little, or garbage. All
//! others end with an abort that names a peer, and nobody waits. With garbage the results may be wrong, but
//! the run ends, too.

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters as Lattice};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, MessageDirection, many, party};
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_field::zp::P16;
use divisi_fuzz::repetitions;
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::SetupConfig;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const PARTIES: usize = 3;

/// The time limit, because a thread of a party may wait for another one of it, so that no time is skipped: a
/// hundred times what a run computes.
const LIMIT: Duration = Duration::from_secs(4);

fn ways() -> [LookupMethod; 2] {
    let lattice = Lattice::danger_insecure(Operation::PrivateTables, Form::LeanRing, PARTIES, P16).unwrap();
    [LookupMethod::Transfers, LookupMethod::Hops(Arc::new(Ring::new(lattice).unwrap()))]
}

/// Set-up, a circuit garbled, inputs of two parties, outputs to two.
fn whole(session: Session, way: &LookupMethod) -> Result<(), Abort> {
    let mut g = Build::new();
    let x = g.input(3);
    let (and, xor) = (g.and(x[0], x[1]), g.xor(x[1], x[2]));
    g.output(&[and, xor]);
    let wiring = Wiring::new(&g.finish());
    let mut garbler = Garbler::new(Gmw::new(session, SetupConfig::default())?, way.clone())?;
    let me = garbler.gmw().session().me();
    let garbled = garbler.garble(&wiring, 1)?;
    let one = GmwBit::of([1].into_iter());
    let mut inputs = Vec::new();
    for owner in [1, 2, 3].map(party) {
        inputs.push(garbler.gmw().input(owner, 1, Some(&one).filter(|_| owner == me))?);
    }
    let outputs = garbler.evaluate(garbled, &inputs)?;
    garbler.gmw().output(&[party(1), party(3)], &outputs)?;
    Ok(())
}

fn harness(way: &LookupMethod) -> Harness {
    let agreed = PublicParameters::new("garbled faults");
    let agreed = match way {
        LookupMethod::Transfers => agreed,
        LookupMethod::Hops(ring) => ring.parameters().describe(agreed),
    };
    Harness::new(PARTIES, &agreed)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    CutOff,
    TooShort,
    Garbage,
}

#[test]
fn whoever_stops_at_any_step_the_others_abort() {
    let ways = ways();
    // every party's first message of every step, by either way; none twice
    let (mut known, mut steps) = (HashSet::new(), Vec::new());
    for (w, way) in ways.iter().enumerate() {
        let harness = harness(way);
        let seen = harness.recordings();
        harness.act(|session| whole(session, way)).into_iter().for_each(|end| end.unwrap());
        for (number, seen) in (1..).zip(seen) {
            let sent = seen.read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
            let new = sent.map(|s| (w, number, s.frame.step)).filter(|(_, n, s)| known.insert((*n, *s)));
            steps.extend(new);
        }
    }
    let rows = divisi_core::Step::new("divisi_mpgc::tree/rows").id;
    let keys = divisi_core::Step::new("divisi_mpgc::evaluate/input.keys").id;
    assert!([rows, keys].iter().all(|id| steps.iter().any(|(_, _, step)| step == id)));
    let faults = [Fault::CutOff, Fault::TooShort, Fault::Garbage];
    // by default each step has each fault once, of its senders in turn
    let chosen = |(i, fault): &(usize, usize)| {
        let (_, broken, id) = steps[*i];
        let senders: Vec<u8> = steps.iter().filter(|(.., step)| *step == id).map(|(_, n, _)| *n).collect();
        repetitions(senders[(fault + id as usize) % senders.len()] == broken, true)
    };
    let all = (0..steps.len()).flat_map(|i| (0..faults.len()).map(move |fault| (i, fault)));
    let jobs: Vec<(usize, usize)> = all.filter(chosen).collect();
    assert!(jobs.len() >= faults.len() * (steps.len() / PARTIES));
    many(jobs.len(), 12, |i| {
        let ((w, broken, id), fault) = (steps[jobs[i].0], faults[jobs[i].1]);
        let (harness, broken) = (harness(&ways[w]).waiting(LIMIT), party(broken));
        for to in PartyId::all(PARTIES).filter(|to| *to != broken) {
            let mut begun = false;
            harness.hand(broken, to, move |mut frame| {
                begun |= frame.step == id;
                match fault {
                    Fault::CutOff if begun => return vec![],
                    Fault::TooShort if begun => frame.body.truncate(frame.body.len().saturating_sub(1)),
                    Fault::Garbage if begun => {
                        frame.body.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(7) ^ 0xa5);
                    }
                    _ => {}
                }
                vec![frame]
            });
        }
        let ends = harness.act(|session| whole(session, &ways[w]));
        // nobody is promised to notice garbage: it is enough that nobody waits, or panics
        let one_way = [rows, keys].contains(&id);
        let bound = one_way || fault != Fault::Garbage;
        for (p, end) in PartyId::all(PARTIES).zip(ends).filter(|(p, _)| *p != broken && bound) {
            // rows and keys go to the first party alone; who sends them may be done before it notices
            if one_way && p != party(1) {
                continue;
            }
            let named = end.as_ref().is_err_and(|abort| abort.peer().is_some() || fault == Fault::Garbage);
            assert!(named, "{p} after {fault:?} of {broken} at {id:08x}: {end:?}");
        }
    });
}
