//! What a server has of each offer, and the comparison with what the two others have.

use super::{LOAD, REQUEST};
use crate::agree::{About, verdict_of};
use crate::error::Failed;
use crate::request::{ConnectionId, Item};
use crate::server::given::Given;
use crate::server::intake::{Offer, Stand, Taken};
use crate::server::keys::Found;
use crate::server::round::{Fate, Mine, fate};
use crate::server::state::{Candidate, ServerState};
use crate::server::turn::public;
use crate::server::work::{Work, admit, is_counted};
use divisi_core::Abort;
use divisi_rep3::checks;
use divisi_rep3::deal::NOTHING;
use divisi_rep3::{Agreement, ComparedInput, Lack, Rounds};
use divisi_store::KeyName;

impl ServerState<'_> {
    /// What this server has of an offer.
    pub(super) fn candidate(&mut self, offer: &Offer) -> Result<Candidate, Missing> {
        let node = self.node;
        let taken = match node.shared.with(|intake, _| intake.take(offer)) {
            Stand::Ready(taken) => taken,
            Stand::NotYet => return Err(Missing::NotYet),
            Stand::Missing => return Err(Missing::Refused(None)),
        };
        let refused = |failed: Failed| Missing::Refused(Some(failed));
        node.has_store().map_err(refused)?;
        let given = Given::of(&taken.item, &offer.connection, offer.number, &taken.messages);
        let found = if offer.step == 0 {
            let found = admit(node, &taken.who, &taken.item).map_err(refused)?;
            if let Some(found) = found.as_ref().filter(|_| is_counted(&taken.item))
                && self.counted.insert((offer.connection, offer.number))
            {
                // count the use durably before it happens, and once, however often the step is offered
                found.count(node).map_err(refused)?;
            }
            found
        } else {
            let work = self.under.get(&(offer.connection, offer.number));
            work.map_or(Ok(()), |work: &Work| work.admits(&given)).map_err(refused)?;
            None
        };
        let request = digest(&taken, &offer.connection, offer.number);
        let step = if offer.step == 0 { REQUEST } else { taken.step };
        Ok(Candidate { offer: *offer, request, step, taken, given, found })
    }

    /// Compare what the three servers have; the candidates that remain are the same at all. A round of two
    /// messages for all offers together.
    pub(super) fn agree(
        &mut self,
        offers: &[Offer],
        mine: Vec<Result<Candidate, Missing>>,
    ) -> Result<Vec<Candidate>, Abort> {
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
        let mut list = blake3::Hasher::new_derive_key("divisi 2026 offers v1");
        list.update(&[u8::from(self.rounds == Rounds::Constant)]);
        for Offer { connection, number, step } in offers {
            list.update(connection).update(&number.to_le_bytes()).update(&step.to_le_bytes());
        }
        let verdicts = self.rep.trio().agree_list(list.finalize().as_bytes(), &inputs)?;
        drop(inputs);
        let mut agreed = Vec::new();
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
                    self.node.shared.with(|intake, now| intake.put_back(offer, messages, party, now));
                }
                (Fate::Wait, _) => self.node.shared.with(|intake, _| intake.was_late(offer)),
                (_, candidate) => self.refuse(offer, candidate, data, key),
            }
        }
        Ok(agreed)
    }

    /// Tell a client that its request is refused, for a reason of this server's own or as the comparison
    /// says.
    fn refuse(&mut self, offer: &Offer, mine: Result<Candidate, Missing>, data: Agreement, key: Agreement) {
        let failed = match mine {
            Err(Missing::Refused(Some(failed))) => failed,
            Err(Missing::Refused(None)) => return,
            Err(Missing::NotYet) => {
                // the messages have not arrived here yet, and the two others found that they differ
                let name = self.node.shared.with(|intake, _| intake.name(&offer.connection));
                let about = About::Client(name.as_deref().unwrap_or("that is not here"));
                let otherwise = || Failed::refused(REQUEST, "another server refused the request");
                verdict_of(data, REQUEST, about).err().unwrap_or_else(otherwise)
            }
            Ok(candidate) => {
                let step =
                    if data == Agreement::SecretDiffers { candidate.taken.step } else { candidate.step };
                let about_data = verdict_of(data, step, About::Client(&candidate.taken.who.name));
                let about_key = |name: &KeyName| verdict_of(key, LOAD, About::Key(name.as_str()));
                let about_key = candidate.taken.item.key().map_or(Ok(()), about_key);
                let otherwise = || Failed::refused(step, "the request was refused");
                about_data.and(about_key).err().unwrap_or_else(otherwise)
            }
        };
        self.under.remove(&(offer.connection, offer.number));
        self.node.shared.fail(&offer.connection, offer.number, failed);
    }
}

/// Why this server has nothing of an offer.
pub(super) enum Missing {
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
    /// What is compared: what the client sent, and the key, if one is used.
    fn inputs(&self) -> [ComparedInput<'_>; 2] {
        let numbered = [&self.offer.step.to_le_bytes()[..], &self.given.public()].concat();
        let (check, part) = match self.given.secret() {
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
    hasher.update(&crate::wire::encode(item, crate::AAD).unwrap_or_default());
    *hasher.finalize().as_bytes()
}
