//! Memory for verifications.

use crate::share::Rep;
use divisi_core::wipe;
use divisi_field::{Field, Gf64};

/// Vectors as long as a batch, kept from verification to verification: fresh ones would cost a page fault for
/// every 4 KiB.
#[derive(Default)]
pub(crate) struct Scratch(Vec<Rep<Gf64>>);

impl Scratch {
    /// An empty vector with room for this many elements.
    pub(crate) fn take(&mut self, capacity: usize) -> Rep<Gf64> {
        let mut rep = self.0.pop().unwrap_or_else(|| Rep::zero(0));
        for side in [&mut rep.a, &mut rep.b] {
            side.clear();
            wipe::reserve(side, capacity);
        }
        rep
    }

    /// A vector of zeros.
    pub(crate) fn zeros(&mut self, len: usize) -> Rep<Gf64> {
        let mut rep = self.take(len);
        rep.a.resize(len, Gf64::ZERO);
        rep.b.resize(len, Gf64::ZERO);
        rep
    }

    /// Give a vector back for the next verification. It is wiped when the strand ends.
    pub(crate) fn give(&mut self, rep: Rep<Gf64>) {
        self.0.push(rep);
    }
}
