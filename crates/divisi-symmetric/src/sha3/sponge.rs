//! The sponge (FIPS 202, section 4) with the padding pad10*1 (5.1).

use super::keccak::{STATE_BYTES, keccak_f};
use crate::gates::byte_program;
use divisi_circuit::{Gates, Program};

/// A sponge over Keccak-f\[1600\], given by its rate and by the bits that follow a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sponge {
    rate: usize,
    suffix: u8,
}

impl Sponge {
    /// The sponge of this capacity in bytes. After a message come `bits` bits of `suffix`, the lowest one
    /// first.
    pub(super) const fn new(capacity: usize, suffix: u8, bits: usize) -> Self {
        Sponge { rate: STATE_BYTES - capacity, suffix: suffix | 1 << bits }
    }

    /// The length of a block in bytes.
    #[must_use]
    pub const fn rate(self) -> usize {
        self.rate
    }

    /// The padding after a message of this many bytes: the suffix, 1, zeros, 1.
    #[must_use]
    pub fn padding(self, message_bytes: u64) -> Vec<u8> {
        self.closing(8 * u128::from(message_bytes), &[])
    }

    /// The bytes after a message of this many bits: a public trailer of whole bytes, then the padding, from
    /// the byte on in which the message ends. The message's bits are at the low end of that byte, where the
    /// result is zero.
    #[must_use]
    pub fn closing(self, message_bits: u128, trailer: &[u8]) -> Vec<u8> {
        let within = (message_bits % 8) as u32;
        let filled = (message_bits / 8 % self.rate as u128) as usize;
        // the trailer, the suffix and the first 1, shifted to the end of the message
        let mut closing: Vec<u8> = Vec::with_capacity(trailer.len() + self.rate);
        let mut carried = 0;
        for byte in trailer.iter().chain([&self.suffix]) {
            let shifted = u16::from(*byte) << within;
            closing.push(shifted as u8 | carried);
            carried = (shifted >> 8) as u8;
        }
        if carried != 0 {
            closing.push(carried);
        }
        // the last 1 is another bit than the first 1, and is the last bit of a block
        let takes = closing.last().is_some_and(|last| last & 0x80 != 0);
        let least = filled + closing.len() + usize::from(takes);
        closing.resize(least.next_multiple_of(self.rate) - filled, 0);
        if let Some(last) = closing.last_mut() {
            *last |= 0x80;
        }
        closing
    }

    /// The next state, from a state and a block.
    ///
    /// # Panics
    /// If the length of the state is not [`STATE_BYTES`], or that of the block not [`rate`](Sponge::rate).
    pub fn absorb<G: Gates>(
        self,
        g: &mut G,
        state: &[[G::Bit; 8]],
        block: &[[G::Bit; 8]],
    ) -> Vec<[G::Bit; 8]> {
        assert_eq!(block.len(), self.rate, "a block of the sponge");
        let mut state = state.to_vec();
        for (state, block) in state.as_flattened_mut().iter_mut().zip(block.as_flattened()) {
            *state = g.xor(*state, *block);
        }
        keccak_f(g, &state)
    }

    /// [`absorb`](Sponge::absorb) as a program; the inputs are the state and the block, the output is the
    /// next state. Bytes are in order, the lowest bit of each first.
    #[must_use]
    pub fn step_program(self) -> Program {
        byte_program([STATE_BYTES, self.rate], |g, [state, block]| self.absorb(g, state, block))
    }

    /// The first `bytes` bytes of the output of a state. Each block but the first costs a permutation.
    pub fn squeeze<G: Gates>(self, g: &mut G, state: &[[G::Bit; 8]], bytes: usize) -> Vec<[G::Bit; 8]> {
        let mut state = state.to_vec();
        let mut output = Vec::with_capacity(bytes);
        loop {
            let take = self.rate.min(bytes - output.len());
            output.extend_from_slice(&state[..take]);
            if output.len() == bytes {
                return output;
            }
            state = keccak_f(g, &state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_fills_the_block_and_no_more() {
        let sponge = Sponge::new(64, 0b10, 2);
        assert_eq!((sponge.rate(), sponge.padding(0).len()), (136, 136));
        assert_eq!(sponge.padding(135), [0x86]);
        assert_eq!(sponge.padding(134), [0x06, 0x80]);
        assert_eq!(sponge.padding(2 * 136 - 3), [0x06, 0, 0x80]);
        // if the message ends within a byte: 01 and the first 1 follow it, the last 1 is in this block or the
        // next
        assert_eq!(sponge.closing(8 * 135 + 4, &[]), [0xe0]);
        assert_eq!(sponge.closing(8 * 135 + 5, &[]).len(), 137);
        assert_eq!(sponge.closing(8 * 135 + 5, &[])[..2], [0xc0, 0]);
        assert_eq!(sponge.closing(8 * 135 + 6, &[])[..2], [0x80, 0x01]);
        assert_eq!(sponge.closing(8 * 133 + 3, &[0xff]), [0xf8, 0x37, 0x80]);
        for bits in 0..3000 {
            let closing = sponge.closing(bits, &[1, 2]);
            assert_eq!((bits as usize / 8 + closing.len()) % 136, 0);
        }
    }

    /// What follows a message depends on where in a block it ends, however long it is.
    #[test]
    fn padding_of_long_messages_is_that_of_their_last_blocks() {
        for rate in [72, 104, 136, 144, 168] {
            let sponge = Sponge::new(200 - rate, 0b10, 2);
            assert_eq!(sponge.rate(), rate);
            for bits in [1 << 12, (1 << 16) + 8, (1 << 19) + 16, (1 << 32) + 24, (1 << 64) + 32, 1 << 66] {
                let within = bits % (8 * rate as u128);
                for trailer in [&[][..], &[1, 2]] {
                    assert_eq!(sponge.closing(bits, trailer), sponge.closing(within, trailer), "{bits}");
                }
            }
        }
    }
}
