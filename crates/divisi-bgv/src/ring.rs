//! Polynomials modulo X^N + 1 in residues modulo the primes of the chain.

use crate::hidden::Hidden;
use crate::parameters::Parameters;
use divisi_field::kernel::vectorize;
use divisi_field::ntt::Ntt;
use divisi_field::zp::Modulus;

mod digits;

/// The ring of a set of parameters: transforms over all primes, and what divides by each.
pub struct Ring {
    parameters: Parameters,
    /// The chain, and the special prime at its end.
    transforms: Vec<Ntt>,
    plain: Ntt,
    /// How each prime is divided out.
    quotients: Vec<Quotient>,
    /// Of relinearisation.
    digits: Vec<digits::Digit>,
}

/// What divides by one prime q.
struct Quotient {
    /// -1/p mod q.
    lift: u64,
    /// 1/q and p/q modulo each prime.
    others: Vec<[u64; 2]>,
    /// 1/q mod p.
    plain: u64,
}

/// What is smaller than a prime in size, as an element.
#[inline(always)]
fn near(m: Modulus, c: i64) -> u64 {
    (c + (m.get() as i64 & (c >> 63))) as u64
}

/// Numbers of at most `bound` in size as elements: which of two ways is public.
fn residues(m: Modulus, bound: u64, words: &mut [u64], numbers: impl Iterator<Item = i64>) {
    if bound < m.get() {
        vectorize(
            #[inline(always)]
            || words.iter_mut().zip(numbers).for_each(|(word, c)| *word = near(m, c)),
        );
    } else {
        words.iter_mut().zip(numbers).for_each(|(word, c)| *word = m.of_signed(c));
    }
}

/// Elements of another prime, `from`, as elements of this one.
fn reduced(m: Modulus, from: u64, words: &mut [u64], elements: &[u64]) {
    if from <= 2 * m.get() {
        vectorize(
            #[inline(always)]
            || words.iter_mut().zip(elements).for_each(|(word, c)| *word = m.once(*c)),
        );
    } else {
        words.iter_mut().zip(elements).for_each(|(word, c)| *word = m.reduce(*c));
    }
}

/// A polynomial in residues: one part of N words a prime, as values at the roots unless said otherwise. Wiped
/// when dropped.
#[derive(Clone, Debug)]
pub struct Poly {
    words: Hidden<u64>,
    /// How many primes of the chain, from the one that stays longest.
    limbs: usize,
    /// Whether the special prime's part stands at the end.
    extended: bool,
}

impl Poly {
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

    pub(crate) fn is_extended(&self) -> bool {
        self.extended
    }

    fn like(&self, other: &Poly) -> bool {
        self.limbs == other.limbs && self.extended == other.extended
    }
}

impl Ring {
    /// Transforms for these parameters. `None` if a prime has none, which [`Parameters::fits`] excludes.
    #[must_use]
    pub fn new(parameters: Parameters) -> Option<Ring> {
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

    /// What it was made for.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// N.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.parameters.dimension()
    }

    /// The plaintext modulus.
    #[must_use]
    pub fn plain(&self) -> Modulus {
        self.plain.modulus()
    }

    /// The transform whose values are the slots.
    pub(crate) fn slots(&self) -> &Ntt {
        &self.plain
    }

    /// A prime of the chain.
    #[must_use]
    pub fn modulus(&self, limb: usize) -> Modulus {
        self.transforms[limb].modulus()
    }

    /// Zero.
    #[must_use]
    pub fn zero(&self, limbs: usize, extended: bool) -> Poly {
        let parts = limbs + usize::from(extended);
        Poly { words: Hidden::zeros(parts * self.dimension()), limbs, extended }
    }

    /// Which transform a part belongs to.
    fn index(&self, poly: &Poly, part: usize) -> usize {
        if part < poly.limbs { part } else { self.transforms.len() - 1 }
    }

    /// The modulus of each part.
    pub(crate) fn moduli(&self, poly: &Poly) -> Vec<Modulus> {
        let parts = poly.limbs + usize::from(poly.extended);
        (0..parts).map(|part| self.transforms[self.index(poly, part)].modulus()).collect()
    }

    /// Each part of a polynomial with its transform.
    fn each(&self, x: &mut Poly, mut f: impl FnMut(&Ntt, &mut [u64], usize)) {
        let (n, limbs, last) = (self.dimension(), x.limbs, self.transforms.len() - 1);
        for (part, words) in x.words.chunks_exact_mut(n).enumerate() {
            f(&self.transforms[if part < limbs { part } else { last }], words, part * n);
        }
    }

    /// The values of the polynomial with these coefficients, each reduced by `residue`.
    fn values<T: Copy>(
        &self,
        coefficients: &[T],
        limbs: usize,
        extended: bool,
        residue: impl Fn(Modulus, T) -> u64,
    ) -> Poly {
        let mut x = self.zero(limbs, extended);
        self.each(&mut x, |ntt, words, _| {
            words.iter_mut().zip(coefficients).for_each(|(word, c)| *word = residue(ntt.modulus(), *c));
            ntt.forward(words);
        });
        x
    }

    /// Coefficients that are smaller than every prime: secrets and errors.
    #[must_use]
    pub fn small(&self, coefficients: &[i64], limbs: usize, extended: bool) -> Poly {
        self.values(coefficients, limbs, extended, near)
    }

    /// Coefficients of at most half of the plaintext modulus in size.
    #[must_use]
    pub fn plaintext(&self, coefficients: &[i64], limbs: usize) -> Poly {
        let half = self.plain().get() / 2;
        let mut x = self.zero(limbs, false);
        self.each(&mut x, |ntt, words, _| {
            residues(ntt.modulus(), half, words, coefficients.iter().copied());
            ntt.forward(words);
        });
        x
    }

    /// Wide coefficients: floods.
    #[must_use]
    pub fn wide(&self, coefficients: &[i128], limbs: usize) -> Poly {
        self.values(coefficients, limbs, false, Modulus::of_wide)
    }

    /// Values into coefficients.
    pub fn to_coefficients(&self, x: &mut Poly) {
        self.each(x, |ntt, words, _| ntt.inverse(words));
    }

    /// Coefficients into values.
    pub fn to_values(&self, x: &mut Poly) {
        self.each(x, |ntt, words, _| ntt.forward(words));
    }

    /// x + y.
    ///
    /// # Panics
    /// If they have different primes; likewise below.
    pub fn add(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().add_assign(words, &y.words[at..at + words.len()]));
    }

    /// x - y.
    pub fn sub(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().sub_assign(words, &y.words[at..at + words.len()]));
    }

    /// x y.
    pub fn mul(&self, x: &mut Poly, y: &Poly) {
        assert!(x.like(y), "polynomials over different primes");
        self.each(x, |ntt, words, at| ntt.modulus().mul_assign(words, &y.words[at..at + words.len()]));
    }

    /// sum + x y; x and y may go on with more primes.
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

    /// -x.
    pub fn neg(&self, x: &mut Poly) {
        self.each(x, |ntt, words, _| ntt.modulus().neg_assign(words));
    }

    /// c x, of a public number.
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

    /// Divide by the last prime, rounding to a multiple of p: (x + delta) / q, delta = -x mod q and 0 mod p.
    /// What x was modulo p is multiplied by 1/q, unless q divided it before; [`Ring::quotient`] says by what.
    pub fn drop_last(&self, mut x: Poly) -> Poly {
        let n = self.dimension();
        let parts = x.limbs + usize::from(x.extended);
        let index = self.index(&x, parts - 1);
        let (ntt, quotient) = (&self.transforms[index], &self.quotients[index]);
        let q = ntt.modulus();
        let (rest, last) = x.words.split_at_mut((parts - 1) * n);
        ntt.inverse(last);
        q.scale(last, quotient.lift);
        let limbs = if x.extended { x.limbs } else { x.limbs - 1 };
        let mut out = self.zero(limbs, false);
        self.each(&mut out, |ntt, words, at| {
            let m = ntt.modulus();
            let [inverse, scaled] = quotient.others[at / n];
            residues(m, q.get() / 2, words, last.iter().map(|c| q.centred(*c)));
            ntt.forward(words);
            m.scale(words, scaled);
            m.scale(&mut rest[at..at + n], inverse);
            m.add_assign(words, &rest[at..at + n]);
        });
        out
    }

    /// The same of coefficients.
    pub(crate) fn drop_last_of_coefficients(&self, mut x: Poly) -> Poly {
        let n = self.dimension();
        let index = x.limbs - 1;
        let (q, quotient) = (self.transforms[index].modulus(), &self.quotients[index]);
        let (rest, last) = x.words.split_at_mut(index * n);
        q.scale(last, quotient.lift);
        let mut out = self.zero(index, false);
        self.each(&mut out, |ntt, words, at| {
            let m = ntt.modulus();
            let [inverse, scaled] = quotient.others[at / n];
            residues(m, q.get() / 2, words, last.iter().map(|c| q.centred(*c)));
            m.scale(words, scaled);
            m.scale(&mut rest[at..at + n], inverse);
            m.add_assign(words, &rest[at..at + n]);
        });
        out
    }

    /// 1/q mod p of a prime of the chain: by what a plaintext is multiplied when it is dropped.
    #[must_use]
    pub fn quotient(&self, limb: usize) -> u64 {
        self.quotients[limb].plain
    }
}
