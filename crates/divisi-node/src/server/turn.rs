//! One step of a request: what steps of all kinds have in common.

use super::Node;
use super::intake::Offer;
use crate::admit::Who;
use crate::agree::{About, agree};
use crate::error::{Failed, Stop};
use crate::request::{ToClient, context};
use divisi_core::{PartyId, Step};
use divisi_rep3::Rep3;
use divisi_rep3::checks;
use divisi_rep3::deal::{NOTHING, Part};
use divisi_store::{KeyName, StoreError};

use super::ready::Ready;

/// A step that is being done, and what it needs.
pub(crate) struct Turn<'a> {
    pub node: &'a Node,
    pub rep: &'a mut Rep3,
    pub ready: &'a mut Ready,
    pub who: &'a Who,
    pub offer: Offer,
    /// A digest of client, connection, number and contents of the request.
    pub request: [u8; 32],
    /// Whether short texts of others run in between: long steps are then cut small.
    pub brisk: bool,
}

impl Turn<'_> {
    /// This server's number.
    pub fn me(&self) -> PartyId {
        self.node.me
    }

    /// Queue an answer for the client.
    pub fn answer(&self, answer: ToClient) {
        self.node.shared.answer(&self.offer.connection, self.offer.number, answer);
    }

    /// The context that an answer about chunk `index` is bound to.
    pub fn context(&self, index: u64) -> [u8; 32] {
        context(&self.offer.connection, self.offer.number, index)
    }

    /// Go on if this succeeded at all three servers; else fail at all of them.
    pub fn all<T>(&mut self, step: Step, mine: Result<T, Failed>) -> Result<T, Stop> {
        let public = self.public(step, &[]);
        let about = About::Client(&self.who.name);
        let agreed = match &mine {
            Ok(_) => agree(self.rep, step, checks::A25, &public, Ok(&NOTHING), about),
            Err(failed) => agree(self.rep, step, checks::A25, &public, Err(failed.clone()), about),
        };
        agreed?;
        Ok(mine?)
    }

    /// Compare a stored key \[A26\]: `extra` is its public data.
    pub fn agree_key(
        &mut self,
        step: Step,
        name: &str,
        extra: &[u8],
        mine: Result<&Part, Failed>,
    ) -> Result<(), Stop> {
        let public = self.public(step, extra);
        agree(self.rep, step, checks::A26, &public, mine, About::Key(name))
    }

    /// A digest of the public data of something that is compared.
    pub fn public(&self, step: Step, extra: &[u8]) -> [u8; 32] {
        public(&self.request, step, extra)
    }

    /// The failure that a client receives when the store refuses. What is wrong with this server's file is in
    /// the log, for its operator.
    pub fn stored(&self, step: Step, name: &KeyName, error: &StoreError) -> Failed {
        stored(self.node, step, name, error)
    }
}

/// Like [`Turn::stored`], before a step.
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
                return Failed::refused(step, format!("{what}: have its operator make room, then try again"));
            }
            format!("the file of key {name} at {me} is damaged or cannot be used: the log of {me} says why")
        }
    };
    Failed::refused(step, message)
}

/// A digest of all that is public about something that is compared for a request.
pub(crate) fn public(request: &[u8; 32], step: Step, extra: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 agreed input v2");
    hasher.update(request);
    for part in [step.name.as_bytes(), extra] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}
