//! The embeddings of the small fields into GF(2^64): the constants of MAESTRO (ePrint 2024/1317), Table 2.
//!
//! They are ordinary hexadecimal numbers; bit i is the coefficient of Y^i. (The paper says that they are
//! little-endian, which is wrong. The polynomial that it prints for alpha belongs to a conjugate embedding:
//! with this psi, alpha^4 = alpha^2 + {5} alpha + {2} over GF(2^4).) The tests prove every property on which
//! verification relies.

use super::{Gf64, reduce};
use crate::{Gf4, Gf8};

/// psi(X) for GF(2^4): a root of X^4 + X + 1.
pub const PSI4: Gf64 = Gf64(0xa181_e7d6_6f5f_f794);

/// psi(X) for GF(2^8): a root of X^8 + X^4 + X^3 + X + 1.
pub const PSI8: Gf64 = Gf64(0x033c_e8be_ddc8_a656);

/// alpha: 1, alpha and alpha^2 are linearly independent over the embedded GF(2^4), as Eq. 3 requires.
pub const ALPHA: Gf64 = Gf64(0x14f1_968d_182d_d50f);

/// psi(X^i) for GF(2^4): the weights with which [`weigh`](super::weigh) embeds four planes.
pub const PSI4_POWERS: [Gf64; 4] = powers(PSI4);

/// psi(X^i) for GF(2^8): the weights with which [`weigh`](super::weigh) embeds eight planes.
pub const PSI8_POWERS: [Gf64; 8] = powers(PSI8);

impl From<Gf4> for Gf64 {
    /// The embedding psi.
    fn from(x: Gf4) -> Self {
        combine(x.bits(), &PSI4_POWERS)
    }
}

impl From<Gf8> for Gf64 {
    /// The embedding psi.
    fn from(x: Gf8) -> Self {
        combine(x.0, &PSI8_POWERS)
    }
}

/// The sum of the weights of the bits, in constant time.
fn combine(bits: u8, weights: &[Gf64]) -> Gf64 {
    let chosen = |i: usize| u64::from(bits >> i & 1).wrapping_neg();
    weights.iter().enumerate().map(|(i, weight)| Gf64(weight.0 & chosen(i))).sum()
}

/// 1, root, root^2 and so on, computed by the compiler.
const fn powers<const N: usize>(root: Gf64) -> [Gf64; N] {
    let mut powers = [Gf64(1); N];
    let mut i = 1;
    while i < N {
        let mut wide = 0;
        let mut bit = 0;
        while bit < 64 {
            if root.0 >> bit & 1 == 1 {
                wide ^= (powers[i - 1].0 as u128) << bit;
            }
            bit += 1;
        }
        powers[i] = reduce(wide);
        i += 1;
    }
    powers
}
