//! The deviations of a corrupt party in a test (only in the copy of `lab/attacks`).
//!
//! A test that merely changes a message makes its sender inconsistent with itself. These deviations are
//! consistent: the party follows the protocol in everything else, and never ends the session because of its
//! own deviation.

#[cfg(feature = "testing")]
pub mod offline;

use divisi_core::PartyId;
use divisi_field::{Field, Gf128};
use zeroize::Zeroizing;

/// How a corrupt party deviates.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Deviation {
    /// Its bit at this position of every batch is flipped towards this party. Sacrificed positions follow
    /// those that the caller gets.
    pub other_bits: Option<(PartyId, usize)>,
    /// Its Delta towards this party differs by this word.
    pub other_delta: Option<(PartyId, u128)>,
    /// In the proof it opens this one of its bits flipped, with the MACs of the true bit. In all else it acts
    /// as if the flipped bit were its bit.
    pub flipped_opening: Option<usize>,
    /// In the proof it opens a wrong MAC, under this party's Delta, of this one of its bits.
    pub false_mac: Option<(PartyId, usize)>,
    /// In the proof it commits to two wrong sums in these equations, both wrong by the same difference.
    pub false_sums: Vec<usize>,
    /// In the proof it commits only after the others have opened their bits, to values that fit them.
    pub rushing: bool,
    /// In the columns of pads its bit at this position of every batch differs from that in the columns of
    /// MACs.
    pub other_pads: Option<usize>,
    /// The coins that it expects. In a batch with one tile more than there are coins, it sends corrections of
    /// other bits for the first piece. They differ in such a way that a check with any of these coins does
    /// not detect it.
    pub foreseen: Vec<u128>,
}

impl Deviation {
    /// The bits for the party that it lies to.
    pub(crate) fn other(&self, bits: &[u128]) -> Vec<u128> {
        let mut other = bits.to_vec();
        if let Some((word, (_, at))) =
            self.other_bits.and_then(|told| Some((other.get_mut(told.1 / 128)?, told)))
        {
            *word ^= 1 << (at % 128);
        }
        other
    }

    /// The bits that it uses towards each party.
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

    /// Changes the corrections of these tiles of wide rows; the first `macs` pieces are those of MACs.
    pub(crate) fn correct_pads(&self, corrections: &mut [u128], tiles: &std::ops::Range<usize>, macs: usize) {
        let Some(at) = self.other_pads.filter(|at| tiles.contains(&(at / 128))) else { return };
        for piece in corrections.chunks_mut(tiles.len()).skip(macs) {
            piece[at / 128 - tiles.start] ^= 1 << (at % 128);
        }
    }

    /// Changes the corrections of a batch by the coefficients of a polynomial whose roots are the coins that
    /// are known in advance; the sacrificed tile, which is the last, by the constant one.
    pub(crate) fn correct(&self, corrections: &mut [u128], tiles: usize) {
        if self.foreseen.is_empty() || tiles != self.foreseen.len() + 1 {
            return;
        }
        let mut errors = vec![Gf128::ONE];
        for root in &self.foreseen {
            let times_root: Vec<Gf128> = errors.iter().map(|e| *e * Gf128(*root)).collect();
            errors.push(Gf128::ZERO);
            errors[1..].iter_mut().zip(times_root).for_each(|(e, r)| *e += r);
        }
        corrections.iter_mut().zip(errors).for_each(|(correction, e)| *correction ^= e.0);
    }
}
