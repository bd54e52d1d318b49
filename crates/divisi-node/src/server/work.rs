//! The state of a request between two of its steps, and its next step.

use super::Node;
use super::clients;
use super::digest::{self, Digesting};
use super::given::{Given, misfit};
use super::intake::{After, Offer};
use super::keys::{self, Found, Loaded};
use super::text::{Decrypting, Encrypting, room};
use super::turn::Turn;
use super::whole::{self, Texting};
use crate::admit::{What, Who};
use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, Item, ToClient};
use divisi_core::Step;
use divisi_store::{KeyInfo, Purpose};
use std::collections::HashMap;

const ALGORITHM: Step = Step::new("divisi_node::server::work/algorithm");

/// Requests that have begun and are not done, by connection and number.
pub(crate) type Under = HashMap<(ConnectionId, u64), Work>;

/// Wipe the data of requests that are over; returns whether there were any.
pub(super) fn forget_ended(node: &Node, under: &mut Under) -> bool {
    let before = under.len();
    node.shared.with(|intake, _| under.retain(|(id, number), _| intake.has(id, *number)));
    under.len() < before
}

/// A request under way.
pub(crate) enum Work {
    Encrypting(Encrypting),
    Decrypting(Decrypting),
    Digesting(Digesting),
    Texting(Texting),
}

/// Check a request before its first step, by this server alone, and find the key that it uses.
pub(crate) fn admit(node: &Node, who: &Who, item: &Item) -> Result<Option<Found>, Failed> {
    node.knows(who)?;
    let found = match item {
        Item::Encrypt { key, aad, length, .. } => {
            let found = keys::find(node, who, key, |key| What::Encrypt(key))?;
            gcm_serves(found.info())?;
            room(aad, *length)?;
            found
        }
        Item::EncryptStream { key, aad, .. } => {
            let found = keys::find(node, who, key, |key| What::Encrypt(key))?;
            gcm_serves(found.info())?;
            room(aad, 0)?;
            found
        }
        Item::Decrypt { key, aad, length, .. } => {
            let found = keys::find(node, who, key, |key| What::Decrypt(key))?;
            gcm_serves(found.info())?;
            room(aad, *length)?;
            found
        }
        Item::Whole(asked) => {
            let found = if asked.encrypts {
                keys::find(node, who, &asked.key, |key| What::Encrypt(key))?
            } else {
                keys::find(node, who, &asked.key, |key| What::Decrypt(key))?
            };
            whole::serves(found.info(), asked.mode)?;
            whole::fits(asked)?;
            found
        }
        Item::Mac { key, asked, tag, .. } => {
            let found = keys::find(node, who, key, |key| What::Mac(key))?;
            let settings = digest::settings(asked, true)?;
            tag.as_ref().map_or(Ok(()), |tag| digest::fits(&settings, tag))?;
            digest::serves(found.info(), &settings)?;
            found
        }
        Item::Hash { asked, .. } => {
            node.admit.admit(who, &What::Hash)?;
            digest::settings(asked, false)?;
            return Ok(None);
        }
        Item::KeyList { .. } => {
            node.admit.admit(who, &What::List)?;
            return Ok(None);
        }
        Item::KeyNew(_)
        | Item::KeyImport(_)
        | Item::KeyExport { .. }
        | Item::KeyDestroy { .. }
        | Item::KeyServe(_) => return Ok(None),
    };
    Ok(Some(found))
}

/// Check that a key is for AES-GCM.
fn gcm_serves(key: &KeyInfo) -> Result<(), Failed> {
    if key.purpose == Purpose::Gcm && key.kind.purpose() == Purpose::Gcm {
        return Ok(());
    }
    let (name, kind) = (&key.name, key.kind);
    let message = format!(
        "key {name} is of type {kind}, and gcm was asked for: a key serves the algorithms of its type"
    );
    Err(Failed::refused(ALGORITHM, message))
}

/// Whether a request counts as a use of its key: encryption with GCM, a tag that is made or compared,
/// whatever the outcome, and encryption and decryption in the other modes.
pub(crate) fn is_counted(item: &Item) -> bool {
    matches!(item, Item::Encrypt { .. } | Item::EncryptStream { .. } | Item::Mac { .. } | Item::Whole(_))
}

/// Do a step that all three agreed on.
pub(crate) fn step(
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
            Work::Encrypting(Encrypting::begin(turn, loaded, aad, *length)?)
        }
        (Item::EncryptStream { aad, .. }, Some(loaded)) => {
            Work::Encrypting(Encrypting::begin_stream(turn, loaded, aad)?)
        }
        (Item::Decrypt { aad, length, iv, tag, .. }, Some(loaded)) => {
            Work::Decrypting(Decrypting::begin(turn, loaded, aad, *length, *iv, tag)?)
        }
        (Item::Whole(asked), Some(loaded)) => Work::Texting(Texting::begin(turn, loaded, asked)?),
        (Item::Hash { asked, .. }, _) => {
            Work::Digesting(Digesting::hash(turn, &digest::settings(asked, false)?)?)
        }
        (Item::Mac { asked, tag, .. }, Some(loaded)) => {
            Work::Digesting(Digesting::mac(turn, loaded, &digest::settings(asked, true)?, tag.as_ref())?)
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
