//! Attacks on a batch of authenticated bits.

use super::{config, fits, harness, play};
use divisi_core::testing::{MessageDirection, failed_check, links, party};
use divisi_core::{Abort, Check};
use divisi_field::Gf128;
use divisi_ot::{Setup, checks};

pub const CORRECT: &str = "divisi_ot::vole/correct";
pub const CHECK: &str = "divisi_ot::vole/check";

/// Whether all parties accepted their bits although they do not fit.
fn wrong(ends: &[Result<(u128, divisi_ot::AuthBits), Abort>], from: usize) -> bool {
    let taken: Vec<_> = ends.iter().filter_map(|end| end.as_ref().ok()).collect();
    taken.len() == ends.len()
        && taken.iter().enumerate().any(|(i, a)| taken[..i].iter().any(|b| !fits(a, b, from)))
}

/// P_1 sends corrections of another bit for one row, in every piece but the last. With k = 1 these fit one
/// Delta in 2^126.
pub fn flipped_correction(without: Option<Check>) -> bool {
    let harness = harness(2, without);
    // each piece has two words, one for each tile
    harness.change(party(1), party(2), CORRECT, 0, |body| {
        body.chunks_mut(32).take(127).for_each(|piece| piece[0] ^= 1);
    });
    let ends = play(harness, config(1, 40), 100);
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::W5));
    wrong(&ends, 0)
}

/// P_1 sends a false sum of its MACs.
pub fn false_mac_sum(without: Option<Check>) -> bool {
    let harness = harness(2, without);
    harness.change(party(1), party(2), CHECK, 0, |body| body[16 * 77 + 3] ^= 4);
    let ends = play(harness, config(4, 40), 100);
    let named = matches!(
        &ends[1],
        Err(Abort::CheckFailed { check: checks::W5, culprit: Some(culprit), .. }) if *culprit == party(1)
    );
    !named
}

/// Whether the sums that P_2 and P_3 broadcast fit the bits that they keep. With the pads they do not.
/// Without them X = x z, so that X_2 x_3 = X_3 x_2 whatever the coin z is.
pub fn bare_sum(without: Option<Check>) -> bool {
    let harness = harness(3, without).patient();
    let seen = harness.recording(party(1));
    let mut x = Vec::new();
    let ends = harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config(4, 40))?;
        setup.authenticated_bits(&mut session, 1)?;
        setup.authenticated_bits(&mut session, 128)
    });
    for number in [2, 3] {
        let bits = ends[number - 1].as_ref().unwrap().bits().to_vec();
        let sums = seen.bodies(MessageDirection::In, party(number as u8), CHECK);
        let told = u128::from_le_bytes(sums[1][..16].try_into().unwrap());
        x.push((Gf128(u128::from(bits[0]) | u128::from(bits[1]) << 64), Gf128(told)));
    }
    x[0].1 * x[1].0 == x[1].1 * x[0].0
}

/// Whether a party gets more bits than it asked for.
pub fn too_many_bits(without: Option<Check>) -> bool {
    let ends = play(harness(2, without).patient(), config(4, 40), 100);
    ends[1].as_ref().unwrap().1.len() > 100
}

/// A false sum of the first column or the last one, or of one between them, is noticed whoever sends it to
/// whom: of several peers' sums each is compared whole.
#[test]
fn no_column_of_any_peer_is_left_out() {
    for ((from, to), column) in links(3).flat_map(|link| [0, 63, 127].map(|column| (link, column))) {
        let harness = harness(3, None).patient();
        harness.change(from, to, CHECK, 0, move |body| body[16 * (1 + column)] ^= 1);
        let ends = harness.act(|mut session| {
            let mut setup = divisi_ot::testing::unsound(&mut session, config(4, 40))?;
            setup.authenticated_bits(&mut session, 90).map(drop)
        });
        let end = &ends[to.index()];
        let named = matches!(end, Err(Abort::CheckFailed { culprit: Some(culprit), .. }) if *culprit == from);
        assert!(named && failed_check(end) == Some(checks::W5), "{from} {to} {column}");
    }
}
