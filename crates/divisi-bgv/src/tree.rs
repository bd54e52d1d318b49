//! Sums of all parties' public polynomials along a binary tree, and the results back to all. Each party sends
//! and receives at most three messages, however many parties there are; so it has at most two messages of
//! others in memory.
//!
//! Every party's polynomials enter the sum exactly once, because each message comes from a party that the
//! tree names.

use crate::ring::{Poly, Ring};
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step, taint};

/// Our neighbours in the tree whose top is the first party: the party above, and those below.
#[must_use]
pub fn neighbours(session: &Session) -> (Option<PartyId>, Vec<PartyId>) {
    neighbours_under(session, 0)
}

/// The same in the tree whose top is the party with this index.
fn neighbours_under(session: &Session, top: usize) -> (Option<PartyId>, Vec<PartyId>) {
    let mut all: Vec<PartyId> = PartyId::all(session.parties()).collect();
    all.rotate_left(top.min(session.parties()));
    let me = all.iter().position(|party| *party == session.me()).unwrap_or(0);
    let above = me.checked_sub(1).and_then(|i| all.get(i / 2)).copied();
    let below = [2 * me + 1, 2 * me + 2].into_iter().filter_map(|i| all.get(i)).copied().collect();
    (above, below)
}

/// Adds up all parties' polynomials on the way to the first party. That party gets the sums; every other
/// party gets `None`. [`down`] gives the sums to all.
///
/// # Errors
/// It fails as [`wire::receive`] does, and as [`wire::send`] does.
pub fn up<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    polys: [Poly; K],
) -> Result<Option<[Poly; K]>, Abort> {
    add_up(session, ring, step, neighbours(session), polys)
}

/// The same on the way to this party.
pub(crate) fn up_to<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    top: PartyId,
    polys: [Poly; K],
) -> Result<Option<[Poly; K]>, Abort> {
    add_up(session, ring, step, neighbours_under(session, top.index()), polys)
}

fn add_up<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    (above, below): (Option<PartyId>, Vec<PartyId>),
    mut polys: [Poly; K],
) -> Result<Option<[Poly; K]>, Abort> {
    for child in below {
        wire::receive_sum(session, ring, step, child, &mut polys)?; // [G10]
    }
    let Some(above) = above else { return Ok(Some(polys)) };
    wire::send(session, ring, step, above, &polys.each_ref())?;
    Ok(None)
}

/// Sends the sums from the first party to all other parties. That party passes `sums`; every other party
/// passes `None`, and `shape` gives the shapes of the polynomials that it receives.
///
/// # Errors
/// It fails as [`wire::receive`] does, and as [`wire::send`] does.
pub fn down<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    sums: Option<[Poly; K]>,
    shape: [Poly; K],
) -> Result<[Poly; K], Abort> {
    let (above, below) = neighbours(session);
    let mut polys = sums.unwrap_or(shape);
    match above {
        Some(above) => wire::receive(session, ring, step, above, &mut polys.each_mut())?,
        // all parties get these sums
        None => polys.iter_mut().for_each(|poly| taint::public(step, poly.words_mut())),
    }
    for child in below {
        wire::send(session, ring, step, child, &polys.each_ref())?;
    }
    Ok(polys)
}
