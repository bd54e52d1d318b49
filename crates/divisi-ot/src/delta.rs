//! A party's global MAC key.

use divisi_core::PartyId;
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

/// Delta_i: the one MAC key of a party for a whole session, which no other party may learn. It lies in one
/// place from its birth to its end, where it is wiped; whoever computes with it has it on the stack only,
/// which is wiped too ([`crate::wipe::stack`]).
///
/// Its lowest bit is public: one for the first party and zero for all others, so that the sum of all keys is never zero and has
/// lowest bit one. The construction enforces it (docs/garbling.md): no party can have another one.
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

/// Our Delta as it is towards each peer: the same, unless we are the corrupt party of a test.
pub(crate) struct Deltas {
    pub(crate) delta: Delta,
    /// By party index, what is added.
    #[cfg(feature = "fault")]
    pub(crate) differences: Vec<u128>,
}

impl Deltas {
    pub(crate) fn new(delta: Delta) -> Deltas {
        Deltas {
            delta,
            #[cfg(feature = "fault")]
            differences: Vec::new(),
        }
    }

    /// Our Delta towards a peer.
    #[inline]
    pub(crate) fn towards(&self, peer: PartyId) -> u128 {
        #[cfg(feature = "fault")]
        if let Some(difference) = self.differences.get(peer.index()) {
            return self.delta.get() ^ difference;
        }
        let _ = peer;
        self.delta.get()
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
