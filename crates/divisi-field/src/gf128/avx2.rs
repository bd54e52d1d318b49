//! GF(2^128) by PCLMULQDQ, one element at a time.

use core::arch::x86_64::*;

use super::Gf128;

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul(x: Gf128, y: Gf128) -> Gf128 {
    element(product(register(x.0), register(y.0)))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn dot(x: &[Gf128], y: &[Gf128]) -> Gf128 {
    let mut sum = Sum::new();
    for (x, y) in x.iter().zip(y) {
        sum.add_product(load(x), load(y));
    }
    element(sum.reduce())
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul_assign(x: &mut [Gf128], y: &[Gf128]) {
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn scale(x: &mut [Gf128], c: Gf128) {
    let factor = register(c.0);
    for x in x {
        store(product(load(x), factor), x);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn fold(x: &[Gf128], r: Gf128, out: &mut [Gf128]) {
    let factor = register(r.0);
    let (pairs, _) = x.as_chunks::<2>();
    for (out, [x0, x1]) in out.iter_mut().zip(pairs) {
        let x0 = load(x0);
        store(_mm_xor_si128(x0, product(_mm_xor_si128(x0, load(x1)), factor)), out);
    }
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn product(x: __m128i, y: __m128i) -> __m128i {
    let mut sum = Sum::new();
    sum.add_product(x, y);
    sum.reduce()
}

/// An unreduced sum of products: low + middle x^64 + high x^128.
pub(crate) struct Sum {
    low: __m128i,
    middle: __m128i,
    high: __m128i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn new() -> Self {
        let zero = _mm_setzero_si128();
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn add_product(&mut self, x: __m128i, y: __m128i) {
        let crossed = _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x01), _mm_clmulepi64_si128(x, y, 0x10));
        self.low = _mm_xor_si128(self.low, _mm_clmulepi64_si128(x, y, 0x00));
        self.middle = _mm_xor_si128(self.middle, crossed);
        self.high = _mm_xor_si128(self.high, _mm_clmulepi64_si128(x, y, 0x11));
    }

    /// Reduces by two products with x^7 + x^2 + x + 1: first the highest word, shifted down by 64, then the
    /// next one.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce(self) -> __m128i {
        let modulus = _mm_set_epi64x(0, 0x87);
        let low = _mm_xor_si128(self.low, _mm_slli_si128(self.middle, 8));
        let high = _mm_xor_si128(self.high, _mm_srli_si128(self.middle, 8));
        let upper = _mm_clmulepi64_si128(high, modulus, 0x01);
        let high = _mm_xor_si128(high, _mm_srli_si128(upper, 8));
        let lower = _mm_clmulepi64_si128(high, modulus, 0x00);
        _mm_xor_si128(_mm_xor_si128(low, lower), _mm_slli_si128(upper, 8))
    }

    /// The low and high 128 bits of the sum, for fields with other moduli.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn halves(self) -> (u128, u128) {
        let low = _mm_xor_si128(self.low, _mm_slli_si128(self.middle, 8));
        let high = _mm_xor_si128(self.high, _mm_srli_si128(self.middle, 8));
        (element(low).0, element(high).0)
    }
}

/// An element in a vector register. It goes through general registers: a load would have to wait for the
/// preceding stores of the same words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn register(x: u128) -> __m128i {
    _mm_set_epi64x((x >> 64) as i64, x as i64)
}

/// The inverse of [`register`].
#[inline]
#[target_feature(enable = "avx2")]
fn element(x: __m128i) -> Gf128 {
    let [low, high] = [_mm_cvtsi128_si64(x), _mm_extract_epi64(x, 1)];
    Gf128(u128::from(high as u64) << 64 | u128::from(low as u64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(x: &Gf128) -> __m128i {
    // SAFETY: the reference covers 128 bits.
    unsafe { _mm_loadu_si128((&raw const *x).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(x: __m128i, place: &mut Gf128) {
    // SAFETY: the reference covers 128 bits.
    unsafe { _mm_storeu_si128((&raw mut *place).cast(), x) }
}
