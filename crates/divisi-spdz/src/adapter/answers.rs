//! Known answers: messages in ECB, CBC, CFB, OFB and CTR, and tags (CMAC), with AES and triple DES; with AES
//! also modes that process a message as a whole ([`one_shot`]). Party 1 gives the keys, party 2 the messages,
//! and all parties learn the outputs; of a tag that is compared they learn only whether it is right.

use super::begin::engine;
use super::how::How;
use super::one_shot;
use crate::ciphers::groups::rows as rows_of;
use crate::ciphers::run::EngineSlot;
use crate::ciphers::{OnSpdz, WantedTag, announced, brought};
use crate::protocol::{NamedProtocol, Task, by_field};
use crate::stock::Needs;
use crate::{AuthBit, AuthByte, Host};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_engine::job::{AnswersJob, CipherMode, MessagesJob, ModeMessage, ModesJob, OneShot, Own};
use divisi_engine::known::groups::{CipherTexts, ModeGroup, groups, put, tags_as_messages};
use divisi_engine::known::one_shot as batches_of;
use divisi_engine::known::taken;
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Prepared, Rows, StartedParty, Unsupported, Watch, alike,
};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::algorithm::Algorithm;
use divisi_symmetric::des::TripleKey;
use std::marker::PhantomData;

/// A job with known answers, also in the form of messages.
pub(super) struct KnownAnswers<'j> {
    job: &'j AnswersJob,
    /// The job as messages of a mode: a message of CMAC is one, whose tag is made, compared, or both, as the
    /// job says.
    messages: ModesJob,
    how: How,
    named: NamedProtocol,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for a mode, hash or cipher for which the engine has no protocol.
    pub fn new(job: &'j AnswersJob, how: How) -> Result<Self, Unsupported> {
        let messages = match job {
            AnswersJob::Modes(messages) if messages.mode == CipherMode::Gcm => {
                return Err(Unsupported::new(
                    "GCM, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            AnswersJob::Modes(messages) if messages.mode == CipherMode::OneShot(OneShot::GcmSiv) => {
                return Err(Unsupported::new(
                    "GCM-SIV, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            AnswersJob::Modes(messages) if matches!(messages.mode, CipherMode::OneShot(_)) => {
                one_shot::check(messages, &how)?;
                messages.clone()
            }
            AnswersJob::Modes(messages) => messages.clone(),
            AnswersJob::Messages(messages) => tags(messages)?,
            AnswersJob::Chain(_) | AnswersJob::Large(_) => {
                return Err(Unsupported::new("a hash, which the engine spdz does not have"));
            }
        };
        taken::check(job)?;
        let named = how.protocol(messages.cipher)?;
        Ok(KnownAnswers { job, messages, how, named })
    }

    /// One party of messages that are not processed as wholes, on a session.
    fn begin<'p, F: Host + 'p, C: OnSpdz<F> + 'p>(&'p self, session: Session) -> StartedParty<'p> {
        let (messages, key_bytes) = (&self.messages, self.messages.cipher.key_bytes());
        let mut needs = Needs::default();
        for group in groups(messages) {
            let (keys, secret) = (group.messages().count(), group.lanes().into_iter().sum());
            needs = needs.known(PartyId::P1, keys * key_bytes).known(PartyId::P2, secret);
            needs = needs.cipher(self.named, key_bytes, keys, group.blocks());
        }
        let e = engine::<F>(session, &self.how, self.named.protocol, &needs.plan())?;
        let slot = EngineSlot::new(e, self.how.stock.is_some());
        Ok(Box::new(Holder::<F, C> { of: self, slot, cipher: PhantomData }))
    }
}

/// Messages of CMAC as messages of a mode. Whether the tag of each is made, compared or both is left to the
/// job ([`wanted`]).
fn tags(job: &MessagesJob) -> Result<ModesJob, Unsupported> {
    if matches!(job.using.algorithm, Algorithm::Gmac(_)) {
        return Err(Unsupported::new("GMAC, whose products in GF(2^128) the engine spdz does not have"));
    }
    let Algorithm::Cmac(size) = job.using.algorithm else {
        return Err(Unsupported::new("a hash or MAC other than CMAC, which the engine spdz does not have"));
    };
    Ok(tags_as_messages(job, size))
}

/// What is done with the tag of a message.
fn wanted<'t>(job: &'t AnswersJob, place: usize, message: &ModeMessage) -> WantedTag<'t> {
    let (makes, received) = match job {
        AnswersJob::Messages(messages) => {
            let message = messages.messages.get(place);
            let received = message.and_then(|message| message.received.as_deref());
            (message.is_some_and(|message| message.makes), received)
        }
        AnswersJob::Modes(messages) => {
            let message = messages.messages.get(place);
            let received = message.and_then(|message| message.sealed.as_ref()).map(|(_, tag)| tag.as_slice());
            (received.is_none(), received)
        }
        _ => (false, None),
    };
    WantedTag { bytes: message.tag_bytes, makes, received }
}

impl Prepared for KnownAnswers<'_> {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters =
            PublicParameters::new("spdz known answers").with("named", self.named.name.as_bytes());
        self.how.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::together(self.job.count(), warmup)
    }

    /// Deal the inputs, group by group: the keys belong to party 1, the messages to party 2.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let mut owns = vec![Own::default(); self.how.parties];
        let batches = batches_of::batches(&self.messages);
        let of_groups =
            groups(&self.messages).into_iter().map(|group| [group.keys(inputs), group.secret(inputs)]);
        let of_batches = batches.iter().map(|batch| [batch.keys(inputs), batch.secret(inputs)]);
        let pieces: Vec<_> = match self.messages.mode {
            CipherMode::OneShot(_) => of_batches.collect(),
            _ => of_groups.collect(),
        };
        for pieces in pieces {
            for (own, columns) in owns.iter_mut().zip(pieces) {
                own.extend(columns.concat());
            }
        }
        owns
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        if let CipherMode::OneShot(_) = self.messages.mode {
            let (messages, how) = (&self.messages, &self.how);
            return by_field!(how.field, F => one_shot::begin::<F>(messages, how, self.named, session));
        }
        by_field!(self.how.field, F => match self.named.task == Task::Aes {
            true => self.begin::<F, RoundKeys<AuthByte<F>>>(session),
            false => self.begin::<F, TripleKey<AuthBit<F>>>(session),
        })
    }
}

struct Holder<'p, F: Host, C: OnSpdz<F>> {
    of: &'p KnownAnswers<'p>,
    slot: EngineSlot<F>,
    cipher: PhantomData<fn() -> C>,
}

impl<F: Host, C: OnSpdz<F>> EngineParty for Holder<'_, F, C> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let mut rows = vec![Vec::new(); count];
        let mut rest = own.as_slice();
        let (messages, key_bytes) = (&self.of.messages, self.of.messages.cipher.key_bytes());
        let keys = groups(messages).iter().map(|group| group.messages().count() * key_bytes).sum();
        let secret = groups(messages).iter().flat_map(ModeGroup::lanes).sum();
        announced(self.slot.get()?, [keys, secret])?;
        for group in groups(&self.of.messages) {
            let lanes = group.messages().count();
            let e = self.slot.get()?;
            let keys = brought::<F, C>(
                e,
                PartyId::P1,
                &vec![lanes; self.of.messages.cipher.key_bytes()],
                &mut rest,
            )?;
            let message = brought::<F, C>(e, PartyId::P2, &group.lanes(), &mut rest)?;
            let wanted = group.messages().map(|(place, message)| wanted(self.of.job, place, message));
            let wanted: Vec<_> = wanted.collect();
            let (slot, named) = (&mut self.slot, self.of.named);
            put(&mut rows, rows_of::<F, C>(slot, named, &group, &wanted, (keys, message))?);
        }
        self.slot.get()?.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.meter()
    }
}
