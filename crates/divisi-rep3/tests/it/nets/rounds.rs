//! Shapes of programs in constant rounds, in every role, garbled ahead or not.

use super::{LANES, dealt, shape};
use crate::common::prelude::*;
use divisi_core::testing::nets::{EQUAL, NetShape, ShapeOutcome};

pub fn shapes() -> Vec<NetShape> {
    vec![
        shape("constant rounds", |session, seed, out| play(session, seed, out, false)),
        shape("constant rounds, ahead", |session, seed, out| play(session, seed, out, true)),
    ]
}

/// Four calls, so that each party has each role, and one of them twice; before the last there is an opening
/// that the parties compare. A call may be garbled before, with some inputs known.
fn play(session: Session, seed: u64, out: &mut ShapeOutcome, ahead: bool) -> Result<(), Abort> {
    let mut e = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
    e.use_rounds(Rounds::Constant);
    let program = byte_product(3);
    for (call, lanes) in [out.lanes(LANES), 3, 64, 65].into_iter().enumerate() {
        let noise = |_| Noise(seed + call as u64).columns(3, lanes);
        let inputs = Some(seed).filter(|seed| *seed < EQUAL).map_or_else(|| vec![vec![0; lanes]; 3], noise);
        let mine = dealt(seed + call as u64, &inputs, e.trio().me().index());
        let secret = mine.iter().map(|part| e.trio().input(part)).collect::<Result<Vec<_>, _>>()?;
        let mut wires = bits(&mut e, &secret)?;
        let results = if ahead {
            let later = wires.split_off(4);
            let ahead = e.garble_ahead(&program, lanes, &wires)?;
            e.trio().absorb("opened", &[8]);
            e.run_ahead(ahead, later)?
        } else {
            e.trio().absorb("opened", &[8]);
            run_one(&mut e, &program, wires)?
        };
        let results = bytes(&mut e, &results)?;
        out.put("opened", e.reveal(results)?.concat());
        e.trio().barrier()?;
    }
    Ok(())
}
