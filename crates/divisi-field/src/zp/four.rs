//! Four doubles in registers, with the same function names on each architecture.
//!
//! These functions may be called only where the processor is known to have the instructions; the compiler
//! checks this.

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::*;

/// 2^52: added to an integer from 0 to 2^52 it puts the integer into the low bits of the double.
const MAGIC: f64 = (1_u64 << 52) as f64;

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! AVX2 with FMA: one register.

    use core::arch::x86_64::*;

    use super::MAGIC;

    pub(crate) type Four = __m256d;

    /// x in all places.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn splat(x: f64) -> Four {
        _mm256_set1_pd(x)
    }

    /// Each of two numbers twice.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn twice(x: &[f64; 2]) -> Four {
        _mm256_setr_pd(x[0], x[0], x[1], x[1])
    }

    /// x + y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn add(x: Four, y: Four) -> Four {
        _mm256_add_pd(x, y)
    }

    /// x - y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn sub(x: Four, y: Four) -> Four {
        _mm256_sub_pd(x, y)
    }

    /// x y, rounded.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn mul(x: Four, y: Four) -> Four {
        _mm256_mul_pd(x, y)
    }

    /// x y - z, rounded once.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn mul_sub(x: Four, y: Four, z: Four) -> Four {
        _mm256_fmsub_pd(x, y, z)
    }

    /// z - x y, rounded once.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn sub_mul(z: Four, x: Four, y: Four) -> Four {
        _mm256_fnmadd_pd(x, y, z)
    }

    /// The nearest integer; of two equally near ones the even one.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn round(x: Four) -> Four {
        _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x)
    }

    /// y where x is below zero, else zero.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn if_negative(x: Four, y: Four) -> Four {
        _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd()), y)
    }

    /// The first half of x, then that of y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn lows(x: Four, y: Four) -> Four {
        _mm256_permute2f128_pd::<0x20>(x, y)
    }

    /// The second half of x, then that of y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn highs(x: Four, y: Four) -> Four {
        _mm256_permute2f128_pd::<0x31>(x, y)
    }

    /// In each half the first of x, then the first of y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn evens(x: Four, y: Four) -> Four {
        _mm256_unpacklo_pd(x, y)
    }

    /// In each half the second of x, then the second of y.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn odds(x: Four, y: Four) -> Four {
        _mm256_unpackhi_pd(x, y)
    }

    /// Four words below 2^52 as doubles.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn load_words(x: &[u64; 4]) -> Four {
        let magic = splat(MAGIC);
        // SAFETY: the reference covers 32 bytes.
        let words = unsafe { _mm256_loadu_si256(x.as_ptr().cast()) };
        sub(_mm256_castsi256_pd(_mm256_or_si256(words, _mm256_castpd_si256(magic))), magic)
    }

    /// Stores doubles that are integers from 0 to 2^52 as words.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn store_words(x: Four, place: &mut [u64; 4]) {
        let magic = splat(MAGIC);
        let words = _mm256_xor_si256(_mm256_castpd_si256(add(x, magic)), _mm256_castpd_si256(magic));
        // SAFETY: the reference covers 32 bytes.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), words) };
    }

    /// Doubles.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn doubles(x: &[f64; 4]) -> Four {
        // SAFETY: the reference covers 32 bytes.
        unsafe { _mm256_loadu_pd(x.as_ptr()) }
    }

    /// Doubles that are stored in words.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn load(x: &[u64; 4]) -> Four {
        // SAFETY: the reference covers 32 bytes, and whatever they are is a double.
        unsafe { _mm256_loadu_pd(x.as_ptr().cast()) }
    }

    /// Stores doubles in words.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn store(x: Four, place: &mut [u64; 4]) {
        // SAFETY: the reference covers 32 bytes.
        unsafe { _mm256_storeu_pd(place.as_mut_ptr().cast(), x) };
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    //! NEON: two registers.

    use core::arch::aarch64::*;

    use super::MAGIC;

    pub(crate) type Four = [float64x2_t; 2];

    /// x in all places.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn splat(x: f64) -> Four {
        [vdupq_n_f64(x); 2]
    }

    /// Each of two numbers twice.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn twice(x: &[f64; 2]) -> Four {
        [vdupq_n_f64(x[0]), vdupq_n_f64(x[1])]
    }

    /// x + y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn add(x: Four, y: Four) -> Four {
        [vaddq_f64(x[0], y[0]), vaddq_f64(x[1], y[1])]
    }

    /// x - y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn sub(x: Four, y: Four) -> Four {
        [vsubq_f64(x[0], y[0]), vsubq_f64(x[1], y[1])]
    }

    /// x y, rounded.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn mul(x: Four, y: Four) -> Four {
        [vmulq_f64(x[0], y[0]), vmulq_f64(x[1], y[1])]
    }

    /// x y - z, rounded once.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn mul_sub(x: Four, y: Four, z: Four) -> Four {
        [vfmaq_f64(vnegq_f64(z[0]), x[0], y[0]), vfmaq_f64(vnegq_f64(z[1]), x[1], y[1])]
    }

    /// z - x y, rounded once.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn sub_mul(z: Four, x: Four, y: Four) -> Four {
        [vfmsq_f64(z[0], x[0], y[0]), vfmsq_f64(z[1], x[1], y[1])]
    }

    /// The nearest integer; of two equally near ones the even one.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn round(x: Four) -> Four {
        [vrndnq_f64(x[0]), vrndnq_f64(x[1])]
    }

    /// The first half of x, then that of y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn lows(x: Four, y: Four) -> Four {
        [x[0], y[0]]
    }

    /// The second half of x, then that of y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn highs(x: Four, y: Four) -> Four {
        [x[1], y[1]]
    }

    /// In each half the first of x, then the first of y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn evens(x: Four, y: Four) -> Four {
        [vzip1q_f64(x[0], y[0]), vzip1q_f64(x[1], y[1])]
    }

    /// In each half the second of x, then the second of y.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn odds(x: Four, y: Four) -> Four {
        [vzip2q_f64(x[0], y[0]), vzip2q_f64(x[1], y[1])]
    }

    /// y where x is below zero, else zero.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn if_negative(x: Four, y: Four) -> Four {
        let chosen = |x, y| vreinterpretq_f64_u64(vandq_u64(vcltzq_f64(x), vreinterpretq_u64_f64(y)));
        [chosen(x[0], y[0]), chosen(x[1], y[1])]
    }

    /// Four words below 2^52 as doubles.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn load_words(x: &[u64; 4]) -> Four {
        let magic = vdupq_n_f64(MAGIC);
        // SAFETY: the reference covers four words.
        let words = unsafe { [vld1q_u64(x.as_ptr()), vld1q_u64(x.as_ptr().add(2))] };
        let double = |x| vsubq_f64(vreinterpretq_f64_u64(vorrq_u64(x, vreinterpretq_u64_f64(magic))), magic);
        [double(words[0]), double(words[1])]
    }

    /// Stores doubles that are integers from 0 to 2^52 as words.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn store_words(x: Four, place: &mut [u64; 4]) {
        let magic = vdupq_n_f64(MAGIC);
        let word = |x| veorq_u64(vreinterpretq_u64_f64(vaddq_f64(x, magic)), vreinterpretq_u64_f64(magic));
        // SAFETY: the reference covers four words.
        unsafe {
            vst1q_u64(place.as_mut_ptr(), word(x[0]));
            vst1q_u64(place.as_mut_ptr().add(2), word(x[1]));
        }
    }

    /// Doubles.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn doubles(x: &[f64; 4]) -> Four {
        // SAFETY: the reference covers four doubles.
        unsafe { [vld1q_f64(x.as_ptr()), vld1q_f64(x.as_ptr().add(2))] }
    }

    /// Doubles that are stored in words.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn load(x: &[u64; 4]) -> Four {
        // SAFETY: the reference covers 32 bytes, and whatever they are is a double.
        unsafe { [vld1q_f64(x.as_ptr().cast()), vld1q_f64(x.as_ptr().add(2).cast())] }
    }

    /// Stores doubles in words.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn store(x: Four, place: &mut [u64; 4]) {
        // SAFETY: the reference covers 32 bytes.
        unsafe {
            vst1q_f64(place.as_mut_ptr().cast(), x[0]);
            vst1q_f64(place.as_mut_ptr().add(2).cast(), x[1]);
        }
    }
}
