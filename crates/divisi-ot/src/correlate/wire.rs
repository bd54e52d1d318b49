//! Packs words of any number of bits into bytes, without gaps.

/// Packs words, the first one into the lowest bits.
pub(super) struct Writer<'b> {
    body: &'b mut Vec<u8>,
    waiting: u128,
    bits: u32,
}

impl<'b> Writer<'b> {
    pub(super) fn new(body: &'b mut Vec<u8>) -> Writer<'b> {
        Writer { body, waiting: 0, bits: 0 }
    }

    /// Appends the lowest `bits` (at most 128) of a word, whose other bits are zero.
    #[inline]
    pub(super) fn push(&mut self, word: u128, bits: u32) {
        self.push_half(word as u64, bits.min(64));
        if bits > 64 {
            self.push_half((word >> 64) as u64, bits - 64);
        }
    }

    #[inline]
    fn push_half(&mut self, word: u64, bits: u32) {
        self.waiting |= u128::from(word) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.body.extend_from_slice(&(self.waiting as u64).to_le_bytes());
            self.waiting >>= 64;
            self.bits -= 64;
        }
    }

    /// Appends the last bytes, padded with zeros.
    pub(super) fn end(self) {
        let bytes = (self.waiting as u64).to_le_bytes();
        self.body.extend_from_slice(&bytes[..self.bits.div_ceil(8) as usize]);
    }
}

/// Unpacks words.
pub(super) struct Reader<'b> {
    body: &'b [u8],
    waiting: u128,
    bits: u32,
}

impl<'b> Reader<'b> {
    pub(super) fn new(body: &'b [u8]) -> Reader<'b> {
        Reader { body, waiting: 0, bits: 0 }
    }

    /// The next word of `bits` bits (at most 128); zeros after the end of the body.
    #[inline]
    pub(super) fn pull(&mut self, bits: u32) -> u128 {
        let low = u128::from(self.pull_half(bits.min(64)));
        if bits > 64 { low | u128::from(self.pull_half(bits - 64)) << 64 } else { low }
    }

    #[inline]
    fn pull_half(&mut self, bits: u32) -> u64 {
        if self.bits < bits {
            let (now, rest) = self.body.split_at(self.body.len().min(8));
            let mut word = [0; 8];
            word[..now.len()].copy_from_slice(now);
            self.waiting |= u128::from(u64::from_le_bytes(word)) << self.bits;
            self.bits += 64;
            self.body = rest;
        }
        let word = (self.waiting & ((1 << bits) - 1)) as u64;
        self.waiting >>= bits;
        self.bits -= bits;
        word
    }

    /// Whether only zero bits of the last byte remain.
    pub(super) fn ends(&self) -> bool {
        self.waiting == 0 && self.body.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for widths in [vec![1; 77], vec![32, 1, 128, 64, 63, 65, 7, 127], vec![128; 5], vec![33; 40]] {
            let words: Vec<u128> = widths
                .iter()
                .enumerate()
                .map(|(i, bits)| (i as u128 + 3).wrapping_mul(u128::MAX / 7) >> (128 - bits))
                .collect();
            let mut body = Vec::new();
            let mut writer = Writer::new(&mut body);
            words.iter().zip(&widths).for_each(|(word, bits)| writer.push(*word, *bits));
            writer.end();
            assert_eq!(body.len(), widths.iter().sum::<u32>().div_ceil(8) as usize);
            let mut reader = Reader::new(&body);
            assert!(words.iter().zip(&widths).all(|(word, bits)| reader.pull(*bits) == *word));
            assert!(reader.ends());
        }
    }

    #[test]
    fn what_fills_the_last_byte_is_zero() {
        let mut reader = Reader::new(&[0b1000_0101]);
        assert_eq!(reader.pull(3), 0b101);
        assert!(!reader.ends());
        let mut reader = Reader::new(&[0b101]);
        reader.pull(3);
        assert!(reader.ends());
    }
}
