//! Products of 52 bits, eight at a time: with AVX-512 and IFMA, or with a model of these registers for tests.
//!
//! All computations are generic over [`Wide`], so that tests run them on any processor. Only the
//! implementation of its operations, one line each, needs the instructions.

use super::Modulus;

/// Eight words of 64 bits, with IFMA's operations on their low 52 bits.
pub(crate) trait Wide: Copy {
    fn splat(x: u64) -> Self;
    fn load(x: &[u64; 8]) -> Self;
    fn store(self, place: &mut [u64; 8]);
    fn add(self, y: Self) -> Self;
    fn sub(self, y: Self) -> Self;
    fn min(self, y: Self) -> Self;
    /// The low 52 bits.
    fn cut(self) -> Self;
    /// self + the low 52 bits of the product of the low 52 bits.
    fn low(self, x: Self, y: Self) -> Self;
    /// self + the high 52 bits of the product of the low 52 bits.
    fn high(self, x: Self, y: Self) -> Self;
    /// Shifts all words left.
    fn shift(self, by: u32) -> Self;
    /// Word i of the result is word `order[i]` of both registers together; those of `self` come first.
    fn pick(self, other: Self, order: &[u64; 8]) -> Self;
}

/// A modulus, in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<W> {
    pub(crate) q: W,
    pub(crate) twice: W,
    /// 2^52 - q: modulo 2^52, to add a product by it is to subtract the product by q.
    minus: W,
    mu: W,
    zero: W,
    up: u32,
}

impl<W: Wide> Lanes<W> {
    #[inline(always)]
    pub(crate) fn new(m: Modulus) -> Self {
        let (q, twice) = (W::splat(m.get()), W::splat(2 * m.get()));
        let minus = W::splat((1 << 52) - m.get());
        Lanes { q, twice, minus, mu: W::splat(m.mu52()), zero: W::splat(0), up: 52 - m.bits() }
    }

    /// x w modulo q, below 2q, for x below 2^52 and a known factor w with floor(2^52 w / q) (Shoup).
    #[inline(always)]
    pub(crate) fn times(self, x: W, w: W, shoup: W) -> W {
        self.less(self.low(x, w), self.quotient(x, shoup))
    }

    /// The quotient of x w by q, or one less, given Shoup's quotient of the factor w.
    #[inline(always)]
    pub(crate) fn quotient(self, x: W, shoup: W) -> W {
        self.zero.high(x, shoup)
    }

    /// The low 52 bits of a product.
    #[inline(always)]
    pub(crate) fn low(self, x: W, w: W) -> W {
        self.zero.low(x, w)
    }

    /// x - quotient q modulo 2^52.
    #[inline(always)]
    pub(crate) fn less(self, x: W, quotient: W) -> W {
        x.low(quotient, self.minus).cut()
    }

    /// Reduces x below 4q to below 2q.
    #[inline(always)]
    pub(crate) fn halve(self, x: W) -> W {
        x.min(x.sub(self.twice))
    }

    /// Reduces x below 2q to below q.
    #[inline(always)]
    pub(crate) fn once(self, x: W) -> W {
        x.min(x.sub(self.q))
    }

    /// x y for elements, by Barrett's method: the quotient floor(x y / 2^(bits - 1)) floor(2^(bits + 51) / q)
    /// / 2^52 is too small by less than 2.5.
    #[inline(always)]
    fn mul(self, x: W, y: W) -> W {
        let high = self.zero.high(x.shift(self.up), y.shift(1));
        let quotient = self.zero.high(high, self.mu);
        self.once(self.halve(self.zero.low(x, y).low(quotient, self.minus).cut()))
    }
}

#[inline(always)]
fn mul_assign_over<W: Wide>(m: Modulus, x: &mut [u64], y: &[u64]) {
    let lanes = Lanes::<W>::new(m);
    let (x, x_rest) = x.as_chunks_mut::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (x, y) in x.iter_mut().zip(y) {
        lanes.mul(W::load(x), W::load(y)).store(x);
    }
    super::portable::mul_assign(m, x_rest, y_rest);
}

#[inline(always)]
fn add_product_over<W: Wide>(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    let lanes = Lanes::<W>::new(m);
    let (sum, sum_rest) = sum.as_chunks_mut::<8>();
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
        lanes.once(W::load(sum).add(lanes.mul(W::load(x), W::load(y)))).store(sum);
    }
    super::portable::add_product(m, sum_rest, x_rest, y_rest);
}

#[inline(always)]
fn sum_of_products_over<W: Wide>(m: Modulus, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
    let lanes = Lanes::<W>::new(m);
    let (x, x_rest) = x.as_chunks_mut::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let (z, z_rest) = z.as_chunks::<8>();
    let (w, w_rest) = w.as_chunks::<8>();
    for ((x, y), (z, w)) in x.iter_mut().zip(y).zip(z.iter().zip(w)) {
        let first = lanes.mul(W::load(x), W::load(y));
        lanes.once(first.add(lanes.mul(W::load(z), W::load(w)))).store(x);
    }
    super::portable::sum_of_products(m, x_rest, y_rest, z_rest, w_rest);
}

#[inline(always)]
fn scaled_sum_over<W: Wide>(m: Modulus, x: &mut [u64], c: u64, y: &[u64], d: u64) {
    let lanes = Lanes::<W>::new(m);
    let ((of_x, shoup_x), (of_y, shoup_y)) = (known::<W>(m, c), known::<W>(m, d));
    let (x, x_rest) = x.as_chunks_mut::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (x, y) in x.iter_mut().zip(y) {
        let first = lanes.times(W::load(x), of_x, shoup_x);
        // below 4q, then below 2q
        let all = lanes.halve(first.add(lanes.times(W::load(y), of_y, shoup_y)));
        lanes.once(all).store(x);
    }
    super::portable::scaled_sum(m, x_rest, c, y_rest, d);
}

/// A known factor with floor(2^52 c / q), as [`Lanes::times`] takes it.
#[inline(always)]
fn known<W: Wide>(m: Modulus, c: u64) -> (W, W) {
    (W::splat(c), W::splat(((u128::from(c) << 52) / u128::from(m.get())) as u64))
}

#[inline(always)]
fn scale_over<W: Wide>(m: Modulus, x: &mut [u64], c: u64) {
    let lanes = Lanes::<W>::new(m);
    let (factor, shoup) = known::<W>(m, c);
    let (x, x_rest) = x.as_chunks_mut::<8>();
    for x in x {
        lanes.once(lanes.times(W::load(x), factor, shoup)).store(x);
    }
    super::portable::scale(m, x_rest, c);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    //! The registers. A value of [`Zmm`] exists only inside functions that
    //! [`ZpArithmetic::Ifma`](crate::zp::ZpArithmetic) calls, which has checked that the processor has the
    //! instructions.

    use super::{Modulus, Wide};
    use core::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Zmm(__m512i);

    impl Wide for Zmm {
        #[inline(always)]
        fn splat(x: u64) -> Self {
            // SAFETY: only functions with AVX-512 and IFMA instantiate this type; likewise below.
            Zmm(unsafe { _mm512_set1_epi64(x as i64) })
        }
        #[inline(always)]
        fn load(x: &[u64; 8]) -> Self {
            // SAFETY: as in `splat`; the reference covers 64 bytes.
            Zmm(unsafe { _mm512_loadu_si512(x.as_ptr().cast()) })
        }
        #[inline(always)]
        fn store(self, place: &mut [u64; 8]) {
            // SAFETY: as in `load`.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), self.0) };
        }
        #[inline(always)]
        fn add(self, y: Self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_add_epi64(self.0, y.0) })
        }
        #[inline(always)]
        fn sub(self, y: Self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_sub_epi64(self.0, y.0) })
        }
        #[inline(always)]
        fn min(self, y: Self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_min_epu64(self.0, y.0) })
        }
        #[inline(always)]
        fn cut(self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_and_si512(self.0, _mm512_set1_epi64((1 << 52) - 1)) })
        }
        #[inline(always)]
        fn low(self, x: Self, y: Self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_madd52lo_epu64(self.0, x.0, y.0) })
        }
        #[inline(always)]
        fn high(self, x: Self, y: Self) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_madd52hi_epu64(self.0, x.0, y.0) })
        }
        #[inline(always)]
        fn shift(self, by: u32) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_sllv_epi64(self.0, _mm512_set1_epi64(i64::from(by))) })
        }
        #[inline(always)]
        fn pick(self, other: Self, order: &[u64; 8]) -> Self {
            // SAFETY: as in `splat`.
            Zmm(unsafe { _mm512_permutex2var_epi64(self.0, Zmm::load(order).0, other.0) })
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn mul_assign(m: Modulus, x: &mut [u64], y: &[u64]) {
        super::mul_assign_over::<Zmm>(m, x, y);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add_product(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
        super::add_product_over::<Zmm>(m, sum, x, y);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sum_of_products(m: Modulus, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
        super::sum_of_products_over::<Zmm>(m, x, y, z, w);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn scaled_sum(m: Modulus, x: &mut [u64], c: u64, y: &[u64], d: u64) {
        super::scaled_sum_over::<Zmm>(m, x, c, y, d);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn scale(m: Modulus, x: &mut [u64], c: u64) {
        super::scale_over::<Zmm>(m, x, c);
    }
}

/// A model of these registers, as the processor manual describes them, for processors without IFMA.
#[cfg(test)]
pub(crate) mod model {
    use super::{Modulus, Wide};
    use core::array::from_fn;

    #[derive(Clone, Copy)]
    pub(crate) struct Model([u64; 8]);

    const LOW: u64 = (1 << 52) - 1;

    fn product(x: u64, y: u64) -> u128 {
        u128::from(x & LOW) * u128::from(y & LOW)
    }

    impl Wide for Model {
        fn splat(x: u64) -> Self {
            Model([x; 8])
        }
        fn load(x: &[u64; 8]) -> Self {
            Model(*x)
        }
        fn store(self, place: &mut [u64; 8]) {
            *place = self.0;
        }
        fn add(self, y: Self) -> Self {
            Model(from_fn(|i| self.0[i].wrapping_add(y.0[i])))
        }
        fn sub(self, y: Self) -> Self {
            Model(from_fn(|i| self.0[i].wrapping_sub(y.0[i])))
        }
        fn min(self, y: Self) -> Self {
            Model(from_fn(|i| self.0[i].min(y.0[i])))
        }
        fn cut(self) -> Self {
            Model(self.0.map(|x| x & LOW))
        }
        fn low(self, x: Self, y: Self) -> Self {
            Model(from_fn(|i| self.0[i].wrapping_add(product(x.0[i], y.0[i]) as u64 & LOW)))
        }
        fn high(self, x: Self, y: Self) -> Self {
            Model(from_fn(|i| self.0[i].wrapping_add((product(x.0[i], y.0[i]) >> 52) as u64)))
        }
        fn shift(self, by: u32) -> Self {
            Model(self.0.map(|x| x << by))
        }
        fn pick(self, other: Self, order: &[u64; 8]) -> Self {
            let of = |i: u64| if i & 8 == 0 { self.0[i as usize & 7] } else { other.0[i as usize & 7] };
            Model(order.map(of))
        }
    }

    pub(crate) fn mul_assign(m: Modulus, x: &mut [u64], y: &[u64]) {
        super::mul_assign_over::<Model>(m, x, y);
    }

    pub(crate) fn add_product(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
        super::add_product_over::<Model>(m, sum, x, y);
    }

    pub(crate) fn sum_of_products(m: Modulus, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
        super::sum_of_products_over::<Model>(m, x, y, z, w);
    }

    pub(crate) fn scaled_sum(m: Modulus, x: &mut [u64], c: u64, y: &[u64], d: u64) {
        super::scaled_sum_over::<Model>(m, x, c, y, d);
    }

    pub(crate) fn scale(m: Modulus, x: &mut [u64], c: u64) {
        super::scale_over::<Model>(m, x, c);
    }
}
