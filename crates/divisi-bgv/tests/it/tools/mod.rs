//! What the tests of this crate share: keys of all parties in one process, and the noise of a ciphertext.
#![allow(dead_code, reason = "unit tests of the library share a part of it")]

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Poly, Ring, Sampler, encode};
use divisi_core::testing::run;
use divisi_core::{Abort, PartyId, PublicParameters as Agreed, Session, Step, step};
use divisi_field::zp::P32;
use std::sync::{Arc, Barrier};

pub const PASS: Step = step!("pass");

/// The insecure ring for this computation among n parties.
pub fn small(operation: Operation, form: Form, n: usize) -> Arc<Ring> {
    small_of(operation, form, n, P32)
}

/// The same for plaintexts modulo another prime.
pub fn small_of(operation: Operation, form: Form, n: usize, plain: u64) -> Arc<Ring> {
    Arc::new(Ring::new(Parameters::danger_insecure(operation, form, n, plain).unwrap()).unwrap())
}

/// The ring that real sessions have for this computation among n parties.
pub fn secure(operation: Operation, form: Form, n: usize) -> Arc<Ring> {
    secure_of(operation, form, n, P32)
}

/// The same for plaintexts modulo another prime.
pub fn secure_of(operation: Operation, form: Form, n: usize, plain: u64) -> Arc<Ring> {
    Arc::new(Ring::new(Parameters::derive(operation, form, n, plain).unwrap()).unwrap())
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

/// What honest parties return that have keys.
pub fn all<R: Send>(
    ring: &Arc<Ring>,
    f: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<R, Abort> + Sync,
) -> Vec<R> {
    honest(with_keys(ring, f))
}

/// The results of honest parties.
pub fn honest<R>(ends: Vec<Result<R, Abort>>) -> Vec<R> {
    ends.into_iter().map(Result::unwrap).collect()
}

/// Demands that a party refused a call.
pub fn refused<R>(ends: Vec<Result<R, Abort>>) {
    let ends: Vec<_> = ends.into_iter().map(|end| end.map(drop)).collect();
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
}

/// Two parties that do something twice, wait for each other, and then refuse calls by themselves
/// ([`divisi_core::testing::refused_for`]).
pub fn refused_after<T>(
    ring: &Arc<Ring>,
    accepted: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<T, Abort> + Sync,
    refused: impl Fn(&mut Session, &Keys, &mut Sampler, T) + Sync,
) {
    let done = Barrier::new(2);
    all(ring, |session, keys, sampler| {
        let first = accepted(session, keys, sampler);
        let made = first.and_then(|_| accepted(session, keys, sampler));
        done.wait();
        refused(session, keys, sampler, made?);
        Ok(())
    });
}

/// Zero as the ciphertext (0, 0).
pub fn zero(ring: &Ring, level: usize) -> Ciphertext {
    let component = || ring.zero(ring.parameters().limbs(level), false);
    Keys::forge(level, 1, component(), component())
}

/// A ciphertext whose noise is as large as the bound of a level, in one coefficient.
pub fn at_its_bound(ring: &Ring, level: usize, factor: u64) -> Ciphertext {
    let (p, limbs) = (ring.parameters(), ring.parameters().limbs(level));
    let mut noise = vec![0; 1024];
    noise[5] = i128::from(p.plain()) * p.noise_at(level).exp2().floor() as i128;
    Keys::forge(level, factor, ring.wide(&noise, limbs), ring.zero(limbs, false))
}

/// The same ciphertext with as much noise more.
pub fn worst(ring: &Ring, session: &Session, mut x: Ciphertext) -> Result<Ciphertext, Abort> {
    let noise = at_its_bound(ring, x.level(), x.factor());
    x.add(ring, session, PASS, &noise).map(|()| x)
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

/// Exponents of the signs of private tables: <k, r> for each k but 0, of a mask r of `width` bits for each
/// table, one table after the other.
pub fn characters(seed: u64, n: usize, width: usize) -> Vec<u64> {
    let (mut next, each) = (words(seed), (1 << width) - 1);
    let masks: Vec<u64> = (0..n.div_ceil(each)).map(|_| next() >> 7).collect();
    (0..n).map(|i| u64::from((masks[i / each] & (i % each + 1) as u64).count_ones() & 1)).collect()
}

/// Pseudo-random elements modulo p, with 0, 1 and p - 1 among them.
pub fn elements(seed: u64, p: u64, n: usize) -> Vec<u64> {
    let mut next = words(seed);
    // a word has 53 bits
    let mut element = || if p >> 53 == 0 { next() % p } else { (next() << 11 ^ next()) % p };
    (0..n).map(|i| [0, 1, p - 1].get(i % 7).copied().unwrap_or_else(&mut element)).collect()
}

/// The sum of shares modulo p.
pub fn open<S: std::ops::Deref<Target = [u64]>>(p: u64, shares: impl IntoIterator<Item = S>) -> Vec<u64> {
    let add = |sum: Vec<u64>, share: S| sum.iter().zip(&*share).map(|(x, y)| (x + y) % p).collect();
    let mut shares = shares.into_iter();
    let first = shares.next().unwrap().to_vec();
    shares.fold(first, add)
}

/// The sum of all key shares.
pub fn sum(ring: &Ring, shares: &[Poly]) -> Poly {
    let mut all = shares[0].clone();
    shares[1..].iter().for_each(|share| ring.add(&mut all, share));
    all
}

/// The centred coefficients of a polynomial given as values, modulo the product of its first primes, as many
/// as fit in 126 bits.
pub fn lift(ring: &Ring, mut x: Poly) -> Vec<i128> {
    ring.to_coefficients(&mut x);
    lift_coefficients(ring, &x)
}

/// The same for a polynomial that is given as coefficients.
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

/// The centred coefficients of a polynomial that is given as coefficients, modulo all its primes, as real
/// numbers: those of digits to the mixed radix of the primes, each centred.
pub fn lift_real(ring: &Ring, x: &Poly) -> Vec<f64> {
    let (n, limbs) = (ring.dimension(), x.limbs());
    // the products of the first primes, modulo another one
    let radices: Vec<Vec<u64>> = (0..limbs)
        .map(|limb| {
            let m = ring.modulus(limb);
            let first = std::iter::successors(Some((0, 1)), |(j, radix)| {
                (*j < limb).then(|| (j + 1, m.mul(*radix, m.reduce(ring.modulus(*j).get()))))
            });
            first.map(|(_, radix)| radix).collect()
        })
        .collect();
    let inverses: Vec<u64> = (0..limbs).map(|limb| ring.modulus(limb).invert(radices[limb][limb])).collect();
    let of = |i: usize| {
        let (mut value, mut radix, mut digits) = (0.0, 1.0, Vec::with_capacity(limbs));
        for limb in 0..limbs {
            let m = ring.modulus(limb);
            let known = digits.iter().zip(&radices[limb]);
            let known =
                known.fold(0, |sum, (digit, radix)| m.add(sum, m.mul(m.of_wide(i128::from(*digit)), *radix)));
            let digit = m.centred(m.mul(m.sub(x.words()[limb * n + i], known), inverses[limb]));
            // a small number has zeros as high digits, where the radix may be too large for a double
            value += if digit == 0 { 0.0 } else { digit as f64 * radix };
            radix *= m.get() as f64;
            digits.push(digit);
        }
        value
    };
    (0..n).map(of).collect()
}

/// E = c_0 + s c_1 as values; the key may be over more primes.
fn with_key(ring: &Ring, key: &Poly, x: &Ciphertext) -> Poly {
    let [c0, c1] = x.components();
    let mut e = c0.clone();
    ring.add_product(&mut e, key, c1);
    e
}

/// The coefficients of E = c_0 + s c_1.
pub fn phase(ring: &Ring, key: &Poly, x: &Ciphertext) -> Vec<i128> {
    lift(ring, with_key(ring, key, x))
}

/// log2 of the 2-norm of E / p.
pub fn noise(ring: &Ring, key: &Poly, x: &Ciphertext) -> f64 {
    let p = ring.parameters().plain() as f64;
    let mut e = with_key(ring, key, x);
    ring.to_coefficients(&mut e);
    lift_real(ring, &e).iter().map(|e| (e / p).powi(2)).sum::<f64>().log2() / 2.0
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
