//! Division by the last prime (modulus switching), alone and together with a hop's product and mask.

use super::residues::residues;
use super::{Poly, Ring, SMALL};
use divisi_core::wipe::WipedVec;
use divisi_field::kernel::vectorize;
use divisi_field::ntt::Ntt;

/// The mask k v + p e of one component of a product: a component k of the public key, and an error e. The
/// randomiser v is the same for both components.
pub(crate) struct Mask<'a> {
    pub(crate) key: &'a Poly,
    pub(crate) errors: &'a [i64],
}

impl Ring {
    /// Divides by the last prime q, rounding to a multiple of p: (x + delta) / q with delta = -x mod q and 0
    /// mod p. Modulo p this multiplies x by 1/q; [`Ring::quotient`] is this factor.
    ///
    /// The words of x are of no use afterwards.
    pub fn drop_last(&self, x: &mut Poly) -> Poly {
        let n = self.dimension();
        let parts = x.limbs + usize::from(x.extended);
        let index = self.index(x, parts - 1);
        let (rest, last) = x.words.split_at_mut((parts - 1) * n);
        self.transforms[index].inverse(last);
        let deltas = self.deltas(index, last, None);
        let mut out = self.zero(if x.extended { x.limbs } else { x.limbs - 1 }, false);
        self.each(&mut out, |ntt, words, at| {
            residues(ntt.modulus(), self.half(index), words, &deltas);
            ntt.forward(words);
            self.divide([index, at / n], ntt, words, &rest[at..at + n]);
        });
        out
    }

    /// The same for a polynomial given by coefficients.
    pub(crate) fn drop_last_of_coefficients(&self, mut x: Poly) -> Poly {
        let n = self.dimension();
        let index = x.limbs - 1;
        let (rest, last) = x.words.split_at_mut(index * n);
        let deltas = self.deltas(index, last, None);
        let mut out = self.zero(index, false);
        self.each(&mut out, |ntt, words, at| {
            residues(ntt.modulus(), self.half(index), words, &deltas);
            self.divide([index, at / n], ntt, words, &rest[at..at + n]);
        });
        out
    }

    /// x m + k v + p e for each component, divided by the last prime: [`Ring::drop_last`] of the sum. m is a
    /// plaintext's coefficients, of absolute value at most p / 2; those of v and e are below [`SMALL`]. An
    /// error e is added to the numbers that the division adds, before they are transformed, so it needs no
    /// transforms of its own; and all primes are passed through once. A component without a mask is x m.
    pub(crate) fn product_below(
        &self,
        mut x: [Poly; 2],
        m: &[i64],
        v: &[i64],
        masks: [Option<Mask<'_>>; 2],
    ) -> [Poly; 2] {
        let (n, index) = (self.dimension(), x[0].limbs - 1);
        // x is public, but x m + k v in its place is not: without errors it tells v
        x.iter_mut().for_each(Poly::withhold);
        let (mut factor, mut random) = (WipedVec::zeros(n), WipedVec::zeros(n));
        // x m + k v of one prime, in the place of x
        let mut masked = |ntt: &Ntt, at: usize, x: &mut [Poly; 2]| {
            let bounded = [(m, self.plain.modulus().get() / 2), (v, SMALL)];
            for ((numbers, bound), words) in bounded.into_iter().zip([&mut factor, &mut random]) {
                residues(ntt.modulus(), bound, words, numbers);
                ntt.forward(words);
            }
            for (x, mask) in x.iter_mut().zip(&masks) {
                let words = &mut x.words[at..at + n];
                match mask {
                    Some(mask) => {
                        let key = &mask.key.words[at..at + n];
                        ntt.modulus().sum_of_products(words, &factor, key, &random);
                    }
                    None => ntt.modulus().mul_assign(words, &factor),
                }
            }
        };
        masked(&self.transforms[index], index * n, &mut x);
        let deltas = [0, 1].map(|c| {
            let last = &mut x[c].words[index * n..];
            self.transforms[index].inverse(last);
            self.deltas(index, last, masks[c].as_ref().map(|mask| mask.errors))
        });
        let mut out = [self.zero(index, false), self.zero(index, false)];
        for (limb, ntt) in self.transforms[..index].iter().enumerate() {
            let part = limb * n..(limb + 1) * n;
            masked(ntt, part.start, &mut x);
            for ((out, x), deltas) in out.iter_mut().zip(&mut x).zip(&deltas) {
                let words = &mut out.words[part.clone()];
                residues(ntt.modulus(), self.half(index) + SMALL, words, deltas);
                ntt.forward(words);
                self.divide([index, limb], ntt, words, &x.words[part.clone()]);
            }
        }
        out
    }

    fn half(&self, index: usize) -> u64 {
        self.transforms[index].modulus().get() / 2
    }

    /// For the coefficients x of the last prime q's part, and errors e: delta / p + e, where delta = -(x + p
    /// e) modulo q, and its quotient by p is between -q/2 and q/2.
    fn deltas(&self, index: usize, last: &mut [u64], errors: Option<&[i64]>) -> WipedVec<i64> {
        let (q, lift) = (self.transforms[index].modulus(), self.quotients[index].lift);
        q.scale(last, lift);
        let mut deltas = WipedVec::zeros(last.len());
        if let Some(errors) = errors {
            let all = deltas.iter_mut().zip(last).zip(errors);
            vectorize(
                #[inline(always)]
                || {
                    all.for_each(|((delta, x), e)| {
                        // an error is smaller than q
                        let e_modulo_q = (*e + (q.get() as i64 & (*e >> 63))) as u64;
                        *delta = q.centred(q.sub(*x, e_modulo_q)) + e;
                    });
                },
            );
        } else {
            let all = deltas.iter_mut().zip(last);
            vectorize(
                #[inline(always)]
                || all.for_each(|(delta, x)| *delta = q.centred(*x)),
            );
        }
        deltas
    }

    /// (x + p w) / q for the prime q of this index, modulo another prime; the result is where w was.
    fn divide(&self, [index, other]: [usize; 2], ntt: &Ntt, w: &mut [u64], x: &[u64]) {
        let [inverse, scaled] = self.quotients[index].others[other];
        ntt.modulus().scaled_sum(w, scaled, x, inverse);
    }
}
