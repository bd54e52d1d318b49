//! How hard the lattices are: the primal attack on ring learning with errors, in four cost models.
//!
//! The secret is uniformly ternary. An instance (a, a s + e) of N coordinates, of which the attack uses m, is
//! a unique shortest vector (e, s, 1) in a lattice of d = m + N + 1 dimensions, in which the coordinates of s
//! are scaled to the size of those of e. BKZ with blocks of b dimensions finds it if its projection to the
//! last b dimensions is shorter than the vector that BKZ has there (Alkim, Ducas, Poeppelmann, Schwabe:
//! "Post-quantum key exchange, a new hope", section 6.3; Albrecht, Goepfert, Virdia, Wunderer, ASIACRYPT
//! 2017):
//!
//! ```text
//! sqrt(b) sigma <= delta^(2b - d - 1) (q^m (sigma / sigma_s)^N sigma)^(1/d)
//! delta = ((pi b)^(1/b) b / (2 pi e))^(1 / (2b - 2))
//! ```
//!
//! The attack takes the smallest such b over all m. Other attacks (dual, hybrid) cost some two bits less in
//! the first model; [`super::security::LIMITS`] take them into account.

use std::f64::consts::{E, PI};

/// The smallest deviation of an error.
const SIGMA: f64 = 3.19;

/// The cost of the primal attack on a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hardness {
    /// The block size b that BKZ needs.
    pub block_size: u32,
    /// The dimension d of the lattice.
    pub dimension: u32,
}

impl Hardness {
    /// The cost models, as the JSON of `divisi params` has them.
    pub const MODELS: &'static str = "primal attack, BKZ with blocks of b in d dimensions: classical 2^(0.292 b + 16.4) 8d (Becker, Ducas, Gama, Laarhoven 2016), quantum 2^(0.265 b + 16.4) 8d (Laarhoven, Mosca, van de Pol 2014); core-SVP 2^(0.292 b), quantum 2^(0.265 b)";

    /// The hardness of a ring of `n` dimensions with a whole modulus of `log2_q` bits, with a ternary secret
    /// and errors of deviation 3.19. `None` if `n` is 0 or so small that no model is meant for it.
    #[must_use]
    pub fn of(n: usize, log2_q: f64) -> Option<Hardness> {
        const LEAST: u32 = 50;
        let n = u32::try_from(n).ok().filter(|n| *n >= 256)?;
        // a block of the whole lattice surely finds it
        let (mut below, mut enough) = (LEAST, 3 * n);
        while below < enough {
            let middle = below.midpoint(enough);
            match samples(n, log2_q, middle) {
                Some(_) => enough = middle,
                None => below = middle + 1,
            }
        }
        let m = samples(n, log2_q, enough)?;
        Some(Hardness { block_size: enough, dimension: m + n + 1 })
    }

    fn with_calls(&self, exponent: f64) -> f64 {
        exponent * f64::from(self.block_size) + 16.4 + (8.0 * f64::from(self.dimension)).log2()
    }

    /// Bits against a classical computer, in the model of the 2024 guideline: BKZ makes 8 d calls.
    #[must_use]
    pub fn classical_bits(&self) -> f64 {
        self.with_calls(0.292)
    }

    /// The same against a quantum computer.
    #[must_use]
    pub fn quantum_bits(&self) -> f64 {
        self.with_calls(0.265)
    }

    /// Bits in the core-SVP model, which counts a single call and no constant: a cautious lower bound.
    #[must_use]
    pub fn core_svp_bits(&self) -> f64 {
        0.292 * f64::from(self.block_size)
    }

    /// The same against a quantum computer.
    #[must_use]
    pub fn core_svp_quantum_bits(&self) -> f64 {
        0.265 * f64::from(self.block_size)
    }
}

/// The smallest number of samples, in steps of N/256, with which blocks of `b` succeed.
fn samples(n: u32, log2_q: f64, b: u32) -> Option<u32> {
    let (size, b) = (f64::from(n), f64::from(b));
    // coordinates of a uniformly ternary secret have variance 2/3
    let scale = (SIGMA / (2.0f64 / 3.0).sqrt()).log2();
    let delta = ((PI * b).log2() / b + (b / (2.0 * PI * E)).log2()) / (2.0 * (b - 1.0));
    let target = (b.sqrt() * SIGMA).log2();
    (1..=512).map(|step| step * (n / 256)).find(|m| {
        let m = f64::from(*m);
        let d = m + size + 1.0;
        target <= (2.0 * b - d - 1.0) * delta + (m * log2_q + size * scale + SIGMA.log2()) / d
    })
}

#[cfg(test)]
mod tests {
    use super::super::security::LIMITS;
    use super::*;

    /// Block sizes from a program of its own (Python, the same condition written anew).
    #[test]
    fn limits_hold_128_bits_in_the_guideline_s_model_and_94_in_core_svp() {
        let blocks = [341, 334, 330, 325, 322];
        for ((n, log2_q), block) in LIMITS.into_iter().zip(blocks) {
            let hardness = Hardness::of(n, log2_q).unwrap();
            assert_eq!(hardness.block_size, block, "{n}");
            assert!((130.0..132.0).contains(&hardness.classical_bits()), "{n} {hardness:?}");
            assert!((121.0..123.0).contains(&hardness.quantum_bits()), "{n} {hardness:?}");
            assert!((94.0..100.0).contains(&hardness.core_svp_bits()), "{n} {hardness:?}");
            assert!((85.0..91.0).contains(&hardness.core_svp_quantum_bits()), "{n} {hardness:?}");
        }
        assert_eq!(Hardness::of(8192, 139.5).unwrap().block_size, 611);
        assert_eq!(Hardness::of(0, 100.0), None);
    }

    #[test]
    fn a_smaller_modulus_is_harder() {
        let bits = |log2_q| Hardness::of(8192, log2_q).unwrap().classical_bits();
        assert!(bits(100.0) > bits(140.0) && bits(140.0) > bits(214.0));
    }
}
