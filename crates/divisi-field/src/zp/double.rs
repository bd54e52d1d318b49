//! AVX2 with FMA: integers below 2^53 are exact in doubles, and so is a product as the sum of two of them.
//!
//! Of x y the high part is h = fl(x y) and the low part l = x y - h, exactly. The quotient c = round(h / q)
//! is off by at most |x y| / q * 3 * 2^-53 beyond the rounding, so that h - c q is an integer below 2^53,
//! exact in one fused operation, and r = (h - c q) + l is congruent to x y. With |x| <= X q, |y| <= q / 2 and
//! q < 2^50 its size is at most (0.5 + 0.1875 X) q. None of the numbers is subnormal, infinite or NaN, so
//! that the time does not depend on them.

use core::arch::x86_64::*;

use super::Modulus;

/// 2^52: added to an integer from 0 to 2^52 it leaves the integer in the low bits.
const MAGIC: f64 = (1_u64 << 52) as f64;

/// A modulus in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    q: __m256d,
    inverse: __m256d,
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn new(m: Modulus) -> Self {
        Lanes { q: _mm256_set1_pd(m.get() as f64), inverse: _mm256_set1_pd(1.0 / m.get() as f64) }
    }

    /// x y, centred as the module's header says.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn mul(self, x: __m256d, y: __m256d) -> __m256d {
        let high = _mm256_mul_pd(x, y);
        let low = _mm256_fmsub_pd(x, y, high);
        let quotient = round(_mm256_mul_pd(high, self.inverse));
        _mm256_add_pd(_mm256_fnmadd_pd(quotient, self.q, high), low)
    }

    /// An integer below 2^53 in size, between -q/2 - 1 and q/2 + 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn reduce(self, x: __m256d) -> __m256d {
        _mm256_fnmadd_pd(round(_mm256_mul_pd(x, self.inverse)), self.q, x)
    }

    /// What is above -q and below q, from 0 to q - 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn positive(self, x: __m256d) -> __m256d {
        let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
        _mm256_add_pd(x, _mm256_and_pd(negative, self.q))
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn round(x: __m256d) -> __m256d {
    _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x)
}

/// Four integers below 2^52 as doubles.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn of_words(x: __m256i) -> __m256d {
    let magic = _mm256_set1_pd(MAGIC);
    _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, _mm256_castpd_si256(magic))), magic)
}

/// Four doubles that are integers from 0 to 2^52.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn to_words(x: __m256d) -> __m256i {
    let magic = _mm256_set1_pd(MAGIC);
    _mm256_xor_si256(_mm256_castpd_si256(_mm256_add_pd(x, magic)), _mm256_castpd_si256(magic))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(x: &[u64; 4]) -> __m256d {
    // SAFETY: the reference covers 32 bytes.
    of_words(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(x: __m256d, place: &mut [u64; 4]) {
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), to_words(x)) };
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_assign(m: Modulus, x: &mut [u64], y: &[u64]) {
    let lanes = Lanes::new(m);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        store(lanes.positive(lanes.mul(load(x), load(y))), x);
    }
    super::portable::mul_assign(m, x_rest, y_rest);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn add_product(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    let lanes = Lanes::new(m);
    let (sum, sum_rest) = sum.as_chunks_mut::<4>();
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
        // between -q and 2q, then between -q/2 - 1 and q/2 + 1
        let all = lanes.reduce(_mm256_add_pd(load(sum), lanes.mul(load(x), load(y))));
        store(lanes.positive(all), sum);
    }
    super::portable::add_product(m, sum_rest, x_rest, y_rest);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn scale(m: Modulus, x: &mut [u64], c: u64) {
    let lanes = Lanes::new(m);
    let factor = _mm256_set1_pd(c as f64);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    for x in x {
        store(lanes.positive(lanes.mul(load(x), factor)), x);
    }
    super::portable::scale(m, x_rest, c);
}
