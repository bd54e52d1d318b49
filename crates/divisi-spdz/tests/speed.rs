//! How fast the parts are; run with `--ignored --nocapture` on an idle machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::run;
use divisi_core::{Abort, Direction, Parameters, PartyId, settle};
use divisi_field::Gf48;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::{Protocol, Spdz};
use divisi_symmetric::aes;
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn aes_lt() {
    let blocks = 1024;
    run(2, &Parameters::new("spdz speed"), |session| {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 4)?;
        let mut engine = Spdz::new(party, Box::new(dealer), Protocol::Lookup)?;
        let owner = PartyId::all(1).next().unwrap();
        let mine = engine.session().me() == owner;
        let secret = |engine: &mut Spdz<Gf48>, lanes: usize| {
            let values = vec![7; lanes];
            engine.input(owner, mine.then_some(values.as_slice()), lanes)
        };
        let key = (0..16).map(|_| secret(&mut engine, 1)).collect::<Result<Vec<_>, Abort>>()?;
        let round_keys = aes::expand(&mut engine, &key)?;
        let state = (0..16).map(|_| secret(&mut engine, blocks)).collect::<Result<Vec<_>, Abort>>()?;
        let state: [_; 16] = state.try_into().unwrap_or_else(|_| panic!());
        for _ in 0..3 {
            let start = Instant::now();
            engine.preprocess(160 * blocks)?;
            let made = start.elapsed();
            engine.load(Direction::Encrypt)?;
            let loaded = start.elapsed();
            let mut state = state.clone();
            aes::encrypt(&mut engine, &round_keys, &mut state)?;
            let encrypted = start.elapsed();
            let pending = engine.close(state);
            settle(&mut engine, pending)?;
            let settled = start.elapsed();
            if mine {
                println!(
                    "{blocks} blocks: dealt and demultiplexed {made:?}, load {:?}, online {:?}, check {:?}: {:.0} blocks/s",
                    loaded - made,
                    encrypted - loaded,
                    settled - encrypted,
                    blocks as f64 / (settled - loaded).as_secs_f64()
                );
            }
        }
        Ok(())
    })
    .into_iter()
    .for_each(|end| end.unwrap());
}
