//! The order of messages, and the draws of randomness: what a party must not send while a message is missing;
//! how long every draw is, and that each of its bytes has an effect.

mod common;

use common::{Byte, bytes_of, draw_as, known, told, withhold};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::PartyId;
use divisi_core::testing::{Harness, LIMIT, MessageDirection, many, party};
use divisi_garble::lab::{GarbleLab, of_party};
use divisi_garble::{GarbleOptions, GarblingForm, Plan};
use std::sync::atomic::Ordering;

fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(12), g.input(12));
    let out: Vec<_> = (0..12).map(|i| g.and(x[i], y[i])).collect();
    g.output(&out);
    g.finish()
}

fn inputs(instances: usize) -> Vec<Vec<u8>> {
    (0..instances).map(|i| (0..24).map(|j| u8::from((i + j) % 3 > 0)).collect()).collect()
}

/// P_1 withholds one message from P_2, and P_2 does not send the message that must follow it.
#[test]
fn nothing_leaves_before_what_it_must_follow() {
    const U: &str = "divisi_garble::laand/5.u";
    const E: &str = "divisi_garble::laand/3.e";
    const E_ECHO: &str = "divisi_garble::laand/3.echo";
    const COIN: &str = "divisi_garble::laand/6.coin";
    const PRODUCT: &str = "divisi_garble::zero/6.product";
    const COMMIT: &str = "divisi_garble::zero/6.commit";
    const OPEN: &str = "divisi_garble::zero/6.open";
    const BUCKETS: &str = "divisi_garble::aand/3.d";
    const PRODUCTS: &str = "divisi_garble::run/4a.d";
    const TABLE: &str = "divisi_garble::run/4d.table";
    const OWNERS: &str = "divisi_garble::streamed/5.owners";
    const MASKED: &str = "divisi_garble::online/5.masked";
    const ECHO: &str = "divisi_garble::online/5.echo";
    const LABELS: &str = "divisi_garble::online/6.labels";
    const STREAMED_LABELS: &str = "divisi_garble::streamed/6.labels";
    const OUTPUTS: &str = "divisi_garble::streamed/8.masks";
    const RESULT: &str = "divisi_garble::online/8.result";
    // the step that is withheld, and which of its messages; the step that P_2 must not send, and how many of
    // its messages P_2 may have sent before
    let ahead = [
        (U, 0, E, 0),
        (U, 0, COIN, 0),
        (E, 0, COIN, 0),
        (E_ECHO, 0, COMMIT, 0),
        (COIN, 0, PRODUCT, 0),
        (COIN, 0, BUCKETS, 0),
        (PRODUCT, 0, COMMIT, 0),
        (COMMIT, 0, OPEN, 0),
        (OPEN, 0, BUCKETS, 0),
        (BUCKETS, 0, PRODUCTS, 0),
        (PRODUCTS, 0, TABLE, 0),
        (TABLE, 0, MASKED, 0),
        (MASKED, 0, LABELS, 0),
        (ECHO, 0, LABELS, 0),
        (LABELS, 0, RESULT, 0),
    ];
    let streamed = [
        (OWNERS, 0, MASKED, 0),
        (MASKED, 0, STREAMED_LABELS, 0),
        (ECHO, 0, STREAMED_LABELS, 0),
        // the table of the first of two batches, and that of the last: for each batch of triples P_2 sends
        // two messages of a step, one to each peer
        (TABLE, 0, COIN, 2),
        (TABLE, 0, PRODUCTS, 2),
        (TABLE, 1, OUTPUTS, 0),
        (OUTPUTS, 0, RESULT, 0),
    ];
    // two parties compare their combinations directly, and echo nothing
    let of_two = [(COMMIT, 0, OPEN, 0), (OPEN, 0, BUCKETS, 0)];
    let mut jobs: Vec<_> =
        ahead.into_iter().chain([(E_ECHO, 0, OPEN, 0)]).map(|job| (3, false, job)).collect();
    jobs.extend(streamed.map(|job| (3, true, job)));
    jobs.extend(of_two.map(|job| (2, false, job)));
    many(jobs.len(), 6, |i| {
        let (n, streamed, (held, nth, step, most)) = jobs[i];
        let program = program();
        let plan = Plan::for_all(&program, n, &[party(1), party(2)]).unwrap();
        let options = GarbleOptions { batch: 24, ..GarbleOptions::default() };
        let lab = GarbleLab { streamed, options, ..GarbleLab::default() };
        let harness = Harness::new(n, &lab.parameters()).waiting(LIMIT);
        let recording = harness.recording(party(2));
        let withheld = withhold(&harness, party(1), party(2), held, nth);
        let ends = harness.act(|mut session| {
            let mine = of_party(&plan, session.me(), &inputs(3));
            lab.play(&mut session, &plan, &mine).map(|_| ())
        });
        assert!(withheld.load(Ordering::Relaxed) && ends[1].is_err(), "{held} {nth}: {ends:?}");
        assert!(told(&recording, step) <= most, "{step} leaves without {held} {nth}");
    });
}

/// What a run shows: all that each party sent, in order, and what it learned.
type Shown = Vec<(Vec<Vec<u8>>, Vec<Vec<u8>>)>;

fn run(n: usize, form: GarblingForm, other: Option<Byte>) -> (Shown, Vec<Vec<usize>>) {
    let program = program();
    let plan = Plan::for_all(&program, n, &[party(1), party(2)]).unwrap();
    let lab =
        GarbleLab { options: GarbleOptions { form, ..GarbleOptions::default() }, ..GarbleLab::default() };
    let parameters = lab.parameters();
    known(n, &parameters, other, |harness| {
        let recordings = harness.recordings();
        let ends = harness.act_each(
            |party| {
                draw_as(party);
                parameters.clone()
            },
            |mut session| {
                let mine = of_party(&plan, session.me(), &inputs(n));
                lab.play(&mut session, &plan, &mine).map(|(outputs, _)| outputs)
            },
        );
        let sent = |p: PartyId| {
            let seen =
                recordings[p.index()].read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
            seen.map(|seen| seen.frame.body).collect()
        };
        PartyId::all(n).zip(ends).map(|(p, end)| (sent(p), end.unwrap())).collect()
    })
}

/// Each draw at its length, in order: coins; labels; in the paper's form the bits of HaAND; of three or more
/// parties the factor of the check; the nonce of its commitment. And a change of one byte in eight of each
/// draw changes what is sent.
#[test]
fn every_byte_that_is_drawn_counts() {
    let expected: [(usize, GarblingForm, &[usize]); 4] = [
        (2, GarblingForm::Improved, &[32, 16, 32]),
        (2, GarblingForm::Paper, &[32, 16, 16, 32]),
        (3, GarblingForm::Improved, &[32, 16, 16, 32]),
        (3, GarblingForm::Paper, &[32, 16, 16, 16, 32]),
    ];
    for (n, form, expected) in expected {
        let (as_it_is, draws) = run(n, form, None);
        assert!(as_it_is == run(n, form, None).0, "known randomness gives one run");
        let mut bytes = Vec::new();
        for (party, draws) in draws.iter().enumerate() {
            assert!(draws.ends_with(expected), "{n} {form:?} {draws:?}");
            bytes.extend(bytes_of(draws, party, draws.len() - expected.len()));
        }
        let counts = many(bytes.len(), 3, |i| run(n, form, Some(bytes[i])).0 != as_it_is);
        let idle: Vec<_> = bytes.iter().zip(counts).filter(|(_, counts)| !counts).collect();
        assert!(idle.is_empty(), "{n} {form:?} {idle:?}");
    }
}
