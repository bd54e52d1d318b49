//! Sums of all parties' public polynomials along a binary tree, and the results back to all. Each party sends
//! and receives at most three times, however many parties there are.
//!
//! Every party's polynomials enter the sum exactly once, because each message comes from a party that the
//! tree names.

use crate::ring::{Poly, Ring};
use crate::wire;
use divisi_core::{Abort, PartyId, Session, Step};

/// Our neighbours in the tree: the party above, and those below.
#[must_use]
pub fn neighbours(session: &Session) -> (Option<PartyId>, Vec<PartyId>) {
    let all: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let me = session.me().index();
    let above = me.checked_sub(1).and_then(|i| all.get(i / 2)).copied();
    let below = [2 * me + 1, 2 * me + 2].into_iter().filter_map(|i| all.get(i)).copied().collect();
    (above, below)
}

/// Adds up all parties' polynomials; all parties get the sums.
///
/// # Errors
/// The abort that a faulty peer causes.
pub fn sum(
    session: &mut Session,
    ring: &Ring,
    up: Step,
    down: Step,
    polys: &mut [Poly],
) -> Result<(), Abort> {
    let (above, below) = neighbours(session);
    for child in &below {
        wire::receive_sum(session, ring, up, *child, polys)?; // [G10]
    }
    if let Some(above) = above {
        wire::send(session, ring, up, above, &polys.iter().collect::<Vec<_>>())?;
        wire::receive(session, ring, down, above, &mut polys.iter_mut().collect::<Vec<_>>())?;
    }
    for child in below {
        wire::send(session, ring, down, child, &polys.iter().collect::<Vec<_>>())?;
    }
    Ok(())
}
