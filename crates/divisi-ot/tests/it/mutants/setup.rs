//! Attacks on the set-up.

use super::{all, config, harness};
use divisi_core::testing::{LIMIT, failed_check, party};
use divisi_core::{Abort, Check, Coins, Step, step};
use divisi_ot::checks;
use divisi_ot::{Base, Setup, SetupConfig};

const SENDER: Step = Step::new("divisi_ot::setup::pairs/base.sender");
const TREES: &str = "divisi_ot::setup::pairs/trees";
const CORRECT: &str = "divisi_ot::vole/correct";
const COMMIT: Step = Step::new("divisi_core::coin/commit");

/// Whether P_1 continues after P_3, the last peer that it hears, has sent P_1's own element back to it.
pub fn reflected_element(without: Option<Check>) -> bool {
    let harness = harness(3, without);
    let tap = harness.tap(party(3));
    let ends = harness.act(|mut session| {
        if session.me() == party(3) {
            let mut body = [0; 32];
            for step in [COMMIT, SENDER] {
                session.recv(step, party(1), &mut body)?;
                session.send(step, party(1), &body, 0)?;
            }
            tap.wait(LIMIT);
            return Ok(());
        }
        Setup::new(&mut session, config(4, 40)).map(|_| ())
    });
    let refused = matches!(
        &ends[0],
        Err(Abort::CheckFailed { check: checks::O1, culprit: Some(culprit), .. }) if *culprit == party(3)
    );
    !refused
}

/// Whether P_2 continues with a tree that has false sums.
pub fn false_tree(without: Option<Check>) -> bool {
    let harness = harness(2, without);
    // both sums of bit 5 are false, so that the one that P_2 chose is false
    harness.change(party(1), party(2), TREES, 0, |body| {
        body[5 * 32] ^= 1;
        body[5 * 32 + 16] ^= 1;
    });
    let ends = harness.act(|mut session| Setup::new(&mut session, config(4, 40)).map(|_| ()));
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::O2));
    ends[1].is_ok()
}

/// By halves: P_1 sends corrections of another bit for one of the first rows, in every piece but the last.
/// Whether P_2 makes trees from these rows.
pub fn flipped_correction(without: Option<Check>) -> bool {
    let harness = harness(2, without);
    harness.change(party(1), party(2), CORRECT, 0, |body| {
        body.chunks_mut(32).take(127).for_each(|piece| piece[0] ^= 1);
    });
    let halves = SetupConfig { base: Base::Half, ..config(1, 40) };
    let ends = harness.act(|mut session| Setup::new(&mut session, halves).map(|_| ()));
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::W1));
    ends[1].is_ok()
}

/// P_1 repeats P_2's commitment, and then P_2's opening. Whether the coin is the one that P_1 wants, which is
/// zero.
pub fn reflected_link(without: Option<Check>) -> bool {
    const TOSS: Step = step!("toss");
    let ends = harness(2, without).act(|mut session| {
        let peer = session.peers()[0];
        if session.me() == party(1) {
            let mut link = [0; 32];
            for step in [COMMIT, TOSS] {
                session.recv(step, peer, &mut link)?;
                session.send(step, peer, &link, 0)?;
            }
            return Ok([1; 16]);
        }
        Coins::commit(&mut session)?.toss(&mut session, TOSS)
    });
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::M0_2));
    ends[1] == Ok([0; 16])
}

/// Whether both continue if P_1 commits to one chain towards P_2 and another one towards P_3.
pub fn split_commitment(without: Option<Check>) -> bool {
    let harness = harness(3, without);
    harness.change(party(1), party(2), COMMIT.name, 0, |body| body[7] ^= 1);
    let ends = harness.act(|mut session| Coins::commit(&mut session).map(|_| ()));
    assert_eq!(all(3).len(), ends.len());
    ends[1].is_ok() && ends[2].is_ok()
}
