//! What a party sends only when something has come from all others, and is right; and what it sends of its
//! labels.

use crate::common::ands;
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{MessageDirection, links, many, party};
use divisi_core::{PartyId, Step};
use divisi_garble::lab::{GarbleLab, in_turn, of_party};
use divisi_garble::{GarblingForm, Plan, checks};
use std::collections::HashSet;

/// More instances than parties: everybody evaluates two at least.
const INSTANCES: usize = 7;

fn inputs(width: usize) -> Vec<Vec<u8>> {
    (0..INSTANCES).map(|i| (0..2 * width).map(|wire| u8::from((i + wire) % 3 == 0)).collect()).collect()
}

/// Where, in a table of three parties, the first MAC for the evaluator begins: it is read whatever the masked
/// values are.
const C0: usize = 16 * (3 * 3 - 4);

/// Message number `nth` of a step is lost on a link, or the byte at `at` of it is another one: then its
/// receiver sends nothing with the other step.
type Awaited = (&'static str, usize, Option<usize>, &'static str);

const AHEAD: [Awaited; 12] = [
    ("divisi_garble::laand/5.u", 0, None, "divisi_garble::laand/6.coin"),
    ("divisi_garble::laand/3.e", 0, None, "divisi_garble::laand/6.coin"),
    ("divisi_garble::laand/3.e", 0, Some(0), "divisi_garble::zero/6.commit"),
    ("divisi_garble::zero/6.product", 0, None, "divisi_garble::zero/6.commit"),
    ("divisi_garble::zero/6.commit", 0, None, "divisi_garble::zero/6.open"),
    ("divisi_garble::aand/3.d", 0, Some(0), "divisi_garble::run/4a.d"),
    ("divisi_garble::run/4a.d", 0, Some(0), "divisi_garble::run/4d.table"),
    ("divisi_garble::run/4a.d", 0, Some(32), "divisi_garble::run/4d.table"),
    ("divisi_garble::online/5.masked", 0, None, "divisi_garble::online/6.labels"),
    ("divisi_garble::online/5.masked", 0, Some(0), "divisi_garble::online/6.labels"),
    ("divisi_garble::run/4d.table", 0, Some(C0), "divisi_garble::online/8.result"),
    ("divisi_garble::run/4d.table", 1, Some(C0), "divisi_garble::online/8.result"),
];

const STREAMED: [Awaited; 5] = [
    ("divisi_garble::zero/6.commit", 0, None, "divisi_garble::zero/6.open"),
    ("divisi_garble::streamed/5.owners", 0, Some(32), "divisi_garble::online/5.masked"),
    ("divisi_garble::online/5.masked", 0, Some(0), "divisi_garble::streamed/6.labels"),
    ("divisi_garble::run/4a.d", 0, Some(32), "divisi_garble::run/4d.table"),
    ("divisi_garble::run/4d.table", 1, Some(C0), "divisi_garble::streamed/8.masks"),
];

/// Whoever lacks a message of one party, or has a wrong one, has sent nothing further to anybody: neither to
/// that party, nor to those whose messages came before.
#[test]
fn nothing_is_sent_before_all_have_told() {
    let cases = AHEAD.map(|case| (false, case)).into_iter().chain(STREAMED.map(|case| (true, case)));
    let cases: Vec<_> = cases.flat_map(|case| links(3).map(move |link| (case, link))).collect();
    many(cases.len(), 2, |i| {
        let ((streamed, (awaited, nth, wrong, then)), (from, to)) = cases[i];
        let (program, lab) = (ands(3), GarbleLab::of(GarblingForm::Improved, streamed));
        let plan = Plan::for_all(&program, 3, &in_turn(2, 3)).unwrap();
        let harness = lab.harness(3);
        let (id, mut count) = (Step::new(awaited).id, 0);
        harness.hand(from, to, move |mut frame| {
            count += usize::from(frame.step == id);
            if frame.step != id || count != nth + 1 {
                return vec![frame];
            }
            match wrong {
                None => return vec![],
                Some(at) => frame.body.get_mut(at).into_iter().for_each(|byte| *byte ^= 1),
            }
            vec![frame]
        });
        let recording = harness.recording(to);
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs(3)));
        let came =
            recording.of(MessageDirection::In, awaited).iter().filter(|seen| seen.peer == from).count();
        // the third party has no inputs
        if awaited.ends_with("5.masked") && from == party(3)
            || awaited.ends_with("5.owners") && to == party(3)
        {
            return;
        }
        let sent = recording.of(MessageDirection::Out, then).len();
        let case = format!("{awaited} {nth} {wrong:?} {from} {to}, {then}");
        assert!(ends[to.index()].is_err() && (wrong.is_none() || came > nth), "{case}: {ends:?}");
        assert_eq!(sent, 0, "{case}");
    });
}

/// The labels that a party sends in one session, of all instances of two circuits to all evaluators, are
/// unrelated: no two are the same, and no two pairs differ by the same word, which would be Delta; each bit
/// takes both values.
#[test]
fn labels_of_inputs_are_unrelated() {
    const WIRES: usize = 16;
    for (n, streamed) in [(2, false), (3, false), (3, true)] {
        let (program, lab) = (ands(WIRES / 2), GarbleLab::of(GarblingForm::Improved, streamed));
        let plan = Plan::for_all(&program, n, &in_turn(2, n)).unwrap();
        let harness = lab.harness(n);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let mut garble = lab.party(&mut session)?;
            let mine = of_party(&plan, session.me(), &inputs(WIRES / 2));
            for _ in 0..2 {
                lab.run_on(&mut garble, &mut session, &plan, &mine)?;
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let step =
            if streamed { "divisi_garble::streamed/6.labels" } else { "divisi_garble::online/6.labels" };
        for (me, recording) in PartyId::all(n).zip(&recordings) {
            let mut labels: Vec<u128> = Vec::new();
            for evaluator in PartyId::all(n).filter(|peer| *peer != me) {
                let bodies = recording.bodies(MessageDirection::Out, evaluator, step);
                assert_eq!(bodies.len(), 2);
                let theirs = (0..INSTANCES).filter(|i| i % n == evaluator.index()).count();
                for body in bodies {
                    let words = body[..16 * WIRES * theirs].as_chunks::<16>().0;
                    labels.extend(words.iter().map(|word| u128::from_le_bytes(*word)));
                }
            }
            let mut seen = HashSet::from([0]);
            let pairs = labels.iter().enumerate();
            let mut pairs = pairs.flat_map(|(i, one)| labels[..i].iter().map(move |other| one ^ other));
            assert!(pairs.all(|difference| seen.insert(difference)), "{n} {streamed} {me}");
            // of 48 labels at least: a bit is the same in all once in 2^47
            assert_eq!(labels.iter().fold(0, |any, label| any | label), u128::MAX, "{n} {streamed} {me}");
            assert_eq!(labels.iter().fold(u128::MAX, |all, label| all & label), 0, "{n} {streamed} {me}");
        }
    }
}

/// A bit that is wrong is noticed wherever it stands in a message that opens something: in the first instance
/// or another one, the first value or the last.
#[test]
fn no_bit_of_what_is_opened_is_left_out() {
    const WIDTH: usize = 5;
    let all = 2 * WIDTH * INSTANCES;
    // with the digest of the plan before them; the first party evaluates four instances
    let cases = [
        (false, "divisi_garble::run/4a.d", 8 * 32, all, checks::W27),
        (false, "divisi_garble::run/4a.d", 8 * (64 + all.div_ceil(8)), all / 2, checks::W20),
        (false, "divisi_garble::online/6.labels", 8 * 16 * 2 * WIDTH * 4, all / 2, checks::W24),
        (false, "divisi_garble::online/8.result", 0, WIDTH * 3, checks::W25),
        (true, "divisi_garble::streamed/5.owners", 8 * 32, all / 2, checks::W20),
        (true, "divisi_garble::streamed/8.masks", 0, all / 2, checks::W24),
        (true, "divisi_garble::online/8.result", 0, WIDTH * 3, checks::W25),
    ];
    // every third bit, and the last one
    let places = cases.into_iter().flat_map(|case| {
        let last = case.3 - 1;
        (0..last).step_by(3).chain([last]).map(move |at| (case, at))
    });
    let places: Vec<_> = places.collect();
    many(places.len(), 2, |i| {
        let ((streamed, step, from, _, check), at) = places[i];
        let (program, lab) = (ands(WIDTH), GarbleLab::of(GarblingForm::Improved, streamed));
        let plan = Plan::for_all(&program, 2, &in_turn(2, 2)).unwrap();
        let harness = lab.harness(2);
        let at = from + at;
        harness.change(party(2), party(1), step, 0, move |body| body[at / 8] ^= 1 << (at % 8));
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs(WIDTH)));
        let noticed =
            matches!(&ends[0], Err(divisi_core::Abort::CheckFailed { check: by, .. }) if *by == check);
        assert!(noticed, "{step} {at}: {ends:?}");
    });
}

/// A receiver accepts a result only with its whole label: whichever bit of a label the evaluator has wrong.
#[test]
fn no_bit_of_a_results_label_is_left_out() {
    let mut g = Build::new();
    let (x, y) = (g.input(1), g.input(1));
    let sum = g.xor(x[0], y[0]);
    g.output(&[sum]);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &in_turn(2, 2)).unwrap();
    let labels = [(false, "divisi_garble::online/6.labels"), (true, "divisi_garble::streamed/6.labels")];
    let cases: Vec<_> = (0..128).map(|bit| (labels[bit % 2], bit)).collect();
    many(cases.len(), 2, |i| {
        let ((streamed, step), bit) = cases[i];
        let (lab, at) = (GarbleLab::of(GarblingForm::Improved, streamed), bit / 8);
        let harness = lab.harness(2);
        harness.change(party(2), party(1), step, 0, move |body| body[at] ^= 1 << (bit % 8));
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 0]]));
        let failed = divisi_core::testing::failed_check(&ends[1]);
        assert_eq!(failed, Some(checks::W25), "{streamed} {bit}: {ends:?}");
    });
}
