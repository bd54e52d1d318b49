//! Random changes of known inputs.

/// SplitMix64: a fast generator with the same output on every platform.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number below `end`; 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// An input of the corpus after a few changes, at most `longest` bytes long; sometimes random bytes
    /// instead.
    pub fn mutation(&mut self, corpus: &[Vec<u8>], longest: usize) -> Vec<u8> {
        let at = self.below(corpus.len() + 1);
        let mut bytes = match corpus.get(at) {
            Some(known) => known.clone(),
            None => (0..self.below(64)).map(|_| self.next() as u8).collect(),
        };
        for _ in 0..1 + self.below(4) {
            self.change(&mut bytes, corpus);
        }
        bytes.truncate(longest);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let length = 1 + self.below(16);
        let end = (at + length).min(bytes.len());
        match self.below(9) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n', b' '][self.below(9)];
                }
            }
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            5 => {
                let piece: Vec<u8> = (0..length).map(|_| self.next() as u8).collect();
                drop(bytes.splice(at..at, piece));
            }
            // numbers at the ends of what fits, in bytes and as text
            6 => {
                let number = [0, 1, u64::MAX, 1 << 31, (1 << 32) - 1, 1 << 63][self.below(6)];
                let width = [2, 4, 8][self.below(3)];
                let end = (at + width).min(bytes.len());
                drop(bytes.splice(at..end, number.to_le_bytes()[..width].to_vec()));
            }
            7 => {
                let number = ["0", "-1", "18446744073709551616", "4294967295", "1e9", "\"\"", "null", "[]"];
                drop(bytes.splice(at..end, number[self.below(8)].bytes()));
            }
            _ => {
                let other = self.below(corpus.len());
                if let Some(other) = corpus.get(other) {
                    let from = self.below(other.len() + 1);
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
            }
        }
    }
}
