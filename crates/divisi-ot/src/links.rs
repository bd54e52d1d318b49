//! Who makes rows towards whom.

use divisi_core::Session;

/// Which directions of which pairs take part in a step; public, and the same at all parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Every party towards every other one.
    #[default]
    All,
    /// Each party towards those that stand before it in the circle that begins with the party of this index:
    /// one direction of each pair, so that what all pass on from one to the next meets each pair once. Let
    /// the beginning go around from batch to batch, and all parties do the same work.
    Before(usize),
}

impl Links {
    /// Whether the party of index `from` has bits towards that of index `to`.
    pub(crate) fn makes(self, session: &Session, from: usize, to: usize) -> bool {
        let n = session.parties();
        let place = |index: usize, first: usize| (index + n - first % n) % n;
        match self {
            Links::All => from != to,
            Links::Before(first) => place(to, first) < place(from, first),
        }
    }
}
