//! The extendable-output functions: SHAKE (FIPS 202, 6.2) and cSHAKE (SP 800-185, section 3).

use super::encode::{bytepad, encode_string};
use super::keccak::STATE_BYTES;
use super::sponge::Sponge;
use crate::gates::{in_the_clear, public_bytes};
use divisi_circuit::Gates;

/// A function whose output may have any length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Xof {
    sponge: Sponge,
    /// Whole public blocks, which come before the message.
    prefix: Vec<u8>,
}

impl Xof {
    /// SHAKE128.
    #[must_use]
    pub const fn shake128() -> Self {
        Xof::shake(128)
    }

    /// SHAKE256.
    #[must_use]
    pub const fn shake256() -> Self {
        Xof::shake(256)
    }

    /// cSHAKE128 with the name `n` of a function and a customization string.
    #[must_use]
    pub fn cshake128(n: &[u8], customization: &[u8]) -> Self {
        Xof::cshake(128, n, customization)
    }

    /// cSHAKE256 with the name `n` of a function and a customization string.
    #[must_use]
    pub fn cshake256(n: &[u8], customization: &[u8]) -> Self {
        Xof::cshake(256, n, customization)
    }

    const fn shake(security: usize) -> Self {
        Xof { sponge: Sponge::new(2 * security / 8, 0b1111, 4), prefix: Vec::new() }
    }

    fn cshake(security: usize, n: &[u8], customization: &[u8]) -> Self {
        if n.is_empty() && customization.is_empty() {
            return Xof::shake(security);
        }
        let sponge = Sponge::new(2 * security / 8, 0b00, 2);
        let strings = [encode_string(n), encode_string(customization)].concat();
        Xof { sponge, prefix: bytepad(&strings, sponge.rate()) }
    }

    /// Its sponge.
    #[must_use]
    pub const fn sponge(&self) -> Sponge {
        self.sponge
    }

    /// The state before the message, which is public.
    #[must_use]
    pub fn initial(&self) -> Vec<u8> {
        in_the_clear(&self.prefix, |g, prefix| {
            let zero = public_bytes(g, &[0; STATE_BYTES]);
            prefix
                .chunks_exact(self.sponge.rate())
                .fold(zero, |state, block| self.sponge.absorb(g, &state, block))
        })
    }

    /// The first bytes of the output for a message.
    pub fn output<G: Gates>(&self, g: &mut G, message: &[[G::Bit; 8]], bytes: usize) -> Vec<[G::Bit; 8]> {
        let state = public_bytes(g, &self.initial());
        let state = self.absorb(g, &state, message);
        self.sponge.squeeze(g, &state, bytes)
    }

    /// The state after the rest of a message and its padding, from a state after whole blocks.
    pub fn absorb<G: Gates>(
        &self,
        g: &mut G,
        state: &[[G::Bit; 8]],
        message: &[[G::Bit; 8]],
    ) -> Vec<[G::Bit; 8]> {
        let mut message = message.to_vec();
        message.extend(public_bytes(g, &self.sponge.padding(message.len() as u64)));
        let blocks = message.chunks_exact(self.sponge.rate());
        blocks.fold(state.to_vec(), |state, block| self.sponge.absorb(g, &state, block))
    }
}
