//! Shapes of preprocessing that is made for a disk, and taken from it.

use super::online::through_sboxes;
use super::shape;
use crate::common::{StockDirs, copy, entropy, key};
use divisi_core::testing::nets::{NetShape, ShapeOutcome};
use divisi_core::{Abort, Session};
use divisi_store::stock::Reserve;
use std::sync::OnceLock;

pub fn shapes() -> Vec<NetShape> {
    vec![
        shape("stocks made", 3, made),
        shape("stocks taken", 3, |session, seed, out| taken(session, seed, out, &[(1, 2), (1, 1)])),
        shape("stocks used up", 3, |session, seed, out| match taken(session, seed, out, &[(1, 2), (1, 7)]) {
            // all parties find that there is too little
            Err(Abort::Unfit { .. }) => Ok(()),
            other => other,
        }),
    ]
}

fn made(session: Session, _: u64, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let dirs = StockDirs { tables: 3, ..StockDirs::empty(session.parties()) };
    dirs.make(session)?;
    out.put("made", vec![1]);
    Ok(())
}

/// S-boxes whose preprocessing comes from a copy of one stock.
fn taken(session: Session, seed: u64, out: &mut ShapeOutcome, calls: &[(u8, usize)]) -> Result<(), Abort> {
    static MADE: OnceLock<StockDirs> = OnceLock::new();
    let made = MADE.get_or_init(|| StockDirs::new(3));
    let (own, number) = (StockDirs::empty(3), session.me().number());
    copy(&made.dir(number), &own.dir(number));
    let reserve = Reserve::open(&own.dir(number), key(), entropy(), number);
    let mut engine = own.begin_with(session, reserve)?;
    through_sboxes(&mut engine, seed, out, calls)
}
