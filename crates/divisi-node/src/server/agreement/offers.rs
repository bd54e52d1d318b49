//! What a server has of each offer, and the comparison with what the two others have.

use super::comparison::{About, public, verdict_of};
use super::data::StepData;
use super::fate::{Fate, Mine, fate};
use crate::error::Failed;
use crate::request::{AAD, ConnectionId, Item};
use crate::server::found::Found;
use crate::server::node::Node;
use crate::server::scheduling::{Budget, Offer, RoundPlan, Taken, cost, kind};
use divisi_core::{Abort, ComparedDigest, PartyId, Step};
use divisi_rep3::checks;
use divisi_rep3::deal::NOTHING;
use divisi_rep3::{Agreement, ComparedInput, Lack, Rep3, Rounds};
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;

const LOAD: Step = Step::new("divisi_node::server::dispatch/load");
const REQUEST: Step = Step::new("divisi_node::server::dispatch/request");

/// An offer of this round, with what this server has of it.
pub(crate) struct Candidate {
    pub offer: Offer,
    /// A digest of client, connection, number and contents of the request.
    pub request: [u8; 32],
    pub step: Step,
    pub taken: Taken,
    pub data: StepData,
    /// The key that the first step uses.
    pub found: Option<Found>,
}

/// Compare what the three servers have, and how the programs of the round run; the candidates that remain are
/// the same at all. Beside them, the offers that are refused. A round of two messages for all offers
/// together.
pub(crate) fn agree_offers(
    node: &Node,
    rep: &mut Rep3,
    rounds: Rounds,
    offers: &[Offer],
    mine: Vec<Result<Candidate, Missing>>,
) -> Result<(Vec<Candidate>, Vec<Offer>), Abort> {
    let mut inputs = Vec::with_capacity(2 * offers.len());
    for candidate in &mine {
        inputs.extend(match candidate {
            Ok(candidate) => candidate.inputs(),
            Err(missing) => {
                let part = Err(missing.lack());
                [checks::A24, checks::A26].map(|check| ComparedInput { check, public: [0; 32], part })
            }
        });
    }
    let verdicts = rep.trio().agree_list(&list(rounds, offers), &inputs)?;
    drop(inputs);
    let (mut agreed, mut refused) = (Vec::new(), Vec::new());
    for ((offer, candidate), verdicts) in offers.iter().zip(mine).zip(verdicts.as_chunks::<2>().0) {
        let [data, key] = *verdicts;
        let mine = match &candidate {
            Ok(_) => Mine::All,
            Err(Missing::NotYet) => Mine::NotYet,
            Err(Missing::Refused(_)) => Mine::Refused,
        };
        match (fate(mine, data, key), candidate) {
            (Fate::Do, Ok(candidate)) => agreed.push(candidate),
            (Fate::Back(party), Ok(candidate)) => {
                let messages = candidate.taken.messages;
                node.schedule(|schedule, now| schedule.put_back(offer, messages, party, now));
            }
            (Fate::Wait, _) => node.schedule(|schedule, _| schedule.was_late(offer)),
            (_, candidate) => {
                if refuse(node, offer, candidate, data, key) {
                    refused.push(*offer);
                }
            }
        }
    }
    Ok((agreed, refused))
}

/// A digest of what a round does, and how.
fn list(rounds: Rounds, offers: &[Offer]) -> [u8; 32] {
    let mut list = blake3::Hasher::new_derive_key("divisi 2026 offers v1");
    list.update(&[u8::from(rounds == Rounds::Constant)]);
    for Offer { connection, number, step } in offers {
        list.update(connection).update(&number.to_le_bytes()).update(&step.to_le_bytes());
    }
    list.to_compare()
}

/// Tell a client that its request is refused, for a reason of this server's own or as the comparison says;
/// false if this server knows of no such request.
fn refuse(
    node: &Node,
    offer: &Offer,
    mine: Result<Candidate, Missing>,
    data: Agreement,
    key: Agreement,
) -> bool {
    let failed = match mine {
        Err(Missing::Refused(Some(failed))) => failed,
        Err(Missing::Refused(None)) => return false,
        Err(Missing::NotYet) => {
            // the messages have not arrived here yet, and the two others found that they differ
            let name = node.schedule(|schedule, _| schedule.name(&offer.connection));
            let about = || About::Client(name.as_deref().unwrap_or("that is not here"));
            let otherwise = || hearsay([data, key], REQUEST, about, "another server refused the request");
            reason(data, REQUEST, about()).unwrap_or_else(otherwise)
        }
        Ok(candidate) => {
            let step = if data == Agreement::SecretDiffers { candidate.taken.step } else { candidate.step };
            let about = || About::Client(&candidate.taken.who.name);
            let about_key = |name: &KeyName| reason(key, LOAD, About::Key(name.as_str()));
            let about_key = || candidate.taken.item.key().and_then(about_key);
            let otherwise = || hearsay([key, data], step, about, "the request was refused");
            reason(data, step, about()).or_else(about_key).unwrap_or_else(otherwise)
        }
    };
    node.fail(&offer.connection, offer.number, failed);
    true
}

/// Why a request is refused, if it is for this verdict. What a server has not received yet refuses nothing:
/// there is another reason.
fn reason(verdict: Agreement, step: Step, about: About<'_>) -> Option<Failed> {
    match verdict {
        Agreement::NotYet(_) => None,
        _ => verdict_of(verdict, step, about).err(),
    }
}

/// A refusal by what others said: by the party that refuses its part, if these verdicts name one. A client
/// believes whoever refuses for a reason of its own rather than this.
fn hearsay<'a>(
    verdicts: [Agreement; 2],
    step: Step,
    about: impl Fn() -> About<'a>,
    otherwise: &str,
) -> Failed {
    let missing = verdicts.into_iter().find(|verdict| matches!(verdict, Agreement::Missing(_)));
    let named = missing.and_then(|verdict| verdict_of(verdict, step, about()).err());
    let failed = named.unwrap_or_else(|| Failed::refused(step, otherwise));
    Failed { hearsay: true, ..failed }
}

/// Of the requests that all three servers have, take those that fit into a round, whatever the leader
/// offered. The others go back and wait. `is_ready` says whether a key is loaded.
pub(crate) fn within_budget(
    node: &Node,
    leader: PartyId,
    agreed: Vec<Candidate>,
    is_ready: impl Fn(&[u8; 16]) -> bool,
) -> Vec<Candidate> {
    let mut left = RoundPlan::new(Budget::ROUND);
    let mut kept = Vec::with_capacity(agreed.len());
    for candidate in agreed {
        let item = &candidate.taken.item;
        let info = candidate.found.as_ref().map(|found| found.info());
        let makes = info.map(|info| info.id).filter(|id| !is_ready(id));
        let size = info.and_then(|info| KeySize::from_bytes(info.kind.bytes()));
        if left.take(kind(item), cost(item, size), makes) {
            kept.push(candidate);
        } else {
            let messages = candidate.taken.messages;
            let offer = &candidate.offer;
            node.schedule(|schedule, now| schedule.put_back(offer, messages, leader, now));
        }
    }
    kept
}

/// Why this server has nothing of an offer.
pub(crate) enum Missing {
    NotYet,
    /// The server refuses the offer for a reason of its own, which its client is told; `None` if it knows of
    /// no such request.
    Refused(Option<Failed>),
}

impl Missing {
    fn lack(&self) -> Lack {
        match self {
            Missing::NotYet => Lack::NotYet,
            Missing::Refused(_) => Lack::Missing,
        }
    }
}

impl Candidate {
    pub fn new(offer: Offer, taken: Taken, data: StepData, found: Option<Found>) -> Candidate {
        let request = digest(&taken, &offer.connection, offer.number);
        let step = if offer.step == 0 { REQUEST } else { taken.step };
        Candidate { offer, request, step, taken, data, found }
    }

    /// What is compared: what the client sent, and the key, if one is used.
    fn inputs(&self) -> [ComparedInput<'_>; 2] {
        let numbered = [&self.offer.step.to_le_bytes()[..], &self.data.public()].concat();
        let (check, part) = match self.data.secret() {
            Some(part) => (checks::A24, part),
            None => (checks::A25, &NOTHING),
        };
        let data =
            ComparedInput { check, public: public(&self.request, self.step, &numbered), part: Ok(part) };
        let (agreed, part) = self.found.as_ref().map_or(([0; 32], &NOTHING), Found::compared);
        [
            data,
            ComparedInput {
                check: checks::A26,
                public: public(&self.request, LOAD, &agreed),
                part: Ok(part),
            },
        ]
    }
}

/// All that is public about a request, and who asks.
fn digest(taken: &Taken, connection: &ConnectionId, number: u64) -> [u8; 32] {
    let who = &taken.who;
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 request v2");
    hasher
        .update(&(who.name.len() as u64).to_le_bytes())
        .update(who.name.as_bytes())
        .update(&who.fingerprint);
    hasher.update(connection).update(&number.to_le_bytes());
    // never longer than what was decoded, so that there is always an encoding
    let item: &Item = &taken.item;
    hasher.update(&crate::wire::encode(item, AAD).unwrap_or_default());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
