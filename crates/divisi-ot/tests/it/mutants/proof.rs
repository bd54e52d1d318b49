//! Attacks on the proof that each party uses one Delta.

use super::{config, harness, play};
use divisi_core::testing::{MessageDirection, Recording, failed_check, party};
use divisi_core::{Abort, Check};
use divisi_ot::adversary::Deviation;
use divisi_ot::checks;

const COMMIT: &str = "divisi_ot::abit::consistency/commit";
const BITS: &str = "divisi_ot::abit::consistency/bits";
const SUMS: &str = "divisi_ot::abit::consistency/sums";

/// The word at a place of a message.
fn word(body: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(body[at..at + 16].try_into().unwrap())
}

/// Whether the others accept that P_1's Delta towards P_3 differs. With 40 equations this passes once in
/// 2^40.
pub fn two_deltas(without: Option<Check>) -> bool {
    let how = Deviation { other_delta: Some((party(3), 2)), ..Deviation::default() };
    let ends = play(harness(3, without), config(4, 40), 10, &how);
    if without.is_none() {
        // nobody is named: either P_1 lied, or a party whose MACs were added
        let fails = |end: &&Result<_, Abort>| {
            matches!(end, Err(Abort::CheckFailed { check: checks::W10, culprit: None, .. }))
        };
        assert!(ends[1..].iter().any(|end| fails(&end)));
    }
    ends[1].is_ok() && ends[2].is_ok()
}

/// The same, by a prover that commits after it has seen the others' bits.
pub fn rushing_prover(without: Option<Check>) -> bool {
    let how = Deviation { other_delta: Some((party(3), 2)), rushing: true, ..Deviation::default() };
    let ends = play(harness(3, without), config(4, 40), 10, &how);
    ends[1].is_ok() && ends[2].is_ok()
}

/// Whether the parties continue and open their bits after P_1 sent P_2 another commitment than P_3.
pub fn split_commitment(without: Option<Check>) -> bool {
    let harness = harness(3, without);
    // with one equation there are two commitments to sums, and then the one to the bits
    let recording = harness.recording(party(1));
    harness.change(party(1), party(2), COMMIT, 0, |body| body[64] ^= 1);
    let ends = play(harness, config(4, 1), 10, &Deviation::default());
    assert!(
        recording.bodies(MessageDirection::Out, party(2), COMMIT)
            != recording.bodies(MessageDirection::Out, party(3), COMMIT)
    );
    assert!(without.is_some() || ends.iter().any(|end| failed_check(end) == Some(checks::W7)));
    ends.iter().all(|end| failed_check(end) != Some(checks::W7))
        && !recording.bodies(MessageDirection::In, party(3), BITS).is_empty()
}

/// Whether P_2's messages reveal both of its sums, and so its Delta.
pub fn both_sums(without: Option<Check>) -> bool {
    let harness = harness(3, without).patient();
    let seen = harness.recording(party(1));
    let ends = play(harness, config(4, 8), 10, &Deviation::default());
    let sums = seen.bodies(MessageDirection::In, party(2), SUMS);
    let delta = ends[1].as_ref().unwrap().0;
    sums.len() > 1 && word(&sums[0], 32) ^ word(&sums[1], 0) == delta
}

/// P_1 opens its first bit flipped. If P_2 does not demand that the bit has its MAC, it opens the sum of keys
/// for the flipped bit, and the MACs of P_1 and P_3 give the sum for the true bit. Whether the difference of
/// both is P_2's Delta.
pub fn flipped_opening(without: Option<Check>) -> bool {
    let harness = harness(3, without);
    let seen: Recording = harness.recording(party(1));
    let how = Deviation { flipped_opening: Some(0), ..Deviation::default() };
    let ends = play(harness, config(4, 40), 10, &how);
    let sums = seen.bodies(MessageDirection::In, party(2), SUMS);
    let Some(opened) = sums.first() else {
        let named = |end: &Result<_, Abort>| match end {
            Err(Abort::CheckFailed { check: checks::W10, culprit, .. }) => *culprit == Some(party(1)),
            _ => false,
        };
        assert!(ends[1..].iter().any(named), "the liar is named");
        return false;
    };
    // the MACs of the first bits under P_2's Delta: P_1's come first in its message, P_3's come after those
    // under P_1's Delta
    let ours = word(&seen.bodies(MessageDirection::Out, party(2), BITS)[0], 48);
    let theirs = word(&seen.bodies(MessageDirection::In, party(3), BITS)[0], 48 + 40 * 16);
    word(opened, 32) ^ ours ^ theirs == ends[1].as_ref().unwrap().0
}

/// Whether a party gets the bits of the proof, too.
pub fn too_many_bits(without: Option<Check>) -> bool {
    let ends = play(harness(3, without).patient(), config(4, 40), 100, &Deviation::default());
    ends[1].as_ref().unwrap().1.len() > 100
}
