//! Shapes of preprocessing from oblivious transfer, with small buckets: what is right does not depend on their
//! size.

use super::online::through_sboxes;
use super::shape;
use divisi_core::testing::nets::{Shape, ShapeOutcome};
use divisi_core::{Abort, Session};
use divisi_field::Gf48;
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::{Bucketed, Mascot, Party, Preparation, Source, Spdz, SpdzProtocol};

pub fn shapes() -> Vec<Shape> {
    vec![
        shape("tables of buckets", 3, |session, seed, out| {
            made(session, seed, out, Preparation::Bucketed, SpdzProtocol::Lookup)
        }),
        shape("products of buckets", 3, |session, seed, out| {
            made(session, seed, out, Preparation::Bucketed, SpdzProtocol::BitDecomposition)
        }),
        shape("tables of MASCOT", 3, |session, seed, out| {
            made(session, seed, out, Preparation::Mascot, SpdzProtocol::Lookup)
        }),
        shape("products of MASCOT", 3, |session, seed, out| {
            made(session, seed, out, Preparation::Mascot, SpdzProtocol::BitDecomposition)
        }),
    ]
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
    through_sboxes(&mut Spdz::new(party, source, protocol)?, seed, out, &[(1, 3), (2, 2)])
}
