//! Bits in messages: eight to a byte, the first one in the lowest bit; the last byte is padded with zeros.

/// How many bytes `bits` packed bits take.
pub(crate) fn packed(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Appends bits to `out`, packed; the input has one bit in each byte.
pub(crate) fn pack(bits: &[u8], out: &mut Vec<u8>) {
    let (chunks, rest) = bits.as_chunks::<8>();
    // the multiplication gathers one bit of each of eight bytes in the highest byte
    out.extend(chunks.iter().map(|c| {
        let word = u64::from_le_bytes(*c) & 0x0101_0101_0101_0101;
        (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    }));
    if !rest.is_empty() {
        out.push(rest.iter().enumerate().fold(0, |byte, (i, bit)| byte | (bit & 1) << i));
    }
}

/// Bit `i` of packed bits.
pub(crate) fn bit(packed: &[u8], i: usize) -> u8 {
    packed[i / 8] >> (i % 8) & 1
}

/// The first `len` bits, one in each byte. `None` if the number of bytes is not that of `len` packed bits, or
/// if the padding is not zero.
pub(crate) fn unpack(body: &[u8], len: usize) -> Option<Vec<u8>> {
    if body.len() != packed(len) || !padding_is_zero(body, len) {
        return None;
    }
    let mut bits = Vec::with_capacity(8 * body.len());
    body.iter().for_each(|byte| bits.extend_from_slice(&each(*byte)));
    bits.truncate(len);
    Some(bits)
}

/// The eight bits of a byte, one in each byte, the lowest first.
#[inline]
pub(crate) fn each(byte: u8) -> [u8; 8] {
    // each byte of the product keeps one bit; the addition carries it into the byte's highest bit if it is
    // set
    let kept = u64::from(byte).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (kept.wrapping_add(0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101).to_le_bytes()
}

/// Whether the bits after the first `len` are zero.
pub(crate) fn padding_is_zero(body: &[u8], len: usize) -> bool {
    len.is_multiple_of(8) || body.last().is_none_or(|last| last >> (len % 8) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_of_a_byte() {
        for byte in 0..=255 {
            assert_eq!(each(byte), std::array::from_fn(|i| byte >> i & 1));
        }
    }

    #[test]
    fn what_is_packed_comes_back_and_padding_is_zero() {
        for len in 0..40 {
            let bits: Vec<u8> = (0..len).map(|i| u8::from(i % 3 == 0 || i % 7 == 2)).collect();
            let mut body = Vec::new();
            pack(&bits, &mut body);
            assert_eq!(unpack(&body, len).as_ref(), Some(&bits));
            assert!(bits.iter().enumerate().all(|(i, b)| bit(&body, i) == *b));
            for padding in (len % 8..8).filter(|_| len % 8 != 0) {
                let mut padded = body.clone();
                *padded.last_mut().unwrap() |= 1 << padding;
                assert_eq!(unpack(&padded, len), None);
            }
            body.push(0);
            assert_eq!(unpack(&body, len), None);
        }
    }
}
