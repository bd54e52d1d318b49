//! A party's global MAC key.

use crate::softspoken::layout::{Key, Layout};
use divisi_core::PartyId;
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

/// Delta_i: a party's one MAC key for a whole session, which no other party may learn. It stays at one
/// address from its creation until it is wiped. Code that computes with it copies it to the stack only, which
/// is wiped, too ([`divisi_core::wipe::stack`]).
///
/// In a set-up for labels its lowest bit is public: one for the first party and zero for all others, so that
/// the sum of all Delta_i has lowest bit one and is not zero. The set-up enforces this bit (docs/garbling.md,
/// 2). In a set-up over a field it is a uniform element of f bits, which are the lowest ones (docs/ot.md).
pub struct Delta(Box<Zeroizing<[u8; 16]>>);

impl Delta {
    /// A party's key for labels. `fill` writes its random bytes directly to their final place.
    #[must_use]
    pub fn drawn(party: PartyId, fill: impl FnOnce(&mut [u8; 16])) -> Delta {
        let mut bytes = Box::new(Zeroizing::new([0; 16]));
        fill(&mut bytes);
        bytes[0] = bytes[0] & !1 | lowest_bit(party) as u8;
        Delta(bytes)
    }

    /// A key of `bits` uniform bits (at most 128); the other bits are zero.
    #[must_use]
    pub fn uniform(bits: u32, fill: impl FnOnce(&mut [u8; 16])) -> Delta {
        let mut bytes = Box::new(Zeroizing::new([0; 16]));
        fill(&mut bytes);
        for (at, byte) in bytes.iter_mut().enumerate() {
            // the mask keeps the bits of this byte that belong to the key
            *byte &= !(0xff_u32 << bits.saturating_sub(8 * at as u32).min(8)) as u8;
        }
        Delta(bytes)
    }

    /// The key itself. The caller must be done with it before the stack is wiped.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u128 {
        u128::from_le_bytes(**self.0)
    }

    /// The key if `bit` is one, else zero; without a branch.
    #[must_use]
    pub fn times(&self, bit: u64) -> u128 {
        self.get() & mask(bit)
    }
}

impl Delta {
    /// Wipes the key, because its session has ended.
    pub(crate) fn erase(&mut self) {
        self.0.zeroize();
    }
}

/// Our keys, which are the same towards each peer.
pub(crate) struct Deltas {
    pub(crate) delta: Delta,
    /// Delta'_i, the key of pads, in a set-up over a field.
    pads: Option<Delta>,
    layout: Layout,
}

impl Deltas {
    fn new(layout: Layout, delta: Delta, pads: Option<Delta>) -> Deltas {
        Deltas { delta, pads, layout }
    }

    /// Keys of a set-up for labels.
    pub(crate) fn labels(k: u32, delta: Delta) -> Deltas {
        Deltas::new(Layout::labels(k), delta, None)
    }

    /// Keys of a set-up over a field.
    pub(crate) fn field(k: u32, f: u32, delta: Delta, pads: Delta) -> Deltas {
        Deltas::new(Layout::field(k, f), delta, Some(pads))
    }

    /// The columns that these keys are for.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Our key towards a peer, of all columns.
    #[inline]
    pub(crate) fn towards(&self, peer: PartyId) -> Key {
        self.layout.key([self.macs(peer), self.pads.as_ref().map_or(0, Delta::get)])
    }

    /// Our Delta_i towards a peer.
    #[inline]
    pub(crate) fn macs(&self, peer: PartyId) -> u128 {
        let _ = peer;
        self.delta.get()
    }

    /// Wipes all keys.
    pub(crate) fn erase(&mut self) {
        self.delta.erase();
        self.pads.iter_mut().for_each(Delta::erase);
    }
}

/// The public lowest bit of a party's Delta.
#[must_use]
pub fn lowest_bit(party: PartyId) -> u128 {
    u128::from(party.index() == 0)
}

/// A word of ones if the lowest bit of `bit` is one, else zero. It is written so that the compiler does not
/// know that there are only two results: it would make a branch of a selection by them.
#[must_use]
pub fn mask(bit: u64) -> u128 {
    u128::from(Choice::from((bit & 1) as u8).unwrap_u8()).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uniform_key_has_as_many_bits_as_its_field() {
        for bits in [1, 8, 12, 40, 42, 48, 72, 127, 128] {
            let delta = Delta::uniform(bits, |bytes| bytes.fill(0xff)).get();
            assert_eq!((delta.count_ones(), delta.trailing_ones()), (bits, bits));
        }
    }
}
