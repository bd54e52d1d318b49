//! Computations on secrets outside of any session: divisi-measure tests whether their time, branches and
//! addresses depend on these. This is not a protocol: nothing is counted here, and the results are not used.

use crate::flood::Width;
use crate::hidden::Hidden;
use crate::ring::{Poly, Ring};
use crate::sample::Sampler;
use crate::shares::flooded;
use divisi_core::Prg;

/// A generator with this key.
#[must_use]
pub fn sampler(key: &[u8; 16]) -> Sampler {
    Sampler::of(Prg::new(key))
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
pub fn flood(sampler: &mut Sampler, width: Width, n: usize) -> Hidden<i128> {
    let mut out = Hidden::zeros(n);
    width.sample(sampler.prg(), &mut out);
    out
}

/// A partial decryption of E2A: the second component times a key share, with a flood and a mask.
#[must_use]
pub fn partial(ring: &Ring, sampler: &mut Sampler, share: &Poly, c1: &Poly, mask: &[u64]) -> Poly {
    let flood = flood(sampler, ring.parameters().flood(), ring.dimension());
    flooded(ring, share, c1, flood, mask)
}
