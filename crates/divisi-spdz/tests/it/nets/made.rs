//! Shapes of preprocessing from oblivious transfer, with small buckets: what is right does not depend on
//! their size.

use super::online::through_sboxes;
use super::shape;
use divisi_core::testing::nets::{NetShape, ShapeOutcome};
use divisi_core::{Abort, Session};
use divisi_field::Gf48;
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::{Bucketed, Mascot, Party, Preparation, Source, Spdz, SpdzProtocol};
use std::time::Duration;

/// The time limit, because rows are made in two strands of one thread, so that no time is skipped.
const LIMIT: Duration = Duration::from_secs(4);

/// Everything among so many parties.
pub fn shapes(parties: usize) -> Vec<NetShape> {
    let all = [
        shape("tables of buckets", parties, |session, seed, out| {
            made(session, seed, out, Preparation::Bucketed, SpdzProtocol::Lookup)
        }),
        shape("products of buckets", parties, |session, seed, out| {
            made(session, seed, out, Preparation::Bucketed, SpdzProtocol::BitDecomposition)
        }),
        shape("tables of MASCOT", parties, |session, seed, out| {
            made(session, seed, out, Preparation::Mascot, SpdzProtocol::Lookup)
        }),
        shape("products of MASCOT", parties, |session, seed, out| {
            made(session, seed, out, Preparation::Mascot, SpdzProtocol::BitDecomposition)
        }),
    ];
    all.into_iter().map(|shape| shape.waiting(LIMIT)).collect()
}

/// S-boxes of two calls, whose preprocessing the parties make.
fn made(
    mut session: Session,
    seed: u64,
    out: &mut ShapeOutcome,
    preparation: Preparation,
    protocol: SpdzProtocol,
) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = testing::unsound_over_field(&mut session, config, 48)?;
    let (party, source): (Party<Gf48>, Box<dyn Source<Gf48>>) = match preparation {
        Preparation::Bucketed => {
            let (party, source) = Bucketed::over(session, setup)?;
            (party, Box::new(source))
        }
        _ => {
            let (party, source) = Mascot::over(session, setup)?;
            (party, Box::new(source))
        }
    };
    let calls = [(1, out.lanes(3)), (2, 2)];
    through_sboxes(&mut Spdz::new(party, source, protocol)?, seed, out, &calls)
}
