//! Attacks on the proof that each party uses one Delta.

use super::{config, harness, play};
use divisi_core::Check;
use divisi_core::testing::{MessageDirection, failed_check, party};
use divisi_ot::checks;

const COMMIT: &str = "divisi_ot::abit::consistency/commit";
const BITS: &str = "divisi_ot::abit::consistency/bits";
const SUMS: &str = "divisi_ot::abit::consistency/sums";

/// The word at a place of a message.
fn word(body: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(body[at..at + 16].try_into().unwrap())
}

/// Whether the parties continue and open their bits after P_1 sent P_2 another commitment than P_3.
pub fn split_commitment(without: Option<Check>) -> bool {
    let harness = harness(3, without);
    // with one equation there are two commitments to sums, and then the one to the bits
    let recording = harness.recording(party(1));
    harness.change(party(1), party(2), COMMIT, 0, |body| body[64] ^= 1);
    let ends = play(harness, config(4, 1), 10);
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
    let ends = play(harness, config(4, 8), 10);
    let sums = seen.bodies(MessageDirection::In, party(2), SUMS);
    let delta = ends[1].as_ref().unwrap().0;
    sums.len() > 1 && word(&sums[0], 32) ^ word(&sums[1], 0) == delta
}

/// Whether a party gets the bits of the proof, too.
pub fn too_many_bits(without: Option<Check>) -> bool {
    let ends = play(harness(3, without).patient(), config(4, 40), 100);
    ends[1].as_ref().unwrap().1.len() > 100
}
