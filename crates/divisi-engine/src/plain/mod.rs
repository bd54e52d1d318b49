//! One party, in the clear: the reference for known answers on the other engines.
//!
//! Adversary: none; the party that runs it knows all secrets.

use super::job::{AnswersJob, Cipher, CipherMode, MessagesJob, ModesJob, Own};
use super::known::gcm::{self, Dealt, Secrets};
use super::known::groups::{CipherTexts, ModeGroup, groups};
use super::known::hashes::{columns, ends, in_rows, keys_and_messages, large, outputs, rows_of};
use super::known::one_shot;
use super::known::taken;
use super::{
    BenchSchedule, Clock, Differ, Engine, EngineOption, EngineParty, EngineSettings, Jobs, Prepared,
    PreparedJob, Prepares, Profile, Rows, StartedParty, Unsupported, Watch, alike, timed,
};
use divisi_core::{Abort, Blocks, Bytes, Counts, Opens, Plain, PlainBit, PublicParameters, Session};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::{Function, byte_values};
use divisi_symmetric::des::TripleKey;
use divisi_symmetric::mode::block::{BlockCipher, Octet};
use divisi_symmetric::mode::cmac::Doubles;

/// The engine that computes in the clear.
pub struct InTheClear;

const PHASES: &[Clock] = &[Clock::online("online", &["online"])];

impl Engine for InTheClear {
    fn profile(&self) -> Profile {
        Profile {
            // both are accepted, and have no effect
            options: ["priority", "protocol", "rounds"].map(EngineOption::declared).into(),
            ..Profile::new("plain", "Evaluation in the clear by one party: known answers only", 1..=1)
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { answers: Some(self), long_answers: true, ..Jobs::default() }
    }

    fn check(&self, _: &EngineSettings) -> Result<(), Unsupported> {
        Ok(())
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    fn statistical_bits(&self, _: &EngineSettings) -> Option<u32> {
        None
    }
}

impl Prepares<AnswersJob> for InTheClear {
    fn prepare<'j>(&self, job: &'j AnswersJob, _: &EngineSettings) -> PreparedJob<'j> {
        taken::check(job)?;
        Ok(Box::new(KnownAnswers { job }))
    }
}

/// Known answers.
struct KnownAnswers<'j> {
    job: &'j AnswersJob,
}

impl Prepared for KnownAnswers<'_> {
    fn parties(&self) -> usize {
        1
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        PublicParameters::new("plain").with("count", &(count as u64).to_le_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::together(self.job.count(), warmup)
    }

    /// The one party has all rows, one behind the other.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        vec![Own::new(inputs.bytes().to_vec())]
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        Ok(Box::new(Alone { job: self.job, session }))
    }
}

struct Alone<'p> {
    job: &'p AnswersJob,
    session: Session,
}

impl EngineParty for Alone<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        self.session.phase("online");
        let rows = Rows::cut(own.to_vec(), (0..count).map(|i| self.job.input_bytes(i)));
        if let AnswersJob::Large(job) = self.job {
            watch.meet("online")?;
            let content = public(&columns(&rows, 0, job.content));
            let mut opened = Vec::new();
            for (lanes, digests) in large(&mut Plain, job, content, |_, state| Ok(state), watch)? {
                opened.push((lanes, values(digests)?));
            }
            return Ok(Own::new(rows_of(&opened, count)));
        }
        let out = timed(watch, "online", || match self.job {
            AnswersJob::Modes(job) if job.mode == CipherMode::Gcm => messages_of_gcm(job, &rows),
            AnswersJob::Modes(job) if matches!(job.mode, CipherMode::OneShot(_)) => whole(job, &rows),
            AnswersJob::Modes(job) => in_mode(job, &rows),
            AnswersJob::Messages(job) => messages(job, &rows),
            AnswersJob::Chain(job) => {
                let longest = job.starts.iter().copied().max().unwrap_or(0);
                let starts = public(&columns(&rows, 0, longest));
                let ends = ends(&mut Plain, job, starts)?;
                Ok(in_rows(count, &values(ends)?))
            }
            AnswersJob::Large(_) => Ok(Vec::new()),
        })?;
        Ok(Own::new(out))
    }

    fn meter(&mut self) -> Counts {
        self.session.meter().read()
    }
}

type Byte = <Plain as Bytes>::Byte;

fn public(columns: &[Vec<u8>]) -> Vec<Byte> {
    columns.iter().map(|column| Plain.public(column)).collect()
}

fn values(bytes: Vec<divisi_symmetric::batch::SecretByte<Plain>>) -> Result<Vec<Vec<u8>>, Abort> {
    Ok(byte_values(&mut Plain, bytes)?.iter().map(|byte| byte.values().to_vec()).collect())
}

impl Dealt<Plain> for InTheClear {
    fn enter(e: &mut Plain, components: Vec<Vec<u8>>) -> Result<Byte, Abort> {
        Ok(e.public(&components.concat()))
    }

    fn ready(e: &mut Plain, key: &[Byte]) -> Result<(RoundKeys<Byte>, <Plain as Blocks>::Block), Abort> {
        divisi_symmetric::mode::gcm::expand(e, key)
    }
}

fn messages_of_gcm(job: &ModesJob, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let secrets = rows.iter().map(|row| {
        let (key, message) = row.split_at(job.cipher.key_bytes().min(row.len()));
        Secrets { key: vec![key], message: vec![message] }
    });
    gcm::messages::<InTheClear, _>(&mut Plain, job, &secrets.collect::<Vec<_>>())
}

/// Messages in a mode that processes a message as a whole, batch by batch.
fn whole(job: &ModesJob, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let mut all = one_shot::rejected(job);
    for batch in one_shot::batches(job) {
        let (key, message) = (public(&batch.keys(rows)), public(&batch.secret(rows)));
        let keys = batch.ready(&mut Plain, aes::expand, &key)?;
        one_shot::put(&mut all, batch.run(&mut Plain, one_shot::OnBlocks, keys, &message)?);
    }
    Ok(all.concat())
}

/// Messages of a mode without GHASH, over either cipher.
fn in_mode(job: &ModesJob, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let mut all = vec![Vec::new(); job.messages.len()];
    for group in groups(job) {
        let results = match job.cipher {
            Cipher::Aes(_) => {
                let key = public(&group.keys(rows));
                through(&group, rows, &aes::expand(&mut Plain, &key)?, |bytes| Plain.reveal(bytes))?
            }
            Cipher::TripleDes(_) => {
                let bytes = TripleKey::<PlainBit>::public_block(&mut Plain, &group.keys(rows));
                let key = TripleKey::new(&Octet::into_bits(bytes))?;
                through(&group, rows, &key, |bytes| {
                    let bits = Plain.reveal(Octet::into_bits(bytes))?;
                    let lanes = |bits: &[Vec<bool>]| bits.first().map_or(0, Vec::len);
                    let byte = |bits: &[Vec<bool>], lane: usize| {
                        bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(bit.get(lane) == Some(&true)))
                    };
                    Ok(bits.chunks(8).map(|bits| (0..lanes(bits)).map(|l| byte(bits, l)).collect()).collect())
                })?
            }
        };
        for (place, result) in results {
            let received =
                job.messages.get(place).and_then(|message| message.sealed.as_ref()).map(|(_, tag)| tag);
            let row = match received {
                Some(tag) if job.mode == CipherMode::Cmac => vec![u8::from(*tag == result)],
                _ => result,
            };
            if let Some(to) = all.get_mut(place) {
                *to = row;
            }
        }
    }
    Ok(all.concat())
}

/// The results of a group of messages under their keys, with their positions in the job.
fn through<C: Doubles<Plain> + Clone>(
    group: &ModeGroup<'_>,
    rows: &Rows,
    cipher: &C,
    open: impl Fn(Vec<C::Byte>) -> Result<Vec<Vec<u8>>, Abort>,
) -> Result<Vec<(usize, Vec<u8>)>, Abort> {
    let message = C::public_block(&mut Plain, &group.secret(rows));
    let out = if group.makes_tags() {
        group.tags(&mut Plain, cipher.clone(), &message)?
    } else {
        group.evaluate(&mut Plain, cipher, message)?
    };
    Ok(group.results(&open(out)?))
}

/// Hashes and MACs.
fn messages(job: &MessagesJob, rows: &Rows) -> Result<Vec<u8>, Abort> {
    let (key, messages) = keys_and_messages(job, rows);
    let function = Function::prepare(&mut Plain, &job.using, &public(&key))?;
    let outputs = values(outputs(&mut Plain, job, &function, public(&messages), |_, state| Ok(state))?)?;
    let mut all = Vec::new();
    for (lane, message) in job.messages.iter().enumerate() {
        let output: Vec<u8> = outputs.iter().filter_map(|column| column.get(lane).copied()).collect();
        if message.makes {
            all.extend_from_slice(&output);
        }
        all.extend(message.received.as_ref().map(|received| u8::from(*received == output)));
    }
    Ok(all)
}
