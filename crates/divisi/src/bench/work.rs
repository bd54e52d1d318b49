//! What is measured: AES block by block, or a hash or MAC message by message.

use super::{Options, SEGMENT};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Work {
    /// The bytes of one input.
    #[must_use]
    pub fn input_bytes(self) -> usize {
        match self {
            Work::Aes => 16,
            Work::Function { message_bytes, .. } => message_bytes,
        }
    }

    /// What an input is called.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Work::Aes => "block",
            Work::Function { .. } => "message",
        }
    }

    /// The algorithm that computes, if it is a hash or MAC.
    #[must_use]
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            Work::Aes => None,
            Work::Function { algorithm, .. } => Some(algorithm),
        }
    }

    /// Whether it computes S-boxes.
    #[must_use]
    pub fn has_sboxes(self) -> bool {
        matches!(self.algorithm(), None | Some(Algorithm::Cmac(_) | Algorithm::Gmac(_)))
    }
}

impl Options {
    /// How many blocks or messages go through the engine at once.
    #[must_use]
    pub fn chunk(&self) -> usize {
        match self.work {
            Work::Aes => blocks_at_once(self.choice.protocol()),
            Work::Function { message_bytes, .. } => {
                match (CHUNK_BYTES / (message_bytes + 64)).clamp(1, MESSAGES) {
                    few @ ..TILE => few,
                    many => many / TILE * TILE,
                }
            }
        }
    }

    /// How many of them a party holds at once.
    pub(crate) fn segment(&self) -> usize {
        match self.work {
            Work::Aes => SEGMENT,
            Work::Function { message_bytes, .. } => {
                let chunk = self.chunk();
                (SEGMENT_BYTES / (message_bytes + 64) / chunk).max(1) * chunk
            }
        }
    }

    /// The length of a key.
    pub(crate) fn key_bytes(&self) -> usize {
        self.work.algorithm().map_or(self.key.bytes(), Algorithm::key_bytes)
    }

    /// How the hash or MAC is used.
    pub(crate) fn settings(&self) -> Option<Settings> {
        let adder = self.choice.mode().map_or(Adder::FewestAnds, crate::mode::Mode::adder);
        self.work.algorithm().map(|algorithm| Settings { adder, ..Settings::new(algorithm) })
    }
}

/// What a party learns of it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Told {
    /// Nothing for AES.
    algorithm: Option<String>,
    message_bytes: u64,
    low_depth: bool,
    pub key_bits: u32,
    pub decrypt: bool,
}

impl Told {
    pub fn new(options: &Options) -> Self {
        Told {
            algorithm: options.work.algorithm().map(Algorithm::name),
            message_bytes: options.work.input_bytes() as u64,
            low_depth: options.settings().is_some_and(|settings| settings.adder == Adder::LowDepth),
            key_bits: options.key.bits() as u32,
            decrypt: options.direction == Direction::Decrypt,
        }
    }

    /// The work, and how a hash or MAC is used.
    pub fn work(&self) -> Result<(Work, Option<Settings>), String> {
        let Some(name) = &self.algorithm else { return Ok((Work::Aes, None)) };
        let algorithm: Algorithm = name.parse()?;
        let adder = if self.low_depth { Adder::LowDepth } else { Adder::FewestAnds };
        let message_bytes = usize::try_from(self.message_bytes).map_err(|_| "messages that are too long")?;
        let settings = Settings { adder, ..Settings::new(algorithm) };
        Ok((Work::Function { algorithm, message_bytes }, Some(settings)))
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
