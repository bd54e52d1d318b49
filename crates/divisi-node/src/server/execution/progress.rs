//! The state of a request between two of its steps, and its next step.

use super::digest::Digesting;
use super::gcm::{Decrypting, Encrypting};
use super::modes::Texting;
use super::step::Turn;
use super::{clients, keys};
use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, Item, ToClient};
use crate::server::admission::{Loaded, function_settings};
use crate::server::agreement::{Given, misfit};
use crate::server::node::Node;
use crate::server::scheduling::{After, Offer};
use std::collections::HashMap;

/// Requests that have begun and are not done, by connection and number.
pub(crate) type Under = HashMap<(ConnectionId, u64), Work>;

/// Wipe the data of requests that are over; returns whether there were any.
pub(crate) fn forget_ended(node: &Node, under: &mut Under) -> bool {
    let before = under.len();
    node.schedule(|schedule, _| under.retain(|(id, number), _| schedule.has(id, *number)));
    under.len() < before
}

/// A request under way.
pub(crate) enum Work {
    Encrypting(Encrypting),
    Decrypting(Decrypting),
    Digesting(Digesting),
    Texting(Texting),
}

/// Do a step that all three agreed on.
pub(crate) fn run_step(
    turn: &mut Turn<'_>,
    under: &mut Under,
    item: &Item,
    given: &Given,
    loaded: Option<&Loaded>,
) -> Result<After, Stop> {
    if let Item::Encrypt { way, .. } | Item::EncryptStream { way, .. } | Item::Decrypt { way, .. } = item {
        turn.rep.use_protocol(way.0);
    }
    let Offer { connection, number, step } = turn.offer;
    if step == 0 {
        return begin(turn, under, item, given, loaded);
    }
    // the step itself puts it back, unless it is done or fails
    let work = under.remove(&(connection, number)).ok_or_else(|| misfit(turn.me()))?;
    let (work, after) = match (work, given, item) {
        (Work::Encrypting(work), Given::Finish, _) => return work.finish(turn),
        (Work::Texting(mut work), Given::Finish, _) => {
            let after = work.finish(turn)?;
            (Work::Texting(work), after)
        }
        (Work::Texting(mut work), ..) => {
            let after = work.piece(turn, given)?;
            (Work::Texting(work), after)
        }
        (Work::Digesting(work), Given::Finish, Item::Mac { tag, .. }) => {
            return work.finish(turn, tag.as_ref());
        }
        (Work::Digesting(work), Given::Finish, _) => return work.finish(turn, None),
        (Work::Encrypting(mut work), ..) => {
            let after = work.chunk(turn, given)?;
            (Work::Encrypting(work), after)
        }
        (Work::Decrypting(mut work), Given::Finish, _) => {
            let after = work.finish(turn)?;
            (Work::Decrypting(work), after)
        }
        (Work::Decrypting(mut work), ..) => {
            let after = work.chunk(turn, given)?;
            (Work::Decrypting(work), after)
        }
        (Work::Digesting(mut work), ..) => {
            let after = work.piece(turn, given)?;
            (Work::Digesting(work), after)
        }
    };
    if after != After::Done {
        under.insert((connection, number), work);
    }
    Ok(after)
}

fn begin(
    turn: &mut Turn<'_>,
    under: &mut Under,
    item: &Item,
    given: &Given,
    loaded: Option<&Loaded>,
) -> Result<After, Stop> {
    let work = match (item, loaded) {
        (Item::KeyNew(new), _) => return keys::make(turn, new, None).map(|()| After::Done),
        (Item::KeyImport(new), _) => {
            let part = given.secret().cloned().ok_or_else(|| misfit(turn.me()))?;
            turn.answer(ToClient::Accepted);
            return keys::make(turn, new, Some(part)).map(|()| After::Done);
        }
        (Item::KeyList { after }, _) => return keys::list(turn, after.as_ref()).map(|()| After::Done),
        (Item::KeyExport { name }, _) => return keys::export(turn, name).map(|()| After::Done),
        (Item::KeyServe(asked), _) => return clients::change(turn, asked).map(|()| After::Done),
        (Item::KeyDestroy { name }, _) => {
            return keys::destroy(turn, name, &mut |node| forget_ended(node, under)).map(|()| After::Done);
        }
        (Item::Encrypt { aad, length, .. }, Some(loaded)) => {
            Work::Encrypting(Encrypting::begin(turn, loaded, aad, Some(*length))?)
        }
        (Item::EncryptStream { aad, .. }, Some(loaded)) => {
            Work::Encrypting(Encrypting::begin(turn, loaded, aad, None)?)
        }
        (Item::Decrypt { aad, length, iv, tag, .. }, Some(loaded)) => {
            Work::Decrypting(Decrypting::begin(turn, loaded, aad, *length, *iv, tag)?)
        }
        (Item::Whole(asked), Some(loaded)) => Work::Texting(Texting::begin(turn, loaded, asked)?),
        (Item::Hash { asked, .. }, _) => {
            Work::Digesting(Digesting::hash(turn, &function_settings(asked, false)?)?)
        }
        (Item::Mac { asked, tag, .. }, Some(loaded)) => {
            Work::Digesting(Digesting::mac(turn, loaded, &function_settings(asked, true)?, tag.as_ref())?)
        }
        (_, None) => return Err(misfit(turn.me())),
    };
    under.insert((turn.offer.connection, turn.offer.number), work);
    Ok(After::More { in_hand: false })
}

impl Work {
    /// Whether this server agrees to the messages of a step.
    pub fn admits(&self, given: &Given) -> Result<(), Failed> {
        match self {
            Work::Encrypting(work) => work.admits(given),
            Work::Decrypting(work) => work.admits(given),
            _ => Ok(()),
        }
    }
}
