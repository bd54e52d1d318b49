//! The messages between clients and servers.
//!
//! A client has one connection to each of the three servers. The first of its messages is answered by
//! [`ToClient::Ready`]; each later one gets one answer, in order, numbered by the request and by the answer's
//! place in it ([`Reply`]); any number of [`ToClient::Waiting`] may come before it. A client may send
//! messages before earlier ones are answered, at most [`UNANSWERED`] of them. A server with more unanswered
//! messages than that reads no further one until it has answered some.
//!
//! 1. Each server sends a challenge; the client sends all three challenges to each server. Their hash is the
//!    id of the connection: the same at all servers, and fresh, because each server contributed a challenge
//!    and looks for its own.
//! 2. A request has a number, which counts up from 1 within a connection and is the same at all three
//!    servers. The servers do the requests of one connection in order.
//! 3. The body of a request follows in `Data` messages, to each server its own part: both components of a
//!    chunk, one after the other, or a chunk of ciphertext. Every piece but the last is full:
//!    [`crate::CHUNK`] bytes for GCM, [`PIECE`] bytes for other requests. A client sends a ciphertext of GCM
//!    twice, so that the servers verify all of it before they decrypt any, unless it is
//!    [short](Item::is_short). The body of a request whose length is not known at its beginning
//!    ([`Item::EncryptStream`]) ends with a piece that is marked ([`ToServer::Last`]). All three servers
//!    compare the mark and the length before they compute anything of that piece, and make no tag without it.
//! 4. A client may ask at any time how a server is ([`ToServer::Status`]). The answer belongs to no request
//!    ([`ToClient::Condition`]), and needs no other server.
//! 5. One `Failed` answers a request that fails, in place of its next answer; the server skips the messages
//!    that the client had already sent for it.

mod condition;
mod functions;
mod key;
mod modes;

pub use condition::Condition;
pub(crate) use condition::ConditionReport;
pub(crate) use functions::{FunctionRequest, SboxChoice, Tag};
pub(crate) use key::KeyServe;
pub use key::{KeyEntry, NewKey, UsedKey};
pub(crate) use modes::{MODE_AAD, ModeRequest};
pub use modes::{MODE_MESSAGE, Mode};

use crate::error::Failed;
use crate::wire::Blob;
use divisi_store::KeyName;
use divisi_symphony::short;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most connections that one client may have at a server at a time.
pub(crate) const CONNECTIONS: usize = 32;
/// How long a client may say nothing between its requests before a server closes its connection.
pub(crate) const IDLE: Duration = Duration::from_secs(300);
/// How many messages a client may have sent that are not answered.
pub(crate) const UNANSWERED: usize = 3;
/// The maximum length of associated data, in bytes.
pub const AAD: usize = 65_536;
/// How many keys one answer lists.
pub(crate) const PAGE: usize = 32;
/// The maximum output of a hash or MAC, in bytes.
pub const OUTPUT: usize = 4096;
/// The maximum length of a message to be hashed or authenticated, in bytes.
pub const MESSAGE: u64 = 1 << 30;
/// The length in bytes of the pieces of messages in modes other than GCM, and of those for hashes and MACs.
pub(crate) const PIECE: usize = 4096;
/// The length of an IV, in bytes.
pub const IV: usize = 12;

/// A request of a client: all that is public about it, identical at all three servers.
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
        way: SboxChoice,
    },
    /// The ciphertext follows, then `Finish`, then the ciphertext again unless it is short.
    Decrypt {
        key: KeyName,
        aad: Blob,
        length: u64,
        iv: [u8; IV],
        tag: [u8; 16],
        way: SboxChoice,
    },
    /// The message follows, then `Finish`.
    Hash {
        asked: FunctionRequest,
        length: u64,
    },
    /// The message follows, then `Finish`. If it has a tag to compare, the answer is whether the tag is
    /// right.
    Mac {
        key: KeyName,
        asked: FunctionRequest,
        length: u64,
        tag: Option<Tag>,
    },
    /// The message follows, then `Finish`: one in a mode other than GCM.
    Mode(ModeRequest),
    /// The plaintext follows, of a length that its last piece says, then `Finish`.
    EncryptStream {
        key: KeyName,
        aad: Blob,
        way: SboxChoice,
    },
    /// Let the key serve another client, or one client less.
    KeyServe(KeyServe),
}

impl Item {
    /// Whether it is a message that the servers compute in one step, together with others: its client sends a
    /// ciphertext of it once.
    pub fn is_short(&self) -> bool {
        match self {
            Item::Encrypt { aad, length, .. } | Item::Decrypt { aad, length, .. } => {
                usize::try_from(*length).is_ok_and(|length| short::fits(aad.0.len(), length))
            }
            _ => false,
        }
    }

    /// The key that the request uses.
    pub fn key(&self) -> Option<&KeyName> {
        match self {
            Item::Encrypt { key, .. }
            | Item::EncryptStream { key, .. }
            | Item::Decrypt { key, .. }
            | Item::Mac { key, .. } => Some(key),
            Item::Mode(asked) => Some(&asked.key),
            _ => None,
        }
    }

    /// Whether its names, texts and lists have admissible lengths. The server checks this when the request
    /// arrives, so that the queue is bounded.
    pub fn is_well_formed(&self) -> bool {
        let asked = |asked: &FunctionRequest| {
            asked.algorithm.len() <= 32 && asked.customization.0.len() + asked.function.0.len() <= AAD
        };
        match self {
            Item::KeyNew(new) | Item::KeyImport(new) => new.is_well_formed(),
            Item::Encrypt { aad, .. } | Item::EncryptStream { aad, .. } | Item::Decrypt { aad, .. } => {
                aad.0.len() <= AAD
            }
            Item::Mode(asked) => asked.aad_bytes() <= MODE_AAD,
            Item::Hash { asked: wanted, .. } => asked(wanted),
            Item::KeyServe(asked) => asked.is_well_formed(),
            Item::Mac { asked: wanted, tag, .. } => {
                asked(wanted) && tag.as_ref().is_none_or(|tag| tag.tag.0.len() <= OUTPUT)
            }
            Item::KeyList { .. } | Item::KeyExport { .. } | Item::KeyDestroy { .. } => true,
        }
    }

    /// A short description for the log.
    pub fn summary(&self) -> String {
        match self {
            Item::KeyNew(new) => format!("key new {} {}", new.name, new.kind),
            Item::KeyImport(new) => format!("key import {} {}", new.name, new.kind),
            Item::KeyList { .. } => "key list".into(),
            Item::KeyExport { name } => format!("key export {name}"),
            Item::KeyDestroy { name } => format!("key destroy {name}"),
            Item::KeyServe(KeyServe { name, client, serves: true }) => {
                format!("key grant {name} to {client}")
            }
            Item::KeyServe(KeyServe { name, client, .. }) => format!("key revoke {name} from {client}"),
            Item::Encrypt { key, length, .. } => format!("encrypt key {key}, {length} bytes"),
            Item::EncryptStream { key, .. } => format!("encrypt key {key}, a stream"),
            Item::Decrypt { key, length, .. } => format!("decrypt key {key}, {length} bytes"),
            Item::Mode(asked) => {
                let (verb, mode, key, length) = (asked.verb(), asked.mode, &asked.key, asked.length);
                format!("{verb} {mode} key {key}, {length} bytes")
            }
            Item::Hash { length, .. } => format!("hash, {length} bytes"),
            Item::Mac { key, length, tag: None, .. } => format!("mac key {key}, {length} bytes"),
            Item::Mac { key, length, tag: Some(_), .. } => format!("mac verify key {key}, {length} bytes"),
        }
    }
}

/// A message from a client to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToServer {
    Begin {
        version: u16,
        challenges: [[u8; 32]; 3],
    },
    Request {
        number: u64,
        item: Item,
    },
    Data {
        number: u64,
        index: u64,
        body: Blob,
    },
    Finish {
        number: u64,
    },
    /// The last piece of a body whose length was not known before. It is empty only if the body is.
    Last {
        number: u64,
        index: u64,
        body: Blob,
    },
    /// How is this server? The thread of the connection answers, whether or not the servers have joined each
    /// other.
    Status,
}

impl ToServer {
    /// The length in bytes of its part of variable length.
    pub fn body(&self) -> usize {
        match self {
            ToServer::Data { body, .. } | ToServer::Last { body, .. } => body.0.len(),
            _ => 0,
        }
    }

    /// The number of its request; `None` for a message that belongs to none.
    pub fn number(&self) -> Option<u64> {
        match self {
            ToServer::Begin { .. } | ToServer::Status => None,
            ToServer::Request { number, .. }
            | ToServer::Data { number, .. }
            | ToServer::Last { number, .. }
            | ToServer::Finish { number } => Some(*number),
        }
    }
}

/// A message from a server, with the request and the place in it to which it belongs, so that a client does
/// not take it for another answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The number of the request; 0 for a message outside of a request.
    pub number: u64,
    /// How many answers to the request came before this one.
    pub nth: u64,
    pub what: ToClient,
}

impl Reply {
    /// A message outside of a request.
    pub fn apart(what: ToClient) -> Reply {
        Reply { number: 0, nth: 0, what }
    }
}

/// The content of a server's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToClient {
    Welcome {
        lowest: u16,
        highest: u16,
        party: u8,
        challenge: [u8; 32],
    },
    Ready,
    /// The request still waits; the server has not forgotten it.
    Waiting,
    Failed(Failed),
    /// The server accepts the request: the client may send its data.
    Accepted,
    Done,
    Key(KeyEntry),
    Keys {
        keys: Vec<KeyEntry>,
        more: bool,
    },
    /// The IV of the message, and the key that the servers found under the name.
    Sealing {
        iv: [u8; IV],
        key: UsedKey,
    },
    /// A chunk of ciphertext, from party 1.
    Ciphertext(Blob),
    /// The digest of that chunk, from parties 2 and 3.
    Digest([u8; 32]),
    Tag([u8; 16]),
    /// The tag is right: the client may send the ciphertext again.
    Valid,
    /// A component of an answer, and the digest of the next component.
    Answer {
        component: Blob,
        digest: [u8; 32],
    },
    /// The client may send the message. For a tag to be made: the nonce that the servers drew, and the key
    /// that they found under the name.
    Tagging {
        nonce: [u8; IV],
        key: Option<UsedKey>,
    },
    /// The client may send the message, in a mode other than GCM: its IV, and the key that the servers found
    /// under the name.
    Begun {
        iv: [u8; 16],
        key: UsedKey,
    },
    /// How the server is, for a client that asked for it: outside of requests.
    Condition(ConditionReport),
}

impl ToClient {
    /// The length in bytes of its part of variable length.
    pub fn body(&self) -> usize {
        match self {
            ToClient::Ciphertext(body) | ToClient::Answer { component: body, .. } => body.0.len(),
            _ => 0,
        }
    }
}

/// The id of a client's connection with all three servers.
pub(crate) type ConnectionId = [u8; 32];

/// The id of the connection that began with these challenges.
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
pub(crate) mod tests;
