//! Fresh encryptions.

use super::residues::residues;
use super::{Poly, Ring, SMALL};
use crate::sample::Hiding;
use divisi_core::wipe::WipedVec;

impl Ring {
    /// k v + p e for each component k of the public key, plus m in the first one; without m it is zero. The
    /// coefficients of v and of the errors e are below [`SMALL`], those of m are of absolute value at most p
    /// / 2. p e + m is transformed as one polynomial, and v of a prime is still in the cache when it is used.
    pub(crate) fn fresh(
        &self,
        key: &[Poly; 2],
        Hiding { errors, v }: &Hiding,
        m: Option<&[i64]>,
        limbs: usize,
    ) -> [Poly; 2] {
        let n = self.dimension();
        let mut random = WipedVec::zeros(n);
        let mut out = [self.zero(limbs, false), self.zero(limbs, false)];
        for (limb, ntt) in self.transforms[..limbs].iter().enumerate() {
            let part = limb * n..(limb + 1) * n;
            residues(ntt.modulus(), SMALL, &mut random, v);
            ntt.forward(&mut random);
            for (((out, key), e), m) in out.iter_mut().zip(key).zip(errors).zip([m, None]) {
                let words = &mut out.words[part.clone()];
                self.noisy_part(ntt, e, m, words);
                ntt.modulus().add_product(words, &random, &key.words[part.clone()]);
            }
        }
        out
    }
}
