//! Vectors at shared indices: products, tables, costs, and calls that are refused.

use crate::common::{honest, refused, ring, share, small, with_keys};
use divisi_bgv::parameters::{BLOCK, FACTORS, Form, Operation, Parameters};
use divisi_core::testing::run;
use divisi_core::wipe::WipedVec;
use divisi_core::{Lanes, PublicParameters};
use divisi_field::zp::{Modulus, P16};
use divisi_fuzz::repetitions;
use divisi_mixed::vectors::{TOGETHER, chains, prep_lut_vectors, times_numbers};
use divisi_mixed::{GmwBit, Num, cot, num};
use divisi_ot::{Setup, SetupConfig};

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
    products(small(2), 3);
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

#[test]
fn what_does_not_fit_is_refused() {
    let products = |plain| {
        ring(Parameters::danger_insecure(Operation::BlockProducts, Form::LeanTree, 2, plain).unwrap())
    };
    for lanes in [0, 1, 6] {
        refused(with_keys(&products(P16), |session, keys, sampler| {
            times_numbers(session, keys, sampler, &Num::zero(lanes), |_, _| ()).map(drop)
        }));
    }
    refused(with_keys(&products(P16), |session, keys, sampler| {
        let large = Num::new(WipedVec::from(&[P16; 4][..]));
        times_numbers(session, keys, sampler, &large, |_, _| ()).map(drop)
    }));
    refused(with_keys(&small(Operation::Triples, Form::LeanTree, 2), |session, keys, sampler| {
        times_numbers(session, keys, sampler, &Num::zero(4), |_, _| ()).map(drop)
    }));
    for tables in [&[][..], &[[0, 0]], &[[2, 3]], &[[1025, 1025]]] {
        let tables: Vec<[Num; 2]> = tables.iter().map(|pair: &[usize; 2]| pair.map(Num::zero)).collect();
        refused(with_keys(&small(Operation::VectorTables, Form::LeanRing, 2), |session, keys, sampler| {
            prep_lut_vectors(session, keys, sampler, &tables).map(drop)
        }));
    }
    refused(with_keys(&small(Operation::VectorTables, Form::LeanRing, 2), |session, keys, sampler| {
        let masked = prep_lut_vectors(session, keys, sampler, &[[Num::zero(4), Num::zero(4)]])?;
        masked.lookup(session, &GmwBit::zero(2)).map(drop)
    }));
}
