//! One step of a request: what steps of all kinds have in common.

use super::iv::{coin, iv_for};
use super::ready::Ready;
use crate::admit::{What, Who};
use crate::error::{Failed, Stop};
use crate::request::{ToClient, context};
use crate::server::admission::{LOAD, find, into_use};
use crate::server::agreement::{About, agree, public};
use crate::server::found::Loaded;
use crate::server::node::Node;
use crate::server::scheduling::{After, Offer};
use divisi_core::{Abort, PartyId, Step};
use divisi_rep3::Rep3;
use divisi_rep3::checks;
use divisi_rep3::deal::{NOTHING, Part};
use divisi_store::{KeyInfo, KeyName};
use std::time::Duration;

/// A step that is being done, and what it needs.
pub(crate) struct StepRun<'a> {
    pub node: &'a Node,
    pub rep: &'a mut Rep3,
    pub ready: &'a mut Ready,
    pub who: &'a Who,
    pub offer: Offer,
    /// A digest of client, connection, number and contents of the request.
    pub request: [u8; 32],
    /// Whether short messages of others run in between: long steps are then cut small.
    pub small_steps: bool,
}

impl StepRun<'_> {
    /// This server's number.
    pub fn me(&self) -> PartyId {
        self.node.me
    }

    /// Queue an answer for the client.
    pub fn answer(&self, answer: ToClient) {
        self.node.answer(&self.offer.connection, self.offer.number, answer);
    }

    /// The context that an answer about chunk `index` is bound to.
    pub fn context(&self, index: u64) -> [u8; 32] {
        context(&self.offer.connection, self.offer.number, index)
    }

    /// Go on if this succeeded at all three servers; else fail at all of them.
    pub fn all<T>(&mut self, step: Step, mine: Result<T, Failed>) -> Result<T, Stop> {
        let public = public(&self.request, step, &[]);
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
        let public = public(&self.request, step, extra);
        agree(self.rep, step, checks::A26, &public, mine, About::Key(name))
    }

    /// Load a key for an operation that does not count as a use of it \[A26\].
    pub fn load(
        &mut self,
        name: &KeyName,
        what: impl for<'k> Fn(&'k KeyInfo) -> What<'k>,
    ) -> Result<Loaded, Stop> {
        let found = find(self.node, self.who, name, what);
        let agreed = found.as_ref().map_or([0; 32], |found| found.compared().0);
        let mine = found.as_ref().map(|found| found.compared().1).map_err(Clone::clone);
        self.agree_key(LOAD, name.as_str(), &agreed, mine)?;
        Ok(into_use(self.node, found?))
    }

    /// A fresh IV, or a nonce, for the message of this request alone, under the key with this id.
    pub fn draw_iv<const N: usize>(&mut self, purpose: &str, key: &[u8; 16]) -> Result<[u8; N], Stop> {
        let coin = coin(self.rep)?;
        Ok(iv_for(purpose, &coin, key, &self.offer.connection, self.offer.number))
    }
}

/// Note how a step ended, and how much of the processor's time it took here.
pub(crate) fn ended(
    node: &Node,
    offer: &Offer,
    result: Result<After, Stop>,
    took: Duration,
) -> Result<(), Abort> {
    match result {
        Ok(after) => node.schedule(|schedule, now| schedule.ran(offer, after, took, now)),
        Err(Stop::Refused(failed)) => node.schedule(|schedule, now| {
            schedule.charge(offer, took, now);
            schedule.fail(&offer.connection, offer.number, failed, now);
        }),
        Err(Stop::Abort(abort)) => return Err(abort),
    }
    Ok(())
}
