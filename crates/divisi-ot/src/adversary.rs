//! A corrupt party of a test (feature `fault`; never part of a build that holds real secrets).
//!
//! A blind change of a message leaves its sender out of step with its own lie. These deviations are consistent: the party does
//! everything else as the protocol says, and never ends the session itself over what it knows to be its own doing.

use divisi_core::PartyId;

/// What a corrupt party does otherwise.
#[derive(Clone, Default)]
pub struct Deviation {
    /// Its first bit of every batch is flipped towards this party.
    pub other_bits: Option<PartyId>,
    /// Its Delta towards this party differs by this.
    pub other_delta: Option<(PartyId, u128)>,
    /// In the proof it opens its first bit flipped, with the MACs of the true one; all else is as if that were its bit.
    pub flipped_opening: bool,
    /// It commits in the proof after the others opened their bits, to what these make right.
    pub rushing: bool,
    /// The coin that it expects: it corrects the rows of the first piece as for bits that differ where the coin cannot see it.
    pub foreseen: Option<u128>,
}

impl Deviation {
    /// The bits towards the party that is told others.
    pub(crate) fn other(&self, bits: &[u128]) -> Vec<u128> {
        let mut other = bits.to_vec();
        if let Some(first) = other.first_mut() {
            *first ^= 1;
        }
        other
    }

    /// The bits towards each party.
    pub(crate) fn towards<'a>(&self, mut x: Vec<&'a [u128]>, other: &'a [u128]) -> Vec<&'a [u128]> {
        if let Some(peer) = self.other_bits {
            x[peer.index()] = other;
        }
        x
    }

    /// Corrections of a batch of one tile and the sacrificed one, for a coin that is known before.
    pub(crate) fn correct(&self, corrections: &mut [u128], tiles: usize) {
        if let (Some(coin), Some([first, last])) = (self.foreseen, corrections.get_mut(..tiles)) {
            *first ^= 1;
            *last ^= coin;
        }
    }
}
