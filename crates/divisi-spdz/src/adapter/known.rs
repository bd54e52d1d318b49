//! Known answers: texts in ECB, CBC, CFB, OFB and CTR, and tags (CMAC), with AES and triple DES; with AES
//! also modes that process a text as a whole ([`wholes`]). Party 1 gives the keys, party 2 the texts, and all
//! parties learn the outputs; of a tag that is compared they learn only whether it is right.

use super::begin::{ONLINE, OUTPUTS, engine};
use super::cipher::{OnSpdz, announced, brought};
use super::evaluate::{EngineSlot, Keyed, evaluate};
use super::how::{How, Named, Task};
use super::needs::{self, Needs};
use super::{by_field, wholes};
use crate::{AuthBit, AuthByte, Host, Spdz};
use divisi_core::{Abort, Counts, Direction, Lanes, PublicParameters, Session, Settles, Step, step};
use divisi_engine::job::{
    Cipher, CipherMode, Job, MessagesJob, Own, PublicMessage, PublicText, TextsJob, Whole,
};
use divisi_engine::known::groups::{Chained, CipherTexts, SeparateBlocks, TextGroup, groups};
use divisi_engine::known::taken;
use divisi_engine::known::whole;
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Unwatched, Watch, alike,
};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::algorithm::Algorithm;
use divisi_symmetric::des::TripleKey;
use divisi_symmetric::mode::cmac;

const KNOWN: Step = step!("known");

/// A job with known answers, also in the form of texts.
pub(super) struct KnownAnswers<'j> {
    job: &'j Job,
    /// The job as texts: a message of CMAC is one text, whose tag is made, compared, or both, as the job
    /// says.
    texts: TextsJob,
    how: How,
    named: Named,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for a mode, hash or cipher for which the engine has no protocol.
    pub fn new(job: &'j Job, how: How) -> Result<Self, Unsupported> {
        let texts = match job {
            Job::Texts(texts) if texts.mode == CipherMode::Gcm => {
                return Err(Unsupported::new(
                    "GCM, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            Job::Texts(texts) if texts.mode == CipherMode::Whole(Whole::GcmSiv) => {
                return Err(Unsupported::new(
                    "GCM-SIV, whose products in GF(2^128) the engine spdz does not have",
                ));
            }
            Job::Texts(texts) if matches!(texts.mode, CipherMode::Whole(_)) => {
                wholes::check(texts, &how)?;
                texts.clone()
            }
            Job::Texts(texts) => texts.clone(),
            Job::Messages(messages) => tags(messages)?,
            Job::Chain(_) | Job::Large(_) => {
                return Err(Unsupported::new("a hash, which the engine spdz does not have"));
            }
            Job::Circuit(_) | Job::Blocks(_) | Job::Digests(_) | Job::Lookups(_) | Job::Own(_) => {
                return Err(Unsupported::new("a job without texts or messages"));
            }
        };
        taken::check(job)?;
        let named = how.protocol(texts.cipher)?;
        Ok(KnownAnswers { job, texts, how, named })
    }

    /// One party of texts that are not processed as wholes, on a session.
    fn begin<'p, F: Host + 'p, C: OnSpdz<F> + 'p>(
        &'p self,
        session: Session,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let (texts, key_bytes) = (&self.texts, self.texts.cipher.key_bytes());
        let mut needs = Needs::default();
        for group in groups(texts) {
            let (keys, secret) = (group.texts().count(), group.lanes().into_iter().sum());
            needs = needs.known(needs::party(0), keys * key_bytes).known(needs::party(1), secret);
            needs = needs.cipher(self.named, key_bytes, keys, group.blocks());
        }
        let e = engine::<F>(session, &self.how, self.named.protocol, &needs.plan())?;
        let holder = Holder::<F, C> {
            of: self,
            slot: EngineSlot::new(e, &self.how),
            cipher: std::marker::PhantomData,
        };
        Ok(Box::new(holder))
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
    let text = |message: &PublicMessage| PublicText {
        direction: Direction::Encrypt,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: message.bytes,
        spare_bits: 0,
        tag_bytes: job.using.output_bytes,
        sealed: None,
    };
    let texts = job.messages.iter().map(text).collect();
    Ok(TextsJob { mode: CipherMode::Cmac, cipher: Cipher::Aes(size), texts })
}

/// What is done with a tag: whether it is opened, and the received tag with which it is compared.
struct Wanted<'j> {
    makes: bool,
    received: Option<&'j [u8]>,
}

fn wanted(job: &Job, place: usize) -> Wanted<'_> {
    match job {
        Job::Messages(messages) => {
            let message = messages.messages.get(place);
            let received = message.and_then(|message| message.received.as_deref());
            Wanted { makes: message.is_some_and(|message| message.makes), received }
        }
        Job::Texts(texts) => {
            let text = texts.texts.get(place);
            let received = text.and_then(|text| text.sealed.as_ref()).map(|(_, tag)| tag.as_slice());
            Wanted { makes: received.is_none(), received }
        }
        _ => Wanted { makes: false, received: None },
    }
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
        BenchSchedule { batch: self.job.count(), warmup: (warmup, self.job.count()), one_session: false }
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

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn EngineParty + 'p>, Abort> {
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
    cipher: std::marker::PhantomData<fn() -> C>,
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
            let keys = brought::<F, C>(e, 0, &vec![lanes; self.of.texts.cipher.key_bytes()], &mut rest)?;
            let text = brought::<F, C>(e, 1, &group.lanes(), &mut rest)?;
            for (place, row) in self.through(&group, keys, text)? {
                if let Some(to) = rows.get_mut(place) {
                    *to = row;
                }
            }
        }
        self.slot.get()?.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.get().map_or_else(|_| Counts::default(), |e| e.session().meter().read())
    }
}

impl<F: Host, C: OnSpdz<F>> Holder<'_, F, C> {
    /// The output rows of a group, with their positions in the job.
    fn through(
        &mut self,
        group: &TextGroup<'_>,
        bytes: Vec<C::Byte>,
        text: Vec<C::Byte>,
    ) -> Result<Vec<(usize, Vec<u8>)>, Abort> {
        let named = self.of.named;
        let e = self.slot.get()?;
        let cipher = C::schedule(e, &bytes)?;
        let (bytes, cipher) = e.settled((bytes, cipher))?.into_inner();
        if self.of.texts.mode == CipherMode::Cmac && named.tiny {
            let tags = self.tiny_tags(group, Keyed { bytes, cipher }, &text)?;
            return self.tags(group, tags);
        }
        if self.of.texts.mode == CipherMode::Cmac {
            C::ahead(e, named, bytes.len(), group.blocks())?;
            C::load(e, named, Direction::Encrypt)?;
            e.session().phase(ONLINE);
            let tags = group.tags(e, cipher, &text)?;
            return self.tags(group, tags);
        }
        let key = Keyed { bytes, cipher };
        let (out, _) = evaluate(&mut self.slot, named, &key, group, text, &mut Unwatched)?;
        let e = self.slot.get()?;
        e.session().phase(OUTPUTS);
        Ok(group.results(&C::open(e, out)?))
    }

    /// Tags by a protocol that runs over masks first. It runs twice: for E(0), from which the engine makes
    /// the subkeys by doubling, and for the chain of all blocks.
    fn tiny_tags(
        &mut self,
        group: &TextGroup<'_>,
        key: Keyed<F, C>,
        text: &[C::Byte],
    ) -> Result<Vec<C::Byte>, Abort> {
        let (named, lanes) = (self.of.named, group.texts().count());
        let zeros = C::public_block(self.slot.get()?, &vec![vec![0; lanes]; C::BYTES]);
        let apart = SeparateBlocks { direction: Direction::Encrypt, count: lanes };
        let (l, _) = evaluate(&mut self.slot, named, &key, &apart, zeros, &mut Unwatched)?;
        let text = cmac::chained::<Spdz<F>, C>(self.slot.get()?, l.into_inner(), lanes, text)?;
        let chain = Chained { lanes, blocks: text.len() / C::BYTES };
        let (tags, _) = evaluate(&mut self.slot, named, &key, &chain, text, &mut Unwatched)?;
        Ok(tags.into_inner())
    }

    /// The output rows of tags, which are opened, compared with received ones \[A23\], or both.
    fn tags(&mut self, group: &TextGroup<'_>, tags: Vec<C::Byte>) -> Result<Vec<(usize, Vec<u8>)>, Abort> {
        let misfit = || Abort::Misuse { step: KNOWN, what: "not one tag for each message" };
        let e = self.slot.get()?;
        let mut opened = Vec::new();
        let mut differences = Vec::new();
        for (lane, (place, text)) in group.texts().enumerate() {
            let wanted = wanted(self.of.job, place);
            let own: Option<Vec<C::Byte>> =
                tags.iter().take(text.tag_bytes).map(|byte| byte.gather(&[lane])).collect();
            let own = own.ok_or_else(misfit)?;
            if wanted.makes {
                opened.extend(own.iter().cloned());
            }
            if let Some(received) = wanted.received {
                let known: Vec<Vec<u8>> = received.iter().map(|byte| vec![*byte]).collect();
                let mut difference = own;
                let known = C::public_block(e, &known);
                C::add_block(e, &mut difference, &known)?;
                differences.push(difference);
            }
        }
        let same = if differences.is_empty() { Vec::new() } else { C::vanish(e, differences)? };
        let columns = if opened.is_empty() {
            Vec::new()
        } else {
            let verified = e.settled(opened)?;
            C::open(e, verified)?
        };
        let (mut made, mut same) = (columns.concat().into_iter(), same.into_iter());
        let row = |(place, text): (usize, &PublicText)| {
            let wanted = wanted(self.of.job, place);
            let mut row = Vec::new();
            if wanted.makes {
                row.extend(made.by_ref().take(text.tag_bytes));
            }
            if wanted.received.is_some() {
                row.extend(same.next().map(u8::from));
            }
            (place, row)
        };
        Ok(group.texts().map(row).collect())
    }
}
