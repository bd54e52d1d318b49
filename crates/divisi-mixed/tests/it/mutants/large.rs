//! What hides many secrets is as fresh at the end of a long list as at its beginning: no mask returns after
//! a while, ends after so many, or serves another batch, window of lanes or request. The secrets are zeros
//! here, so that the opened values are the masks themselves.

use super::{act, bytes};
use crate::common::{agreed, honest, product, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler};
use divisi_core::testing::{Harness, MessageDirection, Recording, party, run};
use divisi_core::{Abort, Boolean, ProgramRun, Session};
use divisi_field::zp::{Modulus, P16, P32, P62};
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::together::Asked;
use divisi_mixed::vectors::prep_lut_vectors;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num};
use divisi_ot::SetupConfig;
use std::collections::BTreeSet;

const NUMBERS: &str = "divisi_mixed::num/open.tell";
const BITS: &str = "divisi_mixed::open/open.tell";
const PRODUCTS: &str = "divisi_mixed::gmw/products";

/// More bits than two bytes count.
const MANY: usize = (1 << 16) + (1 << 12);

/// So many bytes in all, of which no eight that follow each other occur twice, wherever they begin.
fn are_fresh(parts: &[Vec<u8>], all: usize) {
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), all);
    let mut seen = BTreeSet::new();
    for (nth, part) in parts.iter().enumerate() {
        for (at, eight) in part.windows(8).enumerate() {
            assert!(seen.insert(eight), "a mask that served twice, at byte {at} of part {nth}");
        }
    }
}

/// The same of uniform bits, whose bits at any small distance are no more alike than random ones: no mask is
/// a shift of a neighbour.
fn are_unrelated(parts: &[Vec<u8>], all: usize) {
    are_fresh(parts, all);
    let bytes = parts.concat();
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight)).collect();
    for distance in 1..=128 {
        let (whole, shift) = (distance / 64, distance % 64);
        let moved = words.windows(2).skip(whole).map(|two| two[0] >> shift | two[1] << 1 << (63 - shift));
        let pairs = words.iter().zip(moved);
        let (count, differ) = pairs.fold((0, 0), |(n, sum), (x, y)| (n + 64, sum + (x ^ y).count_ones()));
        // nine standard deviations
        let off = (2.0 * f64::from(differ) - f64::from(count)).abs();
        assert!(off < 9.0 * f64::from(count).sqrt(), "bits at distance {distance}: {differ} of {count}");
    }
}

/// All that two parties send each other with this step.
fn sent(seen: &Recording, step: &'static str) -> Vec<Vec<u8>> {
    let ways = [MessageDirection::In, MessageDirection::Out].into_iter();
    ways.flat_map(|way| seen.bodies(way, party(1), step)).collect()
}

/// Two parties without keys for ciphertexts, and what the second one sees.
fn pair<R: Send>(p: u64, f: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync) -> (Vec<R>, Recording) {
    let harness = Harness::new(2, &agreed()).patient();
    let seen = harness.recording(party(2));
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        f(&mut Mixed::new(gmw, Modulus::new(p).unwrap(), None, None)?)
    });
    (honest(ends), seen)
}

/// Both factors of one level, by triples of two batches.
#[test]
fn triples_of_a_large_level_serve_once() {
    let (program, lanes) = (product(), 3 << 16);
    let (_, seen) = pair(P32, |mixed| {
        mixed.gmw().prepare(1 << 16)?;
        mixed.gmw().run(&mut [ProgramRun::new(&program, vec![GmwBit::zero(lanes); 2])])
    });
    are_unrelated(&sent(&seen, PRODUCTS), 2 * 2 * lanes / 8);
}

/// So many programs run together that the lanes of the longest are computed in several windows, which have
/// levels of one size.
#[test]
fn triples_of_a_window_serve_no_other() {
    let (program, many) = (product(), 1 << 15);
    let (_, seen) = pair(P32, |mixed| {
        let job = |lanes| ProgramRun::new(&program, vec![GmwBit::zero(lanes); 2]);
        let mut jobs: Vec<_> = std::iter::repeat_with(|| job(1)).take(many).collect();
        jobs.push(job(640));
        mixed.gmw().run(&mut jobs)
    });
    let messages = sent(&seen, PRODUCTS);
    let lengths: BTreeSet<usize> = messages.iter().map(Vec::len).collect();
    assert!(lengths.len() > 1 && messages.len() > 2 * lengths.len(), "windows of one size");
    are_unrelated(&messages, 2 * 2 * (many + 640) / 8);
}

/// Of each party's inputs, in one call and the next: the other party's share is the mask.
#[test]
fn masks_of_many_inputs_serve_once() {
    let (shares, _) = pair(P32, |mixed| {
        let me = mixed.session().me();
        let mut others = Vec::new();
        for (owner, lanes) in [(1, MANY), (2, MANY), (1, 64), (2, 64)].map(|(n, lanes)| (party(n), lanes)) {
            let zero = GmwBit::zero(lanes);
            let share = mixed.gmw().input(owner, lanes, Some(&zero).filter(|_| me == owner))?;
            others.extend(Some(bytes(share.words())).filter(|_| me != owner));
        }
        Ok(others)
    });
    are_unrelated(&shares.concat(), 2 * (MANY + 64) / 8);
}

/// Every place of numbers of 62 bits.
#[test]
fn bits_of_many_long_numbers_have_masks_of_their_own() {
    let (places, lanes) = (62, 1280);
    assert!(places * lanes > 1 << 16);
    let (_, seen) = pair(P62, |mixed| mixed.b2a(&vec![GmwBit::zero(lanes); places]).map(drop));
    are_unrelated(&sent(&seen, BITS), places * lanes / 8);
}

/// Lookups in public tables of two entries and of 16.
#[test]
fn many_indices_have_masks_of_their_own() {
    for (width, count) in [(1, MANY), (4, 2048)] {
        let (_, seen) = pair(P32, |mixed| {
            let signs = mixed.prep_lut(width, count)?;
            let table: Vec<u64> = (0..1 << width).collect();
            mixed.lookup(&[&table], &vec![GmwBit::zero(count); width], signs).map(drop)
        });
        are_unrelated(&sent(&seen, BITS), width * count / 8);
    }
}

/// A2B of zeros: each has a mask of its own, and this is below p, also if thousands of candidates were made
/// together: the bits of zero under another one would be those of p.
#[test]
fn masks_of_many_numbers_are_below_p_and_serve_once() {
    let lanes = 2600;
    let (outputs, seen) = pair(P16, |mixed| {
        mixed.prepare_masks(lanes)?;
        let bits = mixed.a2b(&Num::zero(lanes))?;
        mixed.gmw().output(&[party(1), party(2)], &bits)
    });
    are_fresh(&sent(&seen, NUMBERS), lanes * 17 / 8);
    for bits in outputs.into_iter().flatten() {
        assert_eq!(bits.len(), 17);
        assert!(bits.iter().all(|bit| bit.words().iter().all(|word| *word == 0)));
    }
}

/// Products that take triples of six batches: more than are made at once.
#[test]
fn triples_of_many_batches_serve_once() {
    let lanes = 6 * 1024;
    let (_, seen) = act(2, None, |mixed| mixed.multiply(&Num::zero(lanes), &Num::zero(lanes)).map(drop));
    are_fresh(&sent(&seen, NUMBERS), 2 * 4 * lanes);
}

/// Batches of random bits by ciphertexts, more than are made at once: what each party draws for them.
#[test]
fn bits_of_many_batches_are_fresh() {
    let ring = small(Operation::Bits, Form::LeanTree, 2);
    let batches = 18;
    let agreed = ring.parameters().describe(agreed());
    let ends = run(2, &agreed, |session| {
        let gmw = Gmw::deferred(session, SetupConfig::default());
        let mut mixed = Mixed::new(gmw, Modulus::new(P32).unwrap(), Some(&ring), None)?;
        let (modulo_2, _) = mixed.take_bits(batches * ring.dimension())?.open();
        Ok(bytes(GmwBit::of(modulo_2.iter().copied()).words()))
    });
    are_unrelated(&honest(ends), 2 * batches * ring.dimension() / 8);
}

/// Lookups at zero in tables that `make` masks under keys of its own: the masks of this many of them.
fn masks_of_tables(
    operation: Operation,
    count: usize,
    look_up: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<(), Abort> + Sync,
) {
    let ring = small(operation, Form::LeanTree, 2);
    let harness = Harness::new(2, &ring.parameters().describe(agreed())).patient();
    let seen = harness.recording(party(2));
    let ends = harness.act(|mut session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        look_up(&mut session, &keys, &mut sampler)
    });
    honest(ends);
    are_fresh(&sent(&seen, BITS), count / 8);
}

#[test]
fn masks_of_many_private_tables_serve_once() {
    let count = 2048;
    masks_of_tables(Operation::PrivateTables, count, |session, keys, sampler| {
        let tables = prep_lut_polysize(session, keys, sampler, 1, &[Num::zero(2 * count)])?;
        tables.lookup(session, &[GmwBit::zero(count)]).map(drop)
    });
}

#[test]
fn masks_of_many_tables_of_vectors_serve_once() {
    let count = 144;
    masks_of_tables(Operation::VectorTables, count, |session, keys, sampler| {
        let tables = vec![[Num::zero(1), Num::zero(1)]; count];
        let tables = prep_lut_vectors(session, keys, sampler, &tables)?;
        tables.lookup(session, &GmwBit::zero(count)).map(drop)
    });
}

/// Requests that share an opening share no mask, however many there are of one kind and size.
#[test]
fn requests_that_are_asked_together_have_masks_of_their_own() {
    let (_, seen) = pair(P32, |mixed| {
        let mut asked: Vec<_> = (0..5).map(|_| Asked::B2a(vec![GmwBit::zero(64); 4])).collect();
        for _ in 0..3 {
            let signs = mixed.prep_lut(1, 64)?;
            asked.push(Asked::PubTabLookup { tables: vec![&[0, 1]], index: vec![GmwBit::zero(64)], signs });
        }
        mixed.ask(asked).map(drop)
    });
    are_unrelated(&sent(&seen, BITS), (5 * 4 * 64 + 3 * 64) / 8);
}

/// Lookups whose signs several batches of ciphertexts make.
#[test]
fn masks_of_many_batches_of_lookups_serve_once() {
    let ring = small(Operation::Bits, Form::LeanTree, 2);
    let count = 5 * (ring.dimension() / 255);
    let harness = Harness::new(2, &ring.parameters().describe(agreed())).patient();
    let seen = harness.recording(party(2));
    honest(harness.act(|session| {
        let gmw = Gmw::deferred(session, SetupConfig::default());
        let mut mixed = Mixed::new(gmw, Modulus::new(P32).unwrap(), Some(&ring), None)?;
        let signs = mixed.prep_lut(8, count)?;
        let table: Vec<u64> = (0..256).collect();
        mixed.lookup(&[&table], &vec![GmwBit::zero(count); 8], signs).map(drop)
    }));
    are_fresh(&sent(&seen, BITS), count);
}
