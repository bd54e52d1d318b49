//! Products of random bits with bits, whose rows are hashed as soon as they are made: they are right, have
//! the documented cost, use no tweak twice, and are refused in the same cases as products of rows that are
//! kept.

use divisi_core::testing::{Harness, party, run};
use divisi_core::{Abort, PublicParameters, Session};
use divisi_net::Fault;
use divisi_ot::checks;
use divisi_ot::{Bits, Links, Setup, SetupConfig, record};
use std::collections::{HashMap, HashSet};

const PAYLOAD: &str = "divisi_ot::correlate/payload";

fn payloads(session: &Session, rows: usize) -> Vec<u64> {
    let mut bytes = vec![0; 8 * rows.div_ceil(64)];
    session.entropy(&mut bytes);
    let mut words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    if !rows.is_multiple_of(64) {
        *words.last_mut().unwrap() &= (1 << (rows % 64)) - 1;
    }
    words
}

/// Products of less than a chunk of 2^14 rows, of one chunk and of several are right, twice from one set-up,
/// and take two rounds whatever their number.
#[test]
fn sums_of_shares_are_products() {
    for (n, rows) in [(2, 1), (3, 64), (2, 65), (5, 333), (2, 16_384), (3, 100_001)] {
        let parameters = SetupConfig::default().describe(PublicParameters::new("streamed"));
        let ends = run(n, &parameters, |mut session| {
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            let mut views = Vec::new();
            for phase in ["first", "second"] {
                session.phase(phase);
                let y = payloads(&session, rows);
                let [x, z] = setup.random_products(&mut session, rows, &y)?;
                assert!(x.len() == y.len() && z.len() == y.len());
                assert!(rows % 64 == 0 || (x.last().unwrap() | z.last().unwrap()) >> (rows % 64) == 0);
                views.push([x.to_vec(), y, z.to_vec()]);
            }
            let counts = session.meter().read();
            let (sent, tiles) = (counts.phases["second"], rows.div_ceil(128));
            assert_eq!(sent.rounds, 2);
            assert_eq!(sent.bits, (n - 1) as u64 * (32 * 128 * tiles + rows) as u64);
            assert_eq!(counts.checks[&checks::G14], 2);
            Ok(views)
        });
        let views: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        for call in 0..2 {
            for at in 0..rows.div_ceil(64) {
                let sum = |part: usize| views.iter().fold(0, |sum, view| sum ^ view[call][part][at]);
                assert_eq!(sum(0) & sum(1), sum(2), "{n} parties, {rows} rows");
            }
        }
        assert!(rows < 128 || views[0][0][0] != views[0][1][0], "bits of two calls");
    }
}

/// Streamed and kept rows in turn: no two calls of the hash at a party have the same key and tweak, except
/// for the two hashes of a row at its holder.
#[test]
fn no_row_is_hashed_twice() {
    let ends = run(3, &PublicParameters::new("streamed"), |mut session| {
        let mut setup = Setup::over_field(&mut session, SetupConfig::default(), 48)?;
        record::begin();
        setup.random_products(&mut session, 200, &[0; 4])?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(200), Links::All)?;
        setup.correlate_bits(&mut session, &mut pads, &[0; 4])?;
        setup.random_products(&mut session, 200, &[0; 4])?;
        Ok((session.me().number(), record::end().calls))
    });
    for end in ends {
        let (me, calls) = end.unwrap();
        let mut seen = HashMap::<_, HashSet<u128>>::new();
        for call in &calls {
            assert!(seen.entry((call.key, call.tweak)).or_default().insert(call.input));
        }
        let holder = |key: u128| (key >> 72) as u8 == me;
        let ours = seen.keys().filter(|(key, _)| holder(*key)).count();
        assert_eq!((ours, seen.len()), (2 * 200 * 3, 4 * 200 * 3));
        assert!(seen.iter().all(|((key, _), inputs)| inputs.len() == if holder(*key) { 2 } else { 1 }));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    // a bit after the last row; too few words; no rows
    for (rows, values) in [(70, vec![0, 1 << 6]), (70, vec![0]), (0, vec![])] {
        let ends = run(2, &PublicParameters::new("streamed"), |mut session| {
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            setup.random_products(&mut session, rows, &values).map(drop)
        });
        assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{values:?}");
    }
    // a set-up whose rows are checked
    let ends = run(2, &PublicParameters::new("streamed"), |mut session| {
        let mut setup = Setup::new(&mut session, SetupConfig::default())?;
        setup.authenticated_bits(&mut session, 1)?;
        setup.random_products(&mut session, 1, &[1]).map(drop)
    });
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))));
}

/// A peer that sends a bit after the last row, or too few bytes, is named, and the set-up is erased.
#[test]
fn broken_messages_are_named() {
    let changes: [fn(&mut Vec<u8>); 2] = [|body| body[8] |= 0x40, |body| body.truncate(8)];
    for change in changes {
        let harness = Harness::new(2, &PublicParameters::new("streamed"));
        harness.change(party(1), party(2), PAYLOAD, 0, change);
        let ends = harness.act(|mut session| {
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            let made = setup.random_products(&mut session, 70, &[3, 1]);
            if session.me() == party(2) {
                assert!(setup.random_products(&mut session, 70, &[3, 1]).is_err());
            }
            made.map(drop)
        });
        let named = |end: &Result<(), Abort>| match end {
            Err(Abort::Network(Fault::Malformed { peer, .. })) => *peer == party(1),
            _ => false,
        };
        assert!(named(&ends[1]), "{ends:?}");
    }
}
