//! The two worlds of one party's chosen bits and payloads in transfers; all others are corrupt.

use super::config;
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::{Abort, Session};
use divisi_ot::correlate::Numbers;
use divisi_ot::testing::{unsound, unsound_over_field};
use divisi_ot::{Base, Bits, Links};

const ROWS: usize = 200;

/// The bits of each world: those of the first party are secret.
fn bits(session: &Session, run: WorldRun) -> [u64; 4] {
    let secret = [0x5555_0000_ffff_1234, 0x0f0f_7777_0000_abcd][run.world];
    let own = if session.me().number() == 1 { secret } else { 0x1111_2222_3333_4444 };
    [own, own, own, own & 0xff]
}

fn rows(mut session: Session, run: WorldRun, base: Base) -> Result<Vec<u8>, Abort> {
    let mine = bits(&session, run);
    let mut setup = unsound_over_field(&mut session, config(base), 48)?;
    setup.mac_shares(&mut session, Bits::Chosen(&mine, ROWS))?;
    setup.pad_rows(&mut session, Bits::Chosen(&mine, ROWS))?;
    Ok(Vec::new())
}

fn products(mut session: Session, run: WorldRun, base: Base) -> Result<Vec<u8>, Abort> {
    let mine = bits(&session, run);
    let mut setup = unsound(&mut session, config(base))?;
    setup.random_products(&mut session, ROWS, &mine)?;
    let mut pads = setup.semi_honest_rows(&mut session, Bits::Chosen(&mine, ROWS), Links::All)?;
    let numbers = Numbers { modulus: 65_537, count: 1 };
    let values: Vec<u64> = (0..ROWS).map(|i| mine[i / 64] >> (i % 64) & 0xff).collect();
    setup.correlate(&mut session, &mut pads, None, &numbers, &values)?;
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
