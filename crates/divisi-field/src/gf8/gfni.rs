//! Products of packed bytes, 64 in a register: GF2P8MULB multiplies in this field.

use core::arch::x86_64::*;

/// `x[i] = x[i] * y[i]`.
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) fn mul_slices(x: &mut [u8], y: &[u8]) {
    let (x_blocks, x_rest) = x.as_chunks_mut::<64>();
    let (y_blocks, y_rest) = y.as_chunks::<64>();
    for (x, y) in x_blocks.iter_mut().zip(y_blocks) {
        // SAFETY: all three references cover 64 bytes.
        unsafe {
            let product = _mm512_gf2p8mul_epi8(
                _mm512_loadu_si512(x.as_ptr().cast()),
                _mm512_loadu_si512(y.as_ptr().cast()),
            );
            _mm512_storeu_si512(x.as_mut_ptr().cast(), product);
        }
    }
    let mask = (1 << x_rest.len()) - 1;
    // SAFETY: fewer than 64 bytes are left in both (the lengths are equal), and the mask names exactly those.
    unsafe {
        let product = _mm512_gf2p8mul_epi8(
            _mm512_maskz_loadu_epi8(mask, x_rest.as_ptr().cast()),
            _mm512_maskz_loadu_epi8(mask, y_rest.as_ptr().cast()),
        );
        _mm512_mask_storeu_epi8(x_rest.as_mut_ptr().cast(), mask, product);
    }
}
