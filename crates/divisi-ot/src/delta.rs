//! A party's global MAC key.

use divisi_core::PartyId;
use zeroize::Zeroize;

/// Delta_i: the one MAC key of a party for a whole session, which no other party may learn. Wiped when it is dropped.
///
/// Its lowest bit is public: one for the first party and zero for all others, so that the sum of all keys is never zero and has
/// lowest bit one. The construction enforces it (docs/garbling.md): no party can have another one.
pub struct Delta(u128);

impl Delta {
    /// A key from 16 uniform bytes.
    #[must_use]
    pub fn from_uniform(party: PartyId, bytes: [u8; 16]) -> Delta {
        Delta((u128::from_le_bytes(bytes) & !1) | lowest_bit(party))
    }

    /// The key itself.
    #[must_use]
    pub fn get(&self) -> u128 {
        self.0
    }

    /// The key if `bit` is one, else zero; without a branch.
    #[must_use]
    pub fn times(&self, bit: u64) -> u128 {
        self.0 & mask(bit)
    }
}

impl Delta {
    /// Forget the key: its session has ended.
    pub(crate) fn erase(&mut self) {
        self.0.zeroize();
    }
}

impl Drop for Delta {
    fn drop(&mut self) {
        self.erase();
    }
}

/// The public lowest bit of a party's Delta.
#[must_use]
pub fn lowest_bit(party: PartyId) -> u128 {
    u128::from(party.index() == 0)
}

/// All ones if the lowest bit of `bit` is one, else zero.
#[must_use]
pub fn mask(bit: u64) -> u128 {
    u128::from(bit & 1).wrapping_neg()
}
