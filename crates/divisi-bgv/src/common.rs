//! Public random polynomials, which no party can choose: BLAKE3 expands them from a seed.

use crate::purposes;
use crate::ring::{Poly, Ring};
use divisi_core::Expands;

/// A seed. The session or a coin, the purpose, the strand and a number enter it, so that no two seeds are
/// equal \[G13\]. Only this crate makes seeds, and expanding one consumes it:
///
/// ```
/// # use divisi_bgv::{Poly, Ring, common::Seed};
/// fn once(ring: &Ring, seed: Seed) -> Poly {
///     seed.expand(ring, 1, false)
/// }
/// ```
///
/// Code that expands it twice does not compile:
///
/// ```compile_fail,E0382
/// # use divisi_bgv::{Poly, Ring, common::Seed};
/// fn twice(ring: &Ring, seed: Seed) -> [Poly; 2] {
///     [seed.expand(ring, 1, false), seed.expand(ring, 1, false)]
/// }
/// ```
///
/// Nor does code of another crate that makes the seed anew from the same words:
///
/// ```compile_fail,E0624
/// # use divisi_bgv::common::Seed;
/// let seed = Seed::new(b"context", "purpose", 1, 2);
/// ```
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed for one purpose. `context` is the session's id or a coin of the session; `number` counts the
    /// calls.
    #[must_use]
    pub(crate) fn new(context: &[u8], purpose: &str, strand: u32, number: u64) -> Seed {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 bgv common polynomial v1");
        hasher.update(&(context.len() as u64).to_le_bytes()).update(context);
        hasher.update(&(purpose.len() as u64).to_le_bytes()).update(purpose.as_bytes());
        hasher.update(&strand.to_le_bytes()).update(&number.to_le_bytes());
        Seed(*hasher.finalize().as_bytes())
    }

    /// Expands the seed to a uniform polynomial, given by its values. Time depends on the seed, which is
    /// public.
    #[must_use]
    pub fn expand(self, ring: &Ring, limbs: usize, extended: bool) -> Poly {
        let mut poly = ring.zero(limbs, extended);
        let moduli = ring.moduli(&poly);
        for (modulus, part) in moduli.into_iter().zip(poly.words_mut().chunks_exact_mut(ring.dimension())) {
            let mut stream = blake3::Hasher::new_keyed(&self.0);
            let mut stream = stream.update(&modulus.get().to_le_bytes()).expand(purposes::COMMON);
            // the largest multiple of the modulus in a word: nearly all words are below it
            let multiple = u64::MAX / modulus.get() * modulus.get();
            let mut bytes = [0; 4096];
            let mut filled = 0;
            while filled < part.len() {
                stream.fill(&mut bytes);
                for word in bytes.as_chunks::<8>().0 {
                    let Some(out) = part.get_mut(filled) else { break };
                    // the next word replaces one that is rejected
                    let word = u64::from_le_bytes(*word);
                    *out = modulus.reduce(word);
                    filled += usize::from(word < multiple);
                }
            }
        }
        poly
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Expands, Seed, purposes};
    use crate::parameters::{Form, Operation, Parameters};
    use crate::ring::Ring;
    use divisi_field::zp::P32;

    /// The residues of a polynomial modulo any two primes are drawn independently: if their words were equal,
    /// the polynomial would have the randomness of one prime instead of that of all primes.
    #[test]
    fn residues_have_words_of_their_own() {
        let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, P32).unwrap();
        let ring = Ring::new(p).unwrap();
        let limbs = ring.parameters().chain().len();
        let poly = Seed::new(b"context", "purpose", 1, 2).expand(&ring, limbs, true);
        let parts: Vec<_> = poly.words().chunks_exact(ring.dimension()).collect();
        assert!(parts.len() > 2);
        for (i, part) in parts.iter().enumerate() {
            for other in &parts[..i] {
                // the first words are compared: later ones differ anyway, once one prime has rejected a word
                assert!(part.iter().zip(*other).take(4).all(|(x, y)| *x as u32 != *y as u32));
            }
        }
    }

    /// Words of the stream of a prime that are not below its largest multiple are skipped: the others are
    /// uniform modulo the prime.
    #[test]
    fn polynomials_are_the_words_of_streams_that_are_uniform() {
        let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, P32).unwrap();
        let ring = Ring::new(p).unwrap();
        let (n, mut rejected) = (ring.dimension(), 0);
        for number in 0..200 {
            let seed = Seed::new(b"context", "purpose", 1, number);
            let mut streams = Vec::new();
            let moduli = ring.moduli(&ring.zero(2, true));
            for m in &moduli {
                let mut bytes = vec![0; 8 * (n + 8)];
                let mut stream = blake3::Hasher::new_keyed(&seed.0);
                stream.update(&m.get().to_le_bytes()).expand(purposes::COMMON).fill(&mut bytes);
                let most = u64::MAX / m.get() * m.get();
                let words: Vec<u64> =
                    bytes.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
                rejected += words[..n].iter().filter(|word| **word >= most).count();
                streams.extend(words.into_iter().filter(|word| *word < most).map(|w| w % m.get()).take(n));
            }
            assert!(seed.expand(&ring, 2, true).words() == streams, "{number}");
        }
        assert!(rejected > 2);
    }

    /// Every part of a seed changes it; so does the boundary between two neighbouring strings.
    #[test]
    fn seeds_are_one_of_a_kind() {
        let seeds = [
            Seed::new(b"context", "purpose", 1, 2),
            Seed::new(b"contexu", "purpose", 1, 2),
            Seed::new(b"context", "purposf", 1, 2),
            Seed::new(b"", "purpose", 1, 2),
            Seed::new(b"contextp", "urpose", 1, 2),
            Seed::new(b"context", "purposes", 1, 2),
            Seed::new(b"context", "", 1, 2),
            Seed::new(b"context", "purpose", 0, 2),
            Seed::new(b"context", "purpose", 2, 1),
            Seed::new(b"context", "purpose", 1, 3),
            Seed::new(b"context", "purpose", 1, 2 << 32),
            Seed::new(b"context", "purpose", 1, 2 | 1 << 32),
            Seed::new(b"context", "purpose", 0, 1 | 2 << 32),
        ];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(seeds[..i].iter().all(|other| other.0 != seed.0), "{i}");
        }
    }
}
