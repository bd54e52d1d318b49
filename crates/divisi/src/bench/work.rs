//! The work of a benchmark: AES block by block, a hash or MAC message by message, a circuit, lookups, or a
//! job that one engine alone has.

use super::BenchOptions;
use crate::circuit;
use crate::engine::job::{
    Between, BlocksJob, Cipher, CircuitJob, DesKeys, DigestsJob, EngineJob, Job, LookupJob, UserTable,
};
use crate::engine::{self, Engine, members};
use crate::failure::Failure;
use crate::name::Name;
use divisi_core::PartyId;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::gates::Adder;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The work of a benchmark.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Work {
    /// AES, in the options' direction and with their size of keys.
    Aes,
    /// Triple DES, in the options' direction.
    TripleDes(DesKeys),
    /// A hash or MAC of messages.
    Function {
        /// The algorithm.
        algorithm: Algorithm,
        /// The length of each message, in bytes.
        message_bytes: usize,
    },
    /// A job that one engine alone has; its number of instances is that of the options.
    Own(Arc<dyn EngineJob>),
    /// Lookups at random indices of one public table: of bytes, or the user's own.
    Lookups {
        /// The number of entries of the table.
        entries: usize,
        /// The number of inputs over which an index is split.
        inputs: usize,
        /// The number of factors of the one-hot vectors; the cheapest one by default.
        dimensions: Option<usize>,
        /// The user's table, with as many entries.
        table: Option<Arc<UserTable>>,
    },
    /// A circuit, with random inputs.
    Circuit {
        /// The circuit's name, or the path of its file.
        name: Name,
        /// The number of its input wires.
        input_bits: usize,
    },
}

impl Work {
    /// The bytes of one instance's input.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        match self {
            Work::Aes => 16,
            Work::TripleDes(_) => 8,
            Work::Function { message_bytes, .. } => *message_bytes,
            Work::Circuit { input_bits, .. } => input_bits.div_ceil(8),
            Work::Lookups { .. } => 4,
            Work::Own(job) => job.input_bytes(),
        }
    }

    /// The unit of an instance: a block, a message and so on.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Work::Aes | Work::TripleDes(_) => "block",
            Work::Function { .. } => "message",
            Work::Circuit { .. } => "evaluation",
            Work::Own(_) | Work::Lookups { .. } => "item",
        }
    }

    /// The algorithm, for a hash or MAC.
    #[must_use]
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Work::Aes | Work::TripleDes(_) | Work::Circuit { .. } | Work::Own(_) | Work::Lookups { .. } => {
                None
            }
            Work::Function { algorithm, .. } => Some(*algorithm),
        }
    }
}

/// The name of an instance of a job.
pub(super) fn unit(job: &Job) -> &'static str {
    match job {
        Job::Circuit(_) => "evaluation",
        Job::Blocks(_) => "block",
        Job::Lookups(_) | Job::Own(_) => "item",
        Job::Digests(_) | Job::Texts(_) | Job::Messages(_) | Job::Chain(_) | Job::Large(_) => "message",
    }
}

impl BenchOptions {
    /// How many blocks or messages the engine computes at once.
    ///
    /// # Errors
    /// [`Failure`] if there is no such engine or work.
    pub fn chunk(&self) -> Result<usize, Failure> {
        let engine = self.engine()?;
        Ok(engine::at_once(engine, &self.job(engine)?, &self.settings()))
    }

    /// How words are added.
    fn adder(&self) -> Adder {
        self.choice.mode().map_or(Adder::FewestAnds, crate::mode::Priority::adder)
    }

    /// The job of this engine that is measured. The inputs of a circuit are dealt by a client, or belong to
    /// the parties in turn, in which case party 1 learns the outputs.
    pub(super) fn job(&self, engine: &dyn Engine) -> Result<Job, Failure> {
        let count = usize::try_from(self.blocks).unwrap_or(usize::MAX);
        Ok(match &self.work {
            Work::Aes => {
                Job::Blocks(BlocksJob { cipher: Cipher::Aes(self.key), direction: self.direction, count })
            }
            Work::TripleDes(keys) => {
                Job::Blocks(BlocksJob { cipher: Cipher::TripleDes(*keys), direction: self.direction, count })
            }
            Work::Function { algorithm, message_bytes } => Job::Digests(DigestsJob {
                using: Settings { adder: self.adder(), ..Settings::new(*algorithm) },
                message_bytes: *message_bytes,
                count,
            }),
            Work::Own(job) => Job::Own(job.counted(count)),
            Work::Lookups { entries, inputs, dimensions, table } => Job::Lookups(LookupJob {
                entries: *entries,
                inputs: *inputs,
                dimensions: *dimensions,
                count,
                table: table.clone(),
            }),
            Work::Circuit { name, .. } => {
                let (adder, settings) = (self.adder(), self.settings());
                let circuit = circuit::hold(name, adder, settings.is_streamed())?;
                let between = if engine.profile().deals {
                    Between::Client
                } else {
                    let parties = engine::parties(engine, &settings);
                    let values = circuit.inputs().len();
                    let owners: Vec<PartyId> = PartyId::all(parties).collect();
                    let owners = owners.into_iter().cycle().take(values).collect();
                    let first: Vec<PartyId> = PartyId::all(1).collect();
                    Between::with_all_to(owners, &first, circuit.outputs().len())
                };
                Job::Circuit(CircuitJob { circuit: Arc::new(circuit), adder, between, count })
            }
        })
    }

    /// The JSON members that describe the work.
    pub(super) fn about(&self) -> Map<String, Value> {
        let cipher = match self.work {
            Work::Aes => Some(Cipher::Aes(self.key)),
            Work::TripleDes(keys) => Some(Cipher::TripleDes(keys)),
            Work::Function { .. } | Work::Circuit { .. } | Work::Own(_) | Work::Lookups { .. } => None,
        };
        let algorithm = self.work.algorithm();
        let key_bits = 8 * match cipher {
            Some(cipher) => cipher.key_bytes(),
            None => algorithm.map_or(0, Algorithm::key_bytes),
        };
        members(json!({
            "algorithm": cipher.map(|cipher| cipher.name().to_owned()).or(algorithm.map(Algorithm::name)),
            "circuit": match &self.work {
                Work::Circuit { name, .. } => Some(name),
                _ => None,
            },
            "direction": cipher.map(|_| super::direction_name(self.direction)),
            "key_bits": (key_bits > 0).then_some(key_bits),
            "message_bytes": algorithm.map(|_| self.work.input_bytes()),
        }))
    }
}
