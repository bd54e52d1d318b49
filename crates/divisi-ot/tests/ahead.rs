//! Rows that are begun ahead: right, whatever order the parties' threads run in, and refused out of order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::run;
use divisi_core::{Abort, PublicParameters, Session};
use divisi_ot::testing::fit;
use divisi_ot::{AuthBits, Bits, RowsAhead, Setup, SetupConfig};

fn all<R: Send>(
    n: usize,
    act: impl Fn(&mut Session, &mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let config = SetupConfig::default();
    let parameters = Setup::describe_field(48, config.describe(PublicParameters::new("rows ahead")));
    run(n, &parameters, |mut session| {
        let mut setup = Setup::over_field(&mut session, config, 48)?;
        let mut strand = session.strand()?;
        act(&mut session, &mut strand, &mut setup)
    })
}

/// Batches of several sizes, each begun before the one before it is finished; other rows before and after.
#[test]
fn rows_that_are_begun_ahead_fit() {
    for n in [2, 3] {
        let ends = all(n, |session, strand, setup| {
            let delta = setup.delta().get();
            let mut made: Vec<(u128, AuthBits)> = Vec::new();
            let mut narrow = Vec::new();
            let mut before: Option<RowsAhead> = None;
            for counts in [Some((130, 300)), Some((1, 1)), Some((128, 900)), None] {
                let begun =
                    counts.map(|(wide, narrow)| setup.begin_ahead(strand, wide, narrow)).transpose()?;
                if let Some(batch) = std::mem::replace(&mut before, begun) {
                    let (wide, shares) = setup.finish_ahead(session, strand, batch)?;
                    made.push((delta, wide.bits));
                    let macs: Vec<u128> = shares.rows(0..shares.len(), |row| row);
                    narrow.push((shares.bits().to_vec(), macs));
                }
            }
            made.push((delta, setup.mac_rows(session, Bits::Random(77))?));
            Ok((delta, made, narrow))
        });
        let mut ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        for _ in 0..4 {
            fit(&ends.iter_mut().map(|(_, made, _)| made.remove(0)).collect::<Vec<_>>());
        }
        let alpha = ends.iter().fold(0, |sum, (delta, ..)| sum ^ delta);
        for batch in 0..3 {
            for at in 0..[300, 1, 900][batch] {
                let of = |x: &(Vec<u64>, Vec<u128>)| (u128::from(x.0[at / 64] >> (at % 64) & 1), x.1[at]);
                let both = ends.iter().map(|(.., narrow)| of(&narrow[batch]));
                let (x, mac) = both.fold((0, 0), |sum, of| (sum.0 ^ of.0, sum.1 ^ of.1));
                assert_eq!(mac, alpha * x, "{n} {batch} {at}");
            }
        }
    }
}

/// Batches are finished in the order in which they were begun, and no other rows are made in between.
#[test]
fn rows_out_of_order_are_refused() {
    let refused = |ends: Vec<Result<(), Abort>>| {
        assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
    };
    refused(all(2, |session, strand, setup| {
        let _first = setup.begin_ahead(strand, 10, 10)?;
        let second = setup.begin_ahead(strand, 10, 10)?;
        setup.finish_ahead(session, strand, second).map(|_| ())
    }));
    refused(all(2, |session, strand, setup| {
        let _first = setup.begin_ahead(strand, 10, 10)?;
        setup.mac_rows(session, Bits::Random(5)).map(|_| ())
    }));
    refused(all(2, |_, strand, setup| setup.begin_ahead(strand, 0, 10).map(|_| ())));
}
