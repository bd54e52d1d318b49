//! Products of packed bytes, 16 in a register: PMUL multiplies polynomials of eight bits.

use core::arch::aarch64::*;

/// `x[i] = x[i] * y[i]`.
#[target_feature(enable = "neon,aes")]
pub(super) fn mul_slices(x: &mut [u8], y: &[u8]) {
    let (x_blocks, x_rest) = x.as_chunks_mut::<16>();
    let (y_blocks, y_rest) = y.as_chunks::<16>();
    for (x, y) in x_blocks.iter_mut().zip(y_blocks) {
        mul_block(x, y);
    }
    let (mut x, mut y) = ([0; 16], [0; 16]);
    x[..x_rest.len()].copy_from_slice(x_rest);
    y[..y_rest.len()].copy_from_slice(y_rest);
    mul_block(&mut x, &y);
    x_rest.copy_from_slice(&x[..x_rest.len()]);
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn mul_block(x: &mut [u8; 16], y: &[u8; 16]) {
    // SAFETY: both references cover 16 bytes.
    let (a, b) = unsafe { (vld1q_p8(x.as_ptr()), vld1q_p8(y.as_ptr())) };
    let first = vreinterpretq_u8_p16(vmull_p8(vget_low_p8(a), vget_low_p8(b)));
    let second = vreinterpretq_u8_p16(vmull_high_p8(a, b));
    let (low, high) = (vuzp1q_u8(first, second), vuzp2q_u8(first, second));
    // Because X^8 = X^4 + X^3 + X + 1, the high byte, of degree below 7, times this polynomial is added to
    // the low byte. The bits of the product of degree 8 and more are X^8 times a polynomial of degree below
    // 3, and are added in the same way.
    let high = veorq_u8(high, veorq_u8(vshrq_n_u8::<4>(high), vshrq_n_u8::<5>(high)));
    let down = vreinterpretq_u8_p8(vmulq_p8(vreinterpretq_p8_u8(high), vdupq_n_p8(0x1b)));
    // SAFETY: the reference covers 16 bytes.
    unsafe { vst1q_u8(x.as_mut_ptr(), veorq_u8(low, down)) }
}
