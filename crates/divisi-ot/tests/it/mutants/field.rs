//! Attacks on rows over a field, and on products made of them.

use super::harness;
use divisi_core::Check;
use divisi_core::testing::{MessageDirection, failed_check, party};
use divisi_ot::adversary::offline;
use divisi_ot::checks;
use divisi_ot::correlate::BitVectors;
use divisi_ot::testing::unsound_over_field;
use divisi_ot::{Base, Bits, Links, Setup, SetupConfig, record};

const CORRECT: &str = "divisi_ot::vole/correct";
const TREES: &str = "divisi_ot::setup::pairs/trees";
const PAYLOAD: &str = "divisi_ot::correlate/payload";

fn config(k: u32, rho: u32, base: Base) -> SetupConfig {
    SetupConfig { k, rho, base }
}

/// P_1 sends corrections of another bit for one narrow row, in 39 of the 40 pieces of P_2's Delta.
pub fn flipped_correction(without: Option<Check>) -> bool {
    let harness = harness(2, without);
    // each of the 40 pieces of MACs has two words, one for each tile; the first one changes
    harness.change(party(1), party(2), CORRECT, 0, |body| {
        body.chunks_mut(32).take(39).for_each(|piece| piece[0] ^= 1);
    });
    let ends = harness.act(|mut session| {
        let mut setup = unsound_over_field(&mut session, config(1, 40, Base::Both), 40)?;
        let made = setup.mac_rows(&mut session, Bits::Random(100))?;
        Ok((setup.delta().get(), made))
    });
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::K11));
    match (&ends[0], &ends[1]) {
        (Ok((_, ours)), Ok((delta, theirs))) => {
            ours.macs(party(2))[0] != theirs.keys(party(1))[0] ^ (delta * u128::from(ours.bit(0)))
        }
        _ => false,
    }
}

/// Whether P_1 finds P_2's Delta of 12 bits, when it tries all of them on everything that P_2 sent it.
pub fn delta_found_offline(without: Option<Check>) -> bool {
    let f = 12;
    let harness = harness(2, without).patient();
    let seen = harness.recording(party(1));
    let ends = harness.act(|mut session| {
        record::begin();
        let mut setup = unsound_over_field(&mut session, config(1, 40, Base::Half), f)?;
        let mut made = setup.wide_rows(&mut session, Bits::Random(256))?;
        let payload = vec![0x0012_3456_789a; 256];
        setup.correlate(&mut session, &mut made.pads, None, &BitVectors { width: 48 }, &payload)?;
        let calls = record::end().calls;
        if session.me() == party(2) {
            return Ok((setup.delta().get(), Vec::new()));
        }
        let peer = party(2);
        let rows = offline::first_rows(&calls, &session, peer);
        assert_eq!(rows.len(), 140);
        let trees = seen.bodies(MessageDirection::In, peer, TREES);
        let told = seen.bodies(MessageDirection::In, peer, PAYLOAD);
        // our MACs under P_2's Delta: these rows follow the two tiles of the set-up and a sacrificed one
        let macs = &made.bits.macs(peer)[..8];
        let first = 3 * 128;
        let found = [
            offline::fit_trees(&session, peer, f, &trees[0], &rows),
            offline::fit_payloads(&session, peer, (f, 48), &told[0], macs, first),
        ];
        let all: Vec<Vec<u8>> =
            seen.read().into_iter().filter(|s| s.way == MessageDirection::In).map(|s| s.frame.body).collect();
        let numbered: Vec<_> = (first..).zip(macs.iter().copied()).collect();
        assert!(offline::stands_in(&session, peer, f, &all, &numbered).is_empty());
        Ok((0, found.to_vec()))
    });
    let delta = ends[1].as_ref().unwrap().0;
    let found = &ends[0].as_ref().unwrap().1;
    assert!(found.iter().all(|found| found.is_empty() || *found == [delta]));
    // both searches succeed against the mutant, and none against the protocol
    let found = found.iter().filter(|found| found.contains(&delta)).count();
    if without.is_some() { found == 2 } else { found > 0 }
}

/// Whether P_1 learns the difference of two payloads that are multiplied with the same rows of its bits.
pub fn two_payloads(without: Option<Check>) -> bool {
    let harness = harness(2, without).patient();
    let seen = harness.recording(party(1));
    let ends = harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config(4, 40, Base::Both))?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(128), Links::Before(1))?;
        let width = BitVectors { width: 128 };
        for secret in [3, 5] {
            setup.correlate(&mut session, &mut pads, Some(party(1)), &width, &vec![secret; 128])?;
        }
        Ok(())
    });
    assert!(without.is_some() || ends.iter().all(Result::is_err));
    let told = seen.bodies(MessageDirection::In, party(2), PAYLOAD);
    told.len() == 2
        && told[0]
            .iter()
            .zip(&told[1])
            .enumerate()
            .all(|(i, (a, b))| a ^ b == if i % 16 == 0 { 6 } else { 0 })
}

/// The same for packed bits: whether P_1 learns every bit of the difference.
pub fn two_bits(without: Option<Check>) -> bool {
    let harness = harness(2, without).patient();
    let seen = harness.recording(party(1));
    let secrets = [[0x0123_4567_89ab_cdef, 7], [0x0f1e_2d3c_4b5a_6978, 0xffff]];
    let ends = harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config(4, 40, Base::Both))?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(128), Links::All)?;
        for secret in &secrets {
            setup.correlate_bits(&mut session, &mut pads, secret)?;
        }
        Ok(())
    });
    assert!(without.is_some() || ends.iter().all(Result::is_err));
    let told = seen.bodies(MessageDirection::In, party(2), PAYLOAD);
    let difference = secrets[0].iter().zip(&secrets[1]).flat_map(|(x, y)| (x ^ y).to_le_bytes());
    told.len() == 2 && told[0].iter().zip(&told[1]).map(|(x, y)| x ^ y).eq(difference)
}
