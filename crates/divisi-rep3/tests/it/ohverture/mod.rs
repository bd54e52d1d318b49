//! One-hot vectors of every length, lookups by them, what they cost to the bit, and how every lie ends.

mod cube;
mod cube_lies;
mod lies;

use crate::common::boxes::{act, input, is_misuse, run};
use crate::common::prelude::*;
use divisi_core::Lanes;
use divisi_rep3::adversary::compare::{chi_square, chi_square_limit, difference, features};
use divisi_rep3::blackbox::PIECE;
use divisi_rep3::lab;
use divisi_rep3::ohverture::{LookupTable, MAX_BYTES};

const PRODUCTS: &str = "divisi_rep3::ohverture::make/products";
const RECONST: &str = "divisi_rep3::blackbox/reconst";
const RESHARE: &str = "divisi_rep3::blackbox::products/reshare";

const LANES: usize = 9;

/// `ceil(log2 k)`.
fn log2(k: usize) -> u32 {
    (1..k).filter(|n| n.is_power_of_two()).count() as u32
}

fn products(k: usize) -> u64 {
    (1 << k) - k as u64 - 1
}

/// An entry of the table in which lies are told: as the S-box, but for the linear part.
fn entry(x: Gf8) -> Gf8 {
    x.inverse() + Gf8(0x63)
}

fn table_entries() -> Vec<Gf8> {
    (0..=255).map(|i| entry(Gf8(i))).collect()
}

/// Whether all bytes are about as frequent.
fn is_uniform(body: &[u8]) -> bool {
    let mut counts = [0; 256];
    body.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    chi_square(&counts) < chi_square_limit(255.0)
}

/// Asserts that no honest party is deceived; returns the checks that found the lie.
fn ends(corrupt: PartyId, results: &[Result<Vec<Gf8>, Abort>]) -> Vec<Check> {
    for (p, result) in others(corrupt, results) {
        assert!(result.is_err(), "{p} was deceived, or nothing was wrong");
    }
    results.iter().filter_map(failed_check).collect()
}

fn one_hot(entries: &[Gf2], r: Gf64) -> bool {
    entries.iter().enumerate().all(|(j, e)| (*e == Gf2::ONE) == (j as u64 == r.0))
}

#[test]
fn vectors_are_one_hot_at_their_place_and_cost_what_the_slides_say() {
    for k in 1..=16 {
        let count = [70, 9, 2][(k > 4) as usize + (k > 10) as usize];
        let n = count as u64;
        // replicated
        let (places, counts) = run(|b| {
            b.session().phase("vectors");
            let vectors = b.rohv_rss(k, count)?;
            assert_eq!(vectors.count(), count);
            b.session().phase("rest");
            let (r, entries) = b.entries(vectors)?;
            let r = b.output(&r)?;
            for (r, entries) in r.iter().zip(&entries) {
                assert!(one_hot(&b.output(entries)?, *r), "{k}");
            }
            Ok(r)
        });
        assert_eq!(spent(&counts, "vectors"), (n * products(k), log2(k)), "{k}");
        // one relation over GF(2^64) a vector
        assert_eq!(counts.checks.get(&checks::A17), (k > 1).then_some(&n));
        assert_eq!(counts.checks.get(&checks::S2), (k > 1).then_some(&(n * products(k))));
        if k > 1 {
            assert!(counts.verification_error_bits.unwrap() > 59.0);
        }
        assert!(k < 3 || places.iter().any(|r| *r != places[0]) || count == 2);
        // additive
        let (_, counts) = run(|b| {
            b.session().phase("vectors");
            let vectors = b.rohv_add(k, count)?;
            b.session().phase("rest");
            let [vectors, _] = vectors.split(2).unwrap();
            let (r, entries) = b.entries_additive(vectors)?;
            let r = b.output(&r)?;
            for (r, entries) in r.iter().zip(entries) {
                let entries = b.reshare(entries)?;
                assert!(one_hot(&b.output(&entries)?, *r), "{k}");
            }
            Ok(r)
        });
        let halves = [k.div_ceil(2), k / 2];
        let bits = halves.iter().filter(|k| **k > 0).map(|k| products(*k)).sum::<u64>();
        assert_eq!(spent(&counts, "vectors"), (n * bits, log2(halves[0])), "{k}");
        let relations = n * halves.iter().filter(|k| **k > 1).count() as u64;
        assert_eq!(times(&counts, checks::A17), relations);
    }
}

/// The slides' own figures.
#[test]
fn sixteen_take_eleven_bits_and_two_rounds_and_256_take_22() {
    let made = |k, additive| {
        let (_, counts) = run(|b| {
            b.session().phase("vectors");
            if additive {
                b.rohv_add(k, 1).map(drop)?
            } else {
                b.rohv_rss(k, 1).map(drop)?
            }
            b.session().phase("rest");
            let recon = b.verify_recon()?;
            b.verify_mul(&recon).map(drop)
        });
        (spent(&counts, "vectors"), counts.checks[&checks::A17])
    };
    // at most 2 checks, and at most 4
    assert_eq!(made(4, false), ((11, 2), 1));
    assert_eq!(made(8, true), ((22, 2), 2));
}

fn lookups<F: Element, G: Element>(k: usize, lanes: usize, width: usize) {
    let entry = |i: usize| {
        let word = (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        G::from_low_bits(word.rotate_right(5) & (u128::MAX >> (128 - width)) | (i == 0) as u128)
    };
    let entries: Vec<G> = (0..1 << k).map(entry).collect();
    let table = LookupTable::new(&entries).unwrap();
    assert_eq!(table.width(), width);
    let x: Vec<F> =
        (0..lanes).map(|l| F::from_low_bits(((l * 40_503 + 7) & ((1 << k) - 1)) as u128)).collect();
    let expected: Vec<G> = x.iter().map(|x| entries[x.to_bits() as usize]).collect();
    let (outs, counts) = run(|b| {
        let x = input(b, 1, &x)?;
        b.session().phase("ahead");
        let first = b.rohv_rss(k, lanes)?;
        let [third, fourth] = b.rohv_add(k, 2 * lanes)?.split(lanes).unwrap();
        let recon = b.verify_recon()?;
        b.verify_mul(&recon)?;
        b.session().phase("lookup");
        let y = b.lookup(&table, &x, first)?;
        b.session().phase("lookup_additive");
        let additive = b.lookup_additive(&table, &x, third)?;
        b.session().phase("lookup_sqrt");
        let z = b.lookup_sqrt(&table, &x, fourth)?;
        b.session().phase("sample");
        let vectors = b.rohv_rss(k, 1)?;
        b.session().phase("nothing sent");
        let sample = b.sample(&table, vectors)?;
        b.session().phase("rest");
        let additive = b.reshare(additive)?;
        Ok([b.output(&y)?, b.output(&additive)?, b.output(&z)?, b.output(&sample)?])
    });
    assert!(outs[..3].iter().all(|out| *out == expected), "{k} {lanes}");
    assert!(entries.contains(&outs[3][0]));
    let (k, lanes, width) = (k as u64, lanes as u64, width as u64);
    assert_eq!(spent(&counts, "lookup"), (k * lanes, 1));
    assert_eq!(spent(&counts, "lookup_additive"), (k * lanes, 1));
    assert_eq!(spent(&counts, "lookup_sqrt"), ((k + width) * lanes, 2));
    assert_eq!(spent(&counts, "nothing sent"), (0, 0));
}

#[test]
fn vectors_and_lookups_cost_what_the_table_says() {
    lookups::<Gf2, Gf2>(1, 5, 1);
    lookups::<Gf4, Gf4>(4, 100, 4);
    lookups::<Gf4, Gf128>(3, 7, 127);
    lookups::<Gf8, Gf8>(8, 33, 8);
    lookups::<Gf64, Gf8>(7, 3, 5);
    lookups::<Gf64, Gf64>(13, 2, 33);
    lookups::<Gf128, Gf64>(16, 2, 64);
}

/// Lookups at products that were never reshared: of the square of x.
fn lookups_of_additive<F: Element>() {
    let k = F::BITS;
    let entries: Vec<Gf64> = (0..1_u64 << k).map(|i| Gf64(i * i + 1)).collect();
    let table = LookupTable::new(&entries).unwrap();
    let x: Vec<F> = (0..LANES).map(|l| F::from_low_bits((5 * l + 1) as u128)).collect();
    let expected: Vec<Gf64> = x.iter().map(|x| entries[(*x * *x).to_bits() as usize]).collect();
    let (outs, counts) = run(|b| {
        let x = input(b, 1, &x)?;
        let (replicated, halves) = (b.rohv_rss(k, LANES)?, b.rohv_add(k, LANES)?);
        let (first, second) = (b.local_mul(&x, &x)?, b.local_mul(&x, &x)?);
        b.session().phase("replicated");
        let (y, v) = b.lookup_of_additive(&table, first, replicated)?;
        b.session().phase("additive");
        let (z, w) = b.lookup_additive_of_additive(&table, second, halves)?;
        b.session().phase("rest");
        let z = b.reshare(z)?;
        Ok(([b.output(&y)?, b.output(&z)?], [b.output(&v)?, b.output(&w)?]))
    });
    let squares: Vec<F> = x.iter().map(|x| *x * *x).collect();
    assert!(outs.0.iter().all(|out| *out == expected) && outs.1.iter().all(|v| *v == squares));
    // to each of two others
    let bits = (2 * k * LANES) as u64;
    assert_eq!([spent(&counts, "replicated"), spent(&counts, "additive")], [(bits, 1); 2]);
}

#[test]
fn an_additive_index_costs_twice_the_bits_and_no_round() {
    lookups_of_additive::<Gf2>();
    lookups_of_additive::<Gf4>();
    lookups_of_additive::<Gf8>();
}

/// The preprocessing of the lookup with square-root cost, and the products that are verified for it: 2^(k/2)
/// a lookup.
#[test]
fn the_square_root_is_one() {
    for k in [2, 4, 8, 12, 16] {
        let table = LookupTable::new(&(0..1 << k).map(|i| Gf64(i ^ 2)).collect::<Vec<_>>()).unwrap();
        let (out, counts) = run(|b| {
            let x = input(b, 1, &[Gf64(1)])?;
            b.session().phase("ahead");
            let vectors = b.rohv_add(k, 1)?;
            b.session().phase("online");
            let y = b.lookup_sqrt(&table, &x, vectors)?;
            b.session().phase("rest");
            b.output(&y)
        });
        assert_eq!(out, [Gf64(3)]);
        let root = 1_u64 << (k / 2);
        assert_eq!(spent(&counts, "ahead").0, 2 * (root - k as u64 / 2 - 1));
        assert_eq!(spent(&counts, "online"), (2 * k as u64, 2));
        assert_eq!(counts.checks[&checks::S2], root + 2 * products(k / 2));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (k, count) in [(0, 1), (17, 1), (4, 0), (16, MAX_BYTES / 8192), (64, usize::MAX)] {
        is_misuse("a size", |b| b.rohv_rss(k, count).map(drop));
        is_misuse("a size", |b| b.rohv_add(k, count.saturating_mul(128)).map(drop));
    }
    let table = LookupTable::new(&[Gf8(1); 16]).unwrap();
    for (k, count) in [(4, 2), (5, 3)] {
        is_misuse("vectors of another table or number", |b| {
            let x = input(b, 1, &[Gf8::ONE; 3])?;
            let vectors = b.rohv_rss(k, count)?;
            b.lookup(&table, &x, vectors).map(drop)
        });
    }
    for k in [3, 5, 12] {
        is_misuse("a sample of vectors of another table", |b| {
            let right = b.rohv_rss(4, 3)?;
            assert!(b.sample(&table, right).is_ok());
            let vectors = b.rohv_rss(k, 3)?;
            b.sample(&table, vectors).map(drop)
        });
        is_misuse("an additive sample of vectors of another table", |b| {
            let right = b.rohv_add(4, 3)?;
            assert!(b.sample_additive(&table, right).is_ok());
            let vectors = b.rohv_add(k, 3)?;
            b.sample_additive(&table, vectors).map(drop)
        });
    }
    is_misuse("an index of too few bits", |b| {
        let x = input(b, 1, &[Gf2::ONE; 3])?;
        let vectors = b.rohv_add(4, 3)?;
        b.lookup_additive(&table, &x, vectors).map(drop)
    });
    let table16 = LookupTable::new(&vec![Gf64(1); 1 << 16]).unwrap();
    let many = (PIECE >> 8) as usize + 1;
    is_misuse("more products than are made at once", |b| {
        let x = b.random::<Gf64>(many);
        let vectors = b.rohv_add(16, many)?;
        b.lookup_sqrt(&table16, &x, vectors).map(drop)
    });
    for (k, count) in [(4, 3), (12, 3), (8, 2), (8, 259)] {
        is_misuse("vectors of another table or number than an additive index", |b| {
            let x = b.random::<Gf8>(3);
            let (xx, vectors) = (b.local_mul(&x, &x)?, b.rohv_rss(k, count)?);
            let table = LookupTable::new(&[Gf8(1); 256]).unwrap();
            b.lookup_of_additive(&table, xx, vectors).map(drop)
        });
    }
    is_misuse("an additive index of more bits than the table's", |b| {
        let x = b.random::<Gf8>(3);
        let (xx, vectors) = (b.local_mul(&x, &x)?, b.rohv_rss(4, 3)?);
        b.lookup_of_additive(&table, xx, vectors).map(drop)
    });
    is_misuse("more products of an additive index than are made at once", |b| {
        let many = (PIECE >> 4) as usize + 1;
        let x = b.random::<Gf8>(many);
        let (xx, vectors) = (b.local_mul(&x, &x)?, b.rohv_add(8, many)?);
        let table = LookupTable::new(&[Gf8(1); 256]).unwrap();
        b.lookup_additive_of_additive(&table, xx, vectors).map(drop)
    });
    is_misuse("more samples than are made at once", |b| {
        let vectors = b.rohv_add(16, many)?;
        b.sample_additive(&table16, vectors).map(drop)
    });
    is_misuse("more entries than are made at once", |b| {
        let vectors = b.rohv_rss(8, many)?;
        b.entries(vectors).map(drop)
    });
    is_misuse("more additive entries than are made at once", |b| {
        let vectors = b.rohv_add(8, many)?;
        b.entries_additive(vectors).map(drop)
    });
    is_misuse("another box's vectors", |b| {
        let vectors = b.rohv_rss(4, 1)?;
        let strand = Trio::new(b.session().strand()?)?;
        BlackBox::new(strand).sample(&table, vectors).map(drop)
    });
}
