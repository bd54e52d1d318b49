//! The noise of linear combinations, of products with shares, and of tables of vectors, against their bounds.

use super::{Measured, judge, play};
use crate::tools::*;
use divisi_bgv::parameters::noise::plus;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Session};
use divisi_field::zp::P16;
use divisi_fuzz::repetitions;
use std::sync::Arc;

/// The largest noise of what parties have, with its bound.
fn measured(ring: &Ring, key: &divisi_bgv::Poly, what: &str, bound: f64, made: &[Ciphertext]) -> Measured {
    let most = made.iter().map(|x| noise(ring, key, x)).fold(f64::MIN, f64::max);
    let p = ring.parameters();
    let what = format!("{what} of {} modulo {} in {}", p.parties(), p.plain(), p.dimension());
    Measured { what, bound, most }
}

/// The sum of 1,024 ciphertexts, all the same or all different, and of a multiple and an addend, has noise
/// within the bound for its weight; that of the same ciphertexts comes close to it.
fn combinations(ring: &Arc<Ring>, different: usize) {
    let (p, n) = (ring.parameters(), ring.dimension());
    let (key, made) = play(ring, |session, keys, sampler| {
        let mut all = Vec::new();
        for i in 0..different as u64 {
            let share = elements(i * 100 + session.me().index() as u64, p.plain(), n);
            all.extend(keys.a2e(session, sampler, party(0), &share)?);
        }
        let Some(first) = all.first() else { return Ok(Vec::new()) };
        let mut same = first.clone();
        same.scale(ring, session, PASS, -1024)?;
        let mut sum = first.clone();
        for i in 1..1024 {
            sum.add(ring, session, PASS, &all[i % different])?;
        }
        let mut three = first.clone();
        three.scale(ring, session, PASS, 1023)?;
        three.add_public(ring, session, PASS, &elements(9, p.plain(), n))?;
        for x in [&same, &sum, &three] {
            assert!((x.noise() - p.noise_at(0)).abs() < 1e-6 && p.hides(x.noise()));
        }
        Ok(vec![same, sum, three])
    });
    let made: Vec<Ciphertext> = made.into_iter().flatten().collect();
    let bound = p.noise_at(0);
    judge(&[
        measured(ring, &key, "1,024 times a ciphertext", bound, &made[..1]),
        measured(ring, &key, &format!("a sum of {different} ciphertexts, 1,024 in all"), bound, &made[1..2]),
        measured(ring, &key, "1,023 times a ciphertext, and an addend", bound, &made[2..]),
    ]);
}

#[test]
fn linear_combinations_keep_their_bounds() {
    let weight = Operation::Linear { weight: 1024 };
    for n in [2, 3, 16] {
        combinations(&small(weight, Form::LeanTree, n), *repetitions(&16, &256));
    }
    combinations(&small_of(weight, Form::LeanTree, 3, P16), 4);
}

/// Products of ciphertexts with all parties' shares: where they arrive, before the switch, and at the bottom.
fn products(ring: &Arc<Ring>, batches: u64) {
    let p = ring.parameters();
    let (n, blocks) = (ring.dimension(), p.blocks());
    let (key, made) = play(ring, |session, keys, sampler| {
        let me = session.me().index() as u64;
        let mut all = Vec::new();
        for batch in 0..batches {
            let share = WipedVec::from(&*elements(batch * 1000 + me, p.plain(), n));
            let x = keys.a2e_to_all(session, sampler, party(0), &[share])?.remove(0);
            let factors = sampler.elements(ring.plain(), blocks);
            let whole = keys.product_before_its_switch(session, sampler, &x, &factors)?;
            let below = keys.product_with_shares(sampler, &x, &factors);
            all.push([x, whole, below]);
        }
        Ok(all)
    });
    // all parties' products added up
    let summed = |at: usize| -> Vec<Ciphertext> {
        let of = |batch: usize| {
            let all = made.iter().map(|party| &party[batch][at]);
            let mut sums = made[0][0][at].components().map(|c| ring.zero(c.limbs(), false));
            for x in all {
                sums.iter_mut().zip(x.components()).for_each(|(sum, c)| ring.add(sum, c));
            }
            let [c0, c1] = sums;
            let x = &made[0][0][at];
            Keys::forge(x.level(), x.factor(), c0, c1)
        };
        (0..batches as usize).map(of).collect()
    };
    let given: Vec<Ciphertext> = made[0].iter().map(|[x, ..]| x.clone()).collect();
    judge(&[
        measured(ring, &key, "vectors", p.noise_at(1), &given),
        measured(ring, &key, "products with shares", p.noise_after(1), &summed(1)),
        measured(ring, &key, "products with shares, switched", p.noise_at(0), &summed(2)),
    ]);
}

#[test]
fn products_with_shares_keep_their_bounds() {
    for &n in repetitions(&[2, 3, 16][..], &[2, 3, 5, 8, 16]) {
        products(&small_of(Operation::BlockProducts, Form::LeanTree, n, P16), 6);
    }
    products(&small(Operation::BlockProducts, Form::LeanTree, 3), 6);
    // with several vectors in a ciphertext
    let secure = Parameters::derive(Operation::BlockProducts, Form::LeanTree, 3, P16).unwrap();
    products(&Arc::new(Ring::new(secure).unwrap()), 2);
}

/// A ciphertext that passes all parties, each of which keeps or exchanges and hides it.
fn exchanged(ring: &Arc<Ring>) {
    let (p, n) = (ring.parameters(), ring.dimension());
    let (key, made) = play(ring, |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        // one party makes the steps of all
        let share = elements(session.me().index() as u64, p.plain(), n);
        let Some(mut x) = keys.a2e(session, sampler, party(0), &share)? else {
            return Ok(Vec::new());
        };
        for r in bits(5, p.parties()) {
            x = keys.keep_or_exchange(session, sampler, x, r)?;
        }
        Ok::<_, Abort>(vec![x])
    });
    let made: Vec<Ciphertext> = made.into_iter().flatten().collect();
    judge(&[measured(ring, &key, "vectors kept or exchanged", p.noise_at(0), &made)]);
    let of = |i: usize| elements(i as u64, p.plain(), n);
    let sum = open(p.plain(), (0..p.parties()).map(of));
    let negative = bits(5, p.parties()).iter().sum::<u64>() % 2 == 1;
    let expected = sum.iter().map(|x| if negative { ring.plain().neg(*x) } else { *x });
    assert_eq!(decrypt(ring, &key, &made[0]), expected.collect::<Vec<_>>());
}

#[test]
fn exchanges_keep_their_bounds() {
    for n in [2, 3, 16] {
        exchanged(&small_of(Operation::VectorTables, Form::LeanRing, n, P16));
    }
    exchanged(&small(Operation::VectorTables, Form::LeanTree, 5));
}

/// A weight of one is a conversion; noise is counted as derived.
#[test]
fn the_weight_of_one_is_a_conversion() {
    let of = |operation| Parameters::derive(operation, Form::LeanTree, 5, P16).unwrap();
    let (one, conversion) = (of(Operation::Linear { weight: 1 }), of(Operation::Conversions));
    assert_eq!((one.chain(), one.noise_at(0)), (conversion.chain(), conversion.noise_at(0)));
    let two = of(Operation::Linear { weight: 2 });
    assert!((two.noise_at(0) - plus(one.noise_at(0), one.noise_at(0))).abs() < 1e-9);
}
