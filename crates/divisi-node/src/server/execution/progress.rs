//! The state of a request between two of its steps, and its next step.

use super::digest::Digesting;
use super::gcm::{Decrypting, Encrypting};
use super::modes::ModeRun;
use super::step::StepRun;
use super::{clients, keys};
use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, Item, ToClient};
use crate::server::admission::function_settings;
use crate::server::agreement::{StepData, unexpected};
use crate::server::found::Loaded;
use crate::server::node::Node;
use crate::server::scheduling::{After, Offer};
use std::collections::HashMap;

/// Requests that have begun and are not done, by connection and number.
pub(crate) type InProgress = HashMap<(ConnectionId, u64), Progress>;

/// Wipe the data of requests that are over; returns whether there were any.
pub(crate) fn forget_ended(node: &Node, in_progress: &mut InProgress) -> bool {
    let before = in_progress.len();
    node.schedule(|schedule, _| in_progress.retain(|(id, number), _| schedule.has(id, *number)));
    in_progress.len() < before
}

/// A request under way.
pub(crate) enum Progress {
    Encrypting(Encrypting),
    Decrypting(Decrypting),
    Digesting(Digesting),
    Mode(ModeRun),
}

/// Do a step that all three agreed on.
pub(crate) fn run_step(
    run: &mut StepRun<'_>,
    in_progress: &mut InProgress,
    item: &Item,
    data: &StepData,
    loaded: Option<&Loaded>,
) -> Result<After, Stop> {
    if let Item::Encrypt { way, .. } | Item::EncryptStream { way, .. } | Item::Decrypt { way, .. } = item {
        run.rep.use_protocol(way.0);
    }
    let Offer { connection, number, step } = run.offer;
    if step == 0 {
        return begin(run, in_progress, item, data, loaded);
    }
    // the step itself puts it back, unless it is done or fails
    let work = in_progress.remove(&(connection, number)).ok_or_else(|| unexpected(run.me()))?;
    let (work, after) = match (work, data, item) {
        (Progress::Encrypting(work), StepData::Finish, _) => return work.finish(run),
        (Progress::Mode(mut work), StepData::Finish, _) => {
            let after = work.finish(run)?;
            (Progress::Mode(work), after)
        }
        (Progress::Mode(mut work), ..) => {
            let after = work.piece(run, data)?;
            (Progress::Mode(work), after)
        }
        (Progress::Digesting(work), StepData::Finish, Item::Mac { tag, .. }) => {
            return work.finish(run, tag.as_ref());
        }
        (Progress::Digesting(work), StepData::Finish, _) => return work.finish(run, None),
        (Progress::Encrypting(mut work), ..) => {
            let after = work.chunk(run, data)?;
            (Progress::Encrypting(work), after)
        }
        (Progress::Decrypting(mut work), StepData::Finish, _) => {
            let after = work.finish(run)?;
            (Progress::Decrypting(work), after)
        }
        (Progress::Decrypting(mut work), ..) => {
            let after = work.chunk(run, data)?;
            (Progress::Decrypting(work), after)
        }
        (Progress::Digesting(mut work), ..) => {
            let after = work.piece(run, data)?;
            (Progress::Digesting(work), after)
        }
    };
    if after != After::Done {
        in_progress.insert((connection, number), work);
    }
    Ok(after)
}

fn begin(
    run: &mut StepRun<'_>,
    in_progress: &mut InProgress,
    item: &Item,
    data: &StepData,
    loaded: Option<&Loaded>,
) -> Result<After, Stop> {
    let work = match (item, loaded) {
        (Item::KeyNew(new), _) => return keys::make(run, new, None).map(|()| After::Done),
        (Item::KeyImport(new), _) => {
            let part = data.secret().cloned().ok_or_else(|| unexpected(run.me()))?;
            run.answer(ToClient::Accepted);
            return keys::make(run, new, Some(part)).map(|()| After::Done);
        }
        (Item::KeyList { after }, _) => return keys::list(run, after.as_ref()).map(|()| After::Done),
        (Item::KeyExport { name }, _) => return keys::export(run, name).map(|()| After::Done),
        (Item::KeyServe(asked), _) => return clients::change(run, asked).map(|()| After::Done),
        (Item::KeyDestroy { name }, _) => {
            return keys::destroy(run, name, &mut |node| forget_ended(node, in_progress))
                .map(|()| After::Done);
        }
        (Item::Encrypt { aad, length, .. }, Some(loaded)) => {
            Progress::Encrypting(Encrypting::begin(run, loaded, aad, Some(*length))?)
        }
        (Item::EncryptStream { aad, .. }, Some(loaded)) => {
            Progress::Encrypting(Encrypting::begin(run, loaded, aad, None)?)
        }
        (Item::Decrypt { aad, length, iv, tag, .. }, Some(loaded)) => {
            Progress::Decrypting(Decrypting::begin(run, loaded, aad, *length, *iv, tag)?)
        }
        (Item::Mode(asked), Some(loaded)) => Progress::Mode(ModeRun::begin(run, loaded, asked)?),
        (Item::Hash { asked, .. }, _) => {
            Progress::Digesting(Digesting::hash(run, &function_settings(asked, false)?)?)
        }
        (Item::Mac { asked, tag, .. }, Some(loaded)) => {
            Progress::Digesting(Digesting::mac(run, loaded, &function_settings(asked, true)?, tag.as_ref())?)
        }
        (_, None) => return Err(unexpected(run.me())),
    };
    in_progress.insert((run.offer.connection, run.offer.number), work);
    Ok(After::More { in_hand: false })
}

impl Progress {
    /// Whether this server agrees to the messages of a step.
    pub fn admits(&self, data: &StepData) -> Result<(), Failed> {
        match self {
            Progress::Encrypting(work) => work.admits(data),
            Progress::Decrypting(work) => work.admits(data),
            _ => Ok(()),
        }
    }
}
