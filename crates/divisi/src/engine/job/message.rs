//! Messages of hashes and MACs, chains of digests, and messages that no memory holds.

use divisi_symmetric::algorithm::Settings as Use;

/// A hash or MAC of messages of one length. A message's nonce is its number in its batch ([`nonce`]).
#[derive(Clone, Debug)]
pub struct DigestsJob {
    /// What computes, and how.
    pub using: Use,
    /// The length of each message.
    pub message_bytes: usize,
    /// How many messages.
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

/// Messages of one hash or MAC. A row in has the key, then the message; a row out the output, if it is to be
/// made, then a byte that is 1 if the received tag is right, if one is to be compared.
#[derive(Clone, Debug)]
pub struct MessagesJob {
    /// What computes, and how.
    pub using: Use,
    /// The length of each key; 0 for a hash.
    pub key_bytes: usize,
    /// The messages.
    pub messages: Vec<PublicMessage>,
}

/// What is public about a message.
#[derive(Clone, Debug)]
pub struct PublicMessage {
    /// Its length.
    pub bytes: usize,
    /// Bits of its last byte that are no part of it.
    pub spare_bits: usize,
    /// The nonce, of 96 bits unless the algorithm takes others; zeros where there is none.
    pub nonce: Vec<u8>,
    /// Whether its output is to be made.
    pub makes: bool,
    /// A tag that is to be compared with one that is made inside and not opened.
    pub received: Option<Vec<u8>>,
}

/// Digests of digests, so many one after the other from each start. A row in has a start, a row out its end.
#[derive(Clone, Debug)]
pub struct ChainJob {
    /// The hash.
    pub using: Use,
    /// How many digests follow one another.
    pub steps: usize,
    /// How long each start is.
    pub starts: Vec<usize>,
}

/// Digests of messages that no memory holds: what comes in is repeated inside, so often that the message has
/// its length. A row in has what is repeated, a row out the digest.
#[derive(Clone, Debug)]
pub struct LargeJob {
    /// The hash.
    pub using: Use,
    /// How many bytes are repeated.
    pub content: usize,
    /// How many bytes each message has.
    pub lengths: Vec<u64>,
}
