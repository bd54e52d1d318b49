//! Polynomials modulo X^N + 1, by their residues modulo the primes of the chain.

use crate::parameters::Parameters;
use divisi_core::wipe::WipedVec;
use divisi_field::ntt::Ntt;
use divisi_field::zp::Modulus;
use residues::{Long, residues};

mod below;
mod digits;
mod fresh;
mod residues;

pub(crate) use below::Mask;

/// The ring of a set of parameters: a transform for each prime, and the constants for dividing by it.
pub struct Ring {
    parameters: Parameters,
    /// The transforms of the chain's primes; the special prime is the last.
    transforms: Vec<Ntt>,
    plain: Ntt,
    /// The constants for dividing by each prime.
    quotients: Vec<Quotient>,
    /// The digits of relinearisation.
    digits: Vec<digits::Digit>,
}

/// The constants for dividing by one prime q.
struct Quotient {
    /// -1/p mod q.
    lift: u64,
    /// 1/q and p/q modulo each prime.
    others: Vec<[u64; 2]>,
    /// 1/q mod p.
    plain: u64,
}

/// The size, in bytes, of the block that [`keep_freed_memory`] allocates.
const KEPT: usize = 8 << 20;

/// Makes glibc's allocator keep freed blocks of up to this size, and a bit more. Otherwise it returns every
/// polynomial to the system when it is freed, and each new one costs a page fault for every 4 KiB: a quarter
/// of all time. The allocator keeps blocks that are not larger than the largest one that was freed; so this
/// function allocates a block and frees it. The block is never touched, so it takes no memory. On other
/// allocators this has no effect.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// A bound on the absolute values of the coefficients of secrets and errors; every prime is larger.
const SMALL: u64 = 64;

/// A polynomial by its residues: a part of N words for each prime. The words are its values at the roots,
/// unless said otherwise. Wiped when dropped, unless it is public.
#[derive(Debug)]
pub struct Poly {
    words: WipedVec<u64>,
    /// How many primes of the chain it has, beginning with the one that is dropped last.
    limbs: usize,
    /// Whether it has a part for the special prime, at the end.
    extended: bool,
    /// Whether everybody may know it: then it is not wiped.
    public: bool,
}

/// A copy may become secret by what is added to it, so it is not public and is wiped when dropped.
impl Clone for Poly {
    fn clone(&self) -> Poly {
        Poly { words: self.words.clone(), public: false, ..*self }
    }
}

/// A public polynomial is not wiped: wiping a ciphertext would take as long as adding to it.
impl Drop for Poly {
    fn drop(&mut self) {
        drop(self.unwiped());
    }
}

impl Poly {
    /// Marks it as public: a component of a ciphertext, or computed from public polynomials alone.
    pub(crate) fn publish(&mut self) {
        self.public = true;
    }

    /// Takes the words out of a public polynomial, so that they are not wiped; `None` if it is not public.
    fn unwiped(&mut self) -> Option<Vec<u64>> {
        self.public.then(|| std::mem::take(&mut self.words).into_vec())
    }

    /// Marks it as not public, before something secret is computed in its place.
    pub(crate) fn withhold(&mut self) {
        self.public = false;
    }

    /// How many primes of the chain it has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The words, part by part.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Whether it is public.
    #[cfg(test)]
    pub(crate) fn is_public(&self) -> bool {
        self.public
    }

    pub(crate) fn is_extended(&self) -> bool {
        self.extended
    }

    fn like(&self, other: &Poly) -> bool {
        self.limbs == other.limbs && self.extended == other.extended
    }
}

impl Ring {
    /// The transforms for these parameters. `None` if a prime has none; [`Parameters::fits`] excludes that.
    ///
    /// From then on the process keeps freed memory of up to some 8 MiB a block, if its allocator is glibc's.
    #[must_use]
    pub fn new(parameters: Parameters) -> Option<Ring> {
        keep_freed_memory();
        let n = parameters.dimension();
        let primes = parameters.chain().iter().chain(&parameters.special()).copied().collect::<Vec<_>>();
        let transforms: Vec<Ntt> = primes.iter().map(|q| Ntt::new(*q, n)).collect::<Option<_>>()?;
        let plain = Ntt::new(parameters.plain(), n)?;
        let p = parameters.plain();
        let quotient = |of: &Ntt| {
            let q = of.modulus();
            let others = transforms.iter().map(|other| {
                let m = other.modulus();
                let inverse = m.invert(m.reduce(q.get()));
                [inverse, m.mul(inverse, m.reduce(p))]
            });
            Quotient {
                lift: q.neg(q.invert(q.reduce(p))),
                others: others.collect(),
                plain: plain.modulus().invert(plain.modulus().reduce(q.get())),
            }
        };
        let quotients = transforms.iter().map(quotient).collect();
        let digits = parameters.digits().into_iter().map(|limbs| digits::Digit::new(limbs, &transforms));
        let digits = digits.collect::<Option<_>>()?;
        Some(Ring { parameters, transforms, plain, quotients, digits })
    }

    /// The parameters of the ring.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The dimension N.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.parameters.dimension()
    }

    /// The plaintext modulus.
    #[must_use]
    pub fn plain(&self) -> Modulus {
        self.plain.modulus()
    }

    /// The transform modulo p, whose values are the slots.
    pub(crate) fn slots(&self) -> &Ntt {
        &self.plain
    }

    /// The prime with this number in the chain; after the chain comes the special prime.
    #[must_use]
    pub fn modulus(&self, limb: usize) -> Modulus {
        self.transforms[limb].modulus()
    }

    /// The polynomial zero over the first `limbs` primes, and over the special one if it is `extended`.
    #[must_use]
    pub fn zero(&self, limbs: usize, extended: bool) -> Poly {
        let parts = limbs + usize::from(extended);
        Poly { words: WipedVec::zeros(parts * self.dimension()), limbs, extended, public: false }
    }

    /// The number of the transform that a part of a polynomial belongs to.
    fn index(&self, poly: &Poly, part: usize) -> usize {
        if part < poly.limbs { part } else { self.transforms.len() - 1 }
    }

    /// The modulus of each part.
    pub(crate) fn moduli(&self, poly: &Poly) -> Vec<Modulus> {
        let parts = poly.limbs + usize::from(poly.extended);
        (0..parts).map(|part| self.transforms[self.index(poly, part)].modulus()).collect()
    }

    /// Calls `f` for each part of a polynomial, with its transform, its words, and their position among all
    /// words.
    fn each(&self, x: &mut Poly, mut f: impl FnMut(&Ntt, &mut [u64], usize)) {
        let (n, limbs, last) = (self.dimension(), x.limbs, self.transforms.len() - 1);
        for (part, words) in x.words.chunks_exact_mut(n).enumerate() {
            f(&self.transforms[if part < limbs { part } else { last }], words, part * n);
        }
    }

    /// The polynomial with these coefficients, which are smaller than every prime: secrets and errors.
    #[must_use]
    pub fn small(&self, coefficients: &[i64], limbs: usize, extended: bool) -> Poly {
        let mut x = self.zero(limbs, extended);
        self.each(&mut x, |ntt, words, _| {
            residues(ntt.modulus(), SMALL, words, coefficients);
            ntt.forward(words);
        });
        x
    }

    /// p e + m for small coefficients e and those of a plaintext m of absolute value at most p / 2. The sum
    /// is transformed, instead of both summands.
    #[must_use]
    pub(crate) fn noisy(&self, e: &[i64], m: &[i64], limbs: usize) -> Poly {
        let mut x = self.zero(limbs, false);
        self.each(&mut x, |ntt, words, _| self.noisy_part(ntt, e, Some(m), words));
        x
    }

    /// The same modulo one prime; without m it is zero.
    fn noisy_part(&self, ntt: &Ntt, e: &[i64], m: Option<&[i64]>, words: &mut [u64]) {
        let (p, half) = (self.plain().get(), self.plain().get() / 2);
        residues(ntt.modulus(), SMALL, words, e);
        ntt.modulus().scale(words, p);
        if let Some(m) = m {
            let mut plain = WipedVec::zeros(words.len());
            residues(ntt.modulus(), half, &mut plain, m);
            ntt.modulus().add_assign(words, &plain);
        }
        ntt.forward(words);
    }

    /// The polynomial with these coefficients of absolute value at most p / 2.
    #[must_use]
    pub fn plaintext(&self, coefficients: &[i64], limbs: usize) -> Poly {
        let half = self.plain().get() / 2;
        let mut x = self.zero(limbs, false);
        self.each(&mut x, |ntt, words, _| {
            residues(ntt.modulus(), half, words, coefficients);
            ntt.forward(words);
        });
        x
    }

    /// The polynomial with these wide coefficients: floods.
    #[must_use]
    pub fn wide(&self, coefficients: &[i128], limbs: usize) -> Poly {
        let mut x = self.wide_coefficients(coefficients, limbs);
        self.each(&mut x, |ntt, words, _| ntt.forward(words));
        x
    }

    /// The same, given by its coefficients.
    #[must_use]
    pub(crate) fn wide_coefficients(&self, coefficients: &[i128], limbs: usize) -> Poly {
        let (long, mut term) = (Long::of(coefficients), WipedVec::zeros(self.dimension()));
        let mut x = self.zero(limbs, false);
        self.each(&mut x, |ntt, words, _| long.residues(ntt.modulus(), words, &mut term));
        x
    }

    /// p e - m, given by its coefficients, for wide numbers e, floods, and the coefficients of a plaintext m
    /// of absolute value at most p / 2, where p e may be too long for 128 bits: the sum is computed modulo
    /// each prime.
    #[must_use]
    pub(crate) fn wide_noisy(&self, e: &[i128], m: &[i64], limbs: usize) -> Poly {
        let (p, half) = (self.plain().get(), self.plain().get() / 2);
        let (long, mut plain) = (Long::of(e), WipedVec::zeros(self.dimension()));
        let mut x = self.zero(limbs, false);
        self.each(&mut x, |ntt, words, _| {
            long.residues(ntt.modulus(), words, &mut plain);
            ntt.modulus().scale(words, p);
            residues(ntt.modulus(), half, &mut plain, m);
            ntt.modulus().sub_assign(words, &plain);
        });
        x
    }

    /// Calls `f` with the number and the value of each coefficient of a polynomial that is given by
    /// coefficients modulo at most two primes: the value is centred modulo their product. In constant time.
    pub(crate) fn joined(&self, x: &Poly, mut f: impl FnMut(usize, i128)) {
        let (n, mut radices) = (self.dimension(), Vec::with_capacity(x.limbs));
        let mut product = 1_u128;
        for limb in 0..x.limbs {
            let m = self.modulus(limb);
            radices.push((m, product, m.invert(m.reduce_wide(product))));
            product = product.wrapping_mul(u128::from(m.get()));
        }
        for i in 0..n {
            // the value in the mixed radix of the primes
            let mut value = 0_u128;
            for ((m, radix, inverse), part) in radices.iter().zip(x.words.chunks_exact(n)) {
                let digit = m.mul(m.sub(part[i], m.reduce_wide(value)), *inverse);
                value = value.wrapping_add(radix.wrapping_mul(u128::from(digit)));
            }
            let over = ((product / 2).wrapping_sub(value) as i128) >> 127;
            f(i, value as i128 - (product as i128 & over));
        }
    }

    /// Converts values to coefficients.
    pub fn to_coefficients(&self, x: &mut Poly) {
        self.each(x, |ntt, words, _| ntt.inverse(words));
    }

    /// Adds y to x.
    ///
    /// # Panics
    /// If x and y are over different primes. So do `sub` and `mul`.
    pub fn add(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().add_assign(words, &y.words[at..at + words.len()]));
    }

    /// Subtracts y from x.
    pub fn sub(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().sub_assign(words, &y.words[at..at + words.len()]));
    }

    /// Multiplies x by y.
    pub fn mul(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().mul_assign(words, &y.words[at..at + words.len()]));
    }

    /// Adds x y to `sum`; x and y may have more primes than `sum`.
    pub fn add_product(&self, sum: &mut Poly, x: &Poly, y: &Poly) {
        assert!(x.limbs >= sum.limbs && y.limbs >= sum.limbs, "factors over too few primes");
        assert!(!sum.extended || x.extended && y.extended, "factors without the special prime");
        let n = self.dimension();
        let (limbs, x_end, y_end) = (sum.limbs, x.limbs * n, y.limbs * n);
        self.each(sum, |ntt, words, at| {
            let chain = at < limbs * n;
            let (x_at, y_at) = if chain { (at, at) } else { (x_end, y_end) };
            ntt.modulus().add_product(words, &x.words[x_at..x_at + n], &y.words[y_at..y_at + n]);
        });
    }

    /// Negates x.
    pub fn neg(&self, x: &mut Poly) {
        self.each(x, |ntt, words, _| ntt.modulus().neg_assign(words));
    }

    /// Multiplies x by a public number.
    pub fn scale(&self, x: &mut Poly, c: u64) {
        self.each(x, |ntt, words, _| ntt.modulus().scale(words, c));
    }

    /// The same polynomial over fewer primes.
    pub(crate) fn cut(&self, x: &Poly, limbs: usize) -> Poly {
        let (n, mut out) = (self.dimension(), self.zero(limbs, x.extended));
        let (chain, special) = out.words.split_at_mut(limbs * n);
        chain.copy_from_slice(&x.words[..limbs * n]);
        special.copy_from_slice(&x.words[x.limbs * n..]);
        out
    }

    /// 1/q mod p for a prime q of the chain: the factor by which a plaintext is multiplied when q is dropped.
    #[must_use]
    pub fn quotient(&self, limb: usize) -> u64 {
        self.quotients[limb].plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy, and a polynomial that is withheld, are wiped: what is added to them may be secret.
    #[test]
    fn only_public_polynomials_are_not_wiped() {
        let mut x = Poly { words: WipedVec::from(&[7; 8][..]), limbs: 1, extended: false, public: false };
        assert!(!x.is_public() && x.unwiped().is_none());
        x.publish();
        assert!(x.is_public() && x.clone().unwiped().is_none());
        x.withhold();
        assert!(!x.is_public() && x.unwiped().is_none());
        x.publish();
        assert_eq!(x.unwiped().as_deref(), Some(&[7; 8][..]));
    }
}
