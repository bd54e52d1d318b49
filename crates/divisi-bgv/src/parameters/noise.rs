//! Bounds on noise. docs/bgv.md derives them with the heuristics H1 to H4.
//!
//! For every ciphertext (c_0, c_1), E = c_0 + s c_1 mod q, centred, is congruent to its plaintext modulo p. A
//! bound is the binary logarithm of a bound on the 2-norm of E / p; the factors here are binary logarithms,
//! too.

use crate::sample::ERROR_VARIANCE;

/// A session fails with probability at most 2 to minus this.
pub const FAILURE_BITS: u32 = 64;
/// log2 of the number of norms, embeddings and coefficients in a session: 2^20 decryptions, each with at most
/// 2^6 steps on at most 2^16 coefficients.
pub const EVENTS_BITS: u32 = 42;

/// log2(2^x + 2^y).
#[must_use]
pub fn plus(x: f64, y: f64) -> f64 {
    let (high, low) = if x > y { (x, y) } else { (y, x) };
    if high == f64::NEG_INFINITY {
        return high;
    }
    high + (1.0 + (low - high).exp2()).log2()
}

/// The numbers on which the bounds depend.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    parties: f64,
    n: f64,
    /// log2 p.
    plain: f64,
    /// log2 sqrt N.
    root: f64,
    /// Minus the natural logarithm of the probability with which one event may fail.
    nats: f64,
}

impl Noise {
    /// The bounds for `parties` key shares in a ring of dimension `n`, over plaintexts modulo `plain`.
    #[must_use]
    pub fn new(parties: usize, n: usize, plain: u64) -> Noise {
        Noise {
            parties: parties as f64,
            n: n as f64,
            plain: (plain as f64).log2(),
            root: (n as f64).log2() / 2.0,
            nats: f64::from(FAILURE_BITS + EVENTS_BITS) * std::f64::consts::LN_2,
        }
    }

    /// log2 p.
    #[must_use]
    pub fn plain(&self) -> f64 {
        self.plain
    }

    /// log2 sqrt N.
    #[must_use]
    pub fn root(&self) -> f64 {
        self.root
    }

    /// log2 of the factor by which the norm of a sum of products of two random polynomials may exceed its
    /// root mean square (H2): a sum of N / 2 products of two exponential variables exceeds 1.25 N / 2 only if
    /// one of them is very large.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let jump = (self.nats / 2.0).powi(2) / (self.n / 2.0);
        (1.25 + jump).log2() / 2.0
    }

    /// log2 of the factor by which an embedding of one random polynomial may exceed its root mean square
    /// (H1).
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.nats.log2() / 2.0
    }

    /// The same factor for a product of two random polynomials (H2).
    #[must_use]
    pub fn peak_of_two(&self) -> f64 {
        (self.nats / 2.0).log2()
    }

    /// The number of parties.
    #[must_use]
    pub fn parties(&self) -> f64 {
        self.parties
    }

    /// log2 of the root mean square of an embedding of the key.
    #[must_use]
    pub fn key_norm(&self) -> f64 {
        self.key().log2() / 2.0
    }

    /// The expected value of |s|^2: each coefficient of each share has variance 2/3.
    fn key(&self) -> f64 {
        2.0 * self.parties * self.n / 3.0
    }

    /// The noise of one error e.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.root + ERROR_VARIANCE.log2() / 2.0 + self.spread()
    }

    /// The noise s e of one error.
    #[must_use]
    pub fn error_times_key(&self) -> f64 {
        self.error() + self.key_norm()
    }

    /// The noise e_pk v + e_0 + s e_1 of an encryption under the public key.
    #[must_use]
    pub fn fresh(&self) -> f64 {
        self.root + (ERROR_VARIANCE * (1.0 + 2.0 * self.key())).log2() / 2.0 + self.spread()
    }

    /// The noise of the sum of one encryption of zero under the public key by each party: their errors are
    /// independent.
    #[must_use]
    pub fn fresh_by_all(&self) -> f64 {
        self.fresh() + self.parties.log2() / 2.0
    }

    /// The noise of the sum of one encryption under the public key by each party, of its share: their errors
    /// are independent, and the sum of their plaintexts wraps around modulo p as that of shares does.
    #[must_use]
    pub fn gathered(&self) -> f64 {
        plus(self.fresh_by_all(), self.root + (self.parties / 2.0).log2())
    }

    /// The noise of the sum of one encryption by each party under its key share; the sum of their plaintexts
    /// wraps around modulo p.
    #[must_use]
    pub fn shared(&self) -> f64 {
        let errors = self.root + (ERROR_VARIANCE * self.parties).log2() / 2.0 + self.spread();
        plus(errors, self.root + (self.parties / 2.0).log2())
    }

    /// The noise of rounding both components to multiples of p: uniform between -p/2 and p/2 (H3).
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.root + ((1.0 + self.key()) / 12.0).log2() / 2.0 + self.spread()
    }

    /// The noise of the roundings of both components by each party.
    #[must_use]
    pub fn rounding_by_all(&self) -> f64 {
        self.rounding() + self.parties.log2() / 2.0
    }

    /// The noise after a modulus switch by 2^`drop`. Rounding errors are independent of the noise that they
    /// are added to. So the squares of the norms add up, except for their scalar product, which is Gaussian
    /// with the deviation that the spread allows (H3).
    #[must_use]
    pub fn switched(&self, noise: f64, drop: f64) -> f64 {
        self.switched_with(self.rounding(), noise, drop)
    }

    /// The same for roundings of this noise.
    #[must_use]
    pub fn switched_with(&self, rounding: f64, noise: f64, drop: f64) -> f64 {
        let squares = plus(2.0 * (noise - drop), 2.0 * rounding) / 2.0;
        let scalar = (2.0 * self.nats / self.n).sqrt() * self.spread().exp2();
        squares + (1.0 + scalar).log2() / 2.0
    }

    /// The noise after a product with an encoded plaintext, whose coefficients are like uniform ones (H4).
    #[must_use]
    pub fn times_plain(&self, noise: f64) -> f64 {
        noise + self.root + self.plain - 12_f64.log2() / 2.0 + self.peak()
    }

    /// The noise of the sum of all parties' products of a ciphertext with polynomials that have one
    /// coefficient for each block of `length` slots, all other coefficients being zero. The coefficients are
    /// centred shares modulo p of a number for each block. No embedding of the sum of n such polynomials of B
    /// coefficients is larger than n B p/2, and hardly one larger than that of n - 1 independent ones (H1)
    /// and the last one.
    #[must_use]
    pub fn times_shares(&self, noise: f64, length: usize) -> f64 {
        let blocks = (self.n / length as f64).max(1.0);
        let independent = (blocks * (self.parties - 1.0) * self.nats / 12.0).sqrt() + blocks / 2.0;
        noise + self.plain + independent.min(self.parties * blocks / 2.0).log2()
    }

    /// The noise after a product of two ciphertexts, in both of which s times a rounding error dominates. A
    /// sum of N / 2 products |s|^4 |x|^2 |y|^2, of mean 2, exceeds 1.25 times its mean only if one product is
    /// very large (H2). That is most probable where half of the exponent is due to s.
    #[must_use]
    pub fn times(&self, x: f64, y: f64) -> f64 {
        let jump = (self.nats / 2.0).powi(2) * (self.nats / 4.0).powi(2) / (self.n / 2.0);
        x + y + self.plain - 2.0 * self.spread() + (2.5 + jump).log2() / 2.0
    }

    /// The noise that relinearisation adds: `limbs` digits below 2^`widest`, divided by the special prime
    /// 2^`special`.
    #[must_use]
    pub fn relinearised(&self, limbs: usize, widest: f64, special: f64) -> f64 {
        // a coefficient of s e_0 + u e_1 + e_2 + e_3
        let errors = (ERROR_VARIANCE * self.parties * 2.0 * (self.key() + 1.0)).log2() / 2.0;
        let digits = (limbs as f64).log2() + self.root + widest - 3_f64.log2() / 2.0;
        plus(digits + self.root + errors + self.peak_of_two() - special, self.rounding())
    }

    /// The noise e_0 + s e_1 of floods with these deviations.
    #[must_use]
    pub fn flooded(&self, first: f64, second: f64) -> f64 {
        self.root + plus(2.0 * first, 2.0 * (second + self.key_norm())) / 2.0 + self.spread()
    }

    /// log2 of a bound on the largest coefficient of a sum of `count` floods, in deviations of one flood.
    /// Floods are bounded and sub-Gaussian.
    #[must_use]
    pub fn tail(&self, count: usize) -> f64 {
        let count = count.max(1) as f64;
        let bounded = (count * 24_f64.sqrt()).log2();
        let gaussian = (count * 2.0 * (self.nats + 1.0)).log2() / 2.0;
        bounded.min(gaussian)
    }
}
