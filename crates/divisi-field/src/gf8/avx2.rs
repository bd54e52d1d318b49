//! Products of packed bytes, 32 in a register.

use core::arch::x86_64::*;

/// `x[i] = x[i] * y[i]`.
#[target_feature(enable = "avx2")]
pub(super) fn mul_slices(x: &mut [u8], y: &[u8]) {
    let (x_blocks, x_rest) = x.as_chunks_mut::<32>();
    let (y_blocks, y_rest) = y.as_chunks::<32>();
    for (x, y) in x_blocks.iter_mut().zip(y_blocks) {
        mul_block(x, y);
    }
    let (mut x, mut y) = ([0; 32], [0; 32]);
    x[..x_rest.len()].copy_from_slice(x_rest);
    y[..y_rest.len()].copy_from_slice(y_rest);
    mul_block(&mut x, &y);
    x_rest.copy_from_slice(&x[..x_rest.len()]);
}

#[inline]
#[target_feature(enable = "avx2")]
fn mul_block(x: &mut [u8; 32], y: &[u8; 32]) {
    // SAFETY: both references cover 32 bytes.
    let (factor, mut y) =
        unsafe { (_mm256_loadu_si256(x.as_ptr().cast()), _mm256_loadu_si256(y.as_ptr().cast())) };
    let modulus = _mm256_set1_epi8(0x1b);
    let zero = _mm256_setzero_si256();
    // Horner's rule from the highest bit of y; the comparison with zero copies a byte's highest bit to all
    // its bits.
    let mut sum = zero;
    for _ in 0..8 {
        let carry = _mm256_and_si256(_mm256_cmpgt_epi8(zero, sum), modulus);
        sum = _mm256_xor_si256(_mm256_add_epi8(sum, sum), carry);
        sum = _mm256_xor_si256(sum, _mm256_and_si256(_mm256_cmpgt_epi8(zero, y), factor));
        y = _mm256_add_epi8(y, y);
    }
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_storeu_si256(x.as_mut_ptr().cast(), sum) }
}
