//! Sums of all parties' public polynomials along a binary tree, and the results back to all. Each party sends
//! and receives at most three times, however many parties there are.
//!
//! Every party's polynomials enter the sum exactly once, because each message comes from a party that the
//! tree names.

use crate::ring::{Poly, Ring};
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step, taint};

/// Our neighbours in the tree: the party above, and those below.
#[must_use]
pub fn neighbours(session: &Session) -> (Option<PartyId>, Vec<PartyId>) {
    let all: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let me = session.me().index();
    let above = me.checked_sub(1).and_then(|i| all.get(i / 2)).copied();
    let below = [2 * me + 1, 2 * me + 2].into_iter().filter_map(|i| all.get(i)).copied().collect();
    (above, below)
}

/// Adds up all parties' polynomials on the way to the party at the top. That party gets the sums; every other
/// party gets `None`. [`down`] gives the sums to all.
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

/// Sends the sums from the party at the top to all other parties. The top passes `sums`; every other party
/// passes `None`, and `shape` gives the shapes of the polynomials that it receives.
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
    match above {
        Some(above) => wire::receive(session, ring, step, above, &mut polys.each_mut())?,
        // what all parties get
        None => polys.iter_mut().for_each(|poly| taint::public(step, poly.words_mut())),
    }
    for child in below {
        wire::send(session, ring, step, child, &polys.each_ref())?;
    }
    Ok(polys)
}
