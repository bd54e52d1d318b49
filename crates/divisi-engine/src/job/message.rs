//! Messages of hashes and MACs, chains of digests, and messages too long for memory.

use super::encoding;
use divisi_symmetric::algorithm::Settings as Use;
use serde::{Deserialize, Serialize};

/// A hash or MAC of messages of one length. A message's nonce is its number in its batch ([`nonce`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DigestsJob {
    /// The algorithm and its settings, of which name and adder are sent.
    #[serde(with = "encoding::name_and_adder")]
    pub using: Use,
    /// The length of each message in bytes.
    pub message_bytes: usize,
    /// The number of messages.
    pub count: usize,
}

/// The nonce of a message by its number, for algorithms that take one.
#[must_use]
pub fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    for (place, byte) in nonce.iter_mut().zip(number.to_be_bytes().iter().rev()) {
        *place = *byte;
    }
    nonce
}

/// Messages of one hash or MAC. An input row has the key, then the message; an output row has the output, if
/// it is to be made, then a byte that is 1 if the received tag is right, if one is to be compared.
#[derive(Clone, Debug)]
pub struct MessagesJob {
    /// The algorithm and its settings.
    pub using: Use,
    /// The length of each key in bytes; 0 for a hash.
    pub key_bytes: usize,
    /// The messages.
    pub messages: Vec<PublicMessage>,
}

/// The public data of a message.
#[derive(Clone, Debug)]
pub struct PublicMessage {
    /// The length in bytes.
    pub bytes: usize,
    /// The number of bits of the last byte that do not belong to the message.
    pub spare_bits: usize,
    /// The nonce, of 96 bits unless the algorithm takes others; zeros where there is none.
    pub nonce: Vec<u8>,
    /// Whether its output is to be made.
    pub makes: bool,
    /// A tag to be compared with the computed one, which is not opened.
    pub received: Option<Vec<u8>>,
}

/// Chains of digests: from each start `steps` digests, each of the one before. An input row has a start, an
/// output row the last digest of its chain.
#[derive(Clone, Debug)]
pub struct ChainJob {
    /// The hash.
    pub using: Use,
    /// The number of digests in a chain.
    pub steps: usize,
    /// The length of each start in bytes.
    pub starts: Vec<usize>,
}

/// Digests of messages too long for memory: the input is repeated inside the computation until the message
/// has its length. An input row has the content that is repeated, an output row the digest.
#[derive(Clone, Debug)]
pub struct LargeJob {
    /// The hash.
    pub using: Use,
    /// The length of each content, in bytes.
    pub content: usize,
    /// The length of each message, in bytes.
    pub lengths: Vec<u64>,
}
