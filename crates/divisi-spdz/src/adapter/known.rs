//! Known answers: texts in ECB, CBC, CFB, OFB and CTR, and tags (CMAC), with AES and triple DES; with AES
//! also modes that process a text as a whole ([`wholes`]). Party 1 gives the keys, party 2 the texts, and all
//! parties learn the outputs; of a tag that is compared they learn only whether it is right.

use super::begin::engine;
use super::how::How;
use super::wholes;
use crate::ciphers::groups::rows as rows_of;
use crate::ciphers::run::EngineSlot;
use crate::ciphers::{OnSpdz, WantedTag, announced, brought};
use crate::protocol::{NamedProtocol, Task, by_field};
use crate::stock::Needs;
use crate::{AuthBit, AuthByte, Host};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_engine::job::{AnswersJob, CipherMode, MessagesJob, Own, PublicText, TextsJob, Whole};
use divisi_engine::known::groups::{CipherTexts, TextGroup, groups, put, tags_as_texts};
use divisi_engine::known::taken;
use divisi_engine::known::whole;
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Prepared, Rows, StartedParty, Unsupported, Watch, alike,
};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::algorithm::Algorithm;
use divisi_symmetric::des::TripleKey;
use std::marker::PhantomData;

/// A job with known answers, also in the form of texts.
pub(super) struct KnownAnswers<'j> {
    job: &'j AnswersJob,
    /// The job as texts: a message of CMAC is one text, whose tag is made, compared, or both, as the job
    /// says.
    texts: TextsJob,
    how: How,
    named: NamedProtocol,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for a mode, hash or cipher for which the engine has no protocol.
    pub fn new(job: &'j AnswersJob, how: How) -> Result<Self, Unsupported> {
        let texts = match job {
            AnswersJob::Texts(texts) if texts.mode == CipherMode::Gcm => {
                return Err(Unsupported::new(
                    "GCM, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            AnswersJob::Texts(texts) if texts.mode == CipherMode::Whole(Whole::GcmSiv) => {
                return Err(Unsupported::new(
                    "GCM-SIV, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            AnswersJob::Texts(texts) if matches!(texts.mode, CipherMode::Whole(_)) => {
                wholes::check(texts, &how)?;
                texts.clone()
            }
            AnswersJob::Texts(texts) => texts.clone(),
            AnswersJob::Messages(messages) => tags(messages)?,
            AnswersJob::Chain(_) | AnswersJob::Large(_) => {
                return Err(Unsupported::new("a hash, which the engine spdz does not have"));
            }
        };
        taken::check(job)?;
        let named = how.protocol(texts.cipher)?;
        Ok(KnownAnswers { job, texts, how, named })
    }

    /// One party of texts that are not processed as wholes, on a session.
    fn begin<'p, F: Host + 'p, C: OnSpdz<F> + 'p>(&'p self, session: Session) -> StartedParty<'p> {
        let (texts, key_bytes) = (&self.texts, self.texts.cipher.key_bytes());
        let mut needs = Needs::default();
        for group in groups(texts) {
            let (keys, secret) = (group.texts().count(), group.lanes().into_iter().sum());
            needs = needs.known(PartyId::P1, keys * key_bytes).known(PartyId::P2, secret);
            needs = needs.cipher(self.named, key_bytes, keys, group.blocks());
        }
        let e = engine::<F>(session, &self.how, self.named.protocol, &needs.plan())?;
        let slot = EngineSlot::new(e, self.how.stock.is_some());
        Ok(Box::new(Holder::<F, C> { of: self, slot, cipher: PhantomData }))
    }
}

/// Messages of CMAC as texts. Whether the tag of each is made, compared or both is left to the job
/// ([`wanted`]).
fn tags(job: &MessagesJob) -> Result<TextsJob, Unsupported> {
    if matches!(job.using.algorithm, Algorithm::Gmac(_)) {
        return Err(Unsupported::new("GMAC, whose products in GF(2^128) the engine spdz does not have"));
    }
    let Algorithm::Cmac(size) = job.using.algorithm else {
        return Err(Unsupported::new("a hash or MAC other than CMAC, which the engine spdz does not have"));
    };
    Ok(tags_as_texts(job, size))
}

/// What is done with the tag of a text.
fn wanted<'t>(job: &'t AnswersJob, place: usize, text: &PublicText) -> WantedTag<'t> {
    let (makes, received) = match job {
        AnswersJob::Messages(messages) => {
            let message = messages.messages.get(place);
            let received = message.and_then(|message| message.received.as_deref());
            (message.is_some_and(|message| message.makes), received)
        }
        AnswersJob::Texts(texts) => {
            let text = texts.texts.get(place);
            let received = text.and_then(|text| text.sealed.as_ref()).map(|(_, tag)| tag.as_slice());
            (received.is_none(), received)
        }
        _ => (false, None),
    };
    WantedTag { bytes: text.tag_bytes, makes, received }
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

    /// Deal the inputs, group by group: the keys belong to party 1, the texts to party 2.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let mut owns = vec![Own::default(); self.how.parties];
        let batches = whole::batches(&self.texts);
        let of_groups =
            groups(&self.texts).into_iter().map(|group| [group.keys(inputs), group.secret(inputs)]);
        let of_batches = batches.iter().map(|batch| [batch.keys(inputs), batch.secret(inputs)]);
        let pieces: Vec<_> = match self.texts.mode {
            CipherMode::Whole(_) => of_batches.collect(),
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
        if let CipherMode::Whole(_) = self.texts.mode {
            let (texts, how) = (&self.texts, &self.how);
            return by_field!(how.field, F => wholes::begin::<F>(texts, how, self.named, session));
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
        let (texts, key_bytes) = (&self.of.texts, self.of.texts.cipher.key_bytes());
        let keys = groups(texts).iter().map(|group| group.texts().count() * key_bytes).sum();
        let secret = groups(texts).iter().flat_map(TextGroup::lanes).sum();
        announced(self.slot.get()?, [keys, secret])?;
        for group in groups(&self.of.texts) {
            let lanes = group.texts().count();
            let e = self.slot.get()?;
            let keys =
                brought::<F, C>(e, PartyId::P1, &vec![lanes; self.of.texts.cipher.key_bytes()], &mut rest)?;
            let text = brought::<F, C>(e, PartyId::P2, &group.lanes(), &mut rest)?;
            let wanted = group.texts().map(|(place, text)| wanted(self.of.job, place, text));
            let wanted: Vec<_> = wanted.collect();
            let (slot, named) = (&mut self.slot, self.of.named);
            put(&mut rows, rows_of::<F, C>(slot, named, &group, &wanted, (keys, text))?);
        }
        self.slot.get()?.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.meter()
    }
}
