//! The encoding of a job for another process, which reads the files named in it again.

use super::{Between, BlocksJob, Cipher, CircuitJob, DigestsJob, Job, LookupJob, UserTable};
use crate::circuit::hold;
use crate::{Engine, Failure};
use divisi_core::{Direction, PartyId};
use divisi_symmetric::algorithm::Settings as Use;
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::sync::Arc;

/// A job as one process sends it to another: all kinds but those of known answers.
#[derive(Serialize, Deserialize)]
enum Message {
    Circuit {
        name: OsString,
        low_depth: bool,
        in_file: bool,
        digest: [u8; 32],
        /// The owner of each input value, and the receivers of each output value.
        between: Option<(Vec<u8>, Vec<Vec<u8>>)>,
        count: u64,
    },
    Blocks {
        cipher: String,
        key_bytes: u32,
        decrypt: bool,
        count: u64,
    },
    Digests {
        algorithm: String,
        low_depth: bool,
        message_bytes: u64,
        count: u64,
    },
    /// A job of the engine alone, as the engine writes it.
    Own(Vec<u8>),
    Lookups {
        entries: u64,
        inputs: u64,
        dimensions: Option<u64>,
        count: u64,
        /// The entries of the user's table; none for a table of bytes.
        table: Vec<u16>,
    },
}

fn numbers(parties: &[PartyId]) -> Vec<u8> {
    parties.iter().map(|party| party.number()).collect()
}

fn parties(numbers: &[u8]) -> Vec<PartyId> {
    numbers.iter().filter_map(|number| PartyId::new(*number)).collect()
}

impl Job {
    /// The job as a message to another process of this program; `in_file` says whether a circuit stays in its
    /// file.
    ///
    /// # Errors
    /// [`Failure`] for a job that only runs within one process.
    pub fn message(&self, in_file: bool) -> Result<Vec<u8>, Failure> {
        let message = Message::new(self, in_file)?;
        postcard::to_stdvec(&message).map_err(|e| Failure::unavailable(format!("a job cannot be sent ({e})")))
    }

    /// The job in a message, with the circuit or program read from its file again.
    ///
    /// # Errors
    /// [`Failure`] if the message is none, or a file cannot be read or has changed.
    pub fn read(message: &[u8], engine: &dyn Engine) -> Result<Job, Failure> {
        let message: Message = postcard::from_bytes(message)
            .map_err(|_| Failure::usage("a job of no form: start all parties with one version of divisi"))?;
        message.job(engine)
    }
}

impl Message {
    /// The message for a job; `in_file` says whether a circuit stays in its file.
    ///
    /// # Errors
    /// [`Failure`] for a job that only runs within one process.
    fn new(job: &Job, in_file: bool) -> Result<Message, Failure> {
        Ok(match job {
            Job::Circuit(job) => Message::Circuit {
                name: job.circuit.name().exact().to_owned(),
                low_depth: job.adder == Adder::LowDepth,
                in_file,
                digest: job.circuit.digest(),
                between: match &job.between {
                    Between::Parties { owners, receivers } => {
                        Some((numbers(owners), receivers.iter().map(|list| numbers(list)).collect()))
                    }
                    Between::Client => None,
                },
                count: job.count as u64,
            },
            Job::Blocks(job) => Message::Blocks {
                cipher: job.cipher.name().to_owned(),
                key_bytes: job.cipher.key_bytes() as u32,
                decrypt: job.direction == Direction::Decrypt,
                count: job.count as u64,
            },
            Job::Digests(job) => Message::Digests {
                algorithm: job.using.algorithm.name(),
                low_depth: job.using.adder == Adder::LowDepth,
                message_bytes: job.message_bytes as u64,
                count: job.count as u64,
            },
            Job::Lookups(job) => Message::Lookups {
                entries: job.entries as u64,
                inputs: job.inputs as u64,
                dimensions: job.dimensions.map(|n| n as u64),
                count: job.count as u64,
                table: job.table.as_ref().map_or_else(Vec::new, |table| table.entries().to_vec()),
            },
            Job::Own(job) => Message::Own(job.message()),
            Job::Texts(_) | Job::Messages(_) | Job::Chain(_) | Job::Large(_) => {
                return Err(Failure::usage("known answers run in a single process: use `divisi kat`"));
            }
        })
    }

    /// The job, with the circuit or program read from its file again.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be read, or has changed.
    fn job(self, engine: &dyn Engine) -> Result<Job, Failure> {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let adder = |low_depth| if low_depth { Adder::LowDepth } else { Adder::FewestAnds };
        Ok(match self {
            Message::Circuit { name, low_depth, in_file, digest, between, count } => {
                let adder = adder(low_depth);
                let circuit = hold(name, adder, in_file)?;
                if circuit.digest() != digest {
                    let error = format!("{} has changed meanwhile: leave it as it is", circuit.name());
                    return Err(Failure::usage(error));
                }
                let between = between.map_or(Between::Client, |(owners, receivers)| Between::Parties {
                    owners: parties(&owners),
                    receivers: receivers.iter().map(|list| parties(list)).collect(),
                });
                Job::Circuit(CircuitJob { circuit: Arc::new(circuit), adder, between, count: number(count) })
            }
            Message::Blocks { cipher, key_bytes, decrypt, count } => Job::Blocks(BlocksJob {
                cipher: Cipher::from_key(&cipher, key_bytes as usize)
                    .ok_or_else(|| Failure::usage("no such key size: give 128, 192 or 256"))?,
                direction: if decrypt { Direction::Decrypt } else { Direction::Encrypt },
                count: number(count),
            }),
            Message::Digests { algorithm, low_depth, message_bytes, count } => Job::Digests(DigestsJob {
                using: Use {
                    adder: adder(low_depth),
                    ..Use::new(algorithm.parse().map_err(|e: String| Failure::usage(e))?)
                },
                message_bytes: number(message_bytes),
                count: number(count),
            }),
            Message::Own(message) => {
                let own = engine.jobs().own.ok_or_else(|| Failure::usage("a job that no engine has"))?;
                Job::Own(own.read(&message)?)
            }
            Message::Lookups { entries, inputs, dimensions, count, table } => Job::Lookups(LookupJob {
                entries: number(entries),
                inputs: number(inputs),
                dimensions: dimensions.map(number),
                count: number(count),
                table: match table.as_slice() {
                    [] => None,
                    _ => Some(Arc::new(UserTable::new(table).map_err(Failure::usage)?)),
                },
            }),
        })
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;

    /// Jobs of each kind. A message that is accepted is encoded again in the same way, also after it was
    /// turned into a job, if that needs no file.
    #[test]
    fn random_jobs() {
        let seeds = [
            Message::Circuit {
                name: "and.txt".into(),
                low_depth: true,
                in_file: false,
                digest: [7; 32],
                between: Some((vec![1, 2], vec![vec![3], vec![1, 3]])),
                count: 300,
            },
            Message::Blocks { cipher: "aes".into(), key_bytes: 16, decrypt: false, count: 5 },
            Message::Digests { algorithm: "sha256".into(), low_depth: true, message_bytes: 64, count: 2 },
            Message::Own(vec![1, 3, 98, 50, 97, 32, 8, 0, 9]),
            Message::Lookups { entries: 256, inputs: 3, dimensions: Some(2), count: 4, table: Vec::new() },
            Message::Lookups {
                entries: 4,
                inputs: 1,
                dimensions: None,
                count: 4,
                table: vec![0, 1, 8, 0xffff],
            },
        ];
        let encode = |message: &Message| postcard::to_stdvec(message).unwrap_or_default();
        let seeds: Vec<Vec<u8>> = seeds.iter().map(encode).collect();
        divisi_fuzz::golden("jobs", env!("CARGO_MANIFEST_DIR"), &seeds);
        divisi_fuzz::run("jobs", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Ok(message) = postcard::from_bytes::<Message>(bytes) else { return Ok(false) };
            let once = encode(&message);
            let twice = postcard::from_bytes::<Message>(&once).map(|message| encode(&message));
            if twice.is_ok_and(|twice| twice != once) {
                return Err("another job".into());
            }
            if matches!(message, Message::Circuit { .. } | Message::Own(_)) {
                return Ok(true);
            }
            let Ok(job) = message.job(&crate::plain::InTheClear) else { return Ok(true) };
            match Message::new(&job, false) {
                Ok(same) if encode(&same) == once => Ok(true),
                _ => Err("a job that is encoded otherwise".into()),
            }
        });
    }
}
