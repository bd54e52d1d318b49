//! The sponge (FIPS 202, section 4) with the padding pad10*1 (5.1).

use super::keccak::{STATE_BYTES, keccak_f};
use crate::gates::byte_program;
use divisi_circuit::{Gates, Program};

/// A sponge over Keccak-f\[1600\]: how much of the state a block changes, and how a message is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sponge {
    rate: usize,
    suffix: u8,
}

impl Sponge {
    /// The sponge of that capacity (fewer bytes than the state) that closes a message with `bits` bits, the first one
    /// lowest in `suffix`.
    pub(super) const fn new(capacity: usize, suffix: u8, bits: usize) -> Self {
        Sponge { rate: STATE_BYTES - capacity, suffix: suffix | 1 << bits }
    }

    /// The length of a block in bytes.
    #[must_use]
    pub const fn rate(self) -> usize {
        self.rate
    }

    /// What follows a message of that many bytes, to fill the last block: the suffix, 1, zeros, 1.
    #[must_use]
    pub fn padding(self, message_bytes: u64) -> Vec<u8> {
        let filled = (message_bytes % self.rate as u64) as usize;
        let mut padding = vec![0; self.rate - filled];
        padding[0] = self.suffix;
        if let Some(last) = padding.last_mut() {
            *last |= 0x80;
        }
        padding
    }

    /// A state and a block -> the next state.
    ///
    /// # Panics
    /// If the state has another length than [`STATE_BYTES`] or the block than [`rate`](Sponge::rate).
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

    /// [`absorb`](Sponge::absorb) as a program: the state, then the block -> the next state, bytes in order, the lowest bit
    /// of each first.
    #[must_use]
    pub fn step_program(self) -> Program {
        byte_program([STATE_BYTES, self.rate], |g, [state, block]| self.absorb(g, state, block))
    }

    /// The first bytes that the state gives out, as many as are asked for. Each block but the first costs a permutation.
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
    }
}
