//! Preprocessing from disk: each value is used once, whatever happens to sessions and directories.

use crate::common;
use crate::common::{Ends, INPUT, LOOKUP, SBOXES, SIGMA, StockDirs, TABLES, Trouble, copy, parameters};
use crate::engines::sums;
use divisi_core::testing::{Harness, MessageDirection, failed_check, party};
use divisi_core::{Abort, Bytes, Direction, Session, Settles};
use divisi_field::{Gf40, Gf48};
use divisi_spdz::stock::{FromStock, Lots, StockPlan};
use divisi_spdz::{Host, checks};
use divisi_store::stock::{Reserve, StockError};
use std::sync::Barrier;
use std::time::Duration;

/// The disk of a party is full after some number of writes. The party says so, all parties end, its own part
/// of the stock is removed, and the other parts cannot be used. With enough folder a stock is made.
#[test]
fn a_full_disk_ends_the_making_and_nothing_is_used() {
    for folder in 0..40 {
        let dirs = StockDirs::empty(2);
        let disk = |number| Ends::after(if number == 2 { folder } else { usize::MAX }, Trouble::Half);
        let ends = Harness::new(2, &parameters()).act(|session| dirs.make_on(session, disk, |_| ()));
        if ends.iter().all(Result::is_ok) {
            assert!(folder > 3 && dirs.all(0x53).iter().all(|end| *end == Ok(0xed)));
            return;
        }
        assert!(matches!(&ends[1], Err(Abort::Unfit { .. })), "{folder}: {ends:?}");
        assert!(dirs.state(2).is_err(), "{folder}");
        assert!(dirs.all(0x53).iter().all(Result::is_err), "{folder}");
    }
    panic!("no folder was enough");
}

fn why(end: &Result<u8, Abort>) -> &str {
    match end {
        Err(Abort::Unfit { why, .. }) => why,
        end => panic!("{end:?}"),
    }
}

fn used_up(end: &Result<u8, Abort>) {
    assert!(why(end).contains("is used up") && why(end).contains("divisi prep make"), "{end:?}");
}

fn says(end: &Result<u8, Abort>, what: &str) -> bool {
    matches!(end, Err(Abort::Unfit { why, .. }) if why.contains(what))
}

#[test]
fn one_session_after_the_other_takes_what_the_last_one_left() {
    for n in [2, 3] {
        let dirs = StockDirs::new(n);
        let of_tables = |number| dirs.lots(number).iter().filter(|name| name.starts_with("tables")).count();
        assert!(of_tables(1) > 0);
        for (i, (x, y)) in [(0x53, 0xed), (0x00, 0x63), (0xff, 0x16)].into_iter().enumerate() {
            assert!(dirs.all(x).into_iter().all(|end| end == Ok(y)), "{n} {x}");
            assert_eq!(dirs.taken(), vec![i as u64 + 1; n]);
        }
        let state = dirs.state(1).unwrap();
        assert!(!state.open && !state.at_risk);
        for _ in 3..SBOXES {
            assert!(dirs.all(0).into_iter().all(|end| end == Ok(0x63)));
        }
        // no lot is left that has a value which was used
        assert!((1..=n as u8).all(|number| of_tables(number) == 0), "{n}");
        // then the stock is used up; all parties say so, and nothing else happens
        dirs.all(0).iter().for_each(used_up);
        assert!(dirs.state(1).is_ok());
    }
}

/// 1.11, 1.34: no value of a directory that was copied back is used twice, as long as one honest party's
/// directory was not.
#[test]
fn a_stock_that_was_copied_back_from_an_older_state_is_refused() {
    // what party 1 broadcasts for its input in a session: x + r
    let told = |dirs: &StockDirs, x: u8| {
        let harness = Harness::new(dirs.n, &parameters());
        let recording = harness.recording(party(1));
        let ends = harness.act(|session| dirs.sbox(session, x));
        (recording.bodies(MessageDirection::Out, party(2), INPUT), ends)
    };
    for (n, back) in [(2, &[1][..]), (3, &[1, 2])] {
        let dirs = StockDirs::new(n);
        back.iter().for_each(|number| dirs.keep(*number));
        let (first, ends) = told(&dirs, 0x53);
        assert!(ends.iter().all(|end| *end == Ok(0xed)) && first.len() == 1);
        back.iter().for_each(|number| dirs.put_back(*number));
        let (second, ends) = told(&dirs, 0xc6);
        assert!(ends.iter().all(|end| why(end).contains("copied back from an older state")), "{ends:?}");
        assert!(second.is_empty());
        // nothing of the stock was lost
        assert!(dirs.state(1).is_ok() && dirs.state(n as u8).unwrap().counts[TABLES].taken == 1);
    }
}

/// A directory that was copied back is refused whatever kind of values was taken in between: here no table,
/// only an input.
#[test]
fn a_stock_whose_inputs_alone_were_copied_back_is_refused() {
    let dirs = StockDirs::new(2);
    dirs.keep(1);
    let input = |session: Session| {
        let mine = session.me() == party(1);
        dirs.begin(session)?.input(party(1), mine.then_some(&[0x53]), 1).map(drop)
    };
    assert!(Harness::new(2, &parameters()).act(input).iter().all(Result::is_ok));
    assert_eq!(dirs.taken(), [0, 0]);
    dirs.put_back(1);
    assert!(dirs.all(0xc6).iter().all(|end| why(end).contains("copied back from an older state")));
}

/// A lie that is found before any check of MACs destroys the stock of the party that finds it.
#[test]
fn a_lie_before_the_check_destroys_the_stock() {
    let dirs = StockDirs::new(3);
    let harness = Harness::new(3, &parameters());
    harness.change(party(1), party(2), INPUT, 0, |body| body[0] ^= 1);
    let ends = harness.act(|session| dirs.sbox(session, 0x53));
    assert!(ends.iter().all(Result::is_err));
    let found = |end: &Result<u8, Abort>| failed_check(end) == Some(checks::M0_3);
    // the party that finds it first ends the session for the others
    let finders: Vec<u8> = (1..=3).filter(|number| found(&ends[usize::from(*number) - 1])).collect();
    assert!(!finders.is_empty(), "{ends:?}");
    assert!(finders.iter().all(|number| matches!(dirs.state(*number), Err(StockError::Destroyed(_)))));
}

/// Out of scope by SECURITY.md: every party's directory is copied back. No file shows it, and the sum of two
/// values that are opened under one mask becomes known.
#[test]
fn if_all_are_copied_back_the_difference_of_two_inputs_is_told() {
    let dirs = StockDirs::new(2);
    (1..=2).for_each(|number| dirs.keep(number));
    let session = |x| {
        let harness = Harness::new(2, &parameters());
        let recordings = harness.recordings();
        assert!(harness.act(|session| dirs.sbox(session, x)).iter().all(Result::is_ok));
        sums(&recordings, LOOKUP)[0][0]
    };
    let first = session(0x53);
    (1..=2).for_each(|number| dirs.put_back(number));
    assert_eq!(first ^ session(0xc6), 0x53 ^ 0xc6);
    // with stocks that continue, it does not become known
    assert_eq!(dirs.taken(), [1, 1]);
    let (third, fourth) = (session(0x53), session(0xc6));
    let fifth = session(0x53);
    assert!(first ^ third != 0 || third ^ fourth != 0x53 ^ 0xc6 || third ^ fifth != 0);
}

/// 1.10: a lie ends the session, and with it the stock and alpha of every honest party.
#[test]
fn a_lie_destroys_the_stock() {
    let dirs = StockDirs::new(2);
    let harness = Harness::new(2, &parameters());
    harness.change(party(2), party(1), LOOKUP, 0, |body| body[0] ^= 1);
    let ends = harness.act(|session| dirs.sbox(session, 0x53));
    // both parties have sent their sigmas when one of them finds that the sum is not zero
    let found = ends.iter().any(|end| failed_check(end) == Some(checks::K4));
    assert!(found && ends.iter().all(Result::is_err), "{ends:?}");
    assert!(matches!(dirs.state(1), Err(StockError::Destroyed(_))));
    // the party that finds it first ends the session for both
    assert!(dirs.all(0x53).iter().any(|end| says(end, "was destroyed")));
}

/// If a party is lost while nobody could learn alpha, only the values that were taken are lost.
#[test]
fn a_lost_party_leaves_what_is_whole() {
    let dirs = StockDirs::new(2);
    // no time is skipped, because the channel of the party that is gone stays open
    let ends = Harness::new(2, &parameters()).waiting(Duration::from_secs(5)).act(|session| {
        let last = session.me() == party(2);
        let mut engine = dirs.begin(session)?;
        if last {
            // like a process that is killed: it has taken nothing, and does not close its stock
            std::mem::forget(engine);
            return Ok(0);
        }
        let mut byte = engine.input(party(1), Some(&[0x53]), 1)?;
        engine.sbox(Direction::Encrypt, &mut [&mut byte])?;
        Ok(engine.settled(byte)?.into_inner().len() as u8)
    });
    assert!(matches!(ends[0], Err(Abort::Network(_))), "{ends:?}");
    assert_eq!(dirs.taken(), [1, 0]);
    // this process still has the lock of the party that is gone
    copy(&dirs.dir(2), &dirs.copy(2));
    std::fs::remove_dir_all(dirs.dir(2)).unwrap();
    dirs.put_back(2);
    assert!(dirs.all(0x53).iter().all(|end| *end == Ok(0xed)));
    assert_eq!(dirs.taken(), [2, 2]);
}

/// The same while a check is under way: a party that left may have lied, and then knows alpha.
#[test]
fn a_party_that_is_lost_in_a_check_takes_the_stock_with_it() {
    let dirs = StockDirs::new(2);
    let harness = Harness::new(2, &parameters());
    let (mut gone, sigma) = (false, divisi_core::Step::new(SIGMA).id);
    harness.hand(party(2), party(1), move |frame| {
        gone |= frame.step == sigma;
        if gone { Vec::new() } else { vec![frame] }
    });
    let ends = harness.act(|session| dirs.sbox(session, 0x53));
    assert!(matches!(ends[0], Err(Abort::Network(_))), "{ends:?}");
    assert!(matches!(dirs.state(1), Err(StockError::Destroyed(_))));
}

/// Parts of two different stocks, of another party, or for another number of parties are refused.
#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let (dirs, other) = (StockDirs::new(2), StockDirs::new(2));
    other.keep(2);
    copy(&other.copy(2), &dirs.dir(2));
    for end in dirs.all(0x53) {
        assert!(why(&end).contains("has another stock than this party"), "{end:?}");
    }
    copy(&other.dir(1), &dirs.dir(2));
    let ends = dirs.all(0x53);
    assert!(ends.iter().any(|end| says(end, "belongs to party 1")), "{ends:?}");
    let ends = Harness::new(3, &parameters()).act(|session| other.sbox(session, 0x53));
    assert!(
        ends.iter().any(|end| says(end, "there is no stock") || says(end, "for 2 parties, not 3")),
        "{ends:?}"
    );
    // so is what was opened for another party, number of parties, or field
    fn start<F: Host>(n: usize, of: impl Fn(u8) -> Reserve + Sync) -> Result<u8, Abort> {
        let all_started = Barrier::new(n);
        let start = |session: Session| {
            let reserve = of(session.me().number());
            all_started.wait();
            FromStock::<F>::start(session, reserve).map(|_| 0)
        };
        Harness::new(n, &parameters()).act(start).remove(0)
    }
    let own = |number| common::opened(&other, number);
    let third = StockDirs::new(2);
    let of_three = |number| if number == 3 { common::opened(&third, 1) } else { own(number) };
    for (end, why) in [
        (start::<Gf48>(2, |number| own(3 - number)), "belongs to party 2, not to party 1"),
        (start::<Gf48>(3, of_three), "for 2 parties, not 3"),
        (start::<Gf40>(2, own), "MACs of 48 bits, not 40: give --field 48"),
    ] {
        assert!(says(&end, why), "{end:?}");
    }
}

/// A party that reports false counts can only waste values, or end the session before anything is used.
#[test]
fn false_counts_gain_nothing() {
    // it reports fewer tables made, or more taken, to one of the two honest parties only
    for (at, count) in [(33, 5), (41, 3)] {
        let dirs = StockDirs::new(3);
        let harness = Harness::new(3, &parameters());
        harness.change(party(2), party(1), "divisi_spdz::stock/stock.agree", 0, move |body| {
            assert_eq!((body[33], body[41]), (SBOXES as u8, 0));
            body[32] = 1;
            body[at] = count;
        });
        let ends = harness.act(|session| dirs.sbox(session, 0x53));
        let found = ends.iter().any(|end| failed_check(end) == Some(checks::K23));
        assert!(found && ends.iter().all(Result::is_err), "{ends:?}");
        assert_eq!(dirs.taken(), [0; 3]);
    }
    let harness = Harness::new(2, &parameters());
    let dirs = StockDirs::new(2);
    harness.change(party(2), party(1), "divisi_spdz::stock/stock.agree", 0, |body| body[..41].fill(0xff));
    let ends = harness.act(|session| dirs.sbox(session, 0x53));
    assert!(why(&ends[0]).contains("has another stock than this party"));
    // what is no report is taken for none: a flag or a count that cannot be, or more of them than there are
    for (at, byte) in [(32, 2), (48, 0xff), (33 + 16 * 48 - 1, 1)] {
        let dirs = StockDirs::new(3);
        let harness = Harness::new(3, &parameters());
        for to in [1, 3] {
            harness.change(party(2), party(to), "divisi_spdz::stock/stock.agree", 0, move |body| {
                body[at] = byte;
            });
        }
        let ends = harness.act(|session| dirs.sbox(session, 0x53));
        assert!(ends.iter().all(|end| matches!(end, Err(Abort::Network(_)))), "{at}: {ends:?}");
        assert_eq!(dirs.taken(), [0; 3]);
    }
}

/// A computation that needs more than is left is refused before anything is taken, at all parties.
#[test]
fn a_stock_with_too_little_loses_nothing() {
    for n in [2, 3] {
        let dirs = StockDirs::new(n);
        let needs =
            |tables: u64, bits: u64| StockPlan::new(&[(Lots::Units { log: 8 }, tables), (Lots::Bits, bits)]);
        let start = |needs: &StockPlan| {
            Harness::new(n, &parameters()).act(|session| {
                let number = session.me().number();
                let reserve = common::opened(&dirs, number);
                FromStock::<Gf48>::start_for(session, reserve, needs).map(|_| 0)
            })
        };
        let before = dirs.state(1).unwrap().counts;
        for needs in [needs(SBOXES + 1, 0), needs(1, 51)] {
            start(&needs).iter().for_each(used_up);
        }
        assert!((1..=n as u8).all(|number| dirs.state(number).unwrap().counts == before));
        assert!(start(&needs(SBOXES, 50)).iter().all(|end| *end == Ok(0)));
        assert!(dirs.all(0x53).into_iter().all(|end| end == Ok(0xed)));
    }
}

/// What is taken at once from several lots comes from all of them: in no two inputs, and at no two places of
/// one, do bits of masks return.
#[test]
fn what_several_lots_have_is_taken_once() {
    let lanes = [3_000, 40_000];
    let owner = party(1);
    let more = vec![(Lots::Known { owner }, lanes.iter().sum::<usize>() as u64 * 8)];
    let dirs = common::StockDirs { more, ..StockDirs::empty(2) };
    let made = Harness::new(2, &parameters()).act(|session| dirs.make(session));
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    let mut bits = Vec::new();
    for lanes in lanes {
        let harness = Harness::new(2, &parameters());
        let recording = harness.recording(owner);
        let ends = harness.act(|session| {
            let (mine, zeros) = (session.me() == owner, vec![0; lanes]);
            let mut e = dirs.begin(session)?;
            e.input(owner, mine.then_some(&zeros[..]), lanes)?;
            e.rest()
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let masks = recording.bodies(MessageDirection::Out, party(2), INPUT).concat();
        bits.extend((0..8).flat_map(|k| masks.iter().map(|byte| byte >> k & 1).collect::<Vec<_>>()));
    }
    let word = |bits: &[u8]| bits.iter().fold(0_u64, |word, bit| word << 1 | u64::from(*bit));
    let different: std::collections::HashSet<u64> = bits.windows(64).map(word).collect();
    assert_eq!((bits.len(), different.len()), (8 * 43_000, 8 * 43_000 - 63));
}
