//! The two worlds of one party's chosen bits and payloads in transfers; all others are corrupt.

use super::config;
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::{Abort, Session};
use divisi_ot::correlate::Numbers;
use divisi_ot::testing::{unsound, unsound_over_field};
use divisi_ot::{Base, Bits, Links};

/// How many rows each call makes.
const CALLS: [usize; 2] = [200, 65];

/// The bits of each world, as many as a call has rows: those of the first party are secret. In one world both
/// calls have the same, in the other one they have two, so that a mask which serves both tells them apart.
fn bits(session: &Session, run: WorldRun, call: usize) -> Vec<u64> {
    let secrets = [0x5555_0000_ffff_1234, 0x0f0f_7777_0000_abcd ^ (call as u64 * 0x3333_cccc_1234_9999)];
    let own = if session.me().number() == 1 { secrets[run.world] } else { 0x1111_2222_3333_4444 };
    let rows = CALLS[call];
    let mut bits = vec![own; rows.div_ceil(64)];
    if let Some(last) = bits.last_mut() {
        *last &= u64::MAX >> (64 - rows % 64);
    }
    bits
}

fn rows(mut session: Session, run: WorldRun, base: Base) -> Result<Vec<u8>, Abort> {
    let mut setup = unsound_over_field(&mut session, config(base), 48)?;
    for (call, rows) in CALLS.into_iter().enumerate() {
        let mine = bits(&session, run, call);
        setup.mac_shares(&mut session, Bits::Chosen(&mine, rows))?;
        setup.pad_rows(&mut session, Bits::Chosen(&mine, rows))?;
    }
    Ok(Vec::new())
}

fn products(mut session: Session, run: WorldRun, base: Base) -> Result<Vec<u8>, Abort> {
    let mut setup = unsound(&mut session, config(base))?;
    for (call, rows) in CALLS.into_iter().enumerate() {
        let mine = bits(&session, run, call);
        setup.random_products(&mut session, rows, &mine)?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Chosen(&mine, rows), Links::All)?;
        let numbers = Numbers { modulus: 65_537, count: 1 };
        let values: Vec<u64> = (0..rows).map(|i| mine[i / 64] >> (i % 64) & 0xff).collect();
        setup.correlate(&mut session, &mut pads, None, &numbers, &values)?;
    }
    Ok(Vec::new())
}

#[test]
fn the_others_cannot_tell_two_worlds_apart() {
    let shapes = vec![
        WorldShape::new("rows", 2, &[2], |session, run| rows(session, run, Base::Both)),
        WorldShape::new("products of three", 3, &[2, 3], |session, run| products(session, run, Base::Half)),
    ];
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}
