//! Known answers: many messages, each with its own key; all outputs are opened to all three
//! parties.

use super::aes_alone;
use super::options::choice;
use crate::strands::ONLINE;
use crate::{close, tags};
use divisi_core::{Abort, Counts, Misuse, PublicParameters, Session, Step, step};
use divisi_engine::job::{self, AnswersJob, CipherMode, MessagesJob, ModesJob, Own};
use divisi_engine::known::gcm::{self, Dealt, Secrets};
use divisi_engine::known::groups::{CipherTexts, groups, put};
use divisi_engine::known::hashes::{
    columns, ends, in_rows, keys_and_messages, lanes_of, large, outputs, rows_of,
};
use divisi_engine::known::one_shot;
use divisi_engine::known::taken;
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, EngineSettings, Prepared, Rows, StartedParty, Unsupported, Watch,
    alike, timed,
};
use divisi_net::{Machine, World};
use divisi_rep3::deal::{self, Part};
use divisi_rep3::{Bit, Block, Byte, Protocol, Rep3, Rounds, Security, Trio};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::batch::{self, byte_values};

const KNOWN: Step = step!("known");

const GCM_BY_LEVELS: &str =
    "--rounds constant has no GCM, whose products over GF(2^128) are not garbled: leave it out";

const BY_DEFAULT: &str = "the engine rep3 has no choice of --statistical for known answers: leave it out";

/// A job with known answers: messages in a mode, hashes and MACs of messages, chains, or large messages.
pub(super) struct KnownAnswers<'j> {
    job: &'j AnswersJob,
    protocol: Protocol,
    security: Security,
    rounds: Rounds,
}

impl<'j> KnownAnswers<'j> {
    /// # Errors
    /// [`Unsupported`] for an IV or a tag that this GCM does not support, for triple DES in GCM or in a mode
    /// that processes a message as a whole, for GCM in constant rounds, and for a statistical security, of
    /// which known answers have no choice.
    pub fn new(job: &'j AnswersJob, settings: &EngineSettings) -> Result<Self, Unsupported> {
        if let AnswersJob::Modes(messages) = job
            && messages.cipher.aes().is_none()
            && matches!(messages.mode, CipherMode::Gcm | CipherMode::OneShot(_))
        {
            return Err(aes_alone());
        }
        taken::check(job)?;
        if settings.statistical.is_some() {
            return Err(Unsupported::new(BY_DEFAULT));
        }
        let rounds = super::rounds(settings);
        if rounds == Rounds::Constant
            && matches!(job, AnswersJob::Modes(ModesJob { mode: CipherMode::Gcm, .. }))
        {
            return Err(Unsupported::new(GCM_BY_LEVELS));
        }
        Ok(KnownAnswers { job, protocol: choice(settings).protocol(), security: settings.security, rounds })
    }

    /// All secret bytes of a job, in the pieces and in the order in which [`Pieces`] returns them to a party.
    fn pieces(&self, rows: &Rows) -> Vec<Vec<u8>> {
        match self.job {
            AnswersJob::Modes(job) if job.mode == CipherMode::Gcm => {
                let halves = |row: &[u8]| {
                    let (key, message) = row.split_at(job.cipher.key_bytes().min(row.len()));
                    [key.to_vec(), message.to_vec()]
                };
                rows.iter().flat_map(halves).collect()
            }
            AnswersJob::Modes(job) if matches!(job.mode, CipherMode::OneShot(_)) => {
                let pieces = |batch: &one_shot::Batch<'_>| [batch.keys(rows), batch.secret(rows)].concat();
                one_shot::batches(job).iter().flat_map(pieces).collect()
            }
            AnswersJob::Modes(job) => {
                groups(job).iter().flat_map(|group| [group.keys(rows), group.secret(rows)].concat()).collect()
            }
            AnswersJob::Messages(job) => {
                let (keys, messages) = keys_and_messages(job, rows);
                keys.into_iter().chain(messages).collect()
            }
            AnswersJob::Chain(job) => columns(rows, 0, job.starts.iter().copied().max().unwrap_or(0)),
            AnswersJob::Large(job) => columns(rows, 0, job.content),
        }
    }
}

impl Prepared for KnownAnswers<'_> {
    fn parties(&self) -> usize {
        super::PARTIES
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        PublicParameters::new("rep3 known answers")
            .with("protocol", self.protocol.name().as_bytes())
            .with("security", self.security.name().as_bytes())
            .with("rounds", format!("{:?}", self.rounds).as_bytes())
            .with("count", &(count as u64).to_le_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::together(self.job.count(), warmup)
    }

    #[expect(clippy::disallowed_methods, reason = "a client deals, before any session")]
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let mut owns = vec![Own::default(); super::PARTIES];
        for piece in self.pieces(inputs) {
            for (own, part) in owns.iter_mut().zip(&deal::split(&piece, |out| Machine.entropy(out))) {
                own.extend_from_slice(&(part.first.len() as u64).to_le_bytes());
                own.extend_from_slice(&part.first);
                own.extend_from_slice(&part.second);
            }
        }
        owns
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        let mut rep = Rep3::new(Trio::new(session)?, self.protocol, self.security);
        rep.use_rounds(self.rounds);
        Ok(Box::new(Holder { job: self.job, rep }))
    }
}

struct Holder<'p> {
    job: &'p AnswersJob,
    rep: Rep3,
}

impl EngineParty for Holder<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (rep, mut pieces) = (&mut self.rep, Pieces { rest: own });
        if let AnswersJob::Large(job) = self.job {
            watch.meet(ONLINE)?;
            return Ok(Own::new(digests(rep, job, &mut pieces, watch)?));
        }
        let out = timed(watch, ONLINE, || match self.job {
            AnswersJob::Modes(job) if job.mode == CipherMode::Gcm => messages_of_gcm(rep, job, &mut pieces),
            AnswersJob::Modes(job) if matches!(job.mode, CipherMode::OneShot(_)) => {
                messages_at_once(rep, job, &mut pieces)
            }
            AnswersJob::Modes(job) => in_mode(rep, job, &mut pieces),
            AnswersJob::Messages(job) => messages(rep, job, &mut pieces),
            AnswersJob::Chain(job) => {
                let starts = pieces.inputs(rep, usize::MAX)?;
                let ends = ends(rep, job, starts)?;
                let ends = byte_values(rep, ends)?;
                let verified = close(rep, ends)?;
                Ok(in_rows(count, &rep.trio().open(&verified)?))
            }
            AnswersJob::Large(_) => Ok(Vec::new()),
        })?;
        Ok(Own::new(out))
    }

    fn meter(&mut self) -> Counts {
        self.rep.trio().session().meter().read()
    }
}

/// The shares that were dealt to a party, piece by piece.
struct Pieces<'o> {
    rest: &'o [u8],
}

impl<'o> Pieces<'o> {
    fn next_components(&mut self) -> Option<[&'o [u8]; 2]> {
        let (length, rest) = self.rest.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (first, rest) = rest.split_at_checked(length)?;
        let (second, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some([first, second])
    }

    fn next(&mut self) -> Option<Part> {
        let [first, second] = self.next_components()?.map(<[u8]>::to_vec);
        Some(Part { first, second })
    }

    /// Enter the next `most` parts as inputs, or as many as are left.
    fn inputs(&mut self, rep: &mut Rep3, most: usize) -> Result<Vec<Byte>, Abort> {
        let mut inputs = Vec::new();
        while inputs.len() < most
            && let Some(part) = self.next()
        {
            inputs.push(rep.trio().input(&part)?);
        }
        Ok(inputs)
    }
}

/// Two components of each share, as [`deal::split`] makes them.
struct Replicas;

impl Dealt<Rep3> for Replicas {
    fn enter(rep: &mut Rep3, components: Vec<Vec<u8>>) -> Result<Byte, Abort> {
        let [first, second] =
            components.try_into().map_err(|_| Abort::Misuse { step: KNOWN, what: Misuse::CountsDiffer })?;
        rep.trio().input(&Part { first, second })
    }

    fn ready(rep: &mut Rep3, key: &[Byte]) -> Result<(RoundKeys<Byte>, Block), Abort> {
        crate::cipher::expand_for_gcm(rep, key)
    }
}

fn messages_of_gcm(rep: &mut Rep3, job: &ModesJob, pieces: &mut Pieces<'_>) -> Result<Vec<u8>, Abort> {
    let secrets = std::iter::from_fn(|| {
        let (key, message) = pieces.next_components().zip(pieces.next_components())?;
        Some(Secrets { key: key.into(), message: message.into() })
    });
    let secrets: Vec<Secrets<'_>> = secrets.take(job.messages.len()).collect();
    gcm::messages::<Replicas, _>(rep, job, &secrets)
}

/// Messages in a mode that processes a message as a whole, batch by batch.
fn messages_at_once(rep: &mut Rep3, job: &ModesJob, pieces: &mut Pieces<'_>) -> Result<Vec<u8>, Abort> {
    let mut rows = one_shot::rejected(job);
    for batch in one_shot::batches(job) {
        let key = pieces.inputs(rep, job.key_bytes())?;
        let message = pieces.inputs(rep, batch.secret_bytes())?;
        let keys = batch.ready(rep, crate::cipher::expand, &key)?;
        one_shot::put(&mut rows, batch.run(rep, one_shot::OnBlocks, keys, &message)?);
    }
    Ok(rows.concat())
}

/// Messages in the other modes; tags (CMAC) only with triple DES.
fn in_mode(rep: &mut Rep3, job: &ModesJob, pieces: &mut Pieces<'_>) -> Result<Vec<u8>, Abort> {
    let mut rows = vec![Vec::new(); job.messages.len()];
    for group in groups(job) {
        let key = pieces.inputs(rep, job.cipher.key_bytes())?;
        let message = pieces.inputs(rep, group.lanes().len())?;
        let out = if job.cipher.aes().is_none() {
            let key = TripleByProgram::<Rep3>::new(key)?;
            if group.makes_tags() {
                let made = group.tags(rep, key, &message)?;
                let wanted = group.messages().map(|(_, message)| {
                    (message.tag_bytes, message.sealed.as_ref().map(|(_, tag)| tag.as_slice()))
                });
                let learned = tags::made_or_compared(rep, &wanted.collect::<Vec<_>>(), &made)?;
                put(&mut rows, group.messages().map(|(place, _)| place).zip(learned));
                continue;
            }
            group.evaluate(rep, &key, message)?
        } else if rep.rounds() == Rounds::Constant {
            group.evaluate(rep, &batch::block::BlockKey::new(key)?, message)?
        } else {
            let keys = crate::cipher::expand(rep, &key)?;
            group.evaluate(rep, &keys, message)?
        };
        let verified = close(rep, out)?;
        put(&mut rows, group.results(&rep.trio().open(&verified)?));
    }
    Ok(rows.concat())
}

/// Digests of messages that repeat their content inside the computation; those of messages of one length are
/// opened together.
fn digests(
    rep: &mut Rep3,
    job: &job::LargeJob,
    pieces: &mut Pieces<'_>,
    watch: &mut dyn Watch,
) -> Result<Vec<u8>, Abort> {
    let content = pieces.inputs(rep, job.content)?;
    let settled = |rep: &mut Rep3, state| Ok(close(rep, state)?.into_inner());
    let mut opened = Vec::new();
    for (lanes, digests) in large(rep, job, content, settled, watch)? {
        let digests = byte_values(rep, digests)?;
        let verified = close(rep, digests)?;
        opened.push((lanes, rep.trio().open(&verified)?));
    }
    Ok(rows_of(&opened, job.lengths.len()))
}

/// Hashes and MACs. Of an output that is only compared, nothing but the verdict is opened.
fn messages(rep: &mut Rep3, job: &MessagesJob, pieces: &mut Pieces<'_>) -> Result<Vec<u8>, Abort> {
    let key = pieces.inputs(rep, job.key_bytes)?;
    let messages = pieces.inputs(rep, usize::MAX)?;
    let function = tags::prepare(rep, &job.using, &key)?;
    let outputs =
        outputs(rep, job, function.get(), messages, |rep, state| Ok(close(rep, state)?.into_inner()))?;
    let all = || job.messages.iter().enumerate();
    let made: Vec<usize> = all().filter(|(_, message)| message.makes).map(|(lane, _)| lane).collect();
    let compared: Vec<(usize, Vec<u8>)> =
        all().filter_map(|(lane, message)| Some((lane, message.received.clone()?))).collect();
    let of_made = pick(&outputs, &made)?;
    let of_compared = pick(&outputs, &compared.iter().map(|(lane, _)| *lane).collect::<Vec<_>>())?;
    let mut opened = Vec::new();
    if !made.is_empty() {
        let bytes = byte_values(rep, of_made)?;
        let verified = close(rep, bytes)?;
        opened = rep.trio().open(&verified)?;
    }
    let mut same = Vec::new();
    if !compared.is_empty() {
        let received: Vec<Vec<u8>> = compared.into_iter().map(|(_, tag)| tag).collect();
        same = tags::matches(rep, of_compared, &received)?;
    }
    let (mut made, mut same) = (0.., same.into_iter());
    let mut out = Vec::new();
    for message in &job.messages {
        if message.makes {
            let at = made.next().unwrap_or(usize::MAX);
            out.extend(opened.iter().filter_map(|column| column.get(at).copied()));
        }
        if message.received.is_some() {
            out.extend(same.next().map(u8::from));
        }
    }
    Ok(out)
}

/// These lanes of all bytes.
fn pick(bytes: &[[Bit; 8]], lanes: &[usize]) -> Result<Vec<[Bit; 8]>, Abort> {
    lanes_of(bytes, lanes).ok_or(Abort::Misuse { step: KNOWN, what: Misuse::CountsDiffer })
}
