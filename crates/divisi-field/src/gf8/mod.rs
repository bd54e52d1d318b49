//! GF(2^8) = F2\[X\]/(X^8 + X^4 + X^3 + X + 1), the field of AES (FIPS 197, section 4).
//!
//! Elements have three forms. Single elements are [`Gf8`]. Packed bytes are multiplied by [`mul_slices`]. 512
//! elements are eight planes, with the coefficients of X^i in plane i; the other functions here take planes
//! or, inside a [`Task`](crate::kernel::Task), registers. [`tower`] has the isomorphic field GF((2^4)^2).

use crate::field::operators;
use crate::{Field, Word, gf4, kernel};

pub mod anf;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod gfni;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod reference;
pub mod tower;

/// An element, bit i the coefficient of X^i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf8(pub u8);

impl Gf8 {
    fn product(self, other: Self) -> Self {
        let mut power = self.0;
        let mut sum = 0;
        for i in 0..8 {
            sum ^= power & (other.0 >> i & 1).wrapping_neg();
            power = power << 1 ^ (0x1b & (power >> 7).wrapping_neg());
        }
        Self(sum)
    }
}

operators!(Gf8, Gf8::product);

impl Field for Gf8 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 8;
    const BYTES: usize = 1;
    type Bytes = [u8; 1];

    #[inline(always)]
    fn from_low_bits(bits: u128) -> Self {
        Self(bits as u8)
    }

    #[inline(always)]
    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }

    fn multiply_each(x: &mut [Self], y: &[Self]) {
        let mut scratch = [[0; 256]; 2];
        let [a, b] = &mut scratch;
        for (x, y) in x.chunks_mut(256).zip(y.chunks(256)) {
            let count = x.len().min(y.len());
            a.iter_mut().zip(&*x).for_each(|(to, x)| *to = x.0);
            b.iter_mut().zip(y).for_each(|(to, y)| *to = y.0);
            mul_slices(&mut a[..count], &b[..count]);
            x.iter_mut().zip(&a[..count]).for_each(|(x, a)| x.0 = *a);
        }
        // wipes with the widest stores there are; `zeroize` would write byte by byte
        scratch = [[0; 256]; 2];
        zeroize::optimization_barrier(&scratch);
    }
}

/// `x[i] = x[i] * y[i]` on packed bytes.
///
/// # Panics
/// If the lengths differ.
pub fn mul_slices(x: &mut [u8], y: &[u8]) {
    assert_eq!(x.len(), y.len(), "factors of different lengths");
    match kernel::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        kernel::Kernel::Avx512 => unsafe { gfni::mul_slices(x, y) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        kernel::Kernel::Avx2 => unsafe { avx2::mul_slices(x, y) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        kernel::Kernel::Neon => unsafe { neon::mul_slices(x, y) },
        _ => portable::mul_slices(x, y),
    }
}

/// `out[i] = out[i] + c * x[i]`, for a public c.
///
/// # Panics
/// If the lengths differ.
pub fn add_scaled(out: &mut [Gf8], x: &[Gf8], c: Gf8) {
    assert_eq!(out.len(), x.len(), "summands of different lengths");
    let powers = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| (c * Gf8(1 << i)).0);
    kernel::vectorize(
        #[inline(always)]
        || {
            for (out, x) in out.iter_mut().zip(x) {
                let mut sum = out.0;
                for (i, power) in powers.iter().enumerate() {
                    sum ^= power & (x.0 >> i & 1).wrapping_neg();
                }
                out.0 = sum;
            }
        },
    );
}

/// The sum.
#[inline(always)]
pub fn add<W: Word>(x: &[W; 8], y: &[W; 8]) -> [W; 8] {
    let mut sum = *x;
    for i in 0..8 {
        sum[i] ^= y[i];
    }
    sum
}

/// The product, with 27 ANDs: a third level of Karatsuba's method above GF(2^4).
#[inline(always)]
pub fn mul<W: Word>(x: &[W; 8], y: &[W; 8]) -> [W; 8] {
    let ([x_low, x_high], [y_low, y_high]) = (halves(x), halves(y));
    let low = gf4::polynomial_product(&x_low, &y_low);
    let high = gf4::polynomial_product(&x_high, &y_high);
    let middle = gf4::polynomial_product(&gf4::add(&x_low, &x_high), &gf4::add(&y_low, &y_high));
    let mut c = [W::zero(); 15];
    for i in 0..7 {
        c[i] ^= low[i];
        c[i + 4] ^= middle[i] ^ low[i] ^ high[i];
        c[i + 8] ^= high[i];
    }
    reduce(c)
}

#[inline(always)]
fn halves<W: Word>(x: &[W; 8]) -> [[W; 4]; 2] {
    [[x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]]
}

/// Reduces a polynomial of degree below 15 by X^8 = X^4 + X^3 + X + 1.
#[inline(always)]
fn reduce<W: Word>(mut c: [W; 15]) -> [W; 8] {
    for i in (0..7).rev() {
        let top = c[i + 8];
        c[i] ^= top;
        c[i + 1] ^= top;
        c[i + 3] ^= top;
        c[i + 4] ^= top;
    }
    [c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]
}

/// The square; linear.
#[inline(always)]
pub fn square<W: Word>(x: &[W; 8]) -> [W; 8] {
    let mut c = [W::zero(); 15];
    for i in 0..8 {
        c[2 * i] = x[i];
    }
    reduce(c)
}

/// The product with X.
#[inline(always)]
pub fn times_x<W: Word>(x: &[W; 8]) -> [W; 8] {
    let top = x[7];
    [top, x[0] ^ top, x[1], x[2] ^ top, x[3] ^ top, x[4], x[5], x[6]]
}

/// The product with a public constant.
#[inline(always)]
pub fn scale<W: Word>(x: &[W; 8], c: Gf8) -> [W; 8] {
    let mut sum = [W::zero(); 8];
    let mut power = *x;
    for i in 0..8 {
        if c.0 >> i & 1 == 1 {
            sum = add(&sum, &power);
        }
        power = times_x(&power);
    }
    sum
}

/// The constant of the affine map of SubBytes (FIPS 197, section 5.1.1).
pub const AFFINE_CONSTANT: Gf8 = Gf8(0x63);

/// The constant of the inverse affine map.
pub const INVERSE_AFFINE_CONSTANT: Gf8 = Gf8(0x05);

/// The linear part of the affine map of SubBytes, without [`AFFINE_CONSTANT`].
#[inline(always)]
pub fn affine_linear<W: Word>(x: &[W; 8]) -> [W; 8] {
    let mut y = *x;
    for i in 0..8 {
        y[i] ^= x[(i + 4) % 8] ^ x[(i + 5) % 8] ^ x[(i + 6) % 8] ^ x[(i + 7) % 8];
    }
    y
}

/// The linear part of the inverse affine map, without [`INVERSE_AFFINE_CONSTANT`].
#[inline(always)]
pub fn inverse_affine_linear<W: Word>(x: &[W; 8]) -> [W; 8] {
    let mut y = *x;
    for i in 0..8 {
        y[i] = x[(i + 2) % 8] ^ x[(i + 5) % 8] ^ x[(i + 7) % 8];
    }
    y
}

/// Adds a public constant to all lanes.
#[inline(always)]
pub fn add_constant<W: Word>(x: &[W; 8], c: Gf8) -> [W; 8] {
    let mut sum = *x;
    for (i, sum) in sum.iter_mut().enumerate() {
        *sum ^= W::splat(u64::from(c.0 >> i & 1));
    }
    sum
}

#[cfg(test)]
mod tests;
