//! What the tests of this crate share: keys of all parties in one process, and what noise a ciphertext has.
#![allow(dead_code)]

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Poly, Ring, Sampler, encode};
use divisi_core::testing::run;
use divisi_core::{Abort, PartyId, PublicParameters as Agreed, Session, Step, step};
use divisi_field::zp::P32;
use std::sync::Arc;

pub const PASS: Step = step!("pass");

/// The insecure ring for this.
pub fn small(operation: Operation, form: Form, n: usize) -> Arc<Ring> {
    Arc::new(Ring::new(Parameters::danger_insecure(operation, form, n, P32).unwrap()).unwrap())
}

/// The ring that real sessions have.
pub fn secure(operation: Operation, form: Form, n: usize) -> Arc<Ring> {
    Arc::new(Ring::new(Parameters::derive(operation, form, n, P32).unwrap()).unwrap())
}

/// All parties with keys.
pub fn with_keys<R: Send>(
    ring: &Arc<Ring>,
    f: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let agreed = ring.parameters().describe(Agreed::new("bgv tests"));
    run(ring.parameters().parties(), &agreed, |mut session| {
        let keys = Keys::generate(&mut session, ring)?;
        let mut sampler = Sampler::new(&session);
        f(&mut session, &keys, &mut sampler)
    })
}

/// Pseudo-random words, for tests.
pub fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state ^ state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 11
    }
}

pub fn bits(seed: u64, n: usize) -> Vec<u64> {
    let mut next = words(seed);
    (0..n).map(|_| next() >> 7 & 1).collect()
}

/// 0, 1 and p - 1 among elements.
pub fn elements(seed: u64, p: u64, n: usize) -> Vec<u64> {
    let mut next = words(seed);
    (0..n).map(|i| [0, 1, p - 1].get(i % 7).copied().unwrap_or_else(|| next() % p)).collect()
}

/// The sum of shares modulo p.
pub fn open(p: u64, shares: &[&[u64]]) -> Vec<u64> {
    let at = |i: usize| shares.iter().map(|share| share[i]).sum::<u64>() % p;
    (0..shares[0].len()).map(at).collect()
}

/// The sum of all key shares.
pub fn sum(ring: &Ring, shares: &[Poly]) -> Poly {
    let mut all = shares[0].clone();
    shares[1..].iter().for_each(|share| ring.add(&mut all, share));
    all
}

/// The centred coefficients of a polynomial given as values, of which as many primes are taken as 126 bits
/// hold.
pub fn lift(ring: &Ring, mut x: Poly) -> Vec<i128> {
    ring.to_coefficients(&mut x);
    lift_coefficients(ring, &x)
}

/// The same of one that is given as coefficients.
pub fn lift_coefficients(ring: &Ring, x: &Poly) -> Vec<i128> {
    let n = ring.dimension();
    let (mut product, mut count) = (1_u128, 0);
    while count < x.limbs() && (product as f64 * ring.modulus(count).get() as f64) < 126_f64.exp2() {
        product *= u128::from(ring.modulus(count).get());
        count += 1;
    }
    let of = |i: usize| {
        let (mut value, mut radix) = (0_u128, 1_u128);
        for limb in 0..count {
            let m = ring.modulus(limb);
            let q = u128::from(m.get());
            let missing = m.sub(x.words()[limb * n + i], (value % q) as u64);
            value += radix * u128::from(m.mul(missing, m.invert((radix % q) as u64)));
            radix *= q;
        }
        if value > product / 2 { value as i128 - product as i128 } else { value as i128 }
    };
    (0..n).map(of).collect()
}

/// E = c_0 + s c_1, of a key over more primes.
pub fn phase(ring: &Ring, key: &Poly, x: &Ciphertext) -> Vec<i128> {
    let [c0, c1] = x.components();
    let mut e = c0.clone();
    ring.add_product(&mut e, key, c1);
    lift(ring, e)
}

/// log2 of the 2-norm of E / p.
pub fn noise(ring: &Ring, key: &Poly, x: &Ciphertext) -> f64 {
    let p = ring.parameters().plain() as f64;
    phase(ring, key, x).iter().map(|e| (*e as f64 / p).powi(2)).sum::<f64>().log2() / 2.0
}

/// The slots of a ciphertext.
pub fn decrypt(ring: &Ring, key: &Poly, x: &Ciphertext) -> Vec<u64> {
    let p = ring.plain();
    let mut slots: Vec<u64> = phase(ring, key, x).iter().map(|e| p.of_wide(*e)).collect();
    encode::decode(ring, &mut slots);
    p.scale(&mut slots, p.invert(x.factor()));
    slots
}

pub fn party(i: usize) -> PartyId {
    divisi_core::testing::party(i as u8 + 1)
}
