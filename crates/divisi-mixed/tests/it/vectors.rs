//! Vectors at shared indices: products, tables, costs, and calls that are refused.

use crate::common::{foreign, honest, plain, refused_after, refused_for, ring, share, small, with_keys};
use divisi_bgv::parameters::{BLOCK, FACTORS, Form, Operation, Parameters};
use divisi_bgv::{Keys, Sampler};
use divisi_core::testing::run;
use divisi_core::wipe::WipedVec;
use divisi_core::{Lanes, Misuse, PublicParameters, Session};
use divisi_field::zp::{Modulus, P16, P32};
use divisi_fuzz::repetitions;
use divisi_mixed::vectors::{TOGETHER, chains, prep_lut_vectors, times_numbers};
use divisi_mixed::{GmwBit, Num, checks, cot, num};
use divisi_ot::{Setup, SetupConfig};
use std::sync::Mutex;

/// The i-th number of the v-th vector.
fn entry(v: usize, i: usize) -> u64 {
    [0, 1, P16 - 1].get(i).copied().unwrap_or((v * 1000 + i) as u64 * 0x9e37_79b9 % P16)
}

/// Vectors times the four numbers of each, in as many ciphertexts as they take; bytes and rounds are those of
/// the parameters.
fn products(parameters: Parameters, vectors: usize) {
    let (n, bytes) = (parameters.parties(), parameters.batch_bytes());
    let ring = ring(parameters);
    let blocks = ring.parameters().blocks();
    let factor = |v: usize, k: usize| [0, 1, 2, P16 - 1][(v + k) % 4];
    let ends = with_keys(&ring, |session, keys, sampler| {
        let me = session.me().index();
        let shares: Vec<u64> =
            (0..FACTORS * vectors).map(|i| share(n, me, i, factor(i / FACTORS, i % FACTORS), P16)).collect();
        let numbers = Num::new(WipedVec::from(&*shares));
        session.phase("products");
        let vector = |v: usize, out: &mut [u64]| {
            assert_eq!(out.len(), BLOCK);
            out.iter_mut()
                .enumerate()
                .for_each(|(i, out)| *out = share(n, me, v * BLOCK + i, entry(v, i), P16));
        };
        let products = times_numbers(session, keys, sampler, &numbers, vector)?;
        let counts = session.meter().read().phases["products"];
        assert_eq!(products.len(), vectors.div_ceil(TOGETHER));
        let flat: Vec<u64> = products.iter().flat_map(|part| part.iter().map(|x| u64::from(*x))).collect();
        Ok((flat, counts))
    });
    let ends = honest(ends);
    let p = Modulus::new(P16).unwrap();
    for at in 0..vectors * FACTORS * BLOCK {
        let (v, k, i) = (at / BLOCK / FACTORS, at / BLOCK % FACTORS, at % BLOCK);
        let found = ends.iter().fold(0, |sum, (shares, _)| p.add(sum, shares[at]));
        assert_eq!(found, p.mul(factor(v, k), entry(v, i)), "{n} parties, vector {v}, number {k}, {i}");
    }
    let together = TOGETHER.div_ceil(blocks);
    let ciphertexts = vectors / TOGETHER * together + (vectors % TOGETHER).div_ceil(blocks);
    let sent: u64 = ends.iter().map(|(_, counts)| counts.bits / 8).sum();
    assert_eq!(sent as usize, ciphertexts * bytes, "{n} parties, {vectors} vectors");
    let rounds = ends.iter().map(|(_, counts)| counts.rounds as usize).max().unwrap();
    assert!(rounds <= 5 * chains(vectors), "{rounds} rounds");
}

#[test]
fn products_of_vectors() {
    let small = |n| Parameters::danger_insecure(Operation::BlockProducts, Form::LeanTree, n, P16).unwrap();
    products(small(2), 256);
    products(small(3), TOGETHER + 1);
    products(small(5), 2);
    // several vectors in a ciphertext
    for &n in repetitions(&[3][..], &[2, 3, 10]) {
        products(Parameters::derive(Operation::BlockProducts, Form::LeanTree, n, P16).unwrap(), 13);
    }
}

/// Tables of two vectors, some as long as a ciphertext and some shorter.
#[test]
fn tables_of_vectors() {
    for n in [2, 3, 5] {
        let p = Parameters::danger_insecure(Operation::VectorTables, Form::LeanRing, n, P16).unwrap();
        let (bytes, rounds, plain) = (p.batch_bytes(), p.report().rounds, Modulus::new(P16).unwrap());
        let lengths = [1024, 1, 700];
        let index = |table: usize| (table as u64 + 1) % 2;
        let ends = with_keys(&ring(p), |session, keys, sampler| {
            let me = session.me().index();
            let of = |table: usize, j: usize| {
                let v = 2 * table + j;
                let shares: Vec<u64> =
                    (0..lengths[table]).map(|i| share(n, me, v * 4096 + i, entry(v, i), P16)).collect();
                Num::new(WipedVec::from(&*shares))
            };
            let tables: Vec<[Num; 2]> = (0..3).map(|table| [0, 1].map(|j| of(table, j))).collect();
            session.phase("preprocessing");
            let masked = prep_lut_vectors(session, keys, sampler, &tables)?;
            assert!(masked.len() == 3 && !masked.is_empty());
            session.phase("online");
            let x = GmwBit::of((0..3).map(|table| share(n, me, table, index(table), 2)));
            let found = masked.lookup(session, &x)?;
            let counts = session.meter().read();
            assert!(found.iter().zip(lengths).all(|(found, length)| found.lanes() == length));
            Ok((num::open(session, plain, &Num::join(&found.iter().collect::<Vec<_>>()))?, counts))
        });
        let ends = honest(ends);
        let of = |table: usize| (0..lengths[table]).map(move |i| entry(2 * table + index(table) as usize, i));
        let expected: Vec<u64> = (0..3).flat_map(of).collect();
        assert!(ends.iter().all(|(found, _)| *found == expected), "{n}");
        let sum = |phase| ends.iter().map(|(_, counts)| counts.phases[phase].bits).sum::<u64>() as usize;
        assert_eq!(sum("preprocessing"), 3 * 8 * bytes);
        assert_eq!(sum("online"), 2 * (n - 1) * 3);
        let most = |phase| ends.iter().map(|(_, counts)| counts.phases[phase].rounds as usize).max().unwrap();
        assert_eq!((most("preprocessing"), most("online")), (rounds, 2));
    }
}

/// Bits that are shared modulo 2 become numbers of the same value.
#[test]
fn bits_become_numbers_by_transfers() {
    for (n, count) in [(2, 1), (3, 200), (4, 129)] {
        let plain = Modulus::new(P16).unwrap();
        let bit = |i: usize| (i * i / 3) as u64 & 1;
        let ends = run(n, &PublicParameters::new("bits to numbers"), |mut session| {
            let mut setup = Setup::new(&mut session, SetupConfig::default())?;
            let me = session.me().index();
            let x = GmwBit::of((0..count).map(|i| share(n, me, i, bit(i), 2)));
            let numbers = cot::b2a(&mut session, &mut setup, plain, &x)?;
            num::open(&mut session, plain, &numbers)
        });
        for found in honest(ends) {
            assert_eq!(found, (0..count).map(bit).collect::<Vec<_>>());
        }
    }
}

/// More tables of one number than a word has bits.
#[test]
fn many_tables_of_vectors() {
    let (n, count, plain) = (2, 70, plain());
    let index = |table: usize| (table * table) as u64 % 3 % 2;
    let ends = with_keys(&small(Operation::VectorTables, Form::LeanTree, n), |session, keys, sampler| {
        let me = session.me().index();
        let of = |i: usize| Num::new(WipedVec::from(&[share(n, me, i, i as u64, P32)][..]));
        let tables: Vec<[Num; 2]> = (0..count).map(|table| [of(2 * table), of(2 * table + 1)]).collect();
        let x = GmwBit::of((0..count).map(|table| share(n, me, table, index(table), 2)));
        let found = prep_lut_vectors(session, keys, sampler, &tables)?.lookup(session, &x)?;
        num::open(session, plain, &Num::join(&found.iter().collect::<Vec<_>>()))
    });
    let expected: Vec<u64> = (0..count).map(|table| 2 * table as u64 + index(table)).collect();
    assert!(honest(ends).iter().all(|found| *found == expected));
}

/// Every party refuses by itself factors that do not fit, after products that all accept.
#[test]
fn factors_that_do_not_fit_are_refused_by_all() {
    let products = |plain| {
        ring(Parameters::danger_insecure(Operation::BlockProducts, Form::LeanTree, 2, plain).unwrap())
    };
    let times = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, numbers: &Num| {
        times_numbers(session, keys, sampler, numbers, |_, _| ()).map(drop)
    };
    let foreign = foreign();
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        times(session, keys, sampler, &Num::zero(FACTORS))
    };
    refused_after(&products(P16), accepted, |session, keys, sampler, ()| {
        let (_, foreign) = &foreign[session.me().index()];
        refused_for([(Misuse::OtherSession, times(session, keys, sampler, foreign))]);
        for lanes in [0, 1, 6] {
            refused_for([(Misuse::CountsDiffer, times(session, keys, sampler, &Num::zero(lanes)))]);
        }
        for at in 0..FACTORS {
            let mut large = [0; FACTORS];
            large[at] = P16;
            let large = Num::new(WipedVec::from(&large[..]));
            refused_for([(Misuse::OutOfRange, times(session, keys, sampler, &large))]);
        }
    });
    // 2^33 - 5 2^17 + 1, a prime of 33 bits
    for (keys, what) in [
        (products((1 << 33) - (5 << 17) + 1), Misuse::OutOfRange),
        (small(Operation::Triples, Form::LeanTree, 2), Misuse::KeyUnfit),
    ] {
        refused_after(
            &keys,
            |_, _, _| Ok(()),
            |session, keys, sampler, ()| {
                refused_for([(); 2].map(|()| (what, times(session, keys, sampler, &Num::zero(FACTORS)))));
            },
        );
    }
}

/// Every party refuses by itself tables and indices that do not fit or are of another session, after calls
/// that all accept. (1 and 257 lanes are as many in eight bits.)
#[test]
fn tables_that_do_not_fit_are_refused_by_all() {
    let ring = small(Operation::VectorTables, Form::LeanTree, 2);
    let table = || [Num::zero(4), Num::zero(4)];
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        prep_lut_vectors(session, keys, sampler, &[table()])
    };
    let theirs = honest(with_keys(&ring, one)).into_iter().map(|masked| Mutex::new(Some(masked)));
    let (theirs, foreign) = (theirs.collect::<Vec<_>>(), foreign());
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        one(session, keys, sampler)?.lookup(session, &GmwBit::zero(1))?;
        (0..4).map(|_| one(session, keys, sampler)).collect::<Result<Vec<_>, _>>()
    };
    refused_after(&ring, accepted, |session, keys, sampler, mut masked| {
        let me = session.me().index();
        assert_eq!(session.meter().read().checks[&checks::G7], 2 * 5, "once for each call");
        let (bit, number) = &foreign[me];
        let theirs = theirs[me].lock().unwrap().take().unwrap();
        refused_for([
            (Misuse::OtherSession, theirs.lookup(session, &GmwBit::zero(1)).map(drop)),
            (Misuse::OtherSession, masked.remove(0).lookup(session, bit).map(drop)),
        ]);
        for (masked, lanes) in masked.into_iter().zip([0, 2, 257]) {
            let end = masked.lookup(session, &GmwBit::zero(lanes)).map(drop);
            refused_for([(Misuse::CountsDiffer, end)]);
        }
        let mut prepare = |tables: &[[Num; 2]]| prep_lut_vectors(session, keys, sampler, tables).map(drop);
        let mut large = WipedVec::zeros(4);
        large[3] = P32;
        for (what, other) in [(Misuse::OtherSession, number.clone()), (Misuse::OutOfRange, Num::new(large))] {
            for pair in [[Num::zero(4), other.clone()], [other, Num::zero(4)]] {
                refused_for([(what, prepare(&[table(), pair.clone()])), (what, prepare(&[pair, table()]))]);
            }
        }
        for pair in [[0, 0], [2, 3], [1025, 1025], [4, 260]] {
            let pair = pair.map(Num::zero);
            refused_for([
                (Misuse::CountsDiffer, prepare(&[table(), pair.clone()])),
                (Misuse::CountsDiffer, prepare(&[pair, table()])),
            ]);
        }
        refused_for([(Misuse::CountsDiffer, prepare(&[]))]);
    });
    refused_after(
        &small(Operation::Bits, Form::LeanTree, 2),
        |_, _, _| Ok(()),
        |session, keys, sampler, ()| {
            refused_for([(); 2].map(|()| (Misuse::KeyUnfit, one(session, keys, sampler).map(drop))));
        },
    );
}
