//! Products of random bits with bits, whose rows are hashed as soon as they are made: they are right, have
//! the documented cost, use no tweak twice, and are refused in the same cases as products of rows that are
//! kept.

use crate::common::{
    are_products, ends, hashed_once, honest, malformed, parameters, random, refused, set_up,
};
use divisi_core::Abort;
use divisi_core::testing::{Harness, party, run};
use divisi_ot::checks;
use divisi_ot::testing::deal;
use divisi_ot::{Bits, Links, Setup, SetupConfig, record};

const PAYLOAD: &str = "divisi_ot::correlate/payload";

/// Products of less than a chunk of 2^14 rows, of one chunk and of several are right, twice from one set-up,
/// and take two rounds whatever their number.
#[test]
fn sums_of_shares_are_products() {
    for (n, rows) in [(2, 1), (3, 64), (2, 65), (5, 333), (2, 16_384), (3, 100_001)] {
        let views = honest(ends(n, |session, setup| {
            let mut call = |phase| -> Result<_, Abort> {
                session.phase(phase);
                let y = random(session, rows);
                let [x, z] = setup.random_products(session, rows, &y)?;
                assert!(x.len() == y.len() && z.len() == y.len());
                assert!(rows % 64 == 0 || (x.last().unwrap() | z.last().unwrap()) >> (rows % 64) == 0);
                Ok([x.to_vec(), y, z.to_vec()])
            };
            let made = [call("first")?, call("second")?];
            let counts = session.meter().read();
            let (sent, tiles) = (counts.phases["second"], rows.div_ceil(128));
            assert_eq!(sent.rounds, 2);
            assert_eq!(sent.bits, (n - 1) as u64 * (32 * 128 * tiles + rows) as u64);
            assert_eq!(counts.checks[&checks::G14], 2);
            Ok(made)
        }));
        assert!(rows < 128 || views[0][0][0] != views[0][1][0], "bits of two calls");
        let (first, second): (Vec<_>, Vec<_>) = views.into_iter().map(<(_, _)>::from).unzip();
        are_products(&first);
        are_products(&second);
    }
}

/// A dealer's set-up has no trees, and makes products of rows that it keeps.
#[test]
fn dealt_rows_give_products() {
    for n in [2, 3] {
        are_products(&honest(run(n, &parameters(), |mut session| {
            let mut setup = deal(&mut session, SetupConfig::default(), 1)?;
            let y = random(&session, 333);
            let [x, z] = setup.random_products(&mut session, 333, &y)?;
            assert_eq!([x.len(), z.len()], [y.len(); 2]);
            Ok([x.to_vec(), y, z.to_vec()])
        })));
    }
}

/// Streamed and kept rows in turn: no two calls of the hash at a party have the same key and tweak, except
/// for the two hashes of a row at its holder.
#[test]
fn no_row_is_hashed_twice() {
    let calls = honest(run(3, &parameters(), |mut session| {
        let mut setup = Setup::over_field(&mut session, SetupConfig::default(), 48)?;
        record::begin();
        setup.random_products(&mut session, 200, &[0; 4])?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(200), Links::All)?;
        setup.correlate_bits(&mut session, &mut pads, &[0; 4])?;
        setup.random_products(&mut session, 200, &[0; 4])?;
        Ok((session.me(), record::end().calls))
    }));
    for (me, calls) in calls {
        let (ours, seen) = hashed_once(me, &calls);
        assert_eq!((ours, seen.len()), (2 * 200 * 3, 4 * 200 * 3));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    // bits after the last row; too few words, and 256 too many; no rows; a set-up whose rows are checked
    for (rows, values, checked) in [
        (70, vec![0, 1 << 6], false),
        (70, vec![0, 1 << 63], false),
        (70, vec![0], false),
        (70, vec![0; 258], false),
        (0, vec![], false),
        (1, vec![1], true),
    ] {
        let ends = ends(2, |session, setup| {
            if checked {
                setup.authenticated_bits(session, 1)?;
            }
            setup.random_products(session, rows, &values).map(drop)
        });
        refused(ends, &format!("{rows} {values:?}"));
    }
}

/// A peer that sends a bit after the last row, or too few bytes, is named, and the set-up is erased.
#[test]
fn broken_messages_are_named() {
    let changes: [fn(&mut Vec<u8>); 2] = [|body| body[8] |= 0x40, |body| body.truncate(8)];
    for change in changes {
        let harness = Harness::new(2, &parameters());
        harness.change(party(1), party(2), PAYLOAD, 0, change);
        let ends = harness.act(set_up(|session, setup| {
            let made = setup.random_products(session, 70, &[3, 1]);
            if session.me() == party(2) {
                assert!(setup.random_products(session, 70, &[3, 1]).is_err());
            }
            made.map(drop)
        }));
        assert!(malformed(&ends[1], party(1)), "{ends:?}");
    }
}
