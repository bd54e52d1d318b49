//! Attacks on what is opened, told to all, or told to one: inputs, outputs, masks, plans, on every link and
//! at many places.

mod common;

use common::{named, word};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, MessageDirection, failed_check, links, many, party};
use divisi_core::{Abort, Check, PartyId};
use divisi_garble::checks;
use divisi_garble::lab::{GarbleLab, of_party};
use divisi_garble::{Garble, GarblingForm, Plan};
use std::collections::HashSet;
use std::sync::LazyLock;

const BUCKETS: &str = "divisi_garble::aand/3.d";
const PRODUCTS: &str = "divisi_garble::run/4a.d";
const OWNERS: &str = "divisi_garble::streamed/5.owners";
const MASKED: &str = "divisi_garble::online/5.masked";
const LABELS: &str = "divisi_garble::online/6.labels";
const OUTPUTS: &str = "divisi_garble::streamed/8.masks";
const RESULT: &str = "divisi_garble::online/8.result";
const DIGEST: usize = 32;

/// x y, y z and z x of nine bits each, of three parties.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let mut g = Build::new();
    let (x, y, z) = (g.input(9), g.input(9), g.input(9));
    for (a, b) in [(&x, &y), (&y, &z), (&z, &x)] {
        let out: Vec<_> = (0..9).map(|i| g.and(a[i], b[i])).collect();
        g.output(&out);
    }
    g.finish()
});

/// Everybody owns a value and learns all outputs.
fn plan() -> Plan<'static> {
    Plan::for_all(&PROGRAM, 3, &all()).unwrap()
}

fn all() -> Vec<PartyId> {
    PartyId::all(3).collect()
}

/// Three instances, so that everybody evaluates one.
fn inputs() -> Vec<Vec<u8>> {
    (0..3).map(|i| (0..27).map(|j| u8::from((i + j) % 3 != 0)).collect()).collect()
}

fn harness(lab: &GarbleLab) -> Harness {
    lab.harness(3).patient()
}

/// How each party ended: its outputs of each instance.
type Ends = Vec<Result<Vec<Vec<u8>>, Abort>>;

fn play(harness: Harness, lab: &GarbleLab, plan: &Plan<'_>) -> Ends {
    harness.act(|mut session| lab.outputs(&mut session, plan, &inputs()))
}

/// The same where this bit of the first message of a step is flipped on its link.
fn flipped(
    harness: Harness,
    lab: &GarbleLab,
    (from, to): (PartyId, PartyId),
    step: &'static str,
    bit: usize,
) -> Ends {
    harness.change(from, to, step, 0, move |body| body[bit / 8] ^= 1 << (bit % 8));
    play(harness, lab, &plan())
}

/// Some bits of a list that is opened: first ones, last ones, and between them both an even and an odd one.
fn places(bits: usize) -> [usize; 6] {
    [0, 1, bits / 2, bits / 2 + 1, bits - 2, bits - 1]
}

/// If a party sends a flipped share, the receiver ends the session and names the sender: on every link, and
/// for shares at several places of a message.
#[test]
fn every_share_that_is_opened_has_its_mac() {
    // bits of d of 81 triples in buckets of seven; d and e of 81 products, behind the plan's digest, and nine
    // masks of three instances
    let size = divisi_ot::bucket::size(81, 40);
    let in_buckets = 81 * (size - 1);
    let private = 32 + 162_usize.div_ceil(8) + DIGEST;
    // labels of 27 wires of the one instance that the receiver evaluates
    let labels = 27 * 16;
    let ahead: [(&str, usize, usize, Check, bool); 4] = [
        (BUCKETS, 0, in_buckets, checks::W17, false),
        (PRODUCTS, 32, 162, checks::W27, false),
        (PRODUCTS, private, 27, checks::W20, false),
        (LABELS, labels, 81, checks::W24, false),
    ];
    let streamed = [(OWNERS, 32, 27, checks::W20, true), (OUTPUTS, 0, 81, checks::W24, true)];
    let mut jobs = Vec::new();
    for opened in ahead.into_iter().chain(streamed) {
        for link in links(3) {
            // all places on one link, two on each other one
            let some = if link == (party(2), party(3)) { 6 } else { 2 };
            jobs.extend(places(opened.2)[6 - some..].iter().map(|at| (opened, link, *at)));
        }
    }
    many(jobs.len(), 3, |i| {
        let ((step, from_byte, _, check, streamed), (from, to), at) = jobs[i];
        let lab = GarbleLab { streamed, ..GarbleLab::default() };
        let ends = flipped(harness(&lab), &lab, (from, to), step, 8 * from_byte + at);
        let end = &ends[to.index()];
        assert!(named(end, check, from), "{step} {from} {to} {at}: {end:?}");
    });
}

/// A changed byte in the digest of the MACs is noticed, up to the last one.
#[test]
fn digests_of_macs_count_whole() {
    let (lab, plan) = (GarbleLab::default(), plan());
    many(9, 3, |i| {
        let (step, byte) = ([BUCKETS, PRODUCTS, LABELS][i / 3], [0, 8, 31][i % 3]);
        let harness = harness(&lab);
        harness.change(party(3), party(1), step, 0, move |body| {
            let at = body.len() - DIGEST + byte;
            body[at] ^= 0x80;
        });
        assert!(failed_check(&play(harness, &lab, &plan)[0]).is_some(), "{step} {byte}");
    });
    // so is a changed byte in the digest of the plan, with which the opening of products begins
    for byte in [0, 8, 31] {
        let ends = flipped(harness(&lab), &lab, (party(3), party(1)), PRODUCTS, 8 * byte + 7);
        assert_eq!(failed_check(&ends[0]), Some(checks::W26), "{byte}");
    }
}

/// If one party gets another masked input than the others, no honest party sends labels: on every link, and
/// for several inputs and instances.
#[test]
fn every_masked_input_is_broadcast() {
    let jobs: Vec<_> = links(3).flat_map(|link| [0, 13, 26].map(|at| (link, at))).collect();
    for streamed in [false, true] {
        many(jobs.len(), 3, |i| {
            let ((from, to), at) = jobs[i];
            let lab = GarbleLab { streamed, ..GarbleLab::default() };
            let harness = harness(&lab);
            let recordings = harness.recordings();
            let ends = flipped(harness, &lab, (from, to), MASKED, at);
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::W28)), "{from} {to} {at}");
            let labels = if streamed { "divisi_garble::streamed/6.labels" } else { LABELS };
            for honest in all().into_iter().filter(|p| *p != from) {
                assert!(ends[honest.index()].is_err(), "{from} {to} {at}");
                let sent = recordings[honest.index()].of(MessageDirection::Out, labels);
                assert!(sent.is_empty(), "{from} {to} {at}");
            }
        });
    }
}

/// If one party gets another bit of e than the others, a check fails: on every link, and for several triples.
#[test]
fn every_e_is_broadcast() {
    const E: &str = "divisi_garble::laand/3.e";
    let m = 81 * divisi_ot::bucket::size(81, 40);
    let jobs: Vec<_> = links(3).flat_map(|link| [0, m / 2, m - 1].map(|at| (link, at))).collect();
    many(jobs.len(), 3, |i| {
        let ((from, to), at) = jobs[i];
        let lab = GarbleLab::default();
        let ends = flipped(harness(&lab), &lab, (from, to), E, at);
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::W13)), "{from} {to} {at}");
    });
}

/// A flipped masked output is refused, for several instances, and for every receiver and evaluator.
#[test]
fn every_result_is_compared() {
    let jobs: Vec<_> = links(3).flat_map(|link| [0, 8, 26, 32 * 8 + 31].map(|at| (link, at))).collect();
    for form in [GarblingForm::Improved, GarblingForm::Paper] {
        many(jobs.len(), 3, |i| {
            let ((from, to), at) = jobs[i];
            let lab = GarbleLab::of(form, false);
            let ends = flipped(harness(&lab), &lab, (from, to), RESULT, at);
            let end = &ends[to.index()];
            assert!(
                matches!(end, Err(Abort::CheckFailed { check: checks::W25, culprit: None, .. })),
                "{from} {to} {at}: {end:?}"
            );
        });
    }
}

/// Plans that differ in anything have different digests.
#[test]
fn digests_of_plans_name_all_of_them() {
    let of = |and: bool, width: usize, swap: bool, other: bool| {
        let mut g = Build::new();
        let (x, y) = (g.input(width), g.input(5 - width));
        let (a, b, c) = (x[0], y[0], if width > 1 { x[1] } else { y[1] });
        let first = if and { g.and(a, b) } else { g.xor(a, b) };
        let second = g.and(first, c);
        let third = g.xor(second, if other { b } else { a });
        let nots = g.not(third);
        let out = if swap { [third, nots] } else { [nots, third] };
        g.output(&out[..1]);
        g.output(&out[1..]);
        g.finish()
    };
    let programs = [
        of(true, 2, false, false),
        of(false, 2, false, false),
        of(true, 3, false, false),
        of(true, 2, true, false),
        of(true, 2, false, true),
    ];
    let [one, two, three] = [1, 2, 3].map(party);
    let mut seen = HashSet::new();
    for program in &programs {
        for n in [3, 4] {
            for owners in [[one, two], [two, one], [one, one], [one, three]] {
                for receivers in [
                    [vec![one], vec![two]],
                    [vec![two], vec![one]],
                    [vec![one, two], vec![]],
                    [vec![one], vec![two, three]],
                ] {
                    assert!(seen.insert(Plan::new(program, n, &owners, &receivers).unwrap().digest()));
                }
            }
        }
    }
    assert_eq!(seen.len(), 5 * 2 * 4 * 4);
    let digest = |g: Build| Plan::for_all(&g.finish(), 2, &[one, two]).unwrap().digest();
    // a sum of other wires, and nothing else
    let sum = |other: bool| {
        let mut g = Build::new();
        let (x, y) = (g.input(2), g.input(2));
        let [a, b, c] = [(x[0], y[0]), (x[1], y[0]), (x[0], y[1])].map(|(x, y)| g.and(x, y));
        let sum = g.xor(a, if other { c } else { b });
        g.output(&[a, b, c, sum]);
        digest(g)
    };
    assert_ne!(sum(false), sum(true));
    // a product of other wires, whose numbers end in the same byte, and nothing else
    let product = |at: usize| {
        let mut g = Build::new();
        let (x, y) = (g.input(300), g.input(1));
        let out = g.and(x[at], y[0]);
        g.output(&[out]);
        digest(g)
    };
    let digests: HashSet<_> = [0, 1, 256, 257].map(product).into();
    assert_eq!(digests.len(), 4);
}

/// Two circuits of three instances in one session, with all inputs zero: no mask of an input and no label
/// serves twice, and labels are uniform in all their bits.
#[test]
fn no_mask_or_label_serves_twice() {
    let mut g = Build::new();
    let (x, y) = (g.input(64), g.input(64));
    let out: Vec<_> = (0..8).map(|i| g.and(x[i], y[i])).collect();
    g.output(&out);
    let program = g.finish();
    let plan = Plan::new(&program, 3, &[party(1), party(2)], &[vec![party(1)]]).unwrap();
    let zeros = vec![vec![0; 128]; 3];
    for (form, streamed) in
        [(GarblingForm::Improved, false), (GarblingForm::Paper, false), (GarblingForm::Improved, true)]
    {
        let lab = GarbleLab::of(form, streamed);
        let harness = harness(&lab);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let mut garble: Garble = lab.party(&mut session)?;
            let mine = of_party(&plan, session.me(), &zeros);
            if streamed {
                return (0..2).try_for_each(|_| garble.streamed(&mut session, &plan, &mine).map(|_| ()));
            }
            let mut made = garble.function_independent(&mut session, 6 * 8, 6 * (8 + 128))?;
            for _ in 0..2 {
                let garbled = garble.function_dependent(&mut session, &mut made, &plan, 3)?;
                garble.online(&mut session, garbled, &mine)?;
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        // 64 masks of each instance and circuit, of both owners
        let mut masks = HashSet::new();
        for (owner, to) in [(0, 2), (1, 1)] {
            for body in recordings[owner].bodies(MessageDirection::Out, party(to), MASKED) {
                for mask in body.chunks_exact(8) {
                    assert!(masks.insert(mask.to_vec()), "{form:?} {streamed}");
                }
            }
        }
        assert_eq!(masks.len(), 12);
        let step = if streamed { "divisi_garble::streamed/6.labels" } else { LABELS };
        let mut labels = Vec::new();
        for recording in &recordings {
            for seen in recording.of(MessageDirection::Out, step) {
                labels.extend(seen.frame.body.chunks_exact(16).take(128).map(|label| word(label, 0)));
            }
        }
        // for each circuit the labels of two garblers of each of three instances, of 128 wires each
        assert_eq!(labels.len(), 2 * 6 * 128);
        let of: HashSet<&u128> = labels.iter().collect();
        assert_eq!(of.len(), labels.len(), "{form:?} {streamed}");
        for bit in 0..128 {
            let ones = labels.iter().filter(|label| *label >> bit & 1 == 1).count() as f64;
            // eight standard deviations
            assert!((ones - 768.0).abs() < 4.0 * 1536_f64.sqrt(), "{form:?} {streamed} {bit}: {ones}");
        }
    }
}

/// Shares of the masks of outputs go to their receivers, and to nobody else.
#[test]
fn who_receives_nothing_is_told_nothing() {
    let plan = Plan::new(&PROGRAM, 3, &all(), &[vec![party(1)], vec![party(1)], vec![party(2)]]).unwrap();
    for streamed in [false, true] {
        let lab = GarbleLab { streamed, ..GarbleLab::default() };
        let harness = harness(&lab);
        let recordings = harness.recordings();
        let one = [inputs()[0].clone()];
        let ends =
            harness.act(|mut session| lab.outputs(&mut session, &plan, &one).map(|outputs| outputs[0].len()));
        assert_eq!(ends.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [18, 9, 0]);
        // P_1 evaluates; of the others P_2 gets shares of nine masks, P_3 none
        let step = if streamed { OUTPUTS } else { LABELS };
        let told = |from: u8, to: u8| {
            let bodies = recordings[usize::from(from) - 1].bodies(MessageDirection::Out, party(to), step);
            bodies.iter().map(Vec::len).sum::<usize>()
        };
        assert_eq!([told(1, 2), told(3, 2)], [2 + DIGEST; 2]);
        assert_eq!([told(1, 3), told(2, 3)], [0; 2]);
        assert!(recordings.iter().all(|r| r.bodies(MessageDirection::Out, party(3), RESULT).is_empty()));
    }
}

/// Shares of the masks of inputs go to their owners, and to nobody else.
#[test]
fn who_gives_nothing_is_told_no_mask() {
    let plan = Plan::for_all(&PROGRAM, 3, &[party(1), party(1), party(2)]).unwrap();
    let lab = GarbleLab { streamed: true, ..GarbleLab::default() };
    let harness = harness(&lab);
    let recordings = harness.recordings();
    let ends = play(harness, &lab, &plan);
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    // behind the plan's digest, of three instances
    for (to, bits) in [(1, 54_usize), (2, 27), (3, 0)] {
        for from in (1..=3).filter(|from| *from != to) {
            let told = recordings[from - 1].bodies(MessageDirection::Out, party(to as u8), OWNERS);
            let shares = if bits == 0 { 0 } else { bits.div_ceil(8) + DIGEST };
            assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [32 + shares], "{from} to {to}");
        }
    }
}

/// A masked output of each of two instances that one party evaluates is compared.
#[test]
fn results_of_every_instance_are_compared() {
    let plan = Plan::for_all(&PROGRAM, 2, &[party(1), party(2), party(1)]).unwrap();
    let all: Vec<Vec<u8>> = inputs().into_iter().chain(inputs()).take(4).collect();
    // 27 masked outputs of an instance, and of the next
    many(4, 3, |i| {
        let lab = GarbleLab::default();
        let harness = lab.harness(2).patient();
        let at = [0, 26, 27, 53][i];
        harness.change(party(2), party(1), RESULT, 0, move |body| body[at / 8] ^= 1 << (at % 8));
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &all));
        assert_eq!(failed_check(&ends[0]), Some(checks::W25), "{at}: {:?}", ends[0].as_ref().err());
    });
}
