//! What clients and servers say to each other.
//!
//! A client speaks with each of the three over a connection of its own, in lock step: every message of the client gets one
//! answer (and any number of [`ToClient::Waiting`] before it), so that no buffer between them can fill up on both sides.
//!
//! 1. Each server sends a challenge; the client sends all three challenges to each. Their hash names the connection: the
//!    same name at all servers, and fresh, because each server contributed and looks for its own [ASSURANCE 1.11].
//! 2. A request has a number, counting up from 1 in its connection, and a list of items, the same for all three servers. The
//!    request begins its first item, `Next` each later one.
//! 3. What an item needs beyond its head comes in `Data`, each server its own part: both components of a chunk, one after
//!    the other, or a chunk of ciphertext. Every chunk but the last is full ([`crate::CHUNK`]).

use crate::error::Failed;
use crate::wire::Blob;
use divisi_store::{KeyInfo, KeyName, KeyState, KeyType};
use serde::{Deserialize, Serialize};

/// The most items in a request.
pub(crate) const ITEMS: usize = 64;
/// The most clients that a key can name.
pub(crate) const CLIENTS: usize = 64;
/// The most bytes of associated data.
pub const AAD: usize = 65_536;
/// How many keys one answer lists.
pub(crate) const PAGE: usize = 32;
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
    },
    /// The ciphertext follows, then `Finish`, then the ciphertext again.
    Decrypt {
        key: KeyName,
        aad: Blob,
        length: u64,
        iv: [u8; IV],
        tag: [u8; 16],
    },
}

impl Item {
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
        }
    }
}

/// A key to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    /// Its name.
    pub name: KeyName,
    /// What it is a key of.
    pub kind: KeyType,
    /// Whether its maker may have it back.
    pub exportable: bool,
    /// Who else may use it.
    pub clients: Vec<String>,
    /// A name for the request: repeated with the same name, it finds the key that it made before.
    pub request: [u8; 16],
}

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToServer {
    Begin { version: u16, challenges: [[u8; 32]; 3] },
    Request { number: u64, items: Vec<Item> },
    Next { number: u64, item: u32 },
    Data { number: u64, item: u32, index: u64, body: Blob },
    Finish { number: u64, item: u32 },
}

impl ToServer {
    /// The length of what may be long in it.
    pub fn body(&self) -> usize {
        match self {
            ToServer::Data { body, .. } => body.0.len(),
            _ => 0,
        }
    }
}

/// What a server says.
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
    Sealing {
        iv: [u8; IV],
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

/// A key as its clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyEntry {
    /// Its name.
    pub name: KeyName,
    /// What names this key and no other.
    pub id: [u8; 16],
    /// What it is a key of.
    pub kind: KeyType,
    /// The how manieth key of this name it is.
    pub generation: u32,
    /// How far it has come.
    pub state: KeyState,
    /// Who made it.
    pub maker: String,
    /// Who else may use it.
    pub clients: Vec<String>,
    /// Whether its maker may have it back.
    pub exportable: bool,
}

impl From<&KeyInfo> for KeyEntry {
    fn from(info: &KeyInfo) -> KeyEntry {
        KeyEntry {
            name: info.name.clone(),
            id: info.id,
            kind: info.kind,
            generation: info.generation,
            state: info.state,
            maker: info.maker.name.clone(),
            clients: info.clients.clone(),
            exportable: info.exportable,
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

/// What an answer is bound to: this chunk of this item of this request, and no other.
pub(crate) fn context(connection: &ConnectionId, number: u64, item: u32, index: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 answer v1");
    hasher.update(connection).update(&number.to_le_bytes());
    hasher.update(&item.to_le_bytes()).update(&index.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// The digest of a chunk of ciphertext.
pub(crate) fn chunk_digest(context: &[u8; 32], chunk: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 ciphertext chunk v1");
    hasher.update(context).update(chunk);
    *hasher.finalize().as_bytes()
}
