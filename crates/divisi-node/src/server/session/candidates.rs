//! What this server has of an offer: the messages of the step, whether it admits the request, and the key.

use crate::error::Failed;
use crate::request::ConnectionId;
use crate::server::admission::{admit, count, is_counted};
use crate::server::agreement::{Candidate, Missing, StepData};
use crate::server::node::Node;
use crate::server::scheduling::{Offer, Stand};
use std::collections::HashSet;

/// What this server has of an offer. `counted` are the requests whose use of a key is counted already, and
/// `goes_on` says whether this server agrees to the data of a later step.
pub(super) fn candidate(
    node: &Node,
    offer: &Offer,
    counted: &mut HashSet<(ConnectionId, u64)>,
    goes_on: impl FnOnce(&StepData) -> Result<(), Failed>,
) -> Result<Candidate, Missing> {
    let taken = match node.schedule(|schedule, _| schedule.take(offer)) {
        Stand::Ready(taken) => taken,
        Stand::NotYet => return Err(Missing::NotYet),
        Stand::Missing => return Err(Missing::Refused(None)),
    };
    let refused = |failed: Failed| Missing::Refused(Some(failed));
    node.stores().admits(node.me).map_err(refused)?;
    let data = StepData::of(&taken.item, &offer.connection, offer.number, &taken.messages);
    let found = if offer.step == 0 {
        let found = admit(node, &taken.who, &taken.item).map_err(refused)?;
        if let Some(found) = found.as_ref().filter(|_| is_counted(&taken.item))
            && counted.insert((offer.connection, offer.number))
        {
            // count the use durably before it happens, and once, however often the step is offered
            count(node, found).map_err(refused)?;
        }
        found
    } else {
        goes_on(&data).map_err(refused)?;
        None
    };
    Ok(Candidate::new(*offer, taken, data, found))
}
