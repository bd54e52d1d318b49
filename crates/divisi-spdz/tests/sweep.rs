//! The tampering sweep over preprocessing: every message of a corrupt party, changed in every way, with two
//! parties and with three.
//!
//! Whatever happens, each honest party ends with the right output or aborts; nothing hangs and nothing
//! panics. A sample by default; `cargo test -p divisi-spdz --test sweep -- --ignored` runs more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::{Harness, LIMIT, Operator, Position, links, many, place, salt, sent};
use divisi_core::{Abort, Bytes, Direction, Plain, PlainByte, PublicParameters, Session, settle};
use divisi_field::{Gf8, Gf48};
use divisi_ot::{Base, Setup, SetupConfig, testing};
use divisi_spdz::{Bucketed, Mascot, Party, Preparation, Source, Spdz, SpdzProtocol};
use std::time::Duration;

const PATIENT: Duration = Duration::from_secs(10);

/// What is swept.
#[derive(Clone, Copy, Debug)]
struct Setting {
    n: usize,
    preparation: Preparation,
    protocol: SpdzProtocol,
    /// Whether rows are real.
    rows: bool,
}

fn values() -> Vec<u8> {
    vec![0, 0x53, 0xff]
}

fn right() -> Vec<u8> {
    let mut x = PlainByte::new(values());
    Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap();
    x.values().to_vec()
}

/// S-boxes of public bytes.
fn play(setting: Setting, mut session: Session) -> Result<Vec<u8>, Abort> {
    // buckets of few items: that products are right does not depend on them
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = if setting.rows {
        Setup::over_field(&mut session, config, 48)?
    } else {
        testing::deal_over_field(&mut session, config, 48, 7)?
    };
    let (party, source): (Party<Gf48>, Box<dyn Source<Gf48>>) = match setting.preparation {
        Preparation::Bucketed => {
            let (party, source) = Bucketed::over(session, setup)?;
            (party, Box::new(source))
        }
        Preparation::Mascot => {
            let (party, source) = Mascot::over(session, setup)?;
            (party, Box::new(source))
        }
        other => panic!("{other:?}"),
    };
    let mut engine = Spdz::new(party, source, setting.protocol)?;
    let mut x = engine.public(&values());
    engine.sbox(Direction::Encrypt, &mut [&mut x])?;
    let pending = engine.close(x);
    let verified = settle(&mut engine, pending)?;
    Ok(engine.output(verified)?.into_iter().map(|x: Gf8| x.0).collect())
}

fn harness(setting: Setting, limit: Duration) -> Harness {
    Harness::new(setting.n, &PublicParameters::new("sweep of preprocessing")).waiting(limit)
}

/// About so many positions of all that there are; how many were noticed.
fn sweep(setting: Setting, positions: usize) -> [usize; 2] {
    let right = right();
    let honest = harness(setting, PATIENT);
    let recordings = honest.recordings();
    assert!(honest.act(|session| play(setting, session)).iter().all(|end| end.as_ref() == Ok(&right)));
    let sent = sent(&recordings);
    let mut jobs = Vec::new();
    for (from, to) in links(setting.n) {
        for n in 0..sent[&(from, to)].len() {
            for operator in Operator::ALL {
                let salt = salt((from, to, n, operator));
                // what waits for the limit is rarer
                let rare = if operator.is_slow() { 5 } else { 1 };
                if (operator != Operator::Swap || setting.n > 2) && salt % rare == 0 {
                    jobs.push((Position { from, to, n }, operator, salt));
                }
            }
        }
    }
    jobs.sort_by_key(|job| job.2.reverse_bits());
    jobs.truncate(positions);
    jobs.sort_by_key(|job| !job.1.is_slow());
    let noticed = many(jobs.len(), 8, |i| {
        let (at, operator, salt) = jobs[i];
        let harness = harness(setting, if operator.is_slow() { LIMIT } else { PATIENT });
        place(&harness, at, operator, salt, &sent[&(at.from, at.to)]);
        let ends = harness.act(|session| play(setting, session));
        let mut noticed = false;
        for (party, end) in divisi_core::PartyId::all(setting.n).zip(&ends).filter(|(p, _)| *p != at.from) {
            match end {
                Ok(out) => {
                    assert_eq!(*out, right, "{setting:?} {party} {} {} {} {operator:?}", at.from, at.to, at.n)
                }
                Err(_) => noticed = true,
            }
        }
        noticed
    });
    [noticed.len(), noticed.into_iter().filter(|noticed| *noticed).count()]
}

fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    for n in [2, 3] {
        for preparation in Preparation::ALL {
            for (protocol, rows) in [(SpdzProtocol::Lookup, false), (SpdzProtocol::BitDecomposition, true)] {
                all.push(Setting { n, preparation, protocol, rows });
            }
        }
    }
    all
}

#[test]
fn no_change_gives_a_wrong_output() {
    for setting in settings() {
        let [tried, noticed] = sweep(setting, 30);
        println!("{setting:?}: {noticed} of {tried} noticed");
        assert!(tried == 30 && noticed > 15, "{setting:?}: {noticed} of {tried}");
    }
}

#[test]
#[ignore = "2,000 positions"]
fn no_change_of_many_gives_a_wrong_output() {
    for setting in settings() {
        let [tried, noticed] = sweep(setting, 250);
        println!("{setting:?}: {noticed} of {tried} noticed");
        assert!(tried > 200);
    }
}
