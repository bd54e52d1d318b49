//! Computations on secrets outside of any session: divisi-measure tests whether their time, branches and
//! addresses depend on the secrets. This is not a protocol: nothing is counted here, and the results are not
//! used.

use crate::encode;
use crate::flood::Width;
use crate::purposes;
use crate::ring::{Mask, Poly, Ring};
use crate::sample::{Hiding, Sampler};
use crate::shares::{flooded, own_part, share_of};
use divisi_core::Prg;
use divisi_core::wipe::WipedVec;

/// A generator with this key.
#[must_use]
pub fn sampler(key: &[u8; 16]) -> Sampler {
    Sampler::of(Prg::of(purposes::SAMPLER, key))
}

/// The polynomial over the first `limbs` primes with these words, N for each of them, reduced.
#[must_use]
pub fn poly(ring: &Ring, limbs: usize, words: &[u64]) -> Poly {
    let mut out = ring.zero(limbs, false);
    let moduli = ring.moduli(&out);
    let parts = out.words_mut().chunks_exact_mut(ring.dimension()).zip(words.chunks(ring.dimension()));
    for (modulus, (part, words)) in moduli.into_iter().zip(parts) {
        part.iter_mut().zip(words).for_each(|(out, word)| *out = modulus.reduce(*word));
    }
    out
}

/// A flood of this width.
#[must_use]
pub fn flood(sampler: &mut Sampler, width: Width, n: usize) -> WipedVec<i128> {
    let mut out = WipedVec::zeros(n);
    width.sample(sampler.prg(), &mut out);
    out
}

/// A partial decryption of E2A: the second component times a key share, with a flood and a mask.
#[must_use]
pub fn partial(ring: &Ring, sampler: &mut Sampler, share: &Poly, c1: &Poly, mask: &[u64]) -> Poly {
    let flood = flood(sampler, ring.parameters().flood(), ring.dimension());
    flooded(ring, share, c1, flood, mask)
}

/// The holder's part of E2A: its own part of the decryption, the sum with an answer, and the slots of that.
#[must_use]
pub fn holder(ring: &Ring, share: &Poly, c: [&Poly; 2], answer: &Poly) -> WipedVec<u64> {
    let mut sum = own_part(ring, share, c);
    ring.add(&mut sum, answer);
    let mut slots = share_of(ring, &sum);
    encode::decode(ring, &mut slots);
    slots
}

/// An encryption of these slots under a public key.
#[must_use]
pub fn fresh(ring: &Ring, sampler: &mut Sampler, key: &[Poly; 2], slots: &[u64]) -> [Poly; 2] {
    let plain = encode::coefficients(ring, slots);
    ring.fresh(key, &sampler.hiding(ring.dimension()), Some(&plain), key[0].limbs())
}

/// A hop of the lean forms: the product of a ciphertext with signs, hidden under a public key, a prime below.
#[must_use]
pub fn hop(ring: &Ring, sampler: &mut Sampler, x: [Poly; 2], key: &[Poly; 2], bits: &[u64]) -> [Poly; 2] {
    let m = encode::coefficients(ring, &encode::signs(ring, bits));
    let Hiding { errors, v } = sampler.hiding(ring.dimension());
    let mask = |i: usize| Some(Mask { key: &key[i], errors: &errors[i] });
    ring.product_below(x, &m, &v, [mask(0), mask(1)])
}
