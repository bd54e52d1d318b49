//! A party's global MAC key.

use crate::softspoken::layout::{Key, Layout};
use divisi_core::PartyId;
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

/// Delta_i: the one MAC key of a party for a whole session, which no other party may learn. It lies in one
/// place from its birth to its end, where it is wiped; whoever computes with it has it on the stack only,
/// which is wiped too ([`crate::wipe::stack`]).
///
/// Of labels its lowest bit is public: one for the first party and zero for all others, so that the sum of
/// all keys is never zero and has lowest bit one. The construction enforces it (docs/garbling.md): no party
/// can have another one. Of a field it is a uniform element, its f bits the lowest ones (docs/ot.md).
pub struct Delta(Box<Zeroizing<[u8; 16]>>);

impl Delta {
    /// A key of uniform bytes, which `fill` writes where they stay.
    #[must_use]
    pub fn drawn(party: PartyId, fill: impl FnOnce(&mut [u8; 16])) -> Delta {
        let mut bytes = Box::new(Zeroizing::new([0; 16]));
        fill(&mut bytes);
        bytes[0] = bytes[0] & !1 | lowest_bit(party) as u8;
        Delta(bytes)
    }

    /// A key of so many uniform bits, at most 128; the others are zero.
    #[must_use]
    pub fn uniform(bits: u32, fill: impl FnOnce(&mut [u8; 16])) -> Delta {
        let mut bytes = Box::new(Zeroizing::new([0; 16]));
        fill(&mut bytes);
        for (at, byte) in bytes.iter_mut().enumerate() {
            // as many of its bits as there are left
            *byte &= !(0xff_u32 << bits.saturating_sub(8 * at as u32).min(8)) as u8;
        }
        Delta(bytes)
    }

    /// The key itself: for a value that ends before its caller wipes the stack.
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
    /// Forget the key: its session has ended.
    pub(crate) fn erase(&mut self) {
        self.0.zeroize();
    }
}

/// Our keys as they are towards each peer: the same, unless we are the corrupt party of a test.
pub(crate) struct Deltas {
    pub(crate) delta: Delta,
    /// Delta'_i, of a field: the key of pads.
    pads: Option<Delta>,
    layout: Layout,
    /// By party index, what is added to Delta_i.
    #[cfg(feature = "fault")]
    pub(crate) differences: Vec<u128>,
}

impl Deltas {
    fn new(layout: Layout, delta: Delta, pads: Option<Delta>) -> Deltas {
        Deltas {
            delta,
            pads,
            layout,
            #[cfg(feature = "fault")]
            differences: Vec::new(),
        }
    }

    /// Those of labels.
    pub(crate) fn labels(k: u32, delta: Delta) -> Deltas {
        Deltas::new(Layout::labels(k), delta, None)
    }

    /// Those over a field.
    pub(crate) fn field(k: u32, f: u32, delta: Delta, pads: Delta) -> Deltas {
        Deltas::new(Layout::field(k, f), delta, Some(pads))
    }

    /// What they are for.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Our key of all columns towards a peer.
    #[inline]
    pub(crate) fn towards(&self, peer: PartyId) -> Key {
        self.layout.key([self.macs(peer), self.pads.as_ref().map_or(0, Delta::get)])
    }

    /// Our Delta towards a peer.
    #[inline]
    pub(crate) fn macs(&self, peer: PartyId) -> u128 {
        #[cfg(feature = "fault")]
        if let Some(difference) = self.differences.get(peer.index()) {
            return self.delta.get() ^ difference;
        }
        let _ = peer;
        self.delta.get()
    }

    /// Forget all keys.
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

/// All ones if the lowest bit of `bit` is one, else zero. The compiler is not told that it is one of the two:
/// it would make a branch of a choice by it.
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
