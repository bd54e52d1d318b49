//! One-hot vectors of every length, lookups by them, what they cost to the bit, and how every lie ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::{Abort, Check, Counts, Lanes, PartyId, Step};
use divisi_field::{Field, Gf2, Gf4, Gf8, Gf64, Gf128};
use divisi_rep3::Trio;
use divisi_rep3::adversary::stage::{Stage, failed_check, party};
use divisi_rep3::blackbox::{BlackBox, Element, PIECE, Shared};
use divisi_rep3::lab;
use divisi_rep3::ohverture::{MAX_BYTES, Table};

const PRODUCTS: &str = "divisi_rep3::ohverture::make/products";
const RECONST: &str = "divisi_rep3::blackbox/reconst";
const RESHARE: &str = "divisi_rep3::blackbox::products/reshare";

/// Run at three honest parties, who must agree; what the first ended with, and what it cost.
fn run<R: Send + PartialEq>(f: impl Fn(&mut BlackBox) -> Result<R, Abort> + Sync) -> (R, Counts) {
    let mut all = lab::run(|trio| {
        let b = &mut BlackBox::new(trio);
        let out = f(b)?;
        Ok((out, b.session().meter().read()))
    })
    .unwrap();
    assert!(all[0].0 == all[1].0 && all[1].0 == all[2].0);
    all.swap_remove(0)
}

fn input<F: Element>(b: &mut BlackBox, x: &[F]) -> Result<Shared<F>, Abort> {
    let mine = b.me() == party(1);
    b.input(party(1), mine.then_some(x), x.len())
}

/// Payload bits that this party sent, and rounds, in each phase.
fn cost(counts: &Counts, phase: &str) -> (u64, u32) {
    counts.phases.get(phase).map_or((0, 0), |p| (p.bits, p.rounds))
}

/// `ceil(log2 k)`.
fn log2(k: usize) -> u32 {
    (1..k).filter(|n| n.is_power_of_two()).count() as u32
}

fn products(k: usize) -> u64 {
    (1 << k) - k as u64 - 1
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
        assert_eq!(cost(&counts, "vectors"), (n * products(k), log2(k)), "{k}");
        // one relation over GF(2^64) a vector
        assert_eq!(counts.checks.get(&Check::A17), (k > 1).then_some(&n));
        assert_eq!(counts.checks.get(&Check::S2), (k > 1).then_some(&(n * products(k))));
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
        assert_eq!(cost(&counts, "vectors"), (n * bits, log2(halves[0])), "{k}");
        let relations = n * halves.iter().filter(|k| **k > 1).count() as u64;
        assert_eq!(counts.checks.get(&Check::A17).copied().unwrap_or(0), relations);
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
        (cost(&counts, "vectors"), counts.checks[&Check::A17])
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
    let table = Table::new(&entries).unwrap();
    assert_eq!(table.width(), width);
    let x: Vec<F> =
        (0..lanes).map(|l| F::from_low_bits(((l * 40_503 + 7) & ((1 << k) - 1)) as u128)).collect();
    let expected: Vec<G> = x.iter().map(|x| entries[x.to_bits() as usize]).collect();
    let (outs, counts) = run(|b| {
        let x = input(b, &x)?;
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
    assert_eq!(cost(&counts, "lookup"), (k * lanes, 1));
    assert_eq!(cost(&counts, "lookup_additive"), (k * lanes, 1));
    assert_eq!(cost(&counts, "lookup_sqrt"), ((k + width) * lanes, 2));
    assert_eq!(cost(&counts, "nothing sent"), (0, 0));
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
    let table = Table::new(&entries).unwrap();
    let x: Vec<F> = (0..LANES).map(|l| F::from_low_bits((5 * l + 1) as u128)).collect();
    let expected: Vec<Gf64> = x.iter().map(|x| entries[(*x * *x).to_bits() as usize]).collect();
    let (outs, counts) = run(|b| {
        let x = input(b, &x)?;
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
    assert_eq!([cost(&counts, "replicated"), cost(&counts, "additive")], [(bits, 1); 2]);
}

#[test]
fn an_additive_index_costs_twice_the_bits_and_no_round() {
    lookups_of_additive::<Gf2>();
    lookups_of_additive::<Gf4>();
    lookups_of_additive::<Gf8>();
}

/// An error of an additive index, to which its author keeps, is found by the verification; another index for each peer by the
/// comparison.
#[test]
fn a_wrong_additive_index_is_an_abort() {
    let run = |stage: Stage, lies: Option<PartyId>| {
        stage.act(|mut trio| {
            if lies == Some(trio.me()) {
                trio.deviate(|step: Step, share: &mut [u8]| {
                    if step.name == RECONST {
                        share[0] ^= 4;
                    }
                });
            }
            let b = &mut BlackBox::new(trio);
            let x = input(b, &x())?;
            let vectors = b.rohv_rss(8, LANES)?;
            let xx = b.local_mul(&x, &x)?;
            let (y, _) = b.lookup_of_additive(&table(), xx, vectors)?;
            b.output(&y)
        })
    };
    for corrupt in PartyId::all(3) {
        assert!(ends(corrupt, &run(Stage::default().patient(), Some(corrupt))).contains(&Check::A7));
        for to in [corrupt.next(3), corrupt.prev(3)] {
            let stage = Stage::default().patient();
            stage.change(corrupt, to, RECONST, 0, |body| body[3] ^= 0x10);
            assert!(ends(corrupt, &run(stage, None)).contains(&Check::A2));
        }
    }
}

/// The preprocessing of the lookup with square-root cost, and the products that are verified for it: 2^(k/2) a lookup.
#[test]
fn the_square_root_is_one() {
    for k in [2, 4, 8, 12, 16] {
        let table = Table::new(&(0..1 << k).map(|i| Gf64(i ^ 2)).collect::<Vec<_>>()).unwrap();
        let (out, counts) = run(|b| {
            let x = input(b, &[Gf64(1)])?;
            b.session().phase("ahead");
            let vectors = b.rohv_add(k, 1)?;
            b.session().phase("online");
            let y = b.lookup_sqrt(&table, &x, vectors)?;
            b.session().phase("rest");
            b.output(&y)
        });
        assert_eq!(out, [Gf64(3)]);
        let root = 1_u64 << (k / 2);
        assert_eq!(cost(&counts, "ahead").0, 2 * (root - k as u64 / 2 - 1));
        assert_eq!(cost(&counts, "online"), (2 * k as u64, 2));
        assert_eq!(counts.checks[&Check::S2], root + 2 * products(k / 2));
    }
}

fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
    let results = Stage::default().patient().act(f);
    assert!(results.iter().all(Result::is_err), "{what}");
    assert!(results.iter().any(|r| matches!(r, Err(Abort::Misuse { .. }))), "{what}: {results:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    for (k, count) in [(0, 1), (17, 1), (4, 0), (16, MAX_BYTES / 8192), (64, usize::MAX)] {
        is_misuse("a size", |trio| BlackBox::new(trio).rohv_rss(k, count).map(drop));
        is_misuse("a size", |trio| BlackBox::new(trio).rohv_add(k, count.saturating_mul(128)).map(drop));
    }
    let table = Table::new(&[Gf8(1); 16]).unwrap();
    for (k, count) in [(4, 2), (5, 3)] {
        is_misuse("vectors of another table or number", |trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b, &[Gf4::ONE; 3])?;
            let vectors = b.rohv_rss(k, count)?;
            b.lookup(&table, &x, vectors).map(drop)
        });
    }
    is_misuse("an index of too few bits", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = input(b, &[Gf2::ONE; 3])?;
        let vectors = b.rohv_add(4, 3)?;
        b.lookup_additive(&table, &x, vectors).map(drop)
    });
    let table16 = Table::new(&vec![Gf64(1); 1 << 16]).unwrap();
    let many = (PIECE >> 8) as usize + 1;
    is_misuse("more products than are made at once", |trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.random::<Gf64>(many);
        let vectors = b.rohv_add(16, many)?;
        b.lookup_sqrt(&table16, &x, vectors).map(drop)
    });
    is_misuse("more samples than are made at once", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_add(16, many)?;
        b.sample_additive(&table16, vectors).map(drop)
    });
    is_misuse("more entries than are made at once", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_rss(8, many)?;
        b.entries(vectors).map(drop)
    });
    is_misuse("more additive entries than are made at once", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_add(8, many)?;
        b.entries_additive(vectors).map(drop)
    });
    is_misuse("another box's vectors", |trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_rss(4, 1)?;
        let strand = Trio::new(b.session().strand()?)?;
        BlackBox::new(strand).sample(&table, vectors).map(drop)
    });
}

const LANES: usize = 9;

fn x() -> Vec<Gf8> {
    (0..LANES).map(|l| Gf8(31 * l as u8 + 2)).collect()
}

fn table() -> Table<Gf8> {
    Table::new(&(0..=255_u8).map(|i| Gf8(i).inverse() + Gf8(0x63)).collect::<Vec<_>>()).unwrap()
}

/// Two lookups that feed one another, of each kind.
fn play(trio: Trio) -> Result<Vec<Gf8>, Abort> {
    let b = &mut BlackBox::new(trio);
    let table = table();
    let mut y = input(b, &x())?;
    let mut z = y.clone();
    let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
    let [third, fourth] = b.rohv_add(8, 2 * LANES)?.split(LANES).unwrap();
    for vectors in [first, second] {
        y = b.lookup(&table, &y, vectors)?;
    }
    for vectors in [third, fourth] {
        z = b.lookup_sqrt(&table, &z, vectors)?;
    }
    let both = b.join(&[&y, &z])?;
    b.output(&both)
}

fn right() -> Vec<Gf8> {
    let twice = x().into_iter().map(|x| {
        let once = x.inverse() + Gf8(0x63);
        once.inverse() + Gf8(0x63)
    });
    let twice: Vec<Gf8> = twice.collect();
    [twice.clone(), twice].concat()
}

/// Nobody honest is deceived; which checks found the lie.
fn ends(corrupt: PartyId, results: &[Result<Vec<Gf8>, Abort>]) -> Vec<Check> {
    for (p, result) in PartyId::all(3).zip(results).filter(|(p, _)| *p != corrupt) {
        assert!(result.is_err(), "{p} was deceived, or nothing was wrong");
    }
    results.iter().filter_map(failed_check).collect()
}

#[test]
fn honest_parties_look_up() {
    assert!(lab::run(play).unwrap().iter().all(|out| *out == right()));
}

/// A lie that its author keeps to, in any message of products or results: found when it is verified.
#[test]
fn a_wrong_product_or_share_is_an_abort_wherever_it_is() {
    for corrupt in PartyId::all(3) {
        for (step, messages) in [(PRODUCTS, 9), (RESHARE, 2)] {
            for nth in 0..messages {
                for last in [false, true] {
                    let results = Stage::default().patient().act(|mut trio| {
                        let mut count = 0;
                        if trio.me() == corrupt {
                            trio.deviate(move |at: Step, share: &mut [u8]| {
                                if at.name == step {
                                    if count == nth {
                                        let at = if last { share.len() - 1 } else { 0 };
                                        share[at] ^= 1;
                                    }
                                    count += 1;
                                }
                            });
                        }
                        play(trio)
                    });
                    assert!(ends(corrupt, &results).contains(&Check::A7), "{step} {nth} {results:?}");
                }
            }
        }
    }
}

/// Another index for one peer: found in the round of the next opening, or by verify_recon.
#[test]
fn a_split_index_is_an_abort() {
    for corrupt in PartyId::all(3) {
        for (nth, check) in [(0, Check::A22), (1, Check::A22), (2, Check::A22), (3, Check::A2)] {
            let stage = Stage::default().patient();
            stage.change(corrupt, corrupt.next(3), RECONST, nth, |body| body[LANES - 1] ^= 0x10);
            assert!(ends(corrupt, &stage.act(play)).contains(&check), "{nth}");
        }
    }
}

/// A party that uses other vectors than the rest.
#[test]
fn a_party_that_is_a_vector_ahead_is_an_abort() {
    for ahead in PartyId::all(3) {
        let results = Stage::default().patient().act(|trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b, &x())?;
            let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
            let vectors = if b.me() == ahead { second } else { first };
            let y = b.lookup(&table(), &x, vectors)?;
            b.output(&y)
        });
        assert!(results.iter().all(Result::is_err));
    }
}

/// A party that looks up in another table, or uses its vectors otherwise, is out of step: found before anything is verified.
#[test]
fn a_party_with_another_table_or_call_is_an_abort() {
    let other = Table::new(&(0..=255_u8).map(Gf8).collect::<Vec<_>>()).unwrap();
    let wide = Table::new(
        &(0..=255_u64).map(|i| Gf64(u64::from(Gf8(i as u8).inverse().0 ^ 0x63))).collect::<Vec<_>>(),
    );
    let wide = wide.unwrap();
    for alone in PartyId::all(3) {
        for otherwise in 0..3 {
            let results = Stage::default().patient().act(|trio| {
                let b = &mut BlackBox::new(trio);
                let vectors = b.rohv_rss(8, LANES)?;
                // all of them send and receive nothing
                match (b.me() == alone, otherwise) {
                    (true, 0) => b.sample(&other, vectors).map(drop)?,
                    (true, 1) => b.sample(&wide, vectors).map(drop)?,
                    (true, _) => b.entries(vectors).map(drop)?,
                    _ => b.sample(&table(), vectors).map(drop)?,
                }
                b.verify_recon().map(drop)
            });
            assert!(results.iter().all(Result::is_err), "{otherwise}");
            assert!(results.iter().any(|r| failed_check(r) == Some(Check::A2)), "{otherwise} {results:?}");
        }
    }
}

/// What is opened of an index is uniform, whatever the index is; and so is what a reshare sends of an additive result.
#[test]
fn an_index_is_masked_and_a_result_too() {
    use divisi_rep3::adversary::compare::{chi_square, chi_square_limit};
    use divisi_rep3::adversary::stage::Way;
    const MANY: usize = 4096;
    for index in [0, 0xff] {
        let stage = Stage::default().patient();
        let seen = stage.recording(party(2));
        let results = stage.act(|trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b, &[Gf8(index); MANY])?;
            let vectors = b.rohv_add(8, MANY)?;
            let y = b.lookup_sqrt(&table(), &x, vectors)?;
            Ok(y.lanes())
        });
        assert!(results.iter().all(Result::is_ok));
        for (step, way) in [(RECONST, Way::In), (RESHARE, Way::In), (RESHARE, Way::Out)] {
            let body = &seen.of(way, step)[0].frame.body;
            let mut counts = [0; 256];
            body.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
            assert!(body.len() == MANY && chi_square(&counts) < chi_square_limit(255.0), "{step}");
        }
    }
}

/// Party 1 shows party 2 another index in the first of two lookups: what it sees of the rest, and how it ends, is the same for two
/// secrets.
#[test]
fn an_attacked_lookup_looks_the_same_for_two_secrets() {
    use divisi_rep3::adversary::compare::{difference, features};
    let off = difference(400, |which| {
        let stage = Stage::default().patient();
        stage.change(party(1), party(2), RECONST, 0, |body| body[0] ^= 1);
        let seen = stage.recording(party(1));
        let secret = [[Gf8(0); LANES], [Gf8(0xd5); LANES]][which];
        let results = stage.act(|trio| {
            let b = &mut BlackBox::new(trio);
            let mine = b.me() == party(2);
            let mut x = b.input(party(2), mine.then_some(&secret[..]), LANES)?;
            for _ in 0..2 {
                let vectors = b.rohv_add(8, LANES)?;
                x = b.lookup_sqrt(&table(), &x, vectors)?;
            }
            b.output(&x).map(drop)
        });
        features(&seen, &results)
    });
    assert!(off < 1.0, "{off}");
}
