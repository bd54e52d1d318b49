//! Which parties make rows towards which others.

use divisi_core::Session;

/// Which directions of which pairs take part in a step; public, and the same at all parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Links {
    /// Every party towards every other one.
    #[default]
    All,
    /// Each party towards those that come before it on a circle that begins with the party of this index.
    /// Each pair then has rows in one direction, as protocols need in which a value passes around the circle.
    /// If the beginning changes from batch to batch, all parties do the same amount of work.
    Before(usize),
}

impl Links {
    /// Whether the party of index `from` makes rows (has bits) towards that of index `to`.
    pub(crate) fn makes(self, session: &Session, from: usize, to: usize) -> bool {
        let n = session.parties();
        let place = |index: usize, first: usize| (index + n - first % n) % n;
        match self {
            Links::All => from != to,
            Links::Before(first) => place(to, first) < place(from, first),
        }
    }
}
