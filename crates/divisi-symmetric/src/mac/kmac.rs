//! KMAC and KMACXOF (SP 800-185, section 4) over gates.

use crate::gates::public_bytes;
use crate::sha3::{Xof, left_encode, right_encode};
use divisi_circuit::Gates;

/// A KMAC: a security strength and a public customization string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kmac {
    xof: Xof,
}

/// The length of a tag in bytes, and whether it is part of what is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputLength {
    /// KMAC: tags of different lengths have nothing in common.
    Fixed(usize),
    /// The same, of so many bits: the last byte has them at its low end.
    Bits(usize),
    /// KMACXOF: shorter tags are the first bytes of longer ones.
    Xof(usize),
}

impl OutputLength {
    /// How many bytes a tag takes.
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

    /// The function below it.
    #[must_use]
    pub fn xof(&self) -> &Xof {
        &self.xof
    }

    /// The public bytes before and after a key of that many bytes, which make whole blocks of it: the
    /// encoding of its length, and zeros.
    #[must_use]
    pub fn around_key(&self, key_bytes: usize) -> (Vec<u8>, Vec<u8>) {
        self.around_key_of_bits(8 * key_bytes as u64)
    }

    /// The same of a key of that many bits, whose last byte is filled up.
    #[must_use]
    pub fn around_key_of_bits(&self, key_bits: u64) -> (Vec<u8>, Vec<u8>) {
        let rate = self.xof.sponge().rate();
        let mut before = left_encode(rate as u64);
        before.extend(left_encode(key_bits));
        let filled = (before.len() + key_bits.div_ceil(8) as usize) % rate;
        (before, vec![0; (rate - filled) % rate])
    }

    /// A key -> the state in which it leaves the sponge: all that tags need of it. A permutation a block; a
    /// key of up to 163 bytes (131 with KMAC256) takes one.
    pub fn key_state<G: Gates>(&self, g: &mut G, key: &[[G::Bit; 8]]) -> Vec<[G::Bit; 8]> {
        let sponge = self.xof.sponge();
        let (before, after) = self.around_key(key.len());
        let blocks = [public_bytes(g, &before).as_slice(), key, &public_bytes(g, &after)].concat();
        let state = public_bytes(g, &self.xof.initial());
        blocks.chunks_exact(sponge.rate()).fold(state, |state, block| sponge.absorb(g, &state, block))
    }

    /// The public bytes that follow a message before the padding.
    #[must_use]
    pub fn trailer(output: OutputLength) -> Vec<u8> {
        right_encode(match output {
            OutputLength::Fixed(bytes) => 8 * bytes as u64,
            OutputLength::Bits(bits) => bits as u64,
            OutputLength::Xof(_) => 0,
        })
    }

    /// The tag of a message under the key of this state.
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
