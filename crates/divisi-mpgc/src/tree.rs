//! Contributions to rows are added up along a binary tree, whose root evaluates: section 7.2. Each party
//! sends each row once and receives it at most twice, however many parties there are.
//!
//! \[G9\] A sum decrypts under the sum of all keys only if it has every party's contribution exactly once.
//! Each batch says whose contributions it has and for which labels; the party that adds it compares this with
//! the tree and with the labels that it expects.

use crate::checks;
use crate::parameters::{DIMENSION, ROW_BYTES};
use crate::scheme::{Scheme, pack, unpack};
use divisi_bgv::tree::neighbours;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PartyId, Session, Step, step};

const N: usize = DIMENSION;
const ROWS: Step = step!("rows");
const GO_ON: Step = step!("go-on");

/// The header before the rows: the set of parties that contributed, and the number of the first label.
const HEADER: usize = 32 + 8;

/// Each time a party has added up this number of batches, it tells its children to go on. A child waits when
/// it is twice this number of batches ahead of the last one that this covers. So a parent never has more than
/// 54 MB of a child's rows to read. A link that is not faster than 4 Gbit/s at a round trip of 100 ms never
/// waits for this.
const AHEAD: usize = 32;

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

    /// The set of all parties at or below a position of the tree of n parties.
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
    rows: WipedVec<u64>,
}

impl Batch {
    /// A batch of our own contributions.
    pub(crate) fn own(session: &Session, first: u64, rows: WipedVec<u64>) -> Batch {
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
        let theirs = Batch { from: expected, first: self.first, rows: WipedVec::default() };
        let sum = self.from.and(expected);
        let right = header == theirs.header() && sum.is_some();
        session.require(checks::G9, ROWS, right, Some(child))?; // [G9]
        self.from = sum.unwrap_or(self.from);
        let (mut row, mut reduced) = (WipedVec::<u64>::zeros(N), true);
        for (sum, body) in self.rows.chunks_exact_mut(N).zip(rows.chunks_exact(ROW_BYTES)) {
            reduced &= unpack(body, &mut row);
            scheme.modulus().add_assign(sum, &row);
        }
        session.require(checks::G10, ROWS, reduced, Some(child)) // [G10]
    }
}

/// How many of its batches a party has sent up the tree. It keeps children from sending faster than their
/// parent reads; its messages count for no round, because no content depends on them.
pub(crate) struct Upward {
    done: usize,
    total: usize,
}

impl Upward {
    /// The state before `total` batches, the same number at all parties.
    pub(crate) fn new(total: usize) -> Upward {
        Upward { done: 0, total }
    }

    /// Before the next batch is sent: waits while the parent is far behind.
    fn wait(&self, session: &mut Session, above: PartyId) -> Result<(), Abort> {
        if self.done < 2 * AHEAD || !self.done.is_multiple_of(AHEAD) {
            return Ok(());
        }
        let mut body = [0];
        beside(session, |session| {
            session.recv(GO_ON, above, &mut body)?;
            session.well_formed(GO_ON, above, 1, body == [0])
        })
    }

    /// After a batch: tells the children to go on, if they will wait for it.
    fn count(&mut self, session: &mut Session, below: &[PartyId]) -> Result<(), Abort> {
        self.done += 1;
        if !self.done.is_multiple_of(AHEAD) || self.done + AHEAD >= self.total {
            return Ok(());
        }
        beside(session, |session| below.iter().try_for_each(|child| session.send(GO_ON, *child, &[0], 0)))
    }
}

/// Messages that are counted as a chain of their own.
fn beside(session: &mut Session, act: impl FnOnce(&mut Session) -> Result<(), Abort>) -> Result<(), Abort> {
    let place = session.aside();
    let result = act(session);
    session.back(place);
    result
}

/// Adds up everybody's contributions. The root appends the packed sums to `sums`; other parties leave it
/// unchanged.
///
/// # Errors
/// [`Abort::CheckFailed`], which names the child, if the batch of a child does not fit the tree or the
/// labels, or has values that are not below q; the abort that ends the session, if a link fails.
pub(crate) fn add_up(
    session: &mut Session,
    scheme: &Scheme,
    upward: &mut Upward,
    mut batch: Batch,
    sums: &mut Vec<u8>,
) -> Result<(), Abort> {
    let (above, below) = neighbours(session);
    let count = batch.rows.len() / N;
    let mut body = vec![0; HEADER + count * ROW_BYTES];
    for child in &below {
        session.recv(ROWS, *child, &mut body)?;
        batch.add(session, scheme, *child, &body)?;
    }
    if let Some(above) = above {
        upward.wait(session, above)?;
        body.clear();
        body.extend_from_slice(&batch.header());
        batch.rows.chunks_exact(N).for_each(|row| pack(row, &mut body));
        session.send(ROWS, above, &body, 8 * (count * ROW_BYTES) as u64)?;
        return upward.count(session, &below);
    }
    let all = Senders::below(0, session.parties());
    session.require(checks::G9, ROWS, batch.from == all, None)?; // [G9]
    batch.rows.chunks_exact(N).for_each(|row| pack(row, sums));
    upward.count(session, &below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};

    /// Of what any child sends each bit of the header counts, and each row of a whole batch is looked at.
    #[test]
    fn batches_are_looked_at_from_end_to_end() {
        const PARTIES: usize = 9;
        const ROWS: usize = 256;
        let looks = |session: &Session, child: PartyId| {
            let scheme = Scheme::new(session).unwrap();
            let batch = |from| Batch { from, first: 1 << 23 | 7, rows: WipedVec::zeros(ROWS * N) };
            let body = |at: Option<usize>| {
                let sent = batch(Senders::below(child.index(), PARTIES));
                let mut body = sent.header().to_vec();
                for i in 0..ROWS {
                    let mut row = vec![1; N];
                    row[i * N / ROWS] = if at == Some(i) { scheme.modulus().get() } else { 2 };
                    pack(&row, &mut body);
                }
                body
            };
            let ends = |body: &[u8]| {
                let mut own = batch(Senders::of(std::iter::once(session.me().index())));
                match own.add(session, &scheme, child, body) {
                    Ok(()) => None,
                    Err(Abort::CheckFailed { check, culprit, .. }) => Some((check, culprit)),
                    Err(other) => panic!("{other:?}"),
                }
            };
            let right = body(None);
            assert_eq!(ends(&right), None);
            for bit in 0..8 * HEADER {
                let mut body = right.clone();
                body[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(ends(&body), Some((checks::G9, Some(child))), "bit {bit}");
            }
            for row in [0, 1, 2, ROWS / 2, ROWS - 2, ROWS - 1] {
                assert_eq!(ends(&body(Some(row))), Some((checks::G10, Some(child))), "row {row}");
            }
        };
        // a check that fails ends the session of all, which must have begun everywhere
        let begun = std::sync::Barrier::new(PARTIES);
        let ends = divisi_core::testing::run(PARTIES, &PublicParameters::new("tree"), |session| {
            begun.wait();
            neighbours(&session).1.into_iter().for_each(|child| looks(&session, child));
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }

    /// A child that is two lots of batches ahead waits for its parent, who says so for each lot but the last.
    #[test]
    fn children_hear_that_they_may_go_on() {
        let ends = local::run(3, &PublicParameters::new("tree"), |mut session| {
            let (above, below) = neighbours(&session);
            let mut upward = Upward::new(5 * AHEAD);
            while upward.done < upward.total {
                if let Some(above) = above {
                    upward.wait(&mut session, above)?;
                }
                upward.count(&mut session, &below)?;
            }
            // nothing else was said
            below.iter().try_for_each(|child| session.send(ROWS, *child, &[7], 0))?;
            above.map_or(Ok(()), |above| session.recv(ROWS, above, &mut [0]))
        });
        assert!(ends.is_ok(), "{ends:?}");
    }

    /// A child does not go on by itself.
    #[test]
    fn children_wait_for_their_parent() {
        let ends = divisi_core::testing::run(2, &PublicParameters::new("tree"), |mut session| {
            let upward = Upward { done: 2 * AHEAD, total: 5 * AHEAD };
            match neighbours(&session).0 {
                Some(above) => upward.wait(&mut session, above),
                None => Ok(()),
            }
        });
        assert!(ends[0].is_ok() && ends[1].is_err(), "{ends:?}");
    }

    /// A child goes on at its parent's word alone, and refuses another one, also after a right one.
    #[test]
    fn children_go_on_at_that_word_alone() {
        let ends = divisi_core::testing::run(2, &PublicParameters::new("tree"), |mut session| {
            let upward = Upward { done: 2 * AHEAD, total: 5 * AHEAD };
            match neighbours(&session) {
                (Some(above), _) => {
                    upward.wait(&mut session, above).unwrap();
                    upward.wait(&mut session, above)
                }
                (None, below) => below.iter().try_for_each(|child| {
                    session.send(GO_ON, *child, &[0], 0)?;
                    session.send(GO_ON, *child, &[1], 0)
                }),
            }
        });
        let refused = matches!(&ends[1], Err(Abort::Network(fault)) if fault.to_string().contains("go-on"));
        assert!(refused, "{ends:?}");
    }

    #[test]
    fn a_header_names_the_first_row() {
        let header = |first| Batch { from: Senders::of(0..3), first, rows: WipedVec::default() }.header();
        let all = [0, 1, 1 << 8, 1 << 40, 1 << 63].map(header);
        assert!((1..5).all(|i| !all[..i].contains(&all[i])));
    }

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
