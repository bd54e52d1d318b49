//! Attacks on the making of triples.

use super::{Ends, attacked, inputs, parameters, plan, small, wrong};
use crate::common::copies;
use divisi_core::Check;
use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_garble::GarblingForm;
use divisi_garble::adversary::{self, TripleLie};
use divisi_garble::lab::{GarbleLab, expected, of_party};
use divisi_ot::bucket;

/// A run of n parties of which the last one lies.
fn lying(
    n: usize,
    check: Option<Check>,
    lie: TripleLie,
    prepare: impl Fn(&Harness),
) -> (Ends, Vec<Recording>) {
    let (lab, program) = (GarbleLab::default(), small());
    let all: Vec<u8> = (1..=n as u8).collect();
    let plan = plan(&program, n, &all);
    let harness = Harness::new(n, &parameters(&lab, check));
    prepare(&harness);
    let recordings = harness.recordings();
    let ends = harness.act(|mut session| {
        let mine = of_party(&plan, session.me(), &inputs());
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
    (0..8).any(|_| {
        let (ends, _) = lying(2, check, TripleLie::OtherX, |harness| {
            copies(harness, party(2), party(1), party(1), &["divisi_garble::zero/6.open"]);
        });
        wrong(&small(), &inputs(), &[0], &ends)
    })
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
        let (ends, seen) = attacked(2, check, &[1, 2], |_| {});
        let right: Vec<Vec<u8>> = inputs().iter().map(|input| expected(&small(), input)).collect();
        assert!(ends.iter().all(|end| end.as_ref() == Ok(&right)));
        // bits are dealt from one seed: the same y in every session, so the same d if the order is the same
        let mut body = seen[1].of(MessageDirection::In, "divisi_garble::aand/3.d").pop().unwrap().frame.body;
        body.truncate(body.len() - 32);
        body
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
    let (lab, program) = (GarbleLab::of(GarblingForm::Paper, false), small());
    let plan = plan(&program, 2, &[1, 2]);
    let harness = Harness::new(2, &parameters(&lab, check));
    let recordings = harness.recordings();
    harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs()));
    let sums = |i: usize| -> Vec<u8> {
        let [u, h] = ["divisi_garble::laand/5.u", "divisi_garble::haand/2.h"]
            .map(|step| recordings[i].of(MessageDirection::Out, step).pop().unwrap().frame.body);
        let bit = |k: usize| h[k / 8] >> (k % 8) & 1;
        u.chunks(16).enumerate().map(|(t, u)| u[0] & 1 ^ bit(2 * t) ^ bit(2 * t + 1)).collect()
    };
    sums(0) == sums(1)
}
