//! What clients and servers say to each other.
//!
//! A client speaks with each of the three over a connection of its own. Every message of the client but the
//! first gets one answer, in order, numbered by its request and its place ([`Reply`]) (and any number of
//! [`ToClient::Waiting`] before it). A client need not wait for an answer before it sends the next message:
//! it may be [`AHEAD`] messages ahead. A server that has more unanswered messages than that reads no more of
//! them until it has answered some.
//!
//! 1. Each server sends a challenge; the client sends all three challenges to each. Their hash names the
//!    connection: the same name at all servers, and fresh, because each server contributed and looks for its
//!    own.
//! 2. A request has a number, counting up from 1 in its connection, and is the same for all three servers.
//!    What a client asks for on one connection is done in order.
//! 3. What a request needs beyond its head comes in `Data`, each server its own part: both components of a
//!    chunk, one after the other, or a chunk of ciphertext. Every chunk but the last is full
//!    ([`crate::CHUNK`]). A ciphertext is sent twice, to be verified before any of it is decrypted, unless it
//!    is [short](Item::is_short).
//! 4. A request that fails is answered by one `Failed`, in place of its next answer; what its client had sent
//!    ahead for it is passed over.

mod asked;
mod key;
mod whole;

pub(crate) use asked::{Asked, Tag, Way};
pub(crate) use key::{CLIENTS, is_client_name};
pub use key::{KeyEntry, NewKey, UsedKey};
pub use whole::{Mode, WHOLE};
pub(crate) use whole::{WHOLE_AAD, Whole};

use crate::error::Failed;
use crate::wire::Blob;
use divisi_store::KeyName;
use divisi_symphony::short;
use serde::{Deserialize, Serialize};

/// How many messages a client may have sent that are not answered.
pub(crate) const AHEAD: usize = 6;
/// The most bytes of associated data.
pub const AAD: usize = 65_536;
/// How many keys one answer lists.
pub(crate) const PAGE: usize = 32;
/// The longest output of a hash or MAC, in bytes.
pub const OUTPUT: usize = 4096;
/// The longest message that servers hash or authenticate, in bytes.
pub const MESSAGE: u64 = 1 << 30;
/// How much of it goes at once.
pub(crate) const PIECE: usize = 4096;
/// The bytes of an initialisation vector.
pub const IV: usize = 12;

/// One thing that a client wants done: what is public about it, identical at all three servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Item {
    KeyNew(NewKey),
    /// The key follows in one `Data`.
    KeyImport(NewKey),
    KeyList {
        after: Option<KeyName>,
    },
    KeyExport {
        name: KeyName,
    },
    KeyDestroy {
        name: KeyName,
    },
    /// The plaintext follows.
    Encrypt {
        key: KeyName,
        aad: Blob,
        length: u64,
        way: Way,
    },
    /// The ciphertext follows, then `Finish`, then the ciphertext again unless it is short.
    Decrypt {
        key: KeyName,
        aad: Blob,
        length: u64,
        iv: [u8; IV],
        tag: [u8; 16],
        way: Way,
    },
    /// The message follows, then `Finish`.
    Hash {
        asked: Asked,
        length: u64,
    },
    /// The message follows, then `Finish`. With a tag to compare, the answer is whether it is right.
    Mac {
        key: KeyName,
        asked: Asked,
        length: u64,
        tag: Option<Tag>,
    },
    /// The text follows, then `Finish`.
    Whole(Whole),
}

impl Item {
    /// Whether it is a text that goes through with others in one computation, as one step: a ciphertext of it
    /// is sent once.
    pub fn is_short(&self) -> bool {
        match self {
            Item::Encrypt { aad, length, .. } | Item::Decrypt { aad, length, .. } => {
                usize::try_from(*length).is_ok_and(|length| short::fits(aad.0.len(), length))
            }
            _ => false,
        }
    }

    /// The key that it uses.
    pub fn key(&self) -> Option<&KeyName> {
        match self {
            Item::Encrypt { key, .. } | Item::Decrypt { key, .. } | Item::Mac { key, .. } => Some(key),
            Item::Whole(asked) => Some(&asked.key),
            _ => None,
        }
    }

    /// Whether it says no more than a request can: names, texts and lists of lengths that are admitted.
    /// Checked when it arrives, so that what waits is bounded.
    pub fn is_well_formed(&self) -> bool {
        let asked = |asked: &Asked| {
            asked.algorithm.len() <= 32 && asked.customization.0.len() + asked.function.0.len() <= AAD
        };
        match self {
            Item::KeyNew(new) | Item::KeyImport(new) => new.is_well_formed(),
            Item::Encrypt { aad, .. } | Item::Decrypt { aad, .. } => aad.0.len() <= AAD,
            Item::Whole(asked) => asked.aad.0.len() <= WHOLE_AAD,
            Item::Hash { asked: wanted, .. } => asked(wanted),
            Item::Mac { asked: wanted, tag, .. } => {
                asked(wanted) && tag.as_ref().is_none_or(|tag| tag.tag.0.len() <= OUTPUT)
            }
            Item::KeyList { .. } | Item::KeyExport { .. } | Item::KeyDestroy { .. } => true,
        }
    }

    /// What a log says of it.
    pub fn summary(&self) -> String {
        match self {
            Item::KeyNew(new) => format!("key new {} {}", new.name, new.kind),
            Item::KeyImport(new) => format!("key import {} {}", new.name, new.kind),
            Item::KeyList { .. } => "key list".into(),
            Item::KeyExport { name } => format!("key export {name}"),
            Item::KeyDestroy { name } => format!("key destroy {name}"),
            Item::Encrypt { key, length, .. } => format!("encrypt key {key}, {length} bytes"),
            Item::Decrypt { key, length, .. } => format!("decrypt key {key}, {length} bytes"),
            Item::Whole(asked) => {
                let (verb, mode, key, length) = (asked.verb(), asked.mode, &asked.key, asked.length);
                format!("{verb} {mode} key {key}, {length} bytes")
            }
            Item::Hash { length, .. } => format!("hash, {length} bytes"),
            Item::Mac { key, length, tag: None, .. } => format!("mac key {key}, {length} bytes"),
            Item::Mac { key, length, tag: Some(_), .. } => format!("mac verify key {key}, {length} bytes"),
        }
    }
}

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToServer {
    Begin { version: u16, challenges: [[u8; 32]; 3] },
    Request { number: u64, item: Item },
    Data { number: u64, index: u64, body: Blob },
    Finish { number: u64 },
}

impl ToServer {
    /// The length of what may be long in it.
    pub fn body(&self) -> usize {
        match self {
            ToServer::Data { body, .. } => body.0.len(),
            _ => 0,
        }
    }

    /// The number of its request; none for a beginning.
    pub fn number(&self) -> Option<u64> {
        match self {
            ToServer::Begin { .. } => None,
            ToServer::Request { number, .. }
            | ToServer::Data { number, .. }
            | ToServer::Finish { number } => Some(*number),
        }
    }
}

/// What a server says, with what it belongs to: a client takes no answer for another's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The number of the request; 0 for what belongs to none.
    pub number: u64,
    /// How many answers to it went before.
    pub nth: u64,
    pub what: ToClient,
}

impl Reply {
    /// What belongs to no request.
    pub fn apart(what: ToClient) -> Reply {
        Reply { number: 0, nth: 0, what }
    }
}

/// What a server says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToClient {
    Welcome {
        lowest: u16,
        highest: u16,
        party: u8,
        challenge: [u8; 32],
    },
    Ready,
    /// The request is not forgotten.
    Waiting,
    Failed(Failed),
    /// Go on with the data.
    Accepted,
    Done,
    Key(KeyEntry),
    Keys {
        keys: Vec<KeyEntry>,
        more: bool,
    },
    /// What the text is encrypted with: the IV, and which key the servers found under the name.
    Sealing {
        iv: [u8; IV],
        key: UsedKey,
    },
    /// A chunk of ciphertext, from the first server.
    Ciphertext(Blob),
    /// Its digest, from the others.
    Digest([u8; 32]),
    Tag([u8; 16]),
    /// The tag is right: send the ciphertext again.
    Valid,
    /// A component of an answer, and the digest of the next one.
    Answer {
        component: Blob,
        digest: [u8; 32],
    },
    /// A message may come. For a tag to be made: with the nonce that the servers drew, and which key they
    /// found under the name.
    Tagging {
        nonce: [u8; IV],
        key: Option<UsedKey>,
    },
    /// A text in a mode beside GCM may come: its IV, and which key the servers found under the name.
    Begun {
        iv: [u8; 16],
        key: UsedKey,
    },
}

impl ToClient {
    /// The length of what may be long in it.
    pub fn body(&self) -> usize {
        match self {
            ToClient::Ciphertext(body) | ToClient::Answer { component: body, .. } => body.0.len(),
            _ => 0,
        }
    }
}

/// What names a connection of one client with all three servers.
pub(crate) type ConnectionId = [u8; 32];

/// The name of the connection that these challenges began.
pub(crate) fn connection_id(challenges: &[[u8; 32]; 3]) -> ConnectionId {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 client connection v1");
    challenges.iter().for_each(|challenge| {
        hasher.update(challenge);
    });
    *hasher.finalize().as_bytes()
}

/// What an answer is bound to: this chunk of this request, and no other.
pub(crate) fn context(connection: &ConnectionId, number: u64, index: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 answer v2");
    hasher.update(connection).update(&number.to_le_bytes()).update(&index.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// The digest of a chunk of ciphertext.
pub(crate) fn chunk_digest(context: &[u8; 32], chunk: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 ciphertext chunk v1");
    hasher.update(context).update(chunk);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
