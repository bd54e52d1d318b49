//! Sums of public polynomials of all parties along a binary tree, and back to all: each party sends and
//! receives at most three times, however many there are.
//!
//! Every party's words arrive exactly once, from senders that the tree names.

use crate::ring::{Poly, Ring};
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step};

/// The party above, and those below.
#[must_use]
pub fn neighbours(session: &Session) -> (Option<PartyId>, Vec<PartyId>) {
    let all: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let me = session.me().index();
    let above = me.checked_sub(1).and_then(|i| all.get(i / 2)).copied();
    let below = [2 * me + 1, 2 * me + 2].into_iter().filter_map(|i| all.get(i)).copied().collect();
    (above, below)
}

/// Everybody's polynomials are added up on the way to the party at the top, who gets the sums; `None` at all
/// others. [`down`] gives them to all.
///
/// # Errors
/// The abort that a faulty peer causes.
pub fn up<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    mut polys: [Poly; K],
) -> Result<Option<[Poly; K]>, Abort> {
    let (above, below) = neighbours(session);
    for child in below {
        wire::receive_sum(session, ring, step, child, &mut polys)?; // [G10]
    }
    let Some(above) = above else { return Ok(Some(polys)) };
    wire::send(session, ring, step, above, &polys.each_ref())?;
    Ok(None)
}

/// The sums of the party at the top come to all others, into polynomials of their shape.
///
/// # Errors
/// The abort that a faulty peer causes.
pub fn down<const K: usize>(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    sums: Option<[Poly; K]>,
    shape: [Poly; K],
) -> Result<[Poly; K], Abort> {
    let (above, below) = neighbours(session);
    let mut polys = sums.unwrap_or(shape);
    if let Some(above) = above {
        wire::receive(session, ring, step, above, &mut polys.each_mut())?;
    }
    for child in below {
        wire::send(session, ring, step, child, &polys.each_ref())?;
    }
    Ok(polys)
}
