//! Gates and triples have session-wide numbers, which enter the tweaks of hashes. This test shows that no
//! number occurs twice, over instances, circuits, batches and modes.

use super::*;
use crate::GarblingForm;
use crate::lab::{GarbleLab, of_party, run_over};
use divisi_circuit::{Build, Gates, Program};
use divisi_net::memory;
use divisi_ot::record;
use std::collections::HashSet;

const ANDS: usize = 10;

/// ANDs of two inputs.
fn ands() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(ANDS), g.input(ANDS));
    let out: Vec<_> = (0..ANDS).map(|i| g.and(x[i], y[i])).collect();
    g.output(&out);
    g.finish()
}

#[test]
fn no_number_returns() {
    let program = ands();
    let owners: Vec<PartyId> = PartyId::all(2).collect();
    let plan = Plan::for_all(&program, 3, &owners).unwrap();
    let inputs = vec![vec![1; 2 * ANDS]; 3];
    let lab = GarbleLab {
        options: GarbleOptions { batch: 12, ..GarbleOptions::default() },
        ..GarbleLab::default()
    };
    let ends = run_over(
        memory::mesh(3),
        |_| lab.parameters(),
        |session| {
            let mine = of_party(&plan, session.me(), &inputs);
            let mut garble = lab.party(session)?;
            let mut evaluated = Vec::new();
            for circuit in 0..2 {
                let mut made = garble.function_independent(session, 3 * ANDS, 9 * ANDS)?;
                let garbled = garble.function_dependent(session, &mut made, &plan, 3)?;
                garbled.held.peek(|held| {
                    for held in held {
                        if let Role::Evaluator { gate, .. } = &held.role {
                            evaluated.push(*gate);
                        }
                    }
                });
                assert_eq!(garble.live.peek(|live| live.next_gate), Some(3 * ANDS as u64 * (circuit + 1)));
                garble.online(session, garbled, &mine)?;
            }
            garble.streamed(session, &plan, &mine)?;
            let triples: usize = garble.made().iter().map(|(l, bucket)| l * bucket).sum();
            let next = garble.live.peek(|live| (live.next_triple, live.next_gate));
            assert_eq!(next, Some((triples as u64, 9 * ANDS as u64)));
            Ok(evaluated)
        },
    );
    let gates: HashSet<u64> = ends
        .into_iter()
        .flat_map(|evaluated| evaluated.unwrap())
        .flat_map(|first| first..first + ANDS as u64)
        .collect();
    assert_eq!(gates.len(), 6 * ANDS);
}

/// Nor does one return at the end of a long session: no two pairs of circuits, between which the session's
/// numbers grow by a power of two, have a key and a tweak of the hash in common.
#[test]
fn no_bit_of_a_sessions_numbers_is_cut_off() {
    let program = ands();
    let owners: Vec<PartyId> = PartyId::all(2).collect();
    let plan = Plan::for_all(&program, 2, &owners).unwrap();
    let inputs = vec![vec![1; 2 * ANDS]; 2];
    for (form, streamed) in [(GarblingForm::Improved, false), (GarblingForm::Paper, true)] {
        let lab = GarbleLab::of(form, streamed);
        let ends = lab.each(2, |session, garble| {
            let mine = of_party(&plan, session.me(), &inputs);
            let mut seen = HashSet::new();
            for first in [0].into_iter().chain((16..56).map(|bit| 1 << bit)) {
                record::begin();
                garble.with(session, |live, _| {
                    (live.next_gate, live.next_triple) = (first, first);
                    Ok(())
                })?;
                lab.run_on(garble, session, &plan, &mine)?;
                lab.run_on(garble, session, &plan, &mine)?;
                // an evaluator and a garbler hash under the same tweaks, in series of their own
                let calls: HashSet<_> = record::end().calls.iter().map(|c| (c.key, c.tweak)).collect();
                assert!(calls.len() > 4 * ANDS && calls.iter().all(|call| seen.insert(*call)), "{first}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}
