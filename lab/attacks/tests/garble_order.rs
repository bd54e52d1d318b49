//! The order of messages, and the draws of randomness: what a party must not send while a message is missing;
//! how long every draw is, and that each of its bytes has an effect.

mod common;

use common::{Byte, Order, all_count, all_sent, bytes_of, draw_as, keeps_order, known};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{many, party};
use divisi_garble::lab::GarbleLab;
use divisi_garble::{GarbleOptions, GarblingForm, Plan};

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
    let ahead: [Order; 15] = [
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
        let (n, streamed, order) = jobs[i];
        let program = program();
        let plan = Plan::for_all(&program, n, &[party(1), party(2)]).unwrap();
        let options = GarbleOptions { batch: 24, ..GarbleOptions::default() };
        let lab = GarbleLab { streamed, options, ..GarbleLab::default() };
        keeps_order(&format!("{n} {streamed}"), order, lab.harness(n), |harness| {
            harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs(3)))
        });
    });
}

/// What a run shows: all that each party sent, in order, and what it learned.
type Shown = Vec<(Vec<Vec<u8>>, Vec<Vec<u8>>)>;

fn run(n: usize, form: GarblingForm, other: Option<Byte>) -> (Shown, Vec<Vec<usize>>) {
    let program = program();
    let plan = Plan::for_all(&program, n, &[party(1), party(2)]).unwrap();
    let lab = GarbleLab::of(form, false);
    let parameters = lab.parameters();
    known(n, &parameters, other, |harness| {
        let recordings = harness.recordings();
        let ends = harness.act_each(
            |party| {
                draw_as(party);
                parameters.clone()
            },
            |mut session| lab.outputs(&mut session, &plan, &inputs(n)),
        );
        recordings.iter().map(all_sent).zip(ends).map(|(sent, end)| (sent, end.unwrap())).collect()
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
        let mut bytes = Vec::new();
        for (party, draws) in draws.iter().enumerate() {
            assert!(draws.ends_with(expected), "{n} {form:?} {draws:?}");
            bytes.extend(bytes_of(draws, party, draws.len() - expected.len()));
        }
        all_count(&as_it_is, &bytes, |other| run(n, form, other).0);
    }
}
