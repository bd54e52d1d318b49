//! Packs words of any number of bits into bytes, without gaps.
//!
//! Words that have all the same number of bits are packed in groups of 64, which fill whole words of 64 bits:
//! then all shifts are constants. This is done for the widths that are used most.

use divisi_core::wipe::Wipe;
use divisi_field::kernel::vectorize;

/// A word of a payload: an unsigned integer.
pub trait PayloadWord: Wipe {
    /// The lowest 64 bits.
    fn low(self) -> u64;
    /// The bits above these.
    fn high(self) -> u64;
    /// The word of these bits; bits for which there is no room are dropped.
    fn of(low: u64, high: u64) -> Self;
    /// The word if `mask` is all ones, zero if `mask` is zero; without a branch.
    fn and(self, mask: u64) -> Self;
}

impl PayloadWord for u32 {
    #[inline(always)]
    fn low(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn high(self) -> u64 {
        0
    }

    #[inline(always)]
    fn of(low: u64, _: u64) -> u32 {
        low as u32
    }

    #[inline(always)]
    fn and(self, mask: u64) -> u32 {
        self & mask as u32
    }
}

impl PayloadWord for u64 {
    #[inline(always)]
    fn low(self) -> u64 {
        self
    }

    #[inline(always)]
    fn high(self) -> u64 {
        0
    }

    #[inline(always)]
    fn of(low: u64, _: u64) -> u64 {
        low
    }

    #[inline(always)]
    fn and(self, mask: u64) -> u64 {
        self & mask
    }
}

impl PayloadWord for u128 {
    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn high(self) -> u64 {
        (self >> 64) as u64
    }

    #[inline(always)]
    fn of(low: u64, high: u64) -> u128 {
        u128::from(high) << 64 | u128::from(low)
    }

    #[inline(always)]
    fn and(self, mask: u64) -> u128 {
        self & u128::of(mask, mask)
    }
}

/// The number of words of a group: so many that they fill whole words of 64 bits, whatever their width.
const GROUP: usize = 64;

/// The `B` words that a group of words of `B` bits fills. Words are first joined to pairs.
#[inline(always)]
fn join<const B: usize, W: PayloadWord>(words: &[W; GROUP]) -> [u64; B] {
    const { assert!(B <= 32) };
    let mut pairs = [0; GROUP / 2];
    let two = words.as_chunks::<2>().0;
    pairs.iter_mut().zip(two).for_each(|(pair, [x, y])| *pair = x.low() | y.low() << B);
    let mut out = [0; B];
    for (i, pair) in pairs.iter().enumerate() {
        let (at, shift) = (2 * B * i / 64, 2 * B * i % 64);
        out[at] |= pair << shift;
        if shift + 2 * B > 64 {
            out[at + 1] |= pair >> (64 - shift);
        }
    }
    out
}

/// The group of words of `B` bits that [`join`] packed.
#[inline(always)]
fn part<const B: usize, W: PayloadWord>(packed: &[u64; B], words: &mut [W; GROUP]) {
    const { assert!(B <= 32) };
    let mut pairs = [0; GROUP / 2];
    for (i, pair) in pairs.iter_mut().enumerate() {
        let (at, shift) = (2 * B * i / 64, 2 * B * i % 64);
        *pair = packed[at] >> shift;
        if shift + 2 * B > 64 {
            *pair |= packed[at + 1] << (64 - shift);
        }
    }
    let two = words.as_chunks_mut::<2>().0;
    for ([x, y], pair) in two.iter_mut().zip(&pairs) {
        let low = (1 << B) - 1;
        (*x, *y) = (W::of(pair & low, 0), W::of(pair >> B & low, 0));
    }
}

/// Packs words, the first one into the lowest bits.
pub(super) struct Writer<'b> {
    body: &'b mut Vec<u8>,
    waiting: u128,
    bits: u32,
}

impl<'b> Writer<'b> {
    /// A writer that appends to `body`, which gets room for this many bits.
    pub(super) fn new(body: &'b mut Vec<u8>, bits: usize) -> Writer<'b> {
        body.reserve(bits.div_ceil(8) + 8);
        Writer { body, waiting: 0, bits: 0 }
    }

    /// Appends the lowest `bits` bits of each word, whose other bits are zero.
    pub(super) fn push_all<W: PayloadWord>(&mut self, words: &[W], bits: u32) {
        let done = match bits {
            17 if self.bits == 0 => self.push_groups::<17, W>(words),
            32 if self.bits == 0 => self.push_groups::<32, W>(words),
            40 | 48 | 56 if self.bits == 0 => self.push_bytes(words, bits as usize / 8),
            _ => 0,
        };
        words[done..].iter().for_each(|word| self.push(*word, bits));
    }

    /// Appends all whole groups. Returns how many words these are.
    fn push_groups<const B: usize, W: PayloadWord>(&mut self, words: &[W]) -> usize {
        let (groups, _) = words.as_chunks::<GROUP>();
        let from = self.body.len();
        self.body.resize(from + 8 * B * groups.len(), 0);
        let bytes = self.body[from..].as_chunks_mut::<8>().0.as_chunks_mut::<B>().0;
        vectorize(
            #[inline(always)]
            || {
                for (bytes, group) in bytes.iter_mut().zip(groups) {
                    let packed = join::<B, W>(group);
                    bytes.iter_mut().zip(&packed).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
                }
            },
        );
        GROUP * groups.len()
    }

    /// Appends words of this many bytes, at most eight. Each is written with zeros after it, which the next
    /// one overwrites. Returns the number of words.
    fn push_bytes<W: PayloadWord>(&mut self, words: &[W], bytes: usize) -> usize {
        let from = self.body.len();
        self.body.resize(from + bytes * words.len() + 8, 0);
        for (i, word) in words.iter().enumerate() {
            let at = from + bytes * i;
            self.body[at..at + 8].copy_from_slice(&word.low().to_le_bytes());
        }
        self.body.truncate(from + bytes * words.len());
        words.len()
    }

    /// Appends the lowest `bits` (at most 128) of a word, whose other bits are zero.
    #[inline]
    pub(super) fn push<W: PayloadWord>(&mut self, word: W, bits: u32) {
        self.push_half(word.low(), bits.min(64));
        if bits > 64 {
            self.push_half(word.high(), bits - 64);
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

    /// The next words of `bits` bits each (at most 128); zeros after the end of the body.
    pub(super) fn pull_all<W: PayloadWord>(&mut self, bits: u32, words: &mut [W]) {
        let done = match bits {
            17 if self.bits == 0 => self.pull_groups::<17, W>(words),
            32 if self.bits == 0 => self.pull_groups::<32, W>(words),
            40 | 48 | 56 if self.bits == 0 => self.pull_bytes(words, bits as usize / 8),
            _ => 0,
        };
        words[done..].iter_mut().for_each(|word| *word = self.pull(bits));
    }

    /// Reads all whole groups. Returns how many words these are.
    fn pull_groups<const B: usize, W: PayloadWord>(&mut self, words: &mut [W]) -> usize {
        let groups = words.as_chunks_mut::<GROUP>().0;
        let bytes = self.body.as_chunks::<8>().0.as_chunks::<B>().0;
        let count = groups.len().min(bytes.len());
        vectorize(
            #[inline(always)]
            || {
                for (group, bytes) in groups.iter_mut().zip(bytes) {
                    let mut packed = [0; B];
                    packed.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
                    part::<B, W>(&packed, group);
                }
            },
        );
        self.body = &self.body[8 * B * count..];
        GROUP * count
    }

    /// Reads words of this many bytes, as long as at least eight bytes remain. Returns how many words these
    /// are.
    fn pull_bytes<W: PayloadWord>(&mut self, words: &mut [W], bytes: usize) -> usize {
        let low = u64::MAX >> (64 - 8 * bytes);
        let count = words.len().min((self.body.len() + bytes).saturating_sub(8) / bytes);
        for (i, word) in words[..count].iter_mut().enumerate() {
            let eight = self.body[bytes * i..].first_chunk().copied().unwrap_or_default();
            *word = W::of(u64::from_le_bytes(eight) & low, 0);
        }
        self.body = &self.body[bytes * count..];
        count
    }

    /// The next word of `bits` bits (at most 128); zeros after the end of the body.
    #[inline]
    pub(super) fn pull<W: PayloadWord>(&mut self, bits: u32) -> W {
        let low = self.pull_half(bits.min(64));
        let high = if bits > 64 { self.pull_half(bits - 64) } else { 0 };
        W::of(low, high)
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
    use divisi_field::kernel::{available, with};

    #[test]
    fn words_come_back() {
        for widths in [vec![1; 77], vec![32, 1, 128, 64, 63, 65, 7, 127], vec![128; 5], vec![33; 40]] {
            let words: Vec<u128> = widths
                .iter()
                .enumerate()
                .map(|(i, bits)| (i as u128 + 3).wrapping_mul(u128::MAX / 7) >> (128 - bits))
                .collect();
            let mut body = Vec::new();
            let mut writer = Writer::new(&mut body, 0);
            words.iter().zip(&widths).for_each(|(word, bits)| writer.push(*word, *bits));
            writer.end();
            assert_eq!(body.len(), widths.iter().sum::<u32>().div_ceil(8) as usize);
            let mut reader = Reader::new(&body);
            assert!(words.iter().zip(&widths).all(|(word, bits)| reader.pull::<u128>(*bits) == *word));
            assert!(reader.ends());
        }
    }

    /// Groups are packed to the same bytes as single words, with every kernel, also after a word of another
    /// width.
    fn same_as_single<W: PayloadWord + PartialEq>() {
        let counts = [1, 63, 64, 128, 200];
        for (bits, count) in [17_u32, 32, 21, 40, 48, 56].iter().flat_map(|b| counts.map(|c| (*b, c))) {
            let at = |i: u64| (i + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
            let words: Vec<W> = (0..count).map(|i| W::of(at(i), 0)).collect();
            for before in [0, 1, 64] {
                let mut single = Vec::new();
                let mut writer = Writer::new(&mut single, 0);
                writer.push(0_u64, before);
                words.iter().for_each(|word| writer.push(*word, bits));
                writer.end();
                for kernel in available() {
                    let run = || {
                        let mut body = Vec::new();
                        let mut writer = Writer::new(&mut body, 0);
                        writer.push(0_u64, before);
                        writer.push_all(&words, bits);
                        writer.end();
                        assert!(body == single, "{bits} {count} {before}");
                        let mut reader = Reader::new(&body);
                        assert_eq!(reader.pull::<u64>(before), 0);
                        let mut again = vec![W::default(); words.len()];
                        reader.pull_all(bits, &mut again);
                        assert!(again == words && reader.ends());
                        // words that are missing are zero
                        let mut reader = Reader::new(&body[..body.len() / 2]);
                        reader.pull::<u64>(before);
                        reader.pull_all(bits, &mut again);
                        assert!(count == 1 || again.last() == Some(&W::default()) && reader.ends());
                    };
                    with(kernel, run).unwrap();
                }
            }
        }
    }

    #[test]
    fn groups_are_their_words() {
        same_as_single::<u32>();
        same_as_single::<u64>();
        same_as_single::<u128>();
    }

    #[test]
    fn what_fills_the_last_byte_is_zero() {
        let mut reader = Reader::new(&[0b1000_0101]);
        assert_eq!(reader.pull::<u64>(3), 0b101);
        assert!(!reader.ends());
        let mut reader = Reader::new(&[0b101]);
        reader.pull::<u32>(3);
        assert!(reader.ends());
    }
}
