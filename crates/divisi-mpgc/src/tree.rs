//! Contributions to rows are added up along a binary tree, whose root evaluates: section 7.2. Each party
//! sends each row once and receives it at most twice, however many parties there are.
//!
//! \[G9\] A sum decrypts under the sum of all keys only if it has every party's contribution exactly once.
//! Each batch says whose contributions it has and for which labels; whoever adds it compares this with the
//! tree and with the labels it expects.

use crate::checks;
use crate::parameters::{DIMENSION, ROW_BYTES};
use crate::scheme::{Scheme, pack, unpack};
use divisi_bgv::tree::neighbours;
use divisi_core::{Abort, PartyId, Session, Step, step};
use divisi_ot::Kept;

const N: usize = DIMENSION;
const ROWS: Step = step!("rows");
const GO_ON: Step = step!("go-on");

/// The header before the rows: the set of parties that contributed, and the number of the first label.
const HEADER: usize = 32 + 8;

/// A set of parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Senders([u8; 32]);

impl Senders {
    /// The set of the parties with these indices.
    fn of(indices: impl Iterator<Item = usize>) -> Senders {
        let mut all = Senders::default();
        for index in indices {
            if let Some(byte) = all.0.get_mut(index / 8) {
                *byte |= 1 << (index % 8);
            }
        }
        all
    }

    /// The set of all parties at or below a place of the tree of n parties.
    fn below(place: usize, n: usize) -> Senders {
        let above = |mut i: usize| {
            while i > place {
                i = (i - 1) / 2;
            }
            i == place
        };
        Senders::of((0..n).filter(|i| above(*i)))
    }

    /// The union of both; `None` if a party is in both.
    fn and(self, other: Senders) -> Option<Senders> {
        let disjoint = self.0.iter().zip(&other.0).all(|(x, y)| x & y == 0);
        let mut sum = self;
        sum.0.iter_mut().zip(&other.0).for_each(|(x, y)| *x |= y);
        disjoint.then_some(sum)
    }
}

/// Contributions to consecutive rows, as values.
pub(crate) struct Batch {
    from: Senders,
    first: u64,
    rows: Kept<u64>,
}

impl Batch {
    /// A batch of our own contributions.
    pub(crate) fn own(session: &Session, first: u64, rows: Kept<u64>) -> Batch {
        Batch { from: Senders::of(std::iter::once(session.me().index())), first, rows }
    }

    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..32].copy_from_slice(&self.from.0);
        header[32..].copy_from_slice(&self.first.to_le_bytes());
        header
    }

    /// Adds a batch that a child sent.
    fn add(&mut self, session: &Session, scheme: &Scheme, child: PartyId, body: &[u8]) -> Result<(), Abort> {
        let expected = Senders::below(child.index(), session.parties());
        let (header, rows) = body.split_at(HEADER.min(body.len()));
        let theirs = Batch { from: expected, first: self.first, rows: Kept::default() };
        let sum = self.from.and(expected);
        let right = header == theirs.header() && sum.is_some();
        session.require(checks::G9, ROWS, right, Some(child))?; // [G9]
        self.from = sum.unwrap_or(self.from);
        let (mut row, mut reduced) = (Kept::<u64>::zeros(N), true);
        for (sum, body) in self.rows.chunks_exact_mut(N).zip(rows.chunks_exact(ROW_BYTES)) {
            reduced &= unpack(body, &mut row);
            scheme.modulus().add_assign(sum, &row);
        }
        session.require(checks::G10, ROWS, reduced, Some(child)) // [G10]
    }
}

/// Adds up everybody's contributions. The root appends the packed sums to `sums`; other parties leave it
/// unchanged.
///
/// # Errors
/// [`Abort::CheckFailed`] that names a child whose batch does not fit the tree or the labels.
pub(crate) fn add_up(
    session: &mut Session,
    scheme: &Scheme,
    mut batch: Batch,
    sums: &mut Vec<u8>,
) -> Result<(), Abort> {
    let (above, below) = neighbours(session);
    let count = batch.rows.len() / N;
    let mut body = vec![0; HEADER + count * ROW_BYTES];
    for child in below {
        session.recv(ROWS, child, &mut body)?;
        batch.add(session, scheme, child, &body)?;
    }
    if let Some(above) = above {
        body.clear();
        body.extend_from_slice(&batch.header());
        batch.rows.chunks_exact(N).for_each(|row| pack(row, &mut body));
        return session.send(ROWS, above, &body, 8 * (count * ROW_BYTES) as u64);
    }
    let all = Senders::below(0, session.parties());
    session.require(checks::G9, ROWS, batch.from == all, None)?; // [G9]
    batch.rows.chunks_exact(N).for_each(|row| pack(row, sums));
    Ok(())
}

/// Waits until the root has received all batches so far, so that no sender gets too far ahead of it.
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn settle(session: &mut Session) -> Result<(), Abort> {
    let (above, below) = neighbours(session);
    let mut body = [0];
    if let Some(above) = above {
        session.recv(GO_ON, above, &mut body)?;
        session.well_formed(GO_ON, above, 1, body == [0])?;
    }
    below.into_iter().try_for_each(|child| session.send(GO_ON, child, &[0], 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_all_parties_once() {
        for n in 1..40 {
            let all = Senders::of(0..n);
            assert_eq!(Senders::below(0, n), all);
            for place in 0..n {
                let own = Senders::of(std::iter::once(place));
                let children = [2 * place + 1, 2 * place + 2].map(|child| Senders::below(child, n));
                let sum = own.and(children[0]).and_then(|sum| sum.and(children[1]));
                assert_eq!(sum, Some(Senders::below(place, n)), "{place} of {n}");
                assert!(all.and(own).is_none());
            }
        }
        assert_eq!(Senders::below(41, 40), Senders::default());
    }
}
