//! Masks are fresh: no mask is used for two lanes, two lookups or two products. The tests open zeros, so that
//! the opened values are the masks.

use super::prep::bucketed;
use super::{engine, harness};
use crate::engines::{dealt, sums};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::Recording;
use divisi_core::{Abort, Boolean, Bytes, Direction, Lookup, Lookups, ProgramRun, Session};
use divisi_field::Gf48;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::{AuthBit, Host, Source, SpdzProtocol, Tiny, TinyBits};
use divisi_symmetric::des::SBOXES;
use std::collections::BTreeSet;

const OPENED: &str = "divisi_spdz::engine::lookup/lookup.2";
const OPENED_BITS: &str = "divisi_spdz::engine::bits/lookup.bits.2";
const E: &str = "divisi_spdz::engine::tiny/tinytable.e";
const ENTRIES: &str = "divisi_spdz::engine::tiny/tinytable.entry";
const E_OF_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.e";
const ENTRIES_OF_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.entry";
const ENTER: &str = "divisi_spdz::engine::tiny/tinytable.enter";
const ENTER_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.enter";
const BIT: &str = "divisi_spdz::multiply/multiply.bit";
const ELEMENT: &str = "divisi_spdz::multiply/multiply.element";
const BITDEC: &str = "divisi_spdz::engine::arithmetic/bitdec";
const RAW: &str = "divisi_spdz::engine::raw/raw.bitdec";
const PIECES: &str = "divisi_spdz::demux/demux.bitdec";
const MASKED: &str = "divisi_spdz::prep::bucketed::tables/tables.p+v";
const DECOMPOSE: &str = "divisi_spdz::prep::bucketed::tables/tables.bitdec";

const LANES: usize = 4;
const LAYERS: usize = 10;

/// What the two parties of a run send.
struct Opened(Vec<Recording>);

impl Opened {
    fn of(run: impl Fn(Session) -> Result<(), Abort> + Sync) -> Opened {
        let harness = harness(2, None);
        let recordings = harness.recordings();
        let ends = harness.act(run);
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        Opened(recordings)
    }

    /// The opened values of a step, message by message.
    fn at(&self, step: &'static str) -> Vec<Vec<u8>> {
        sums(&self.0, step)
    }
}

/// The values in a message, of this many bits each.
fn values(body: &[u8], bits: usize) -> Vec<u32> {
    let bit = |at: usize| u32::from(body[at / 8] >> (at % 8) & 1);
    (0..8 * body.len() / bits).map(|i| (0..bits).fold(0, |x, k| x | bit(i * bits + k) << k)).collect()
}

/// Demands that masks of this many bits are fresh: no two lanes have the same masks in all layers, no lane
/// always repeats those of a lane up to three layers before, and there are more different masks than half of
/// the bits could make.
fn all_fresh(layers: &[Vec<u8>], bits: usize, what: &str) {
    let layers: Vec<Vec<u32>> = layers.iter().map(|body| values(body, bits)).collect();
    let lanes = layers[0].len();
    let occurring = layers.iter().flatten().collect::<BTreeSet<_>>().len();
    assert!(occurring > if bits == 4 { 11 } else { 16 }, "{what}: {occurring} values");
    assert!(layers.len() >= 6 && layers.iter().all(|layer| layer.len() == lanes), "{what}");
    for (i, j) in (0..lanes).flat_map(|i| (0..lanes).map(move |j| (i, j))) {
        for distance in (0..4).filter(|distance| *distance > 0 || i != j) {
            let mut pairs = layers.iter().zip(&layers[distance..]);
            assert!(pairs.any(|(x, y)| x[i] != y[j]), "{what}: lanes {i} and {j}, {distance} layers apart");
        }
    }
}

/// Demands that all `count` of these differ.
fn different<T: Ord>(all: impl IntoIterator<Item = T>, count: usize, what: &str) {
    assert_eq!(all.into_iter().collect::<BTreeSet<T>>().len(), count, "{what}");
}

/// A lookup in a table of DES, with zeros as its index.
fn index<E: Lookups>(engine: &mut E, lanes: usize) -> Lookup<E::Bit> {
    let wires = (0..6).map(|_| engine.constant_bit(&vec![false; lanes])).collect();
    Lookup { table: &SBOXES[0], wires }
}

/// Every lookup of bytes or of bits has its own table, whether tables are made for one layer, for half of
/// them or for all: those of the first layer behind tables that were made ahead are new, too \[K2\].
#[test]
fn every_lookup_has_its_own_table() {
    for ahead in [0, LAYERS / 2, LAYERS] {
        let opened = Opened::of(|session| {
            let mut engine = engine(session)?;
            let zeros = engine.public(&[0; LANES]);
            if ahead > 0 {
                engine.prepare(ahead, 1, LANES)?;
            }
            (0..LAYERS).try_for_each(|_| engine.sbox(Direction::Encrypt, &mut [&mut zeros.clone()]))
        });
        all_fresh(&opened.at(OPENED), 8, "bytes");
        different(opened.at(OPENED), LAYERS, "bytes");
        let opened = Opened::of(|session| {
            let mut engine = engine(session)?;
            if ahead > 0 {
                engine.prepare_lookups(&[(&SBOXES[0], 2 * LANES * ahead)])?;
            }
            (0..LAYERS).try_for_each(|_| {
                let mut layer = [index(&mut engine, LANES), index(&mut engine, LANES)];
                engine.look_up(&mut layer)
            })
        });
        all_fresh(&opened.at(OPENED_BITS), 6, "bits");
        different(opened.at(OPENED_BITS), LAYERS, "bits");
    }
}

/// Wires whose value and mask are zero go through S-boxes. So e is the mask r of a table's index, and an
/// opened entry is the output's mask o plus the entry's value. Layers have one direction, or both in turn.
fn tiny(session: Session, ahead: bool, directions: &[Direction]) -> Result<(), Abort> {
    let mut tiny = Tiny::new(engine(session)?);
    if ahead {
        tiny.prepare(LAYERS, 1, LANES)?;
    }
    for run in [0, 1] {
        let zeros = tiny.public(&[0; LANES]);
        let mut layers = directions.iter().cycle().take(LAYERS);
        layers.try_for_each(|d| tiny.sbox(*d, &mut [&mut zeros.clone()]))?;
        if run == 0 {
            tiny.open_indices()?;
        }
    }
    Ok(())
}

/// The same for bits.
fn tiny_bits(session: Session) -> Result<(), Abort> {
    let mut tiny = TinyBits::new(engine(session)?);
    for run in [0, 1] {
        for _ in 0..LAYERS {
            let mut layer = [index(&mut tiny, LANES), index(&mut tiny, LANES)];
            tiny.look_up(&mut layer)?;
        }
        if run == 0 {
            tiny.open_indices()?;
        }
    }
    Ok(())
}

/// Every table has its own r, and every wire its own o \[K2, K22\].
#[test]
fn every_table_and_wire_has_its_own_mask() {
    let both = [Direction::Encrypt, Direction::Decrypt];
    for (ahead, directions) in [(true, &both[..1]), (false, &both[..1]), (true, &both), (false, &both)] {
        let opened = Opened::of(|session| tiny(session, ahead, directions));
        let e = opened.at(E).concat();
        assert_eq!(e.len(), LAYERS * LANES);
        all_fresh(&e.chunks(LANES).map(<[u8]>::to_vec).collect::<Vec<_>>(), 8, "r");
        different(e.chunks(LANES), LAYERS, "r");
        all_fresh(&opened.at(ENTRIES), 8, "o");
        different(opened.at(ENTRIES), LAYERS, "o");
    }
    let opened = Opened::of(tiny_bits);
    let e = opened.at(E_OF_BITS).concat();
    // each layer has eight lanes of six bits each
    assert_eq!(e.len(), 6 * LAYERS);
    all_fresh(&e.chunks(6).map(<[u8]>::to_vec).collect::<Vec<_>>(), 6, "r of bits");
    all_fresh(&opened.at(ENTRIES_OF_BITS), 4, "o of bits");
}

/// Each lane of a shared value that becomes a wire has its own mask \[K5\].
#[test]
fn every_lane_that_enters_has_its_own_mask() {
    let opened = Opened::of(|session| {
        let mut tiny = Tiny::new(engine(session)?);
        let zeros = tiny.engine().public(&[0; LANES]);
        (0..LAYERS).try_for_each(|_| tiny.enter(std::slice::from_ref(&zeros)).map(drop))
    });
    all_fresh(&opened.at(ENTER), 8, "bytes");
    let opened = Opened::of(|session| {
        let mut tiny = TinyBits::new(engine(session)?);
        let zeros = tiny.engine().constant_bit(&[false; 48]);
        (0..LAYERS).try_for_each(|_| tiny.enter(std::slice::from_ref(&zeros)).map(drop))
    });
    let bits = opened.at(ENTER_BITS);
    different(&bits, LAYERS, "bits");
    assert!(bits.iter().all(|body| *body != [0; 6] && *body != [0xff; 6]));
}

/// Every product has factors of its own that mask it, and every decomposition its own bits \[K5, K6\].
#[test]
fn every_product_has_its_own_triple() {
    for ahead in [true, false] {
        let opened = Opened::of(|session| {
            let mut engine = dealt::<Gf48>(session, 9, SpdzProtocol::RivainProuff)?;
            let zeros = engine.public(&[0; LANES]);
            if ahead {
                engine.prepare(LAYERS, 1, LANES)?;
            }
            (0..LAYERS).try_for_each(|_| engine.sbox(Direction::Encrypt, &mut [&mut zeros.clone()]))
        });
        for step in [ELEMENT, BITDEC] {
            let all = opened.at(step).into_iter().filter(|body| body.len() == LANES);
            all_fresh(&all.collect::<Vec<_>>(), 8, step);
        }
    }
    let opened = Opened::of(|session| {
        let mut engine = dealt::<Gf48>(session, 9, SpdzProtocol::Raw)?;
        Lookups::foresee(&mut engine, &[(&SBOXES[0], 8 * LAYERS)])?;
        (0..LAYERS).try_for_each(|_| {
            let mut layer = [index(&mut engine, 8)];
            engine.look_up(&mut layer)
        })
    });
    let first: Vec<Vec<u8>> = opened.at(ELEMENT).into_iter().filter(|body| body.len() == 6).collect();
    different(&first, 2 * LAYERS, "products in GF(2^6)");
    all_fresh(&opened.at(RAW), 4, "values of four bits");
    let mut g = Build::new();
    let [x, y] = g.input(2)[..] else { panic!("two wires") };
    let product = g.and(x, y);
    g.output(&[product]);
    let program = g.finish();
    let opened = Opened::of(|session| {
        let mut engine = engine(session)?;
        engine.preprocess_ands(64 * LAYERS)?;
        let zeros: AuthBit<Gf48> = engine.constant_bit(&[false; 64]);
        (0..LAYERS).try_for_each(|_| {
            engine.run(&mut [ProgramRun::new(&program, vec![zeros.clone(), zeros.clone()])])
        })
    });
    different(opened.at(ELEMENT), 2 * LAYERS, "products of bits");
}

/// Demux: the products of all levels have their own factors, and every entry is masked by its own bit \[K5,
/// K6\].
#[test]
fn every_entry_of_a_unit_vector_has_its_own_mask() {
    fn units<F: Host>(session: Session, log: usize, lanes: usize) -> Result<(), Abort> {
        let (mut party, mut dealer) = Dealer::<F>::deal(session, 9)?;
        dealer.units(&mut party, log, lanes)?;
        party.check()
    }
    // vectors of up to 32 entries are one piece
    let lanes = 64;
    let opened = Opened::of(|session| units::<Gf48>(session, 5, lanes));
    let [bits, factors] = [BIT, ELEMENT].map(|step| opened.at(step));
    assert_eq!([bits.len(), factors.len()], [4, 4]);
    different(&bits, 4, "bits");
    // in each level one entry is one, and the others are zero
    let ones = |x: &[u8], y: &[u8]| x.iter().zip(y).map(|(x, y)| (x ^ y).count_ones()).sum::<u32>();
    for levels in factors.windows(2) {
        let lanes = levels[0].chunks(6).zip(levels[1].chunks(6));
        assert!(lanes.map(|(x, y)| ones(x, y)).max() > Some(4));
    }
    let first: BTreeSet<&[u8]> = factors[0].chunks(6).collect();
    assert_eq!(first.len(), lanes);
    let pieces = values(&opened.at(PIECES)[0], 32);
    assert_eq!(pieces.len(), lanes);
    different(pieces, lanes, "entries");
}

/// Products in buckets: p + v of a lane reveals nothing about that of another lane or of another call.
#[test]
fn every_product_of_a_bucket_serves_once() {
    let lanes = 64;
    let opened = Opened::of(|session| {
        let (mut party, mut source) = bucketed(session, 8, 5)?;
        source.foresee(4, 2 * lanes);
        for _ in 0..2 {
            source.units(&mut party, 4, lanes)?;
        }
        party.check()
    });
    // three levels a call, of 2, 4 and 8 bits
    let masked = opened.at(MASKED);
    assert_eq!(masked.iter().map(Vec::len).collect::<Vec<_>>(), [16, 32, 64, 16, 32, 64]);
    let opened_bits = opened.at(DECOMPOSE);
    assert_eq!(opened_bits.iter().map(Vec::len).collect::<Vec<_>>(), [64, 64]);
    // under one mask there would be at most one value for each entry, and one more
    for body in masked.iter().filter(|body| body.len() == 64).chain(&opened_bits) {
        assert!(body.iter().collect::<BTreeSet<_>>().len() > 16);
    }
    let again = |x: &[u8], y: &[u8]| x.iter().zip(y).all(|(x, y)| (x ^ y).count_ones() <= 2);
    assert!(!again(&masked[2], &masked[5]) && !again(&opened_bits[0], &opened_bits[1]));
}
