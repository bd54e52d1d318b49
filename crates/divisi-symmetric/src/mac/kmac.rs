//! KMAC and KMACXOF (SP 800-185, section 4) over gates.

use crate::gates::public_bytes;
use crate::sha3::{Xof, left_encode, right_encode};
use divisi_circuit::Gates;

/// A KMAC: a security strength and a public customization string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kmac {
    xof: Xof,
}

/// The length of a tag, and whether the tag depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum OutputLength {
    /// KMAC with tags of this many bytes: tags of different lengths are unrelated.
    Fixed(usize),
    /// The same in bits: the last byte has its bits at the low end.
    Bits(usize),
    /// KMACXOF with tags of this many bytes: a shorter tag is the beginning of a longer one.
    Xof(usize),
}

impl OutputLength {
    /// How many bytes a tag has.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            OutputLength::Fixed(bytes) | OutputLength::Xof(bytes) => bytes,
            OutputLength::Bits(bits) => bits.div_ceil(8),
        }
    }
}

impl Kmac {
    /// KMAC128.
    #[must_use]
    pub fn kmac128(customization: &[u8]) -> Self {
        Kmac { xof: Xof::cshake128(b"KMAC", customization) }
    }

    /// KMAC256.
    #[must_use]
    pub fn kmac256(customization: &[u8]) -> Self {
        Kmac { xof: Xof::cshake256(b"KMAC", customization) }
    }

    /// The extendable-output function that it uses.
    #[must_use]
    pub fn xof(&self) -> &Xof {
        &self.xof
    }

    /// The public bytes before and after a key of this many bytes, which complete its blocks: the encoding of
    /// its length, and zeros.
    #[must_use]
    pub fn around_key(&self, key_bytes: usize) -> (Vec<u8>, Vec<u8>) {
        self.around_key_of_bits(8 * key_bytes as u64)
    }

    /// The same for a key of this many bits, whose last byte may be partial.
    #[must_use]
    pub fn around_key_of_bits(&self, key_bits: u64) -> (Vec<u8>, Vec<u8>) {
        let rate = self.xof.sponge().rate();
        let mut before = left_encode(rate as u64);
        before.extend(left_encode(key_bits));
        let filled = (before.len() + key_bits.div_ceil(8) as usize) % rate;
        (before, vec![0; (rate - filled) % rate])
    }

    /// The state of the sponge after a key. Tags depend on the key only through it. Cost: a permutation for
    /// each block; a key of up to 163 bytes (131 for KMAC256) takes one.
    pub fn key_state<G: Gates>(&self, g: &mut G, key: &[[G::Bit; 8]]) -> Vec<[G::Bit; 8]> {
        let sponge = self.xof.sponge();
        let (before, after) = self.around_key(key.len());
        let blocks = [public_bytes(g, &before).as_slice(), key, &public_bytes(g, &after)].concat();
        let state = public_bytes(g, &self.xof.initial());
        blocks.chunks_exact(sponge.rate()).fold(state, |state, block| sponge.absorb(g, &state, block))
    }

    /// The public bytes between a message and the padding.
    #[must_use]
    pub fn trailer(output: OutputLength) -> Vec<u8> {
        right_encode(match output {
            OutputLength::Fixed(bytes) => 8 * bytes as u64,
            OutputLength::Bits(bits) => bits as u64,
            OutputLength::Xof(_) => 0,
        })
    }

    /// The tag of a message, from the state of its key.
    ///
    /// # Panics
    /// If the state is not 200 bytes long.
    pub fn tag<G: Gates>(
        &self,
        g: &mut G,
        state: &[[G::Bit; 8]],
        message: &[[G::Bit; 8]],
        output: OutputLength,
    ) -> Vec<[G::Bit; 8]> {
        let mut message = message.to_vec();
        message.extend(public_bytes(g, &Kmac::trailer(output)));
        let state = self.xof.absorb(g, state, &message);
        self.xof.sponge().squeeze(g, &state, output.bytes())
    }
}
