//! Whether this server admits a request before its first step, and the key that it found for it. Each server
//! decides by itself, with its own policy and its own store; a request that one server refuses is refused.

use super::algorithms::{
    function_serves, function_settings, gcm_serves, gcm_takes, mode_serves, mode_takes, tag_fits,
};
use crate::admit::{What, Who};
use crate::error::Failed;
use crate::request::Item;
use crate::server::found::{Found, Loaded};
use crate::server::node::Node;
use divisi_core::Step;
use divisi_rep3::deal::Part;
use divisi_store::{KeyInfo, KeyName, KeyState, StoreError};

pub(crate) const LOAD: Step = Step::new("divisi_node::server::keys/load");

/// Find a key for one use.
pub(crate) fn find(
    node: &Node,
    who: &Who,
    name: &KeyName,
    what: impl for<'a> Fn(&'a KeyInfo) -> What<'a>,
) -> Result<Found, Failed> {
    let refused = |e: StoreError| stored(node, LOAD, name, &e);
    let missing = || node.stores().lacks_key(node.me, LOAD, name);
    let key = node.keys.load(name).map_err(refused)?.ok_or_else(missing)?;
    if key.info.state != KeyState::Prepared {
        node.keys.active(name, node.me.number()).map_err(refused)?;
    }
    what(&key.info).is_purpose()?;
    let grant = node.admit.admit(who, &what(&key.info))?;
    let secret = key.secret.ok_or_else(missing)?;
    let part = Part { first: secret.first.to_vec(), second: secret.second.to_vec() };
    Ok(Found::granted(name.clone(), key.info, part, grant))
}

/// Count a use of a key durably, before the use.
pub(crate) fn count(node: &Node, found: &Found) -> Result<(), Failed> {
    let name = found.name();
    node.keys.reserve(name, 1).map(drop).map_err(|e| stored(node, LOAD, name, &e))
}

/// The key, after all three found it equal.
pub(crate) fn into_use(node: &Node, found: Found) -> Loaded {
    let (name, info) = (found.name(), found.info());
    if info.state == KeyState::Prepared {
        // the others have it, too: it is finished; if this cannot be written, the next use will try again
        if let Err(e) = node.keys.activate(name, &info.id) {
            node.log(&format!("key {name} stays prepared here: {e}"));
        }
    }
    found.agreed()
}

/// The failure that a client receives when the store refuses. What is wrong with this server's file is in the
/// log, for its operator.
pub(crate) fn stored(node: &Node, step: Step, name: &KeyName, error: &StoreError) -> Failed {
    let me = node.me;
    let message = match error {
        StoreError::Missing(_)
        | StoreError::Exists(_)
        | StoreError::Destroyed(_)
        | StoreError::Unfinished(_)
        | StoreError::Exhausted(_)
        | StoreError::TooLarge(_) => error.to_string(),
        other => {
            node.log(&format!("key {name} at {step}: {other}"));
            if other.is_full() {
                let what = format!("the disk of {me} is full, and key {name} is unchanged");
                return Failed::refused(
                    step,
                    format!("{what}: have its operator free some space, then try again"),
                );
            }
            format!("the file of key {name} at {me} is damaged or cannot be used: the log of {me} says why")
        }
    };
    Failed::refused(step, message)
}

/// Check a request before its first step, by this server alone, and find the key that it uses.
pub(crate) fn admit(node: &Node, who: &Who, item: &Item) -> Result<Option<Found>, Failed> {
    node.knows(who)?;
    let found = match item {
        Item::Encrypt { key, aad, length, .. } => {
            let found = find(node, who, key, |key| What::Encrypt(key))?;
            gcm_serves(found.info())?;
            gcm_takes(aad, *length)?;
            found
        }
        Item::EncryptStream { key, aad, .. } => {
            let found = find(node, who, key, |key| What::Encrypt(key))?;
            gcm_serves(found.info())?;
            gcm_takes(aad, 0)?;
            found
        }
        Item::Decrypt { key, aad, length, .. } => {
            let found = find(node, who, key, |key| What::Decrypt(key))?;
            gcm_serves(found.info())?;
            gcm_takes(aad, *length)?;
            found
        }
        Item::Mode(asked) => {
            let found = if asked.encrypts {
                find(node, who, &asked.key, |key| What::Encrypt(key))?
            } else {
                find(node, who, &asked.key, |key| What::Decrypt(key))?
            };
            mode_serves(found.info(), asked.mode)?;
            mode_takes(asked)?;
            found
        }
        Item::Mac { key, asked, tag, .. } => {
            let found = find(node, who, key, |key| What::Mac(key))?;
            let settings = function_settings(asked, true)?;
            tag.as_ref().map_or(Ok(()), |tag| tag_fits(&settings, tag))?;
            function_serves(found.info(), &settings)?;
            found
        }
        Item::Hash { asked, .. } => {
            node.admit.admit(who, &What::Hash)?;
            function_settings(asked, false)?;
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

/// Whether a request counts as a use of its key: encryption with GCM, a tag that is made or compared,
/// whatever the outcome, and encryption and decryption in the other modes.
pub(crate) fn is_counted(item: &Item) -> bool {
    matches!(item, Item::Encrypt { .. } | Item::EncryptStream { .. } | Item::Mac { .. } | Item::Mode(_))
}
