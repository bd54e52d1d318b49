//! What a test leaves out of the protocol, and what its corrupt party does. A build that holds real secrets
//! has neither: every question here is answered with no.

pub(super) use super::plot::{Lie, Weakness};
use crate::trio::Trio;

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

    #[inline]
    pub(super) fn lie_told(&self) -> Option<Lie> {
        #[cfg(feature = "fault")]
        return self.deviation.garbled.lie;
        #[cfg(not(feature = "fault"))]
        None
    }
}
