//! Circuits with more layers and tables than any number of few bits counts.

use super::*;
use crate::dealer::Dealer;
use crate::engine::SpdzProtocol;
use crate::engine::lookup::tests::{ALL, LANES, numbered, places};
use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_field::Gf48;
use std::collections::HashSet;

/// How many layers a circuit has: more than 2^8.
const LAYERS: usize = 300;

/// An engine with this many tables, whose masks are numbers at P_1.
fn engine(session: divisi_core::Session, tables: usize) -> Result<Tiny<Gf48>, Abort> {
    let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
    let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
    let s = numbered(e.session(), tables);
    let mut tiny = Tiny::new(e);
    tiny.loads.push((Direction::Encrypt, Tables { s, entries: Default::default(), used: 0 }));
    Ok(tiny)
}

/// The output of every lookup has a mask of its own, in however many layers, and whatever their sizes.
#[test]
fn every_output_has_its_own_mask() {
    for lanes in [[3, 3], [1, 4]] {
        let ends = run(2, &PublicParameters::new("many layers"), |session| {
            let mut tiny = engine(session, 4 * LAYERS)?;
            for layer in 0..LAYERS {
                let mut wire = Tiny::mask(Auth::zeros(lanes[layer % 2]));
                tiny.foresee_layer(Direction::Encrypt, &mut [&mut wire])?;
            }
            let masks: HashSet<u128> = tiny.o.m.iter().map(|m| m.to_bits()).collect();
            Ok((tiny.o.len(), masks.len()))
        });
        let count = LAYERS / 2 * (lanes[0] + lanes[1]);
        assert!(ends.iter().all(|end| *end == Ok((count, count))), "{ends:?}");
    }
}

/// No table is used twice, however many were used before.
#[test]
fn no_table_returns() {
    let ends = run(2, &PublicParameters::new("many tables"), |session| {
        let mut tiny = engine(session, ALL)?;
        for place in places(1 << 16) {
            tiny.loads[0].1.used = place;
            tiny.foresee_layer(Direction::Encrypt, &mut [&mut Tiny::mask(Auth::zeros(LANES))])?;
            assert_eq!((tiny.loads.len(), tiny.loads[0].1.used), (1, place + LANES));
        }
        let layers: HashSet<&[Gf8]> = tiny.masked.x.chunks(LANES).collect();
        Ok((layers.len(), tiny.engine.party.is_first()))
    });
    let count = places(1 << 16).len();
    assert!(
        ends.iter().all(|end| matches!(end, Ok((layers, first)) if !first || *layers == count)),
        "{ends:?}"
    );
    assert!(ends.contains(&Ok((count, true))), "{ends:?}");
}
