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

static OF: Table = Table { index: 2, width: 2, values: &[1, 0, 3, 2] };

/// An engine with this many tables, whose masks are numbers at P_1.
fn engine(session: divisi_core::Session, tables: usize) -> Result<TinyBits<Gf48>, Abort> {
    let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
    let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
    let mut stock = e.tables.take(&OF);
    stock.s = numbered(e.session(), tables);
    let mut tiny = TinyBits::new(e);
    tiny.loads.push(stock);
    Ok(tiny)
}

fn lookup(lanes: usize) -> Lookup<TinyBit<Gf48>> {
    Lookup { table: &OF, wires: vec![TinyBits::mask(Auth::zeros(lanes)); 2] }
}

/// The output of every lookup has a mask of its own, in however many layers, and whatever their sizes.
#[test]
fn every_output_has_its_own_mask() {
    for lanes in [[3, 3], [1, 4]] {
        let ends = run(2, &PublicParameters::new("many layers"), |session| {
            let mut tiny = engine(session, 4 * LAYERS)?;
            let mut masks = HashSet::new();
            for _ in 0..LAYERS / 2 {
                let mut layer = lanes.map(lookup);
                tiny.look_up(&mut layer)?;
                let wires = layer.iter().flat_map(|lookup| &lookup.wires);
                masks.extend(wires.flat_map(|wire| wire.mask.m.iter().map(|m| m.to_bits())));
            }
            let opened: HashSet<u128> = tiny.o.m.iter().map(|m| m.to_bits()).collect();
            Ok((masks.len(), opened.len()))
        });
        let count = LAYERS / 2 * (lanes[0] + lanes[1]);
        assert!(ends.iter().all(|end| *end == Ok((2 * count, count))), "{ends:?}");
    }
}

/// All lookups of a layer have masks of their own, however many there are.
#[test]
fn every_lookup_of_a_layer_has_its_own_mask() {
    const MOST: usize = 66;
    let ends = run(2, &PublicParameters::new("wide layers"), |session| {
        let mut tiny = engine(session, MOST * MOST)?;
        let mut masks = HashSet::new();
        for lookups in 1..=MOST {
            let mut layer: Vec<Lookup<TinyBit<Gf48>>> = (0..lookups).map(|i| lookup(i % 2 + 1)).collect();
            tiny.look_up(&mut layer)?;
            let wires = layer.iter().flat_map(|lookup| &lookup.wires);
            masks.extend(wires.flat_map(|wire| wire.mask.m.iter().map(|m| m.to_bits())));
        }
        let opened: HashSet<u128> = tiny.o.m.iter().map(|m| m.to_bits()).collect();
        Ok((masks.len(), opened.len()))
    });
    let count = (1..=MOST).flat_map(|lookups| (0..lookups).map(|i| i % 2 + 1)).sum();
    assert!(ends.iter().all(|end| *end == Ok((2 * count, count))), "{ends:?}");
}

/// No table is used twice, however many were used before.
#[test]
fn no_table_returns() {
    let ends = run(2, &PublicParameters::new("many tables"), |session| {
        let mut tiny = engine(session, ALL)?;
        for place in places(1 << 16) {
            tiny.loads[0].used = place;
            tiny.look_up(&mut [lookup(LANES)])?;
            assert_eq!((tiny.loads.len(), tiny.loads[0].used), (1, place + LANES));
        }
        let layers: HashSet<Vec<u8>> =
            tiny.masked.x.chunks(LANES).map(|layer| layer.iter().map(|x| x.bits()).collect()).collect();
        Ok((layers.len(), tiny.engine.party.is_first()))
    });
    let count = places(1 << 16).len();
    assert!(ends.contains(&Ok((count, true))) && ends.iter().all(Result::is_ok), "{ends:?}");
}
