//! What is measured: AES block by block, a hash or MAC message by message, or a circuit.

use super::{Options, SEGMENT};
use crate::circuit::{self, Circuit};
use crate::failure::Failure;
use divisi_core::Direction;
use divisi_node::cipher::blocks_at_once;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};

/// The most messages that go through the engine at once: enough that the rounds of a hash cost little beside its work.
const MESSAGES: usize = 16_384;
/// The bytes of messages that go through the engine at once, and those of a segment, at most.
const CHUNK_BYTES: usize = 1 << 24;
const SEGMENT_BYTES: usize = 1 << 25;
/// Lanes of a tile: what is not a few is a whole number of tiles.
const TILE: usize = 512;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// AES, in the direction and with the key's size of the options.
    Aes,
    /// A hash or MAC of messages.
    Function {
        /// Which one.
        algorithm: Algorithm,
        /// The length of each message.
        message_bytes: usize,
    },
    /// A circuit, of random inputs.
    Circuit {
        /// Its name, or that of its file.
        name: String,
        /// How many input wires it has.
        input_bits: usize,
    },
}

impl Work {
    /// The bytes of one input.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        match self {
            Work::Aes => 16,
            Work::Function { message_bytes, .. } => *message_bytes,
            Work::Circuit { input_bits, .. } => input_bits.div_ceil(8),
        }
    }

    /// What an input is called.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Work::Aes => "block",
            Work::Function { .. } => "message",
            Work::Circuit { .. } => "evaluation",
        }
    }

    /// The algorithm that computes, if it is a hash or MAC.
    #[must_use]
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Work::Aes | Work::Circuit { .. } => None,
            Work::Function { algorithm, .. } => Some(*algorithm),
        }
    }

    /// Whether it computes S-boxes.
    #[must_use]
    pub fn has_sboxes(&self) -> bool {
        *self == Work::Aes || matches!(self.algorithm(), Some(Algorithm::Cmac(_) | Algorithm::Gmac(_)))
    }
}

impl Options {
    /// How many blocks or messages go through the engine at once.
    #[must_use]
    pub fn chunk(&self) -> usize {
        if self.work == Work::Aes {
            return blocks_at_once(self.choice.protocol());
        }
        match (CHUNK_BYTES / (self.work.input_bytes() + 64)).clamp(1, MESSAGES) {
            few @ ..TILE => few,
            many => many / TILE * TILE,
        }
    }

    /// How many of them a party holds at once.
    pub(crate) fn segment(&self) -> usize {
        if self.work == Work::Aes {
            return SEGMENT;
        }
        let chunk = self.chunk();
        (SEGMENT_BYTES / (self.work.input_bytes() + 64) / chunk).max(1) * chunk
    }

    /// The length of a key.
    pub(crate) fn key_bytes(&self) -> usize {
        match self.work {
            Work::Aes => self.key.bytes(),
            _ => self.work.algorithm().map_or(0, Algorithm::key_bytes),
        }
    }

    /// How words are added.
    pub(crate) fn adder(&self) -> Adder {
        self.choice.mode().map_or(Adder::FewestAnds, crate::mode::Mode::adder)
    }

    /// How the hash or MAC is used.
    pub(crate) fn settings(&self) -> Option<Settings> {
        let adder = self.adder();
        self.work.algorithm().map(|algorithm| Settings { adder, ..Settings::new(algorithm) })
    }
}

/// What a party learns of it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Told {
    /// Of a hash or MAC.
    algorithm: Option<String>,
    circuit: Option<String>,
    input_bytes: u64,
    low_depth: bool,
    pub key_bits: u32,
    pub decrypt: bool,
}

impl Told {
    pub fn new(options: &Options) -> Self {
        Told {
            algorithm: options.work.algorithm().map(Algorithm::name),
            circuit: match &options.work {
                Work::Circuit { name, .. } => Some(name.clone()),
                _ => None,
            },
            input_bytes: options.work.input_bytes() as u64,
            low_depth: options.adder() == Adder::LowDepth,
            key_bits: options.key.bits() as u32,
            decrypt: options.direction == Direction::Decrypt,
        }
    }

    /// What is to be done.
    pub fn task(&self) -> Result<What, Failure> {
        let adder = if self.low_depth { Adder::LowDepth } else { Adder::FewestAnds };
        match (&self.algorithm, &self.circuit) {
            (Some(name), _) => {
                let algorithm: Algorithm = name.parse().map_err(|e: String| Failure::usage(e))?;
                Ok(What::Function(Settings { adder, ..Settings::new(algorithm) }))
            }
            (None, Some(name)) => Ok(What::Circuit(circuit::load(name, adder)?)),
            (None, None) => Ok(What::Aes),
        }
    }

    pub fn input_bytes(&self) -> usize {
        usize::try_from(self.input_bytes).unwrap_or(usize::MAX)
    }
}

/// What a party is to do.
pub(super) enum What {
    Aes,
    Function(Settings),
    Circuit(Circuit),
}

impl What {
    /// What all parties must have alike.
    pub fn name(&self) -> Vec<u8> {
        match self {
            What::Aes => b"aes".to_vec(),
            What::Function(settings) => format!("{settings:?}").into_bytes(),
            What::Circuit(circuit) => circuit.digest().to_vec(),
        }
    }
}

/// The nonce of a message by its number, for algorithms that take one.
pub(super) fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    for (place, byte) in nonce.iter_mut().zip(number.to_be_bytes().iter().rev()) {
        *place = *byte;
    }
    nonce
}
