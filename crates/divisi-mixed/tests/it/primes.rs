//! Numbers modulo other primes: 2^62 - 2^46 + 1, whose shares take eight bytes, and 2^16 + 1. Conversions in
//! both directions, lookups and products, with random bits of each form that they have.

use crate::common;
use crate::common::{honest, ring, share};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PartyId};
use divisi_field::zp::{Modulus, P16, P62};
use divisi_mixed::adders::{self, NumberAdder};
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_ot::SetupConfig;
use std::sync::Arc;

fn small(operation: Operation, form: Form, n: usize, p: u64) -> Arc<Ring> {
    ring(Parameters::danger_insecure(operation, form, n, p).unwrap())
}

/// All parties, with random bits in this form, or by transfers, and without keys for products.
fn parties<R: Send>(
    n: usize,
    p: u64,
    how: Option<Form>,
    act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let bits = how.map(|form| small(Operation::Bits, form, n, p));
    common::parties(n, Modulus::new(p).unwrap(), [bits.as_ref(), None], act)
}

fn shared(mixed: &mut Mixed, values: &[u64]) -> Num {
    let (n, me) = (mixed.session().parties(), mixed.session().me().index());
    let p = mixed.plain().get();
    let shares: Vec<u64> = values.iter().enumerate().map(|(i, x)| share(n, me, i, *x, p)).collect();
    Num::new(WipedVec::from(&*shares))
}

/// 0, 1, p - 1, numbers around every power of two, and others.
fn numbers(p: u64) -> Vec<u64> {
    let around = (1..62).flat_map(|j| [(1 << j) - 1, 1 << j, (1 << j) + 1]);
    let mut all: Vec<u64> = [0, 1, p - 1, p - 2, p / 2, p / 2 + 1].into_iter().chain(around).collect();
    all.extend((0..30_u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    all.iter().map(|x| x % p).collect()
}

/// Every bit of a number, with all carries; and back. A2B needs no keys for products.
#[test]
fn numbers_become_bits_and_bits_numbers() {
    let tree = Some(Form::LeanTree);
    let ways =
        [(2, P62, None), (3, P62, None), (3, P62, tree), (2, P62, Some(Form::LeanRing)), (3, P16, None)];
    for (n, p, how) in ways {
        let (plain, x) = (Modulus::new(p).unwrap(), numbers(p));
        let adders = if how.is_none() { &NumberAdder::ALL[..] } else { &NumberAdder::ALL[1..] };
        for adder in adders {
            let ends = parties(n, p, how, |mixed| {
                let all: Vec<PartyId> = PartyId::all(n).collect();
                mixed.set_adder(*adder);
                mixed.session().phase("preprocessing");
                mixed.prepare_a2b(x.len())?;
                let number = shared(mixed, &x);
                mixed.session().phase("online");
                let bits = mixed.a2b(&number)?;
                let online = mixed.session().meter().read().phases["online"];
                let opened = mixed.gmw().output(&all, &bits)?.unwrap();
                let back = mixed.b2a(&bits)?;
                Ok((opened, num::open(mixed.session(), plain, &back)?, online))
            });
            for (bits, back, online) in honest(ends) {
                assert_eq!(bits.len(), plain.bits() as usize);
                for (i, x) in x.iter().enumerate() {
                    let number = bits.iter().rev().fold(0, |sum, bit| sum << 1 | bit.lane(i));
                    assert_eq!((number, back[i]), (*x, *x), "{n} parties, {p}, {how:?}, {adder:?}");
                }
                let rounds = 2 + adders::cost(*adder, plain.bits() as usize).1;
                assert!((online.rounds as usize) <= rounds, "{}", online.rounds);
            }
        }
    }
}

/// Products, and lookups in public and in private tables, of numbers of 61 bits.
#[test]
fn products_and_lookups() {
    let plain = Modulus::new(P62).unwrap();
    for n in [2, 4] {
        let (x, mut y) = (numbers(P62), numbers(P62));
        y.reverse();
        let table = [7, P62 - 1, 0, P62 / 2, 1 << 61, 12_345_678_901_234_567, 2, 3];
        let ring = small(Operation::Triples, Form::LeanTree, n, P62);
        let ends = common::parties(n, plain, [None, Some(&ring)], |mixed| {
            let (left, right) = (shared(mixed, &x), shared(mixed, &y));
            let product = mixed.multiply(&left, &right)?;
            let me = mixed.session().me().index() == 0;
            let index: Vec<GmwBit> =
                (0..3).map(|j| GmwBit::of((0..8_usize).map(|i| u64::from(me) & i as u64 >> j))).collect();
            let signs = mixed.prep_lut(3, 8)?;
            let public = mixed.lookup(&[&table], &index, signs)?.remove(0);
            let tables = shared(mixed, &[table; 8].concat());
            let signs = mixed.prep_lut(3, 8)?;
            let private = mixed.lookup_private(&tables, &index, signs)?;
            num::open(mixed.session(), plain, &Num::join(&[&product, &public, &private]))
        });
        for opened in honest(ends) {
            let (products, found) = opened.split_at(x.len());
            assert!(x.iter().zip(&y).zip(products).all(|((x, y), z)| plain.mul(*x, *y) == *z));
            assert_eq!(found, [table, table].concat());
        }
    }
}

/// Of candidates only whether they are at least p is opened, a bit each; no mask of p or more is accepted,
/// and masks are uniform below p: a chi-square test of the u that A2B of zeros opens, over sixteen parts.
/// Half of the candidates for 2^16 + 1 are rejected \[G6\].
#[test]
fn masks_below_another_prime_are_uniform() {
    let (plain, count) = (Modulus::new(P16).unwrap(), 1600);
    let harness = Harness::new(2, &common::agreed()).patient();
    let seen = harness.recording(party(2));
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        let mixed = &mut Mixed::new(gmw, plain, None, None)?;
        assert!(mixed.bits_of_masks(count) > 17 * count);
        mixed.prepare_masks(count)?;
        // what is in stock takes no bits
        assert_eq!(mixed.bits_of_masks(count), 0);
        assert!(mixed.bits_of_masks(2 * count) > 17 * count);
        let bits = mixed.a2b(&Num::zero(count))?;
        mixed.gmw().output(&[party(1), party(2)], &bits)
    });
    for bits in honest(ends) {
        let zero = |bit: &GmwBit| bit.words().iter().all(|word| *word == 0);
        assert!(bits.unwrap().iter().all(zero), "the bits of zero under a mask of p or more are those of p");
    }
    let of = |step| {
        let both = [MessageDirection::In, MessageDirection::Out];
        both.into_iter().flat_map(|way| seen.bodies(way, party(1), step)).collect::<Vec<_>>()
    };
    // a bit for each candidate is told, and nothing else of it: what else is opened are masked factors
    let candidates = 2 * count + 16;
    let told = of("divisi_mixed::open/open.tell");
    assert!(told.iter().any(|body| body.len() == candidates.div_ceil(8)));
    let opened = of("divisi_mixed::num/open.tell").pop().unwrap();
    let (mut bins, mut waiting, mut filled) = ([0_u32; 16], 0_u64, 0);
    for byte in opened {
        waiting |= u64::from(byte) << filled;
        filled += 8;
        if filled >= 17 {
            bins[(waiting & 0x1_ffff) as usize * 16 / P16 as usize] += 1;
            (waiting, filled) = (waiting >> 17, filled - 17);
        }
    }
    assert_eq!(bins.iter().sum::<u32>() as usize, count);
    let mean = count as f64 / 16.0;
    let square: f64 = bins.iter().map(|bin| (f64::from(*bin) - mean).powi(2) / mean).sum();
    // fifteen degrees of freedom: 2^-24 at 60
    assert!(square < 60.0, "{square}");
}
