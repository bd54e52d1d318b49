//! Attacks on the making of triples.

use super::{PATIENT, expected, inputs, lab, parameters, plan, small, wrong};
use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_core::{Abort, Check, PartyId};
use divisi_garble::GarblingForm;
use divisi_garble::adversary::{self, TripleLie};
use divisi_garble::lab::of_party;
use divisi_ot::bucket;

type Ends = Vec<Result<Vec<Vec<u8>>, Abort>>;

/// A run of n parties of which the last one lies.
fn lying(
    n: usize,
    check: Option<Check>,
    lie: TripleLie,
    prepare: impl Fn(&Harness),
) -> (Ends, Vec<Recording>) {
    let (lab, program, inputs) = (lab(GarblingForm::Improved), small(), inputs());
    let all: Vec<u8> = (1..=n as u8).collect();
    let plan = plan(&program, n, &all);
    let harness = Harness::new(n, &parameters(&lab, check)).waiting(PATIENT);
    prepare(&harness);
    let recordings = PartyId::all(n).map(|p| harness.recording(p)).collect();
    let ends = harness.act(|mut session| {
        let mine = of_party(&plan, session.me(), &inputs);
        let lie = if session.me().index() == n - 1 { lie } else { TripleLie::Honest };
        let mut garble = lab.party(&mut session)?;
        let outputs = adversary::play(&mut garble, &mut session, &plan, &mine, lie)?;
        Ok(outputs.iter().map(|bits| bits.to_vec()).collect())
    });
    (ends, recordings)
}

fn lie_succeeds(n: usize, check: Option<Check>, lie: TripleLie) -> bool {
    let (ends, _) = lying(n, check, lie, |_| {});
    let honest: Vec<usize> = (0..n - 1).collect();
    wrong(&small(), &inputs(), &honest, &ends)
}

/// Whether a lie gives a wrong output, with two parties as with three: the wrong value depends on chance, so
/// several runs are one attack.
fn often(check: Option<Check>, lie: TripleLie) -> bool {
    [2, 3].into_iter().all(|n| (0..8).any(|_| lie_succeeds(n, check, lie)))
}

pub fn wrong_triples(check: Option<Check>) -> bool {
    often(check, TripleLie::OtherX)
}

pub fn flipped_bucket(check: Option<Check>) -> bool {
    often(check, TripleLie::FlippedBucket)
}

pub fn flipped_d(check: Option<Check>) -> bool {
    often(check, TripleLie::FlippedD)
}

pub fn flipped_e(check: Option<Check>) -> bool {
    often(check, TripleLie::FlippedE)
}

/// Two parties; P_2's triples are wrong, and it opens what P_1 opened.
pub fn reflected_opening(check: Option<Check>) -> bool {
    const OPEN: &str = "divisi_garble::zero/6.open";
    let run = || {
        let (ends, _) = lying(2, check, TripleLie::OtherX, |harness| {
            let recording = harness.recording(party(2));
            let id = divisi_core::Step::new(OPEN).id;
            let tap = harness.tap(party(2));
            let mut late: Option<std::thread::JoinHandle<bool>> = None;
            harness.hand(party(2), party(1), move |mut frame| {
                if frame.step != id {
                    // what follows the opening follows it on the link too
                    assert!(late.take().is_none_or(|late| late.join().unwrap()));
                    return vec![frame];
                }
                // a rushing party: its message follows the other's, which P_2's own thread receives meanwhile
                let (tap, recording, busy) = (tap.clone(), recording.clone(), tap.busy());
                late = Some(std::thread::spawn(move || {
                    let _busy = busy;
                    for _ in 0..1000 {
                        if let Some(seen) = recording.of(MessageDirection::In, OPEN).pop() {
                            frame.body = seen.frame.body;
                            return tap.inject(party(1), &frame).is_ok();
                        }
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    false
                }));
                vec![]
            });
        });
        wrong(&small(), &inputs(), &[0], &ends)
    };
    (0..8).any(|_| run())
}

/// P_3 sends P_1 another e than P_2: whether somebody honest opened its combination after that.
pub fn split_e(check: Option<Check>) -> bool {
    let (_, recordings) = lying(3, check, TripleLie::Honest, |harness| {
        harness.change(party(3), party(1), "divisi_garble::laand/3.e", 0, |body| body[0] ^= 1);
    });
    recordings[..2]
        .iter()
        .any(|seen| !seen.of(MessageDirection::Out, "divisi_garble::zero/6.open").is_empty())
}

/// Whether the partition can be foretold before a session begins: two sessions with the same bits open the
/// same d if their partitions are the same.
pub fn foreseen_partition(check: Option<Check>) -> bool {
    let partition = |_: usize| {
        let (lab, program, inputs) = (lab(GarblingForm::Improved), small(), inputs());
        let plan = plan(&program, 2, &[1, 2]);
        let harness = Harness::new(2, &parameters(&lab, check)).waiting(PATIENT);
        let recording = harness.recording(party(2));
        let ends = harness.act(|mut session| super::honest(&lab, &mut session, &plan, &inputs));
        assert!(ends.iter().all(|end| matches!(end, Ok(o) if *o == expected(&program, &inputs))));
        // bits are dealt from one seed: the same y in every session, so the same d if the order is the same
        let seen = recording.of(MessageDirection::In, "divisi_garble::aand/3.d").pop().unwrap();
        seen.frame.body[..seen.frame.body.len() - 32].to_vec()
    };
    partition(0) == partition(1)
}

/// Whether the size of buckets, read off the messages, is less than the bound demands.
pub fn small_buckets(check: Option<Check>) -> bool {
    let (_, recordings) = lying(2, check, TripleLie::Honest, |_| {});
    let u = recordings[0].of(MessageDirection::In, "divisi_garble::laand/5.u").pop().unwrap();
    let ands = small().and_count() * inputs().len();
    bucket::error_bits(ands, u.frame.body.len() / 16 / ands) < 40.0
}

/// In the paper's form: with one hash for HaAND and LaAND, lowest bit of U + H_0 + H_1 = y^1 + lowest bit of
/// Phi_1, in every triple. The sum of all Phi_i is y Delta, so with two parties P_2 knows the right side:
/// y^2 + lowest bit of Phi_2. Here P_1 and P_2 look at each other's messages, and the two sums agree in every
/// triple.
pub fn one_hash_for_two(check: Option<Check>) -> bool {
    let lab = lab(GarblingForm::Paper);
    let (program, inputs) = (small(), inputs());
    let plan = plan(&program, 2, &[1, 2]);
    let harness = Harness::new(2, &parameters(&lab, check)).waiting(PATIENT);
    let recordings: Vec<Recording> = PartyId::all(2).map(|p| harness.recording(p)).collect();
    harness.act(|mut session| super::honest(&lab, &mut session, &plan, &inputs));
    let sums = |i: usize| -> Vec<u8> {
        let u = recordings[i].of(MessageDirection::Out, "divisi_garble::laand/5.u").pop().unwrap().frame.body;
        let h = recordings[i].of(MessageDirection::Out, "divisi_garble::haand/2.h").pop().unwrap().frame.body;
        let bit = |k: usize| h[k / 8] >> (k % 8) & 1;
        u.chunks(16).enumerate().map(|(t, u)| u[0] & 1 ^ bit(2 * t) ^ bit(2 * t + 1)).collect()
    };
    sums(0) == sums(1)
}
