//! The jobs of engines: public data, the same at all parties, and rows of bytes for their secret inputs and
//! outputs.

mod cipher;
mod circuit;
mod engine_job;
mod lookup;
mod message;
mod own;
mod sent;
mod table;
mod text;

pub use cipher::{BlocksJob, Cipher, DesKeys};
pub use circuit::{Between, CircuitJob, OutputGroup, numbers};
pub use engine_job::EngineJob;
pub use lookup::LookupJob;
pub use message::{ChainJob, DigestsJob, LargeJob, MessagesJob, PublicMessage, nonce};
pub use own::{Own, alike, given_to};
pub use table::UserTable;
pub use text::{CipherMode, PublicText, TextsJob, Whole};

use super::Rows;
use std::sync::Arc;

/// A job. It has `count` instances; the input and the output of each are rows of bytes ([`Rows`]).
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone)]
pub enum Job {
    /// Evaluations of one circuit. An input row has the input wires, an output row the output wires, eight to
    /// a byte and the first in its lowest bit; [`crate::WireValue`] says which bit of a value a wire is.
    Circuit(CircuitJob),
    /// Blocks of a cipher under one key, which is the row of the set-up. Each row has one block.
    Blocks(BlocksJob),
    /// A hash or MAC of messages of one length, under one key, which is the row of the set-up.
    Digests(DigestsJob),
    /// Texts in a mode of a block cipher, each with a key of its own.
    Texts(TextsJob),
    /// Messages of any length, each with a key of its own where there are keys.
    Messages(MessagesJob),
    /// Chains of digests, each of the digest before it.
    Chain(ChainJob),
    /// Digests of messages too long for memory.
    Large(LargeJob),
    /// Lookups at random indices of one public table. An input row has the index in four bytes, the lowest
    /// first; an output row has the entry in one byte.
    Lookups(LookupJob),
    /// A job that one engine alone has.
    Own(Arc<dyn EngineJob>),
}

impl Job {
    /// The number of instances.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Job::Circuit(job) => job.count,
            Job::Blocks(job) => job.count,
            Job::Digests(job) => job.count,
            Job::Texts(job) => job.texts.len(),
            Job::Messages(job) => job.messages.len(),
            Job::Chain(job) => job.starts.len(),
            Job::Large(job) => job.lengths.len(),
            Job::Lookups(job) => job.count,
            Job::Own(job) => job.count(),
        }
    }

    /// The length of an instance's input row, in bytes.
    #[must_use]
    pub fn input_bytes(&self, instance: usize) -> usize {
        match self {
            Job::Circuit(job) => job.input_bytes(),
            Job::Blocks(job) => job.cipher.block_bytes(),
            Job::Digests(job) => job.message_bytes,
            Job::Texts(job) => {
                let secret = job.texts.get(instance).map_or(0, |text| text.secret_bytes(job.mode));
                job.key_bytes() + secret
            }
            Job::Messages(job) => job.key_bytes + job.messages.get(instance).map_or(0, |m| m.bytes),
            Job::Chain(job) => job.starts.get(instance).copied().unwrap_or(0),
            Job::Large(job) => job.content,
            Job::Lookups(_) => 4,
            Job::Own(job) => job.input_bytes(),
        }
    }

    /// The length of an instance's output row, in bytes.
    #[must_use]
    pub fn output_bytes(&self, instance: usize) -> usize {
        match self {
            Job::Circuit(job) => job.circuit.outputs().iter().sum::<usize>().div_ceil(8),
            Job::Blocks(job) => job.cipher.block_bytes(),
            Job::Digests(job) => job.using.output_bytes,
            Job::Texts(job) => job.texts.get(instance).map_or(0, |text| match job.mode {
                CipherMode::Gcm => 1 + text.bytes + text.tag_bytes,
                CipherMode::Ecb
                | CipherMode::Ctr
                | CipherMode::Cbc
                | CipherMode::Cfb { .. }
                | CipherMode::Ofb => text.bytes,
                CipherMode::Cmac if text.sealed.is_some() => 1,
                CipherMode::Whole(mode) => 1 + mode.answer_bytes(text.direction, text.bytes, text.tag_bytes),
                CipherMode::Cmac => text.tag_bytes,
            }),
            Job::Messages(job) => job.messages.get(instance).map_or(0, |message| {
                let made = if message.makes { job.using.output_bytes } else { 0 };
                made + usize::from(message.received.is_some())
            }),
            Job::Chain(job) => job.using.output_bytes,
            Job::Large(job) => job.using.output_bytes,
            Job::Lookups(job) => 1 + usize::from(job.table.is_some()),
            Job::Own(job) => job.output_bytes(),
        }
    }

    /// The length of the key of the set-up, in bytes.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        match self {
            Job::Blocks(job) => job.cipher.key_bytes(),
            Job::Digests(job) => job.using.algorithm.key_bytes(),
            Job::Circuit(_)
            | Job::Texts(_)
            | Job::Messages(_)
            | Job::Chain(_)
            | Job::Large(_)
            | Job::Lookups(_)
            | Job::Own(_) => 0,
        }
    }

    /// Split these bytes into the output rows, instance after instance.
    #[must_use]
    pub fn outputs(&self, bytes: Vec<u8>, count: usize) -> Rows {
        Rows::cut(bytes, (0..count).map(|i| self.output_bytes(i)))
    }

    /// The job without these instances, if its instances have lengths of their own; other jobs are returned
    /// unchanged.
    #[must_use]
    pub fn without(&self, gone: &[usize]) -> Job {
        fn kept<T: Clone>(all: &[T], gone: &[usize]) -> Vec<T> {
            all.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, one)| one.clone()).collect()
        }
        let mut job = self.clone();
        match &mut job {
            Job::Circuit(_) | Job::Blocks(_) | Job::Digests(_) | Job::Lookups(_) | Job::Own(_) => {}
            Job::Texts(job) => job.texts = kept(&job.texts, gone),
            Job::Messages(job) => job.messages = kept(&job.messages, gone),
            Job::Chain(job) => job.starts = kept(&job.starts, gone),
            Job::Large(job) => job.lengths = kept(&job.lengths, gone),
        }
        job
    }
}
