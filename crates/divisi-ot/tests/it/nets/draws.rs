//! The census of what oblivious transfer draws.

use crate::common::{parameters, random};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::{IdlePart, PartNet};
use divisi_core::{Abort, Session, step};
use divisi_ot::correlate::{Long, Numbers};
use divisi_ot::hash::{CallSeries, FIRST_STEP, Tweak, TweakableHash};
use divisi_ot::partition::shuffle;
use divisi_ot::{Bits, Links, Setup, SetupConfig, purposes};

/// More than a tile of rows, with a tail.
const ROWS: usize = 130;
const P: u64 = 65_537;

fn words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u64>) {
    out.extend(words.into_iter().flat_map(u64::to_le_bytes));
}

/// What a set-up gives without active security, each twice: products of bits, numbers and long vectors; an
/// order from a coin, and the hash of a name.
fn made(session: &mut Session, setup: &mut Setup) -> Result<Vec<u8>, Abort> {
    let mut out = Vec::new();
    for call in 0..2 {
        let [x, z] = setup.random_products(session, ROWS, &random(session, ROWS))?;
        words(&mut out, x.iter().chain(z.iter()).copied());
        let mut pads = setup.semi_honest_rows(session, Bits::Random(ROWS), Links::All)?;
        let values: Vec<u64> = random(session, 64 * ROWS).into_iter().map(|y| y % P).collect();
        let numbers = Numbers { modulus: P, count: 1 };
        words(&mut out, setup.correlate(session, &mut pads, None, &numbers, &values)?.iter().copied());
        let mut pads = setup.semi_honest_rows(session, Bits::Random(ROWS), Links::All)?;
        let long = Long { count: 3 };
        let values = vec![7; 3 * ROWS];
        let shares = setup.correlate(session, &mut pads, None, &long, &values)?;
        words(&mut out, shares.iter().map(|x| u64::from(*x)));
        let mut things: Vec<u32> = (0..ROWS as u32).collect();
        shuffle(&setup.toss(session, step!("order"))?, &mut things);
        words(&mut out, things.iter().map(|x| u64::from(*x)));
        let hash = TweakableHash::named(session, &[call; 32]);
        let series = CallSeries::new(FIRST_STEP, session.me(), session.peers()[0]);
        let mut digest = [0];
        hash.calls(session, series, 1).expand(&[5], 1, |_| Tweak { unit: 0, row: 0 }, &mut digest);
        out.extend(digest[0].to_le_bytes());
    }
    Ok(out)
}

fn labels(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut setup = Setup::new(&mut session, SetupConfig::default())?;
    made(&mut session, &mut setup)
}

fn bits(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut setup = Setup::new(&mut session, SetupConfig::default())?;
    setup.authenticated_bits(&mut session, ROWS)?;
    setup.authenticated_bits(&mut session, ROWS)?;
    Ok(setup.delta().get().to_le_bytes().to_vec())
}

fn field(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut setup = Setup::over_field(&mut session, SetupConfig::default(), 48)?;
    for _ in 0..2 {
        setup.mac_rows(&mut session, Bits::Random(ROWS))?;
        setup.wide_rows(&mut session, Bits::Random(ROWS))?;
    }
    Ok(setup.delta().get().to_le_bytes().to_vec())
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let shape = |name, parties, runs, play| DrawShape { name, parties, parameters: parameters(), runs, play };
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![
            shape("labels", 2, 24, labels),
            shape("a field", 2, 24, field),
            shape("authenticated bits", 3, 1, bits),
            shape("labels of three", 3, 1, labels),
            shape("a field of three", 3, 1, field),
        ],
        again: vec![("ot hash", 4, "a session has one hash")],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let idle = &[(
        "ot delta of a field",
        "testing.rs",
        IdlePart::End(80),
        "a key of 48 bits has the first six bytes of it",
    )];
    let net = PartNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        packages: &["divisi-ot"],
        shapes: super::shapes(3),
        idle,
    };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
