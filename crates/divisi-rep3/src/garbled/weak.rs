//! What a test leaves out of the protocol, and what its corrupt party does. A build that holds real secrets
//! has neither: every question here is answered with no.

pub(super) use super::plot::{Lie, Weakness};
use crate::trio::Trio;
use std::borrow::Cow;

#[cfg(feature = "fault")]
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

    /// From now on this party is corrupt, and does this in calls in constant rounds.
    pub fn lie(&mut self, lie: Lie) {
        self.deviation.garbled.lie = Some(lie);
    }
}

impl Trio {
    #[inline]
    pub(super) fn is_weak(&self, weakness: Weakness) -> bool {
        #[cfg(feature = "fault")]
        return self.deviation.garbled.weakness == Some(weakness);
        #[cfg(not(feature = "fault"))]
        {
            let _ = weakness;
            false
        }
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
        #[cfg(feature = "fault")]
        return self.deviation.garbled.lie;
        #[cfg(not(feature = "fault"))]
        None
    }
}
