//! A corrupt party of a test (feature `fault`; never part of a build that holds real secrets).
//!
//! A blind change of a message leaves its sender out of step with its own lie. These deviations are
//! consistent: the party does everything else as the protocol says, and never ends the session itself over
//! what it knows to be its own doing.

#[cfg(feature = "testing")]
pub mod offline;

use divisi_core::PartyId;
use zeroize::Zeroizing;

/// What a corrupt party does otherwise.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Deviation {
    /// Its bit at this position of every batch is flipped towards this party; sacrificed positions follow
    /// those that are handed out.
    pub other_bits: Option<(PartyId, usize)>,
    /// Its Delta towards this party differs by this.
    pub other_delta: Option<(PartyId, u128)>,
    /// In the proof it opens this one of its bits flipped, with the MACs of the true one; all else is as if
    /// that were its bit.
    pub flipped_opening: Option<usize>,
    /// In the proof it opens another MAC than it has, under this party's Delta, of this one of its bits.
    pub false_mac: Option<(PartyId, usize)>,
    /// In the proof both of its sums are false in these equations, by the same.
    pub false_sums: Vec<usize>,
    /// It commits in the proof after the others opened their bits, to what these make right.
    pub rushing: bool,
    /// In the columns of pads its bit at this position of every batch is another than in those of MACs.
    pub other_pads: Option<usize>,
    /// The coin that it expects: it corrects the rows of the first piece as for bits that differ where the
    /// coin cannot see it.
    pub foreseen: Option<u128>,
}

impl Deviation {
    /// The bits towards the party that is told others.
    pub(crate) fn other(&self, bits: &[u128]) -> Vec<u128> {
        let mut other = bits.to_vec();
        if let Some((word, (_, at))) =
            self.other_bits.and_then(|told| Some((other.get_mut(told.1 / 128)?, told)))
        {
            *word ^= 1 << (at % 128);
        }
        other
    }

    /// The bits towards each party.
    pub(crate) fn towards<'a>(&self, mut x: Vec<&'a [u128]>, other: &'a [u128]) -> Vec<&'a [u128]> {
        if let Some((peer, _)) = self.other_bits {
            x[peer.index()] = other;
        }
        x
    }

    /// The MACs that it opens in the proof, by party index.
    pub(crate) fn told_macs(&self, mut macs: Vec<Vec<u128>>) -> Vec<Vec<u128>> {
        if let Some((party, r)) = self.false_mac {
            macs[party.index()][r] ^= 1 << 101;
        }
        macs
    }

    /// The sums that it commits to in the proof.
    pub(crate) fn told_sums(&self, mut sums: Zeroizing<Vec<[u128; 2]>>) -> Zeroizing<Vec<[u128; 2]>> {
        for r in &self.false_sums {
            sums[*r].iter_mut().for_each(|sum| *sum ^= 1 << 101);
        }
        sums
    }

    /// Our bits as they are in the columns of pads.
    pub(crate) fn bits_of_pads(&self, bits: &[u128]) -> Vec<u128> {
        let mut other = bits.to_vec();
        if let Some((word, at)) = self.other_pads.and_then(|at| Some((other.get_mut(at / 128)?, at))) {
            *word ^= 1 << (at % 128);
        }
        other
    }

    /// Corrections of these tiles of wide rows, of whose pieces so many are of MACs.
    pub(crate) fn correct_pads(&self, corrections: &mut [u128], tiles: &std::ops::Range<usize>, macs: usize) {
        let Some(at) = self.other_pads.filter(|at| tiles.contains(&(at / 128))) else { return };
        for piece in corrections.chunks_mut(tiles.len()).skip(macs) {
            piece[at / 128 - tiles.start] ^= 1 << (at % 128);
        }
    }

    /// Corrections of a batch of one tile and the sacrificed one, for a coin that is known before.
    pub(crate) fn correct(&self, corrections: &mut [u128], tiles: usize) {
        if let (Some(coin), Some([first, last])) = (self.foreseen, corrections.get_mut(..tiles)) {
            *first ^= 1;
            *last ^= coin;
        }
    }
}
