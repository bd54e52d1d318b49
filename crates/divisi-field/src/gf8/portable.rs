//! Products of packed bytes, eight in a word.

/// `x[i] = x[i] * y[i]`.
pub(super) fn mul_slices(x: &mut [u8], y: &[u8]) {
    let (x_words, x_rest) = x.as_chunks_mut::<8>();
    let (y_words, y_rest) = y.as_chunks::<8>();
    for (x, y) in x_words.iter_mut().zip(y_words) {
        *x = mul_word(u64::from_le_bytes(*x), u64::from_le_bytes(*y)).to_le_bytes();
    }
    for (x, y) in x_rest.iter_mut().zip(y_rest) {
        *x = mul_word((*x).into(), (*y).into()) as u8;
    }
}

/// Eight products at once.
fn mul_word(x: u64, y: u64) -> u64 {
    const EACH: u64 = u64::MAX / 255;
    let mut power = x;
    let mut sum = 0;
    for i in 0..8 {
        sum ^= power & ((y >> i & EACH) * 0xff);
        let carries = power >> 7 & EACH;
        power = (power & (EACH * 0x7f)) << 1;
        power ^= carries * 0x1b;
    }
    sum
}
