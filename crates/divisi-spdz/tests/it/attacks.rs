//! How often lies about the products of preprocessing pass, and that lies about its rows end the session.

use divisi_core::testing::{Harness, many, party};
use divisi_core::{Abort, Check, PublicParameters, Session};
use divisi_field::{Field, Gf2, Gf48};
use divisi_ot::adversary::Deviation;
use divisi_ot::{Base, Bits, Setup, SetupConfig, testing};
use divisi_spdz::checks;
use divisi_spdz::{Bucketed, Party, Source, lab};
use std::time::Duration;

const PAYLOAD: &str = "divisi_ot::correlate/payload";

fn harness(n: usize) -> Harness {
    Harness::new(n, &PublicParameters::new("attacks on preprocessing")).waiting(Duration::from_secs(10))
}

/// P_1's share of s_1, or `None` if P_1 aborts, when P_2 alters the payloads of this many of the three other
/// items of a bucket of four.
fn altered(items: usize, seed: u8) -> Option<Gf2> {
    let harness = harness(2);
    harness.change(party(2), party(1), PAYLOAD, 1, move |body| {
        // each payload has two bits and a MAC
        (0..items).for_each(|row| body[row * 50 / 8] ^= 1 << (row * 50 % 8));
    });
    let ends = harness.act(|mut session| {
        let config = SetupConfig { rho: 4, ..SetupConfig::default() };
        let setup = testing::deal_over_field(&mut session, config, 48, seed)?;
        let (mut party, mut source) = Bucketed::<Gf48>::over(session, setup)?;
        let units = source.units(&mut party, 2, 1)?;
        party.check()?;
        Ok(lab::unit_shares(&units)[0][1])
    });
    ends[0].as_ref().ok().copied()
}

/// Altered payloads of t items pass with probability 2^-t. If the bits b of all items but the first are then
/// known to be zero, b of the bucket is as uniform as before.
#[test]
fn altered_payloads_pass_with_2_to_the_minus_t() {
    let of = 200;
    let near = |count: usize, of: usize, p: f64| {
        let (mean, deviation) = (of as f64 * p, (of as f64 * p * (1.0 - p)).sqrt());
        assert!((count as f64 - mean).abs() <= 3.0 * deviation, "{count} of {of}, not {mean}");
    };
    for t in 0..=3 {
        let ends: Vec<Gf2> = many(of, 8, |seed| altered(t, seed as u8)).into_iter().flatten().collect();
        near(ends.len(), of, 0.5_f64.powi(t as i32));
        let ones = ends.iter().filter(|bit| bit.to_bits() == 1).count();
        near(ones, ends.len(), 0.5);
    }
}

/// Makes tables in a session in which P_1 deviates where rows are made, or from the second batch on with
/// `later`.
fn tables(mut session: Session, how: &Deviation, later: Option<(u128, bool)>) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let corrupt = session.me() == party(1);
    let setup = if corrupt {
        Setup::corrupt_over_field(&mut session, config, 48, how.clone())?
    } else {
        Setup::over_field(&mut session, config, 48)?
    };
    let (mut party, mut source): (Party<Gf48>, _) = Bucketed::over(session, setup)?;
    source.units(&mut party, 2, 4)?;
    party.check()?;
    if let Some((difference, rows)) = later.filter(|_| corrupt) {
        source.tamper(&mut party, |setup| setup.take_another_delta(difference, rows))?;
    }
    source.units(&mut party, 2, 4)?;
    party.check()
}

#[test]
fn lies_about_rows_end_the_session() {
    let ends = |n, how: &Deviation, later| harness(n).act(|session| tables(session, how, later));
    let honest = Deviation::default();
    for n in [2, 3] {
        assert!(ends(n, &honest, None).iter().all(Result::is_ok));
    }
    let failed = |ends: &[Result<(), Abort>], check: Check| {
        assert!(ends[1..].iter().all(Result::is_err));
        let named =
            |end: &Result<(), Abort>| matches!(end, Err(Abort::CheckFailed { check: c, .. }) if *c == check);
        assert!(ends[1..].iter().any(named), "{check}: {ends:?}");
    };
    // b flipped between MACs and pads, two bits to two peers, two Deltas for two peers
    failed(&ends(2, &Deviation { other_pads: Some(1), ..honest.clone() }, None), checks::K11);
    failed(&ends(3, &Deviation { other_pads: Some(1), ..honest.clone() }, None), checks::K11);
    let other_bits = Deviation { other_bits: Some((party(3), 1)), ..honest.clone() };
    assert!(ends(3, &other_bits, None)[1..].iter().all(Result::is_err));
    failed(&ends(3, &Deviation { other_delta: Some((party(3), 2)), ..honest.clone() }, None), checks::K12);
    // another Delta from the second batch on: in its rows, or in what it computes
    for n in [2, 3] {
        for rows in [true, false] {
            let ends = ends(n, &honest, Some((2, rows)));
            assert!(ends[1..].iter().all(Result::is_err), "{n} {rows}");
        }
    }
}

/// Makes tables in a second strand, with rows that were made in both strands. P_1 has another Delta in the
/// second strand if `other` says so.
fn in_two_strands(mut session: Session, other: Option<(u128, bool)>) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let corrupt = session.me() == party(1);
    let mut setup = Setup::over_field(&mut session, config, 48)?;
    setup.mac_rows(&mut session, Bits::Random(100))?;
    let strand = session.strand()?;
    let (mut party, mut source): (Party<Gf48>, _) = Bucketed::over(strand, setup)?;
    if let Some((difference, rows)) = other.filter(|_| corrupt) {
        source.tamper(&mut party, |setup| setup.take_another_delta(difference, rows))?;
    }
    source.units(&mut party, 2, 4)?;
    party.check()
}

/// 1.32: another Delta in a second strand ends the session, and so does a second set-up.
#[test]
fn a_strand_has_no_delta_of_its_own() {
    for n in [2, 3] {
        assert!(harness(n).act(|session| in_two_strands(session, None)).iter().all(Result::is_ok));
        for rows in [true, false] {
            let ends = harness(n).act(|session| in_two_strands(session, Some((2, rows))));
            assert!(ends[1..].iter().all(Result::is_err), "{n} {rows}");
        }
        let again = harness(n).act(|mut session| {
            let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
            let first = Setup::over_field(&mut session, config, 48)?;
            let mut strand = session.strand()?;
            let second = Setup::over_field(&mut strand, config, 48);
            assert!(second.is_err());
            // and the session ends
            Bucketed::<Gf48>::over(session, first).map(drop)
        });
        assert!(again.iter().all(Result::is_err), "{n}");
    }
}

/// A message of a peer that is too short, too long or garbage ends the session and nothing else.
#[test]
fn garbage_ends_the_session() {
    for n in 0..12 {
        for how in [0, 1, 2] {
            let harness = harness(2);
            let mut count = 0;
            harness.hand(party(2), party(1), move |mut frame| {
                let here = count == 5 * n + 3;
                count += 1;
                if here && how == 0 {
                    frame.body.pop();
                } else if here && how == 1 {
                    frame.body.push(0);
                } else if here {
                    frame.body.iter_mut().for_each(|byte| *byte ^= 0xa5);
                }
                vec![frame]
            });
            let ends = harness.act(|mut session| {
                let config = SetupConfig { rho: 8, ..SetupConfig::default() };
                let setup = testing::deal_over_field(&mut session, config, 48, 1)?;
                let (mut party, mut source) = Bucketed::<Gf48>::over(session, setup)?;
                let units = source.units(&mut party, 4, 3)?;
                party.check()?;
                Ok(lab::unit_shares(&units))
            });
            if let (Ok(ours), Ok(theirs)) = (&ends[0], &ends[1]) {
                // no message was changed, because there are fewer messages
                let sum = |i: usize| ours[i].iter().zip(&theirs[i]).map(|(x, y)| *x + *y).collect::<Vec<_>>();
                let (s, vector) = (sum(0), sum(1));
                for lane in 0..3 {
                    let at: usize = (0..4).map(|k| (s[3 * k + lane].to_bits() as usize) << k).sum();
                    assert!((0..16).all(|j| (vector[3 * j + lane].to_bits() == 1) == (j == at)));
                }
            }
        }
    }
}
