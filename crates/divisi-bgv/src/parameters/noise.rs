//! Bounds on noise, derived in docs/bgv.md with the heuristics H1 to H4.
//!
//! Every ciphertext (c_0, c_1) has E = c_0 + s c_1 mod q, centred, congruent to its plaintext modulo p. A
//! bound is on the 2-norm of E / p, as its binary logarithm.

use crate::sample::ERROR_VARIANCE;

/// Bits of all failures of a session together.
pub const FAILURE_BITS: u32 = 64;
/// log2 of how many norms, embeddings and coefficients a session has: 2^20 decryptions with at most 2^6 steps
/// each of at most 2^16 coefficients.
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

/// What the bounds depend on.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    parties: f64,
    n: f64,
    /// log2 p.
    plain: f64,
    /// log2 sqrt N.
    root: f64,
    /// Nats of one failure.
    nats: f64,
}

impl Noise {
    /// For `parties` key shares in a ring of dimension `n` over plaintexts modulo `plain`.
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

    /// By how much the norm of a sum of products of two random polynomials may exceed its root mean square
    /// (H2): of N / 2 products of two exponentials the sum exceeds 1.25 N / 2 only by a jump of one of them.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let jump = (self.nats / 2.0).powi(2) / (self.n / 2.0);
        (1.25 + jump).log2() / 2.0
    }

    /// By how much an embedding of one random polynomial may exceed its root mean square (H1).
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.nats.log2() / 2.0
    }

    /// The same of a product of two (H2).
    #[must_use]
    pub fn peak_of_two(&self) -> f64 {
        (self.nats / 2.0).log2()
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> f64 {
        self.parties
    }

    /// log2 of the root mean square of an embedding of the key.
    #[must_use]
    pub fn key_norm(&self) -> f64 {
        self.key().log2() / 2.0
    }

    /// E |s|^2: each coefficient of each share has variance 2/3.
    fn key(&self) -> f64 {
        2.0 * self.parties * self.n / 3.0
    }

    /// One error.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.root + ERROR_VARIANCE.log2() / 2.0 + self.spread()
    }

    /// s e of one error.
    #[must_use]
    pub fn error_times_key(&self) -> f64 {
        self.error() + self.key_norm()
    }

    /// e_pk v + e_0 + s e_1 of an encryption under the public key.
    #[must_use]
    pub fn fresh(&self) -> f64 {
        self.root + (ERROR_VARIANCE * (1.0 + 2.0 * self.key())).log2() / 2.0 + self.spread()
    }

    /// The sum of one encryption by each party under its share, with the wraps of the sum of their
    /// plaintexts.
    #[must_use]
    pub fn shared(&self) -> f64 {
        let errors = self.root + (ERROR_VARIANCE * self.parties).log2() / 2.0 + self.spread();
        plus(errors, self.root + (self.parties / 2.0).log2())
    }

    /// The rounding of both components by multiples of p: uniform between -p/2 and p/2 (H3).
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.root + ((1.0 + self.key()) / 12.0).log2() / 2.0 + self.spread()
    }

    /// After a modulus switch by 2^`drop`. Rounding errors are independent of what they are added to, so that
    /// the squares of the norms add up but for a scalar product that is Gaussian with the deviation that the
    /// spread allows (H3).
    #[must_use]
    pub fn switched(&self, noise: f64, drop: f64) -> f64 {
        let squares = plus(2.0 * (noise - drop), 2.0 * self.rounding()) / 2.0;
        let scalar = (2.0 * self.nats / self.n).sqrt() * self.spread().exp2();
        squares + (1.0 + scalar).log2() / 2.0
    }

    /// After the product with an encoded plaintext, whose coefficients are like uniform ones (H4).
    #[must_use]
    pub fn times_plain(&self, noise: f64) -> f64 {
        noise + self.root + self.plain - 12_f64.log2() / 2.0 + self.peak()
    }

    /// After the product of two ciphertexts, both of them mostly s times a rounding error: sums of N / 2
    /// products |s|^4 |x|^2 |y|^2, of mean 2, exceed 1.25 of that by a jump of one of them (H2), which is
    /// largest where half of the exponent is spent on s.
    #[must_use]
    pub fn times(&self, x: f64, y: f64) -> f64 {
        let jump = (self.nats / 2.0).powi(2) * (self.nats / 4.0).powi(2) / (self.n / 2.0);
        x + y + self.plain - 2.0 * self.spread() + (2.5 + jump).log2() / 2.0
    }

    /// What relinearisation adds: `limbs` digits below 2^`widest`, over the special prime 2^`special`.
    #[must_use]
    pub fn relinearised(&self, limbs: usize, widest: f64, special: f64) -> f64 {
        // of s e_0 + u e_1 + e_2 + e_3, a coefficient
        let errors = (ERROR_VARIANCE * self.parties * 2.0 * (self.key() + 1.0)).log2() / 2.0;
        let digits = (limbs as f64).log2() + self.root + widest - 3_f64.log2() / 2.0;
        plus(digits + self.root + errors + self.peak_of_two() - special, self.rounding())
    }

    /// e_0 + s e_1 of floods of these deviations.
    #[must_use]
    pub fn flooded(&self, first: f64, second: f64) -> f64 {
        self.root + plus(2.0 * first, 2.0 * (second + self.key_norm())) / 2.0 + self.spread()
    }

    /// The largest coefficient of a sum of `count` floods, in deviations of one: they are bounded, and
    /// sub-Gaussian.
    #[must_use]
    pub fn tail(&self, count: usize) -> f64 {
        let count = count.max(1) as f64;
        let bounded = (count * 24_f64.sqrt()).log2();
        let gaussian = (count * 2.0 * (self.nats + 1.0)).log2() / 2.0;
        bounded.min(gaussian)
    }
}
