//! Attacks that blind changes of messages cannot make: lies at every position of a batch, and what an abort
//! depends on and reveals.

use crate::common::{ands, copies};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{MessageDirection, ended_by_another, failed_check, many, party};
use divisi_core::{Abort, Prg, Step};
use divisi_field::Gf128;
use divisi_fuzz::repetitions;
use divisi_garble::adversary::{TripleLie, guess};
use divisi_garble::checks;
use divisi_garble::lab::{GarbleLab, in_turn};
use divisi_garble::{Garble, GarblingForm, Plan};
use divisi_net::Fault;
use divisi_ot::bucket;
use std::sync::Mutex;

/// One wrong bit in one triple, first, middle or last, of batches of every length up to forty and some longer
/// ones.
#[test]
fn no_place_of_a_batch_is_left_out() {
    let lengths: Vec<usize> = (1..40).chain([63, 64, 65, 127, 129, 255, 256, 257, 400]).collect();
    many(lengths.len(), 3, |i| {
        let ands = lengths[i];
        let m = ands * bucket::size(ands, 40);
        for at in [0, m / 2, m - 1] {
            let lab = GarbleLab { seed: i as u8, ..GarbleLab::default() };
            let ends = lab.each(2, |session, garble| {
                let lie = if session.me() == party(2) { TripleLie::OneX(at) } else { TripleLie::Honest };
                guess(garble, session, ands, lie)
            });
            let noticed = ends.iter().any(|end| failed_check(end) == Some(checks::W15));
            assert!(noticed && ends[0].is_err(), "{ands} at {at}: {ends:?}");
        }
    });
}

/// One wrong bit in the differences that P_2 opens, at the ends of a long list and between.
#[test]
fn no_difference_of_a_long_list_is_left_out() {
    const ANDS: usize = 400;
    let len = ANDS * (bucket::size(ANDS, 40) - 1);
    let places: Vec<usize> = (0..len).step_by(len / 8).chain([len - 1]).collect();
    many(places.len(), 3, |i| {
        let (lab, at) = (GarbleLab::default(), places[i]);
        let harness = lab.harness(2);
        let flip = move |body: &mut Vec<u8>| body[at / 8] ^= 1 << (at % 8);
        harness.change(party(2), party(1), "divisi_garble::aand/3.d", 0, flip);
        let ends = harness
            .act(|mut session| guess(&mut lab.party(&mut session)?, &mut session, ANDS, TripleLie::Honest));
        assert_eq!(failed_check(&ends[0]), Some(checks::W17), "{at} of {len}: {ends:?}");
    });
}

/// How often P_1 stops in this many runs with these inputs, when P_2 spoils one of the four rows.
fn stops(input: [u8; 2], runs: usize) -> usize {
    let ends = many(runs, 3, |i| {
        let program = ands(1);
        let plan = Plan::new(&program, 2, &[party(1), party(2)], &[vec![party(1)]]).unwrap();
        let lab = GarbleLab { seed: (i % 256) as u8, ..GarbleLab::of(GarblingForm::Paper, false) };
        let harness = lab.harness(2);
        harness.change(party(2), party(1), "divisi_garble::run/4d.table", 0, |body| body[0] ^= 1);
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[input.to_vec()]));
        match &ends[0] {
            Ok(outputs) => assert_eq!(outputs[0], [input[0] & input[1]]),
            Err(abort) => {
                let anonymous = Abort::CheckFailed { check: checks::W22, step: abort.step(), culprit: None };
                assert_eq!(*abort, anonymous);
            }
        }
        ends[0].is_err()
    });
    ends.into_iter().filter(|stopped| *stopped).count()
}

/// A wrong row stops the run when it is read: one time in four, whatever the inputs are (W23).
#[test]
fn whether_a_wrong_row_is_read_does_not_depend_on_inputs() {
    let runs = repetitions(256, 768);
    for input in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let stopped = stops(input, runs) as f64;
        let (mean, sigma) = (runs as f64 / 4.0, (runs as f64 * 3.0 / 16.0).sqrt());
        assert!((stopped - mean).abs() < 5.0 * sigma, "{input:?}: {stopped} of {runs}");
    }
}

/// The shares that an honest party sends for an opening are uniform, and so are its masked inputs.
#[test]
fn what_is_opened_looks_random() {
    for step in [
        "divisi_garble::laand/3.e",
        "divisi_garble::aand/3.d",
        "divisi_garble::run/4a.d",
        "divisi_garble::online/5.masked",
    ] {
        let bit = |i: usize| {
            let program = ands(1);
            let plan = Plan::for_all(&program, 3, &[party(1), party(2)]).unwrap();
            let lab = GarbleLab { seed: i as u8, ..GarbleLab::default() };
            let harness = lab.harness(3);
            let recording = harness.recording(party(1));
            let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
            assert!(ends.iter().all(Result::is_ok));
            let body = recording.of(MessageDirection::Out, step).pop().unwrap().frame.body;
            // behind the plan's digest, where there is one
            body[if step.ends_with("4a.d") { 32 } else { 0 }] & 1
        };
        // within five standard deviations; if a sample is not, which happens once in three million, a second
        // one decides
        let fits = || {
            let ones = many(256, 3, bit).into_iter().filter(|bit| *bit == 1).count();
            println!("{step}: {ones} of 256");
            (88..=168).contains(&ones)
        };
        assert!(fits() || fits(), "{step}");
    }
}

/// P_1 sends a receiver a digest of other labels than its own, or of right ones in another order of
/// instances: nothing is taken, and nobody is named, for a garbler may have misled P_1.
#[test]
fn a_wrong_label_reaches_no_receiver() {
    const RESULT: &str = "divisi_garble::online/8.result";
    for streamed in [false, true] {
        for form in [GarblingForm::Improved, GarblingForm::Paper] {
            let program = ands(1);
            let plan = Plan::for_all(&program, 3, &[party(1), party(2)]).unwrap();
            let lab = GarbleLab::of(form, streamed);
            let harness = lab.harness(3);
            // behind one byte with the bit
            harness.change(party(1), party(3), RESULT, 0, |body| body[1] ^= 1);
            let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
            // P_2's result may have come before P_3's abort, or not
            assert!(ends[1].as_ref().is_ok_and(|outputs| *outputs == [[1]]) || ends[1].is_err());
            assert!(
                matches!(ends[2], Err(Abort::CheckFailed { check: checks::W25, culprit: None, .. })),
                "{:?}",
                ends[2]
            );
        }
    }
}

/// Whoever pads bits with ones is named, in every message but a table, whose padding nobody reads: a digest
/// beside the bits, which may be one of no labels, is not asked. The first peer's message is right, the next
/// one's is not.
#[test]
fn wrong_padding_names_its_sender() {
    use GarblingForm::{Improved, Paper};
    let mut g = Build::new();
    let [x, y, z] = [(); 3].map(|()| g.input(1)[0]);
    let xy = g.and(x, y);
    let sum = g.xor(xy, z);
    g.output(&[sum]);
    let program = g.finish();
    // the last byte of bits is this far from the end: there are digests of 32 bytes behind it
    let cases = [
        ("divisi_garble::laand/3.e", 1, Improved, false),
        ("divisi_garble::laand/3.e", 1, Paper, true),
        ("divisi_garble::haand/2.h", 1, Paper, false),
        ("divisi_garble::aand/3.d", 33, Improved, false),
        // d and e, and the masks of our inputs
        ("divisi_garble::run/4a.d", 66, Improved, false),
        ("divisi_garble::run/4a.d", 33, Improved, false),
        ("divisi_garble::online/5.masked", 1, Improved, false),
        ("divisi_garble::online/6.labels", 33, Improved, false),
        ("divisi_garble::online/8.result", 33, Improved, false),
        ("divisi_garble::streamed/5.owners", 33, Improved, true),
        ("divisi_garble::streamed/8.masks", 33, Improved, true),
    ];
    for (step, back, form, streamed) in cases {
        let plan = Plan::for_all(&program, 3, &in_turn(3, 3)).unwrap();
        let lab = GarbleLab::of(form, streamed);
        let harness = lab.harness(3);
        harness.change(party(3), party(1), step, 0, move |body| {
            let at = body.len() - back;
            body[at] ^= 0x80;
        });
        // everybody evaluates, and no number of bits is a multiple of eight
        let inputs = vec![vec![1, 1, 0]; 7];
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs));
        let named =
            matches!(&ends[0], Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == party(3));
        assert!(named, "{step}, {back}: {:?}", ends[0]);
    }
}

/// 1.4: P_3 sends everybody P_2's commitment and P_2's opening as its own: in an XOR of two the values would
/// cancel. The committer's name is inside, so that P_2 and P_1 refuse the opening and name P_3.
#[test]
fn a_copied_commitment_opens_to_nothing() {
    const STEPS: [&str; 2] = ["divisi_garble::zero/6.commit", "divisi_garble::zero/6.open"];
    for n in [2, 3, 4] {
        let program = ands(1);
        let plan = Plan::for_all(&program, n, &[party(1), party(2)]).unwrap();
        let lab = GarbleLab::default();
        let (liar, copied) = (party(n as u8), party(n as u8 - 1));
        let harness = lab.harness(n);
        (1..n).for_each(|to| copies(&harness, liar, party(to as u8), copied, &STEPS));
        let mut ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
        ends.truncate(n - 1);
        let named = |end: &Result<_, Abort>| match end {
            Err(Abort::CheckFailed { check: checks::W14, culprit, .. }) => *culprit == Some(liar),
            _ => false,
        };
        assert!(ends.iter().any(named) && ends.iter().all(Result::is_err), "{n}: {ends:?}");
    }
}

/// The first coefficient of a batch's check, from what everybody saw of its coin.
fn first_coefficient(links: &[Vec<u8>]) -> Gf128 {
    let mut coin = [0_u8; 16];
    for link in links {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
        hasher.update(link).update(&Step::new("divisi_garble::laand/6.coin").id.to_le_bytes());
        let mut share = [0; 16];
        hasher.finalize_xof().fill(&mut share);
        coin.iter_mut().zip(share).for_each(|(x, y)| *x ^= y);
    }
    let mut seed = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble coin v1");
    hasher.update(&coin).update(b"coefficients").finalize_xof().fill(&mut seed);
    let mut words = [0; 2];
    Prg::new(&seed).words(&mut words);
    Gf128(u128::from(words[0]) | u128::from(words[1]) << 64)
}

/// A party that is caught learns nothing. All parties but P_1 are corrupt; the last one sends another e for
/// one triple, so that the sum of the combinations is the triple's coefficient times the honest Delta instead
/// of zero. If the combinations were opened directly, as in Fig. 8, corrupt parties with tables of an earlier
/// circuit or batch of the session could decrypt all their rows with that Delta, and read P_1's inputs, for
/// the price of an abort.
#[test]
fn an_abort_does_not_tell_delta() {
    const COIN: &str = "divisi_garble::laand/6.coin";
    const OPEN: &str = "divisi_garble::zero/6.open";
    for n in [2, 3, 4] {
        for form in [GarblingForm::Improved, GarblingForm::Paper] {
            let lab = GarbleLab::of(form, false);
            let harness = lab.harness(n);
            let recordings = harness.recordings();
            let deltas = Mutex::new(vec![0; n]);
            let ends = harness.act(|mut session| {
                let setup = divisi_ot::testing::deal(&mut session, lab.config, lab.seed)?;
                deltas.lock().unwrap()[session.me().index()] = setup.delta().get();
                let last = session.me().index() == n - 1;
                let lie = if last { TripleLie::OtherE } else { TripleLie::Honest };
                guess(&mut Garble::new(&session, setup, lab.options), &mut session, 3, lie)
            });
            // unless a corrupt party's own check was first
            let stopped = failed_check(&ends[0]) == Some(checks::W15) || ended_by_another(&ends[0]);
            assert!(stopped, "{n} {form:?}: {:?}", ends[0]);
            // what each party sent to all
            let said = |i: usize, step| {
                let to = party(if i == 0 { 2 } else { 1 });
                recordings[i].bodies(MessageDirection::Out, to, step).remove(0)
            };
            let links: Vec<Vec<u8>> = (0..n).map(|i| said(i, COIN)).collect();
            let opened = (0..n).fold(0, |sum, i| {
                let body = said(i, OPEN);
                sum ^ u128::from_le_bytes(body[body.len() - 16..].try_into().unwrap())
            });
            assert_ne!(opened, 0);
            // the keys of every party but the liar have changed by its Delta
            let moved = deltas.lock().unwrap()[..n - 1].iter().fold(0, |sum, delta| sum ^ delta);
            assert_ne!((first_coefficient(&links) * Gf128(moved)).0, opened, "{n} {form:?}: that is Delta");
        }
    }
}

/// 1.33: the shares of the check of triples that honest parties open are uniform except for their sum: of 160
/// openings of P_1, and of P_2, all 128 bits are independent, and the three of a session add up to zero.
#[test]
fn opened_combinations_are_uniform_but_for_their_sum() {
    const OPEN: &str = "divisi_garble::zero/6.open";
    let opened = many(160, 3, |i| {
        // one seed: the same Deltas, bits and triples each time
        let lab = GarbleLab::default();
        let harness = lab.harness(3);
        let recordings = harness.recordings();
        let ends = harness
            .act(|mut session| guess(&mut lab.party(&mut session)?, &mut session, 1, TripleLie::Honest));
        assert!(ends.iter().all(Result::is_ok), "{i}: {ends:?}");
        let word = |body: &[u8]| u128::from_le_bytes(body[32..].try_into().unwrap());
        let words: Vec<u128> = recordings
            .iter()
            .map(|r| word(&r.of(MessageDirection::Out, OPEN).pop().unwrap().frame.body))
            .collect();
        assert_eq!(words.iter().fold(0, |sum, word| sum ^ word), 0);
        words
    });
    for p in 0..2 {
        let mut rows: Vec<u128> = opened.iter().map(|words| words[p]).collect();
        let rank = (0..128)
            .filter(|bit| {
                let Some(at) = rows.iter().position(|row| row >> bit & 1 == 1) else { return false };
                let pivot = rows.swap_remove(at);
                rows.iter_mut().filter(|row| **row >> bit & 1 == 1).for_each(|row| *row ^= pivot);
                true
            })
            .count();
        // less than 128 once in 2^32
        assert_eq!(rank, 128, "party {}", p + 1);
    }
}
