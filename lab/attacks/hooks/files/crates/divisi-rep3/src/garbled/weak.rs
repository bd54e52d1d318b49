//! What a test leaves out of the protocol, and what its corrupt party does. A build that holds real secrets
//! has neither: every question here is answered with no.

#[cfg(feature = "testing")]
use crate::lies::Planted;
pub(super) use crate::lies::{Lie, Weakness};
use crate::trio::Trio;
use std::borrow::Cow;

/// Labels that a test plants in place of drawn ones, to look for them.
#[derive(Clone, Copy)]
pub(super) struct Needles(#[cfg(feature = "testing")] Option<&'static Planted>);

impl Needles {
    pub(super) fn plant_inputs(self, sums: &mut [u128], known: &mut [u128]) {
        #[cfg(feature = "testing")]
        if let Some(planted) = self.0 {
            planted.plant_inputs(sums, known);
        }
        let _ = (sums, known);
    }

    pub(super) fn plant_masks(self, drawn: &mut [u128]) {
        #[cfg(feature = "testing")]
        if let Some(planted) = self.0 {
            planted.plant_masks(drawn);
        }
        let _ = drawn;
    }
}

impl Trio {
    /// From now on leave this out of calls in constant rounds; all parties at the same place.
    pub fn weaken(&mut self, weakness: Weakness) {
        self.deviation.garbled.weakness = Some(weakness);
    }

    /// From now on every Delta that this garbler draws is this word; both garblers at the same place.
    #[cfg(feature = "testing")]
    pub fn plant_delta(&mut self, needle: &'static divisi_core::testing::memory::Needle) {
        self.deviation.garbled.delta = Some(needle);
    }

    /// From now on these labels stand among those that this garbler draws; both garblers at the same place.
    #[cfg(feature = "testing")]
    pub fn plant_labels(&mut self, planted: &'static Planted) {
        self.deviation.garbled.labels = Some(planted);
    }

    /// From now on this party is corrupt, and does this in calls in constant rounds.
    pub fn lie(&mut self, lie: Lie) {
        self.deviation.garbled.lie = Some(lie);
    }
}

impl Trio {
    #[inline]
    pub(super) fn is_weak(&self, weakness: Weakness) -> bool {
        self.deviation.garbled.weakness == Some(weakness)
    }

    #[inline]
    pub(super) fn needles(&self) -> Needles {
        #[cfg(feature = "testing")]
        return Needles(self.deviation.garbled.labels);
        #[cfg(not(feature = "testing"))]
        Needles()
    }

    /// What the digest of a list of pairs is made of: all of it. `labels` are those that are sent beside it.
    pub(super) fn listed<'l>(&self, pairs: &'l [u8], labels: &'l [u8]) -> Cow<'l, [u8]> {
        if self.is_weak(Weakness::ListOfLabels) {
            Cow::Borrowed(labels)
        } else if self.is_weak(Weakness::HalfList) {
            Cow::Borrowed(&pairs[..pairs.len() / 2])
        } else if self.is_weak(Weakness::Unordered) {
            let mut hashes = pairs.as_chunks::<16>().0.to_vec();
            hashes.sort_unstable();
            Cow::Owned(hashes.concat())
        } else {
            Cow::Borrowed(pairs)
        }
    }

    #[inline]
    pub(super) fn lie_told(&self) -> Option<Lie> {
        self.deviation.garbled.lie
    }
}
