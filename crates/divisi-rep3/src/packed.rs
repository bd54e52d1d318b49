//! Values of a few bits as messages: one after the other without gaps, the padding of the last byte zero.

use divisi_core::{Step, step, taint};
use zeroize::Zeroize;

/// What reading makes public: whether a peer's padding is zero, as that of an honest one is.
const PADDING: Step = step!("padding");

/// The number of bytes of `bits` bits.
pub(crate) fn bytes(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Writes values of up to 64 bits.
#[derive(Default)]
pub(crate) struct Writer {
    out: Vec<u8>,
    held: u128,
    bits: usize,
}

impl Writer {
    /// A writer with room for `bits` bits, because the old memory of a vector that grows is not wiped.
    pub(crate) fn with_capacity(bits: usize) -> Writer {
        Writer { out: Vec::with_capacity(bits.div_ceil(64) * 8), held: 0, bits: 0 }
    }

    /// Append the low `bits` bits of a value, at most 64. Its other bits are zero.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: u64, bits: usize) {
        self.held |= u128::from(value) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.out.extend_from_slice(&(self.held as u64).to_le_bytes());
            self.held >>= 64;
            self.bits -= 64;
        }
    }

    /// What was written.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let last = (self.held as u64).to_le_bytes();
        self.out.extend_from_slice(&last[..bytes(self.bits)]);
        std::mem::take(&mut self.out)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.out.zeroize();
        self.held.zeroize();
    }
}

/// Reads what a [`Writer`] wrote.
pub(crate) struct Reader<'a> {
    from: &'a [u8],
    held: u128,
    bits: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(from: &'a [u8]) -> Reader<'a> {
        Reader { from, held: 0, bits: 0 }
    }

    /// The next value of this many bits, at most 64; zero bits where the message has ended.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: usize) -> u64 {
        if self.bits < bits {
            let (now, later) = self.from.split_at(self.from.len().min(8));
            let mut word = [0; 8];
            word[..now.len()].copy_from_slice(now);
            self.held |= u128::from(u64::from_le_bytes(word)) << self.bits;
            self.bits += 64;
            self.from = later;
        }
        let value = if bits == 64 { self.held as u64 } else { self.held as u64 & ((1 << bits) - 1) };
        self.held >>= bits;
        self.bits -= bits;
        value
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.held.zeroize();
    }
}

/// Whether the bits of a message's last byte beyond `bits` are zero.
pub(crate) fn padding_is_zero(message: &[u8], bits: usize) -> bool {
    let padding = match (message.last(), bits % 8) {
        (Some(last), used @ 1..) => last >> used,
        _ => 0,
    };
    taint::verdict(PADDING, padding == 0)
}

/// Zero the bits of a message's last byte beyond `bits`.
pub(crate) fn clear_padding(message: &mut [u8], bits: usize) {
    if let (Some(last), used @ 1..) = (message.last_mut(), bits % 8) {
        *last &= (1 << used) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_are_as_long_as_their_bits() {
        let widths: Vec<usize> = (0..300).map(|i| (i * 37) % 64 + 1).chain([64, 64, 1, 63, 64]).collect();
        let value = |i: usize, w: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - w);
        let bits: usize = widths.iter().sum();
        let mut writer = Writer::with_capacity(bits);
        widths.iter().enumerate().for_each(|(i, w)| writer.push(value(i, *w), *w));
        let mut message = writer.finish();
        assert_eq!(message.len(), bytes(bits));
        assert!(padding_is_zero(&message, bits));
        let mut reader = Reader::new(&message);
        assert!(widths.iter().enumerate().all(|(i, w)| reader.take(*w) == value(i, *w)));
        drop(reader);
        if !bits.is_multiple_of(8) {
            *message.last_mut().unwrap() |= 0x80;
            assert!(!padding_is_zero(&message, bits));
            clear_padding(&mut message, bits);
            assert!(padding_is_zero(&message, bits));
        }
    }
}
