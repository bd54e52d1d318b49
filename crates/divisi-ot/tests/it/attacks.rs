//! Attacks on set-up and bits that do not belong to a single mutant: bad group elements, and guesses of
//! Delta, with how often they succeed.

use crate::common::{as_often_as, honest, parameters, passed};
use divisi_core::testing::{Harness, failed_check, party};
use divisi_core::{Abort, Check, Coins, PartyId, step};
use divisi_fuzz::repetitions;
use divisi_net::Fault;
use divisi_ot::checks;
use divisi_ot::{AuthBits, Base, Setup, SetupConfig};
use std::collections::HashSet;

const SENDER: &str = "divisi_ot::setup::pairs/base.sender";
const RECEIVER: &str = "divisi_ot::setup::pairs/base.receiver";
const TREES: &str = "divisi_ot::setup::pairs/trees";
const CORRECT: &str = "divisi_ot::vole/correct";
const CHECK: &str = "divisi_ot::vole/check";

fn harness(n: usize) -> Harness {
    Harness::new(n, &parameters())
}

fn config(k: u32, rho: u32, base: Base) -> SetupConfig {
    SetupConfig { k, rho, base }
}

/// All parties make a set-up and one batch.
fn play(harness: Harness, config: SetupConfig) -> Vec<Result<AuthBits, Abort>> {
    harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config)?;
        setup.authenticated_bits(&mut session, 100)
    })
}

/// Whether a party ended the session by this check, and named P_1.
fn named(end: &Result<AuthBits, Abort>, check: Check) -> bool {
    names(end, check, party(1))
}

fn names(end: &Result<AuthBits, Abort>, check: Check, by: PartyId) -> bool {
    matches!(end, Err(Abort::CheckFailed { check: c, culprit: Some(p), .. }) if *c == check && *p == by)
}

/// 1.15: if either message has a point of small order, or an encoding that is not reduced, negative, or of no
/// element, its sender is named.
#[test]
fn bad_elements_end_the_set_up() {
    // the first byte, the last one, and the others
    let bad = [
        (0, 0, 0),
        (0xff, 0xff, 0xff),
        (1, 0, 0),
        (0xec, 0x7f, 0xff),
        (0, 0x80, 0),
        (0xed, 0x7f, 0xff),
        (1, 0x80, 0),
    ];
    // by halves, P_1 sends P_2 only the messages of a sender; P_3 is the last peer that P_1 hears
    for (base, step, [from, to]) in [
        (Base::Both, SENDER, [1, 2]),
        (Base::Both, RECEIVER, [1, 2]),
        (Base::Half, SENDER, [1, 2]),
        (Base::Both, SENDER, [3, 1]),
        (Base::Both, RECEIVER, [3, 1]),
    ] {
        for (first, last, rest) in bad {
            let harness = harness(usize::from(from.max(to)));
            harness.change(party(from), party(to), step, 0, move |body| {
                body[..32].fill(rest);
                (body[0], body[31]) = (first, last);
            });
            let ends = play(harness, config(4, 40, base));
            let end = &ends[usize::from(to) - 1];
            let named = names(end, checks::O1, party(from));
            assert!(named, "{base:?} {step} {from} {first} {last} {rest} {:?}", end.as_ref().err());
        }
    }
}

/// 1.13: one false sum of a tree is a guess of one bit of Delta. It passes with probability 1/2, and then the
/// bit is the guessed one.
#[test]
fn a_false_sum_is_a_guess() {
    let passes = || {
        let harness = harness(2);
        // the sum that P_2 needs if its bit 5 is one
        harness.change(party(1), party(2), TREES, 0, |body| body[5 * 32] ^= 1);
        let ends = harness.act(|mut session| {
            let setup = Setup::new(&mut session, config(4, 40, Base::Both))?;
            Ok(setup.delta().get() >> 5 & 1)
        });
        match &ends[1] {
            Ok(bit) => assert_eq!(*bit, 0),
            end => assert_eq!(failed_check(end), Some(checks::O2)),
        }
        ends[1].is_ok()
    };
    as_often_as(|trials| passed(trials, 3, &passes), repetitions(32, 80), 0.5);
}

/// False sums of both sides are found whatever Delta is, in the first tree, in the middle and in the last
/// one.
#[test]
fn a_false_sum_of_any_tree_is_found() {
    for bit in [0, 5, 64, 127] {
        let harness = harness(2);
        harness.change(party(1), party(2), TREES, 0, move |body| {
            body[bit * 32] ^= 1;
            body[bit * 32 + 16] ^= 1;
        });
        let ends = harness.act(|mut session| Setup::new(&mut session, config(4, 40, Base::Both)).map(drop));
        assert_eq!(failed_check(&ends[1]), Some(checks::O2), "{bit}");
    }
}

/// Altered messages are detected also where trees come from a first extension.
#[test]
fn every_message_of_the_second_direction_is_checked() {
    // P_1 sends base OTs to P_2, so its check and flips come from the first extension, and P_2's trees go to
    // it
    for (from, to, step, check) in [
        (1, 2, TREES, checks::O2),
        (1, 2, CORRECT, checks::W1),
        (1, 2, CHECK, checks::W1),
        (2, 1, TREES, checks::O2),
    ] {
        let harness = harness(2);
        harness.change(party(from), party(to), step, 0, |body| {
            body.iter_mut().step_by(16).for_each(|byte| *byte ^= 1)
        });
        let ends = harness.act(|mut session| Setup::new(&mut session, config(4, 40, Base::Half)).map(|_| ()));
        assert_eq!(failed_check(&ends[to as usize - 1]), Some(check), "{step}");
    }
}

/// 1.14: altered corrections in t pieces of one bit each pass if Delta has zeros there.
#[test]
fn inconsistent_columns_cost_a_bit_each() {
    for t in 1..=4_u32 {
        let passes = || {
            let harness = harness(2);
            // k = 1: each piece has two words, one for each tile; the first piece belongs to the public bit
            harness.change(party(1), party(2), CORRECT, 0, move |body| {
                body.chunks_mut(32).skip(9).take(t as usize).for_each(|piece| piece[0] ^= 1);
            });
            let ends = play(harness, config(1, 40, Base::Both));
            assert!(ends[1].is_ok() || named(&ends[1], checks::W5));
            ends[1].is_ok()
        };
        as_often_as(|trials| passed(trials, 3, &passes), repetitions(32, 96), 0.5_f64.powi(t as i32));
    }
}

/// An altered correction for a public bit that is zero passes, and changes nothing.
#[test]
fn another_public_bit_changes_nothing() {
    let harness = harness(2);
    harness.change(party(1), party(2), CORRECT, 0, |body| body[0] ^= 1);
    let ends = play(harness, config(1, 40, Base::Both));
    // P_2's lowest bit is zero: nothing of its keys depends on the first piece
    assert!(ends[1].is_ok());
}

/// The Deltas of many sessions are not zero, all distinct, and balanced in every bit.
#[test]
fn deltas_of_many_sessions_are_distinct_and_balanced() {
    const SESSIONS: usize = 100;
    let mut deltas = Vec::new();
    for _ in 0..SESSIONS {
        let ends = harness(2).patient().act(|mut session| {
            let setup = Setup::new(&mut session, config(2, 40, Base::Half))?;
            Ok(setup.delta().get())
        });
        deltas.extend(honest(ends));
    }
    for bit in 1..128 {
        let ones = deltas.iter().filter(|delta| *delta >> bit & 1 == 1).count() as f64;
        // six standard deviations
        assert!((ones - SESSIONS as f64).abs() < 6.0 * (SESSIONS as f64 / 2.0).sqrt(), "bit {bit}: {ones}");
    }
    deltas.sort_unstable();
    deltas.dedup();
    assert_eq!(deltas.len(), 2 * SESSIONS);
    assert!(!deltas.contains(&0));
}

/// An abort erases the set-up, so no attack can be tried again with it.
#[test]
fn an_abort_erases_the_set_up() {
    let harness = harness(2);
    harness.change(party(1), party(2), CHECK, 0, |body| body[40] ^= 1);
    let ends = harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config(4, 40, Base::Both))?;
        let first = setup.authenticated_bits(&mut session, 10).map(|_| ());
        let again = setup.authenticated_bits(&mut session, 10).map(|_| ());
        Ok((first, again, setup.delta().get()))
    });
    let (first, again, delta) = ends[1].as_ref().unwrap();
    assert_eq!(failed_check(first), Some(checks::W5));
    assert!(matches!(again, Err(Abort::Misuse { .. })), "{again:?}");
    assert_eq!(*delta, 0);
}

/// A set-up serves all strands of its session, and every batch is under the Delta of the first one (1.32).
#[test]
fn strands_share_one_delta() {
    let mut views = honest(harness(3).patient().act(|mut session| {
        let mut setup = Setup::new(&mut session, config(4, 40, Base::Half))?;
        let mut made = vec![setup.authenticated_bits(&mut session, 100)?];
        let mut strand = session.strand()?;
        made.push(setup.authenticated_bits(&mut strand, 50)?);
        made.push(setup.authenticated_bits(&mut session, 200)?);
        Ok((setup.delta().get(), made))
    }));
    for _ in 0..3 {
        let batch: Vec<_> = views.iter_mut().map(|(delta, made)| (*delta, made.remove(0))).collect();
        divisi_ot::testing::fit(&batch);
    }
}

/// If one bit of any one message of P_1 is changed, a party aborts, or all rows fit.
#[test]
fn no_changed_message_is_taken() {
    for (n, base) in [(2, Base::Both), (2, Base::Half), (3, Base::Half)] {
        let mut swept = 0;
        for nth in 0.. {
            let mut reached = false;
            for place in 0..3 {
                let harness = harness(n);
                let (give, take) = std::sync::mpsc::channel();
                let mut count = 0;
                // the first two messages belong to the session's start
                harness.hand(party(1), party(2), move |mut frame| {
                    if count == nth + 2 {
                        let at = [0, frame.body.len() / 2, frame.body.len() - 1][place];
                        frame.body[at] ^= 1 << place;
                        let _ = give.send(());
                    }
                    count += 1;
                    vec![frame]
                });
                let views = harness.act(|mut session| {
                    let mut setup = Setup::new(&mut session, config(4, 40, base))?;
                    let bits = setup.authenticated_bits(&mut session, 100)?;
                    Ok((setup.delta().get(), bits))
                });
                reached = take.try_recv().is_ok();
                if views.iter().all(Result::is_ok) {
                    divisi_ot::testing::fit(&honest(views));
                }
                swept += usize::from(reached);
            }
            if !reached {
                break;
            }
        }
        assert!(swept >= 3 * 7, "{swept}");
    }
}

/// If a party falls silent in any round, the other one ends with a fault of the network in time.
#[test]
fn a_silent_party_is_named() {
    for silent in [SENDER, TREES, CORRECT, CHECK, "divisi_core::coin/commit", "divisi_ot::abit::produce/coin"]
    {
        let harness = harness(2);
        let id = divisi_core::Step::new(silent).id;
        let mut gone = false;
        harness.hand(party(1), party(2), move |frame| {
            gone |= frame.step == id;
            if gone { Vec::new() } else { vec![frame] }
        });
        let ends = play(harness, config(4, 40, Base::Both));
        let network = matches!(
            ends[1],
            Err(Abort::Network(Fault::Stalled { .. } | Fault::Aborted { .. } | Fault::Lost { .. }))
        );
        assert!(network, "{silent}: {:?}", ends[1].as_ref().err());
    }
}

/// A coin is the same at all parties, and no two coins are equal. A party that opens a false link is named.
#[test]
fn coins_are_the_same_at_all_and_fresh() {
    const TOSS: divisi_core::Step = step!("toss");
    for n in [2, 3, 5] {
        let coins = honest(harness(n).patient().act(|mut session| {
            let mut coins = Coins::commit(&mut session)?;
            (0..1100).map(|_| coins.toss(&mut session, TOSS)).collect::<Result<Vec<_>, _>>()
        }));
        assert!(coins.iter().all(|all| *all == coins[0]));
        assert_eq!(coins[0].iter().collect::<HashSet<_>>().len(), 1100, "more than one chain");
    }
    let harness = harness(3);
    harness.change(party(1), party(2), TOSS.name, 1, |body| body[31] ^= 0x80);
    let ends = harness.act(|mut session| {
        let mut coins = Coins::commit(&mut session)?;
        coins.toss(&mut session, TOSS)?;
        coins.toss(&mut session, TOSS)
    });
    assert!(matches!(
        &ends[1],
        Err(Abort::CheckFailed { check: checks::M0_2, culprit: Some(p), .. }) if *p == party(1)
    ));
}

/// 1.5 (e): corrections of another bit in half of the pieces, at the first, a middle or the last position,
/// are detected for batches of many lengths: every position of a batch is checked.
#[test]
fn no_position_of_a_batch_is_left_out() {
    let lengths =
        (1..=8).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 2047, 2048, 2049, 4095, 4096, 4100]);
    for count in lengths {
        for at in [0, count / 2, count - 1] {
            let harness = harness(2);
            let tiles: usize = count / 128 + usize::from(count % 128 > 0) + 1;
            // there are 32 pieces of k = 4 bits; the first one has the public bit
            harness.change(party(1), party(2), CORRECT, 0, move |body| {
                for piece in body.chunks_mut(16 * tiles).skip(1).step_by(2) {
                    piece[at / 8] ^= 1 << (at % 8);
                }
            });
            let ends = harness.act(|mut session| {
                let mut setup = Setup::new(&mut session, config(4, 40, Base::Both))?;
                setup.authenticated_bits(&mut session, count)
            });
            assert!(named(&ends[1], checks::W5), "{at} of {count}: {:?}", ends[1].as_ref().err());
        }
    }
}
