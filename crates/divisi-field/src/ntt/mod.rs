//! Negacyclic number-theoretic transforms. They map polynomials modulo X^N + 1 over Z_q, with q = 1 mod 2N,
//! to their values at the odd powers of a 2N-th root of one, where products are element by element.
//!
//! Slot i has the value at psi^(2 brv(i) + 1). brv reverses the log2 N bits of a number, and psi is the root
//! that [`Ntt::new`] finds, the same for all parties. Coefficients and values are below q. The butterflies
//! are Harvey's (2014) with Shoup's products: values grow to a few q and are reduced at the end. Constant
//! time.

use crate::zp::{Modulus, ZpArithmetic};
use std::sync::OnceLock;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod double;
// compiled on every processor: the code is generic, and tests run it with a model of its registers
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod ifma;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod wide;

/// The smallest number of coefficients for vector code.
const LEAST: usize = 16;
/// The largest number of coefficients.
const MOST: usize = 1 << 17;

/// The transforms of one length over one prime.
pub struct Ntt {
    modulus: Modulus,
    n: usize,
    /// A root of X^N + 1.
    root: u64,
    /// 1 / N.
    scale: u64,
    portable: OnceLock<[Factors; 2]>,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    double: OnceLock<[Vec<f64>; 2]>,
    #[cfg(target_arch = "x86_64")]
    ifma: OnceLock<[Factors; 2]>,
}

/// Powers of the root or of its inverse, in the order in which they are used, each with Shoup's quotient.
pub(crate) struct Factors {
    factor: Vec<u64>,
    quotient: Vec<u64>,
}

impl Ntt {
    /// The transforms of `n` coefficients, a power of two from 16 to 2^17, over a prime q = 1 mod 2n below
    /// 2^62. `None` for other parameters.
    #[must_use]
    pub fn new(q: u64, n: usize) -> Option<Ntt> {
        let modulus = Modulus::new(q)?;
        let fits = n.is_power_of_two() && (LEAST..=MOST).contains(&n) && (q - 1).is_multiple_of(2 * n as u64);
        if !fits || !crate::zp::prime::is_prime(q) {
            return None;
        }
        let root = (2..q)
            .map(|g| modulus.pow(g, (q - 1) / (2 * n as u64)))
            .find(|x| modulus.pow(*x, n as u64) == q - 1)?;
        Some(Ntt {
            modulus,
            n,
            root,
            scale: modulus.invert(n as u64 % q),
            portable: OnceLock::new(),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            double: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            ifma: OnceLock::new(),
        })
    }

    /// The prime.
    #[must_use]
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// How many coefficients there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Always false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Transforms coefficients to values.
    ///
    /// # Panics
    /// If there are not N of them.
    pub fn forward(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.n, "a polynomial of another length");
        match ZpArithmetic::of(self.modulus) {
            ZpArithmetic::Portable => portable::forward(self.modulus, &self.portable()[0], x),
            ZpArithmetic::Wide => wide::forward(self.modulus, &self.portable()[0], x),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: `ZpArithmetic::of` has seen the instructions on this processor.
            ZpArithmetic::Double => unsafe { double::forward(self.modulus, &self.double()[0], x) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `ZpArithmetic::of` has seen AVX-512 with IFMA on this processor.
            ZpArithmetic::Ifma => unsafe { ifma::x86::forward(self.modulus, &self.ifma()[0], x) },
        }
    }

    /// Transforms values to coefficients.
    ///
    /// # Panics
    /// If there are not N of them.
    pub fn inverse(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.n, "a polynomial of another length");
        match ZpArithmetic::of(self.modulus) {
            ZpArithmetic::Portable => portable::inverse(self.modulus, &self.portable()[1], self.scale, x),
            ZpArithmetic::Wide => wide::inverse(self.modulus, &self.portable()[1], self.scale, x),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: as in `forward`.
            ZpArithmetic::Double => unsafe {
                double::inverse(self.modulus, &self.double()[1], self.scale, x)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `forward`.
            ZpArithmetic::Ifma => unsafe { ifma::x86::inverse(self.modulus, &self.ifma()[1], self.scale, x) },
        }
    }

    /// root^(brv(i)) for all i.
    fn powers(&self, root: u64) -> Vec<u64> {
        let shift = usize::BITS - self.n.trailing_zeros();
        let mut powers = vec![0; self.n];
        let mut power = 1;
        for i in 0..self.n {
            powers[i.reverse_bits() >> shift] = power;
            power = self.modulus.mul(power, root);
        }
        powers
    }

    /// The factors of both directions, with quotients of `bits` bits.
    fn factors(&self, bits: u32) -> [Factors; 2] {
        [self.root, self.modulus.invert(self.root)].map(|root| {
            let factor = self.powers(root);
            let quotient = factor.iter().map(|w| shoup(*w, self.modulus.get(), bits)).collect();
            Factors { factor, quotient }
        })
    }

    fn portable(&self) -> &[Factors; 2] {
        self.portable.get_or_init(|| self.factors(64))
    }

    #[cfg(target_arch = "x86_64")]
    fn ifma(&self) -> &[Factors; 2] {
        self.ifma.get_or_init(|| self.factors(52))
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn double(&self) -> &[Vec<f64>; 2] {
        let centred = |root| self.powers(root).into_iter().map(|w| self.modulus.centred(w) as f64).collect();
        self.double.get_or_init(|| [self.root, self.modulus.invert(self.root)].map(centred))
    }
}

/// Shoup's quotient floor(2^bits w / q) of a factor.
fn shoup(w: u64, q: u64, bits: u32) -> u64 {
    ((u128::from(w) << bits) / u128::from(q)) as u64
}
