//! The kernels of lattices and of shared numbers under measurement: transforms, samplers, encoding, packing,
//! fresh encryptions, hops, modulus switching, both sides of a decryption, ANDs of packed bits.
//!
//! They are in the insecure ring of dimension 1024: what depends on a secret there does so in any ring.

use crate::subjects::{KernelEntry, Subject, kernel, put, subject_of};
use divisi_bgv::flood::Width;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Poly, Ring, Sampler, encode, guarded, wire};
use divisi_field::ntt::Ntt;
use divisi_field::zp::{Modulus, P32};
use divisi_mixed::guarded::and;
use std::hint::black_box;

/// The number of coefficients that a sampler makes.
const DRAWN: usize = 256;
/// The number of words of bits that are multiplied.
const BITS: usize = 64;
/// The number of primes of an encoded polynomial, and of a component that loses one.
const LIMBS: usize = 2;

/// All of them, by name.
pub const ALL: &[KernelEntry] = &[
    kernel("bgv encode numbers", || encoded(numbers, numbers_of)),
    kernel("bgv encode signs", || encoded(bits, signs_of)),
    kernel("bgv encrypt", || hidden(fresh)),
    kernel("bgv holder of a decryption", held),
    kernel("bgv hop", || hidden(hop)),
    kernel("bgv modulus switch", switched),
    kernel("bgv pack", packed),
    kernel("bgv partial decryption", decrypted),
    kernel("bgv sample bits", || sampled(|sampler| sampler.bits(black_box(&mut [0; DRAWN])))),
    kernel("bgv sample elements", || sampled(elements)),
    kernel("bgv sample errors", || sampled(|sampler| drop(black_box(sampler.errors(DRAWN))))),
    kernel("bgv sample flood", || sampled(|sampler| flood(sampler, 50.0))),
    kernel("bgv sample ternary", || sampled(|sampler| drop(black_box(sampler.ternary(DRAWN))))),
    kernel("bgv sample wide flood", || sampled(|sampler| flood(sampler, 90.0))),
    kernel("gmw and", anded),
    kernel("ntt forward", || transformed(Ntt::forward)),
    kernel("ntt inverse", || transformed(Ntt::inverse)),
];

/// The ring of tests, for two parties.
fn ring() -> Ring {
    let parameters = Parameters::danger_insecure(Operation::Bits, Form::LeanRing, 2, P32);
    let Some(ring) = parameters.ok().and_then(Ring::new) else { unreachable!("the ring of tests") };
    ring
}

/// A transform over the first prime of a chain, and its input.
struct Transform {
    ntt: Ntt,
    x: Vec<u64>,
    run: fn(&Ntt, &mut [u64]),
}

fn transformed(run: fn(&Ntt, &mut [u64])) -> Box<dyn Subject> {
    let ring = ring();
    let n = ring.dimension();
    let Some(ntt) = Ntt::new(ring.modulus(0).get(), n) else { unreachable!("a prime of the chain") };
    let load = |t: &mut Transform, secret: &[u64]| {
        let m = t.ntt.modulus();
        t.x.iter_mut().zip(secret).for_each(|(x, word)| *x = m.reduce(*word));
    };
    subject_of(n, Transform { ntt, x: vec![0; n], run }, load, |t| (t.run)(&t.ntt, &mut t.x))
}

/// A generator with a secret key, and what it samples.
struct Sampled {
    sampler: Sampler,
    run: fn(&mut Sampler),
}

/// The key of a generator.
fn key_of(secret: &[u64]) -> [u8; 16] {
    let mut key = [0; 16];
    put(&mut key, secret);
    key
}

fn sampled(run: fn(&mut Sampler)) -> Box<dyn Subject> {
    let state = Sampled { sampler: guarded::sampler(&[0; 16]), run };
    let load = |s: &mut Sampled, secret: &[u64]| s.sampler = guarded::sampler(&key_of(secret));
    subject_of(2, state, load, |s| (s.run)(&mut s.sampler))
}

fn elements(sampler: &mut Sampler) {
    let Some(plain) = Modulus::new(P32) else { unreachable!("a modulus of plaintexts") };
    black_box(sampler.elements(plain, DRAWN));
}

fn flood(sampler: &mut Sampler, deviation: f64) {
    let Some(width) = Width::at_least(deviation) else { unreachable!("a flood below the widest") };
    black_box(guarded::flood(sampler, width, DRAWN));
}

/// A ring and slots.
struct Encoded {
    ring: Ring,
    slots: Vec<u64>,
    run: fn(&Encoded),
}

fn encoded(load: fn(&mut Encoded, &[u64]), run: fn(&Encoded)) -> Box<dyn Subject> {
    let ring = ring();
    let n = ring.dimension();
    subject_of(n, Encoded { ring, slots: vec![0; n], run }, load, |e| (e.run)(e))
}

fn numbers(e: &mut Encoded, secret: &[u64]) {
    let p = e.ring.plain();
    e.slots.iter_mut().zip(secret).for_each(|(slot, word)| *slot = p.reduce(*word));
}

fn bits(e: &mut Encoded, secret: &[u64]) {
    e.slots.iter_mut().zip(secret).for_each(|(slot, word)| *slot = word & 1);
}

fn numbers_of(e: &Encoded) {
    black_box(encode::encode(&e.ring, &e.slots, LIMBS));
}

fn signs_of(e: &Encoded) {
    black_box(encode::encode(&e.ring, &encode::signs(&e.ring, &e.slots), LIMBS));
}

/// A component of a ciphertext that loses a prime.
fn switched() -> Box<dyn Subject> {
    let ring = ring();
    let (n, x) = (ring.dimension(), ring.zero(LIMBS, false));
    let load = |(ring, x): &mut (Ring, Poly), secret: &[u64]| *x = guarded::poly(ring, LIMBS, secret);
    subject_of(LIMBS * n, (ring, x), load, |(ring, x)| drop(black_box(ring.drop_last(&mut x.clone()))))
}

/// A polynomial as it goes into a message.
fn packed() -> Box<dyn Subject> {
    let ring = ring();
    let (n, x) = (ring.dimension(), ring.zero(LIMBS, false));
    let load = |(ring, x, _): &mut (Ring, Poly, Vec<u8>), secret: &[u64]| {
        *x = guarded::poly(ring, LIMBS, secret);
    };
    subject_of(LIMBS * n, (ring, x, Vec::new()), load, |(ring, x, out)| {
        out.clear();
        wire::write(ring, x, out);
        black_box(out);
    })
}

/// A polynomial of public words.
fn public(ring: &Ring, limbs: usize, seed: u64) -> Poly {
    let count = (ring.dimension() * limbs) as u64;
    let words: Vec<u64> =
        (0..count).map(|i| (seed * count + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    guarded::poly(ring, limbs, &words)
}

/// A public key and a public ciphertext; the secret generator of masks and errors; and secret bits, which are
/// encrypted, or by whose signs the ciphertext is multiplied.
struct Masked {
    ring: Ring,
    key: [Poly; 2],
    x: [Poly; 2],
    bits: Vec<u64>,
    sampler: Sampler,
    run: fn(&mut Masked),
}

fn hidden(run: fn(&mut Masked)) -> Box<dyn Subject> {
    let ring = ring();
    let n = ring.dimension();
    let [key, x] = [0, 2].map(|seed| [0, 1].map(|i| public(&ring, LIMBS, seed + i)));
    let state = Masked { ring, key, x, bits: vec![0; n], sampler: guarded::sampler(&[0; 16]), run };
    let load = |m: &mut Masked, secret: &[u64]| {
        let (drawn, bits) = secret.split_at(2);
        m.sampler = guarded::sampler(&key_of(drawn));
        m.bits.iter_mut().zip(bits).for_each(|(bit, word)| *bit = word & 1);
    };
    subject_of(2 + n, state, load, |m| (m.run)(m))
}

fn fresh(m: &mut Masked) {
    black_box(guarded::fresh(&m.ring, &mut m.sampler, &m.key, &m.bits));
}

fn hop(m: &mut Masked) {
    black_box(guarded::hop(&m.ring, &mut m.sampler, m.x.clone(), &m.key, &m.bits));
}

/// A public ciphertext at level 0, the holder's key share, and the answer of the others.
struct Held {
    ring: Ring,
    c: [Poly; 2],
    share: Poly,
    answer: Poly,
}

fn held() -> Box<dyn Subject> {
    let ring = ring();
    let (n, limbs) = (ring.dimension(), ring.parameters().limbs(0));
    let c = [0, 1].map(|seed| public(&ring, limbs, seed));
    let (share, answer) = (ring.zero(limbs, false), ring.zero(1, false));
    let load = |h: &mut Held, secret: &[u64]| {
        let (answer, share) = secret.split_at(h.ring.dimension());
        h.answer = guarded::poly(&h.ring, 1, answer);
        h.share = guarded::poly(&h.ring, h.c[0].limbs(), share);
    };
    let run = |h: &mut Held| {
        let [c0, c1] = &h.c;
        black_box(guarded::holder(&h.ring, &h.share, [c0, c1], &h.answer));
    };
    subject_of(n + n * limbs, Held { ring, c, share, answer }, load, run)
}

/// A public component; a key share, a mask, and the generator of a flood.
struct Decrypted {
    ring: Ring,
    c1: Poly,
    share: Poly,
    mask: Vec<u64>,
    sampler: Sampler,
}

fn decrypted() -> Box<dyn Subject> {
    let ring = ring();
    let (n, limbs) = (ring.dimension(), ring.parameters().limbs(0));
    let c1 = public(&ring, limbs, 0);
    let share = ring.zero(limbs, false);
    let state = Decrypted { ring, c1, share, mask: vec![0; n], sampler: guarded::sampler(&[0; 16]) };
    let load = |d: &mut Decrypted, secret: &[u64]| {
        let (drawn, rest) = secret.split_at(2);
        let (mask, share) = rest.split_at(d.mask.len());
        let p = d.ring.plain();
        d.sampler = guarded::sampler(&key_of(drawn));
        d.mask.iter_mut().zip(mask).for_each(|(mask, word)| *mask = p.reduce(*word));
        d.share = guarded::poly(&d.ring, d.c1.limbs(), share);
    };
    let run = |d: &mut Decrypted| {
        black_box(guarded::partial(&d.ring, &mut d.sampler, &d.share, &d.c1, &d.mask));
    };
    subject_of(2 + n + n * limbs, state, load, run)
}

/// Shares of two factors and of a triple, and of their products.
struct Anded {
    shares: [[u64; BITS]; 5],
    theirs: [u8; 8 * BITS],
    out: [u64; BITS],
}

fn anded() -> Box<dyn Subject> {
    let state = Anded { shares: [[0; BITS]; 5], theirs: [0x5a; 8 * BITS], out: [0; BITS] };
    let load = |a: &mut Anded, secret: &[u64]| a.shares.as_flattened_mut().copy_from_slice(secret);
    let run = |a: &mut Anded| {
        let shares = a.shares.each_ref().map(<[u64; BITS]>::as_slice);
        black_box(and(64 * BITS, shares, &a.theirs, &mut a.out));
    };
    subject_of(5 * BITS, state, load, run)
}
