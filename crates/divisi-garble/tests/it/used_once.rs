//! Calls of the hash, authenticated bits and triples occur only once in a session. They are recorded over two
//! circuits of three instances each, whose triples are made in several batches.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::run;
use divisi_core::{Abort, PartyId, Session};
use divisi_fuzz::repetitions;
use divisi_garble::lab::{GarbleLab, of_party};
use divisi_garble::{Garble, GarbleOptions, GarblingForm, Plan};
use divisi_ot::hash::TARGETS;
use divisi_ot::record::{self, Call, Records};
use divisi_ot::{Setup, SetupConfig, bucket};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A program with this many layers of 60 ANDs.
fn program(layers: usize) -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(60), g.input(60));
    let mut all: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    for _ in 1..layers {
        all = (0..60).map(|i| g.and(all[i], all[(i + 7) % 60])).collect();
    }
    g.output(&all);
    g.finish()
}

/// When triples and masks are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    /// For each circuit.
    Each,
    /// For all circuits at once.
    Ahead,
    /// Batch by batch.
    Streamed,
}

/// One party's session: what it recorded, and its Delta.
fn party(
    session: &mut Session,
    lab: &GarbleLab,
    when: When,
    plans: &[Plan<'_>],
) -> Result<(Records, u128, usize), Abort> {
    record::begin();
    let setup = Setup::new(session, lab.config)?;
    let delta = setup.delta().get();
    let mut garble = Garble::new(session, setup, lab.options);
    let ands = |plans: &[Plan<'_>]| 3 * plans.iter().map(Plan::and_count).sum::<usize>();
    let inputs = |plans: &[Plan<'_>]| 3 * plans.iter().map(Plan::input_bits).sum::<usize>();
    let mut ahead = None;
    for (i, plan) in plans.iter().enumerate() {
        let all = vec![(0..plan.input_bits()).map(|i| u8::from(i % 3 == 0)).collect(); 3];
        let mine = of_party(plan, session.me(), &all);
        if when == When::Streamed {
            garble.streamed(session, plan, &mine)?;
            continue;
        }
        let mut made = match ahead.take() {
            Some(made) => made,
            None => {
                let of = if when == When::Ahead { plans } else { &plans[i..=i] };
                garble.function_independent(session, ands(of), ands(of) + inputs(of))?
            }
        };
        let garbled = garble.function_dependent(session, &mut made, plan, 3)?;
        garble.online(session, garbled, &mine)?;
        ahead = Some(made).filter(|_| when == When::Ahead);
    }
    // each batch has the buckets of its own number of triples
    let fit = |(made, size): &(usize, usize)| *size == bucket::size(*made, lab.config.rho);
    assert!(garble.made().iter().all(fit), "{:?}", garble.made());
    Ok((record::end(), delta, garble.made().len()))
}

/// No key and tweak serve two inputs but the two of a pair, which differ by the Delta of the party that has
/// both; no party makes a call twice; and no key has more targets than it may.
fn calls_are_new(all: &[Vec<Call>], deltas: &[u128]) -> usize {
    let mut inputs: BTreeMap<(u128, u128), BTreeSet<u128>> = BTreeMap::new();
    let mut keys = HashSet::new();
    for calls in all {
        let mut of_key: BTreeMap<u128, u64> = BTreeMap::new();
        let different = calls.iter().collect::<HashSet<_>>().len();
        assert_eq!(different, calls.len(), "a call of one party is made twice");
        for call in calls {
            inputs.entry((call.key, call.tweak)).or_default().insert(call.input);
            *of_key.entry(call.key).or_default() += 1;
            keys.insert(call.key);
        }
        assert!(of_key.values().all(|calls| *calls <= 2 * TARGETS), "{of_key:x?}");
    }
    for ((key, tweak), inputs) in inputs {
        let inputs: Vec<u128> = inputs.into_iter().collect();
        let from = (key >> 72) as u8;
        match inputs[..] {
            [_] => {}
            [one, two] => assert_eq!(one ^ two, deltas[usize::from(from) - 1], "{key:x} {tweak:x}"),
            _ => panic!("{key:x} {tweak:x}: {} inputs", inputs.len()),
        }
    }
    keys.len()
}

fn sorted(words: &[u128]) -> Vec<u128> {
    let mut words = words.to_vec();
    words.sort_unstable();
    words
}

#[test]
fn every_call_bit_and_triple_is_used_once() {
    let programs = [program(9), program(6)];
    for n in [2, 3, 4] {
        let owners: Vec<PartyId> = PartyId::all(2).collect();
        let plans: Vec<Plan<'_>> = programs.iter().map(|p| Plan::for_all(p, n, &owners).unwrap()).collect();
        let forms = [GarblingForm::Improved, GarblingForm::Paper].into_iter();
        let all = forms.flat_map(|form| [When::Each, When::Ahead, When::Streamed].map(|when| (form, when)));
        // in small batches, and in one of more triples than a message has
        let all = all.map(|(form, when)| (form, when, 1 << 18));
        let all: Vec<_> = all.chain([(GarblingForm::Improved, When::Each, 1 << 24)]).collect();
        // of three parties by default every second one, of four parties one
        let step = [1, repetitions(2, 1), repetitions(all.len(), 1)][n - 2];
        for (form, when, memory) in all.into_iter().step_by(step) {
            let options = GarbleOptions { form, memory, batch: 700, ..GarbleOptions::default() };
            let lab = GarbleLab { config: SetupConfig::default(), options, ..GarbleLab::default() };
            let ends = run(n, &lab.parameters(), |mut session| party(&mut session, &lab, when, &plans));
            let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
            let case = format!("{n} {form:?} {when:?}");
            assert!(
                ends.iter().all(|(_, _, batches)| match (when, memory > 1 << 18) {
                    (_, true) => *batches == 2,
                    (When::Ahead, _) => *batches >= 2,
                    _ => *batches >= 4,
                }),
                "{case}: batches of triples"
            );
            let deltas: Vec<u128> = ends.iter().map(|(_, delta, _)| *delta).collect();
            let calls: Vec<Vec<Call>> = ends.iter().map(|(records, ..)| records.calls.clone()).collect();
            // some series of calls needs several keys
            assert!(calls_are_new(&calls, &deltas) > n * (n - 1) * 6, "{case}");
            for (Records { made, used, triples, .. }, ..) in &ends {
                let made = sorted(made);
                assert!(made.windows(2).all(|pair| pair[0] != pair[1]), "{case}: two bits have one key");
                // each once, and none is left over
                assert_eq!(sorted(used), made, "{case}");
                assert_eq!(triples.len(), 3 * (n - 1) * 3 * (plans[0].and_count() + plans[1].and_count()));
                assert_eq!(triples.iter().collect::<HashSet<_>>().len(), triples.len(), "{case}");
            }
        }
    }
}

/// The test above fails if something is used twice.
#[test]
fn what_is_used_twice_is_seen() {
    let call = |key: u128, input| Call { key: key | 1 << 72, tweak: 5, input };
    let seen = |calls: &[Call], more: &[Call]| {
        std::panic::catch_unwind(|| calls_are_new(&[calls.to_vec(), more.to_vec()], &[6, 0])).is_err()
    };
    assert!(!seen(&[call(0, 1), call(0, 7), call(1, 2)], &[call(0, 7)]));
    // another input, a third one, the same again
    assert!(seen(&[call(0, 1), call(0, 2)], &[]));
    assert!(seen(&[call(0, 1), call(0, 7)], &[call(0, 2)]));
    assert!(seen(&[call(0, 1), call(0, 1)], &[]));
}
