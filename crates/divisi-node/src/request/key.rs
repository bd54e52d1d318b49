//! Keys in requests: descriptions of new keys, and the entries of existing ones.

use crate::admit::{CLIENT_NAME, CLIENTS, is_client_name};
use divisi_store::{KeyInfo, KeyName, KeyState, KeyType};
use serde::{Deserialize, Serialize};

/// The description of a key to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    /// The key's name.
    pub name: KeyName,
    /// The type of the key: the algorithm that it serves.
    pub kind: KeyType,
    /// The length of the key in bytes, one of those of its type.
    pub bytes: u32,
    /// Whether the key's maker may export it.
    pub exportable: bool,
    /// The other clients that may use it.
    pub clients: Vec<String>,
    /// A name for the request: a repeated request with this name returns the key that the first one made.
    pub request: [u8; 16],
}

/// A change of the clients that a key serves besides its maker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyServe {
    /// The key's name.
    pub name: KeyName,
    /// The client that it is to serve, or to serve no longer.
    pub client: String,
    /// Whether it is to serve the client.
    pub serves: bool,
}

impl KeyServe {
    /// Whether its client has a name that a configuration takes.
    pub(super) fn is_well_formed(&self) -> bool {
        is_client_name(&self.client)
    }
}

/// A stored key as its clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyEntry {
    /// The key's name.
    pub name: KeyName,
    /// The id of the key, unique even among keys of one name.
    pub id: [u8; 16],
    /// The type of the key: the algorithm that it serves.
    pub kind: KeyType,
    /// The length of the key in bytes; for a destroyed key that of its type.
    pub bytes: u32,
    /// The number of this key among the keys of its name, from 1.
    pub generation: u32,
    /// The state of the key in its life cycle.
    pub state: KeyState,
    /// The name of the client that made it.
    pub maker: String,
    /// The other clients that may use it.
    pub clients: Vec<String>,
    /// Whether its maker may export it.
    pub exportable: bool,
    /// When it was made, in seconds since 1970: the middle one of the servers' clocks. `None` if that is not
    /// known.
    pub made: Option<u64>,
}

/// The key that a request used. Its id is needed because the name may belong to another key: its maker can
/// destroy a key and make a new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedKey {
    /// The id of the key, unique even among keys of one name.
    pub id: [u8; 16],
    /// The name of the client that made it.
    pub maker: String,
}

impl From<&KeyInfo> for UsedKey {
    fn from(info: &KeyInfo) -> UsedKey {
        UsedKey { id: info.id, maker: info.maker.name.clone() }
    }
}

impl NewKey {
    /// Whether it has a length of its type, and names no more clients than a key can have, each by a name
    /// that is not too long for a configuration.
    pub(super) fn is_well_formed(&self) -> bool {
        self.kind.lengths().contains(&(self.bytes as usize))
            && self.clients.len() <= CLIENTS
            && self.clients.iter().all(|name| name.len() <= CLIENT_NAME)
    }
}

impl KeyEntry {
    /// Whether it names no more clients than a key can have, each by a name that is valid in a configuration.
    pub(crate) fn is_well_formed(&self) -> bool {
        let named = |name: &String| is_client_name(name);
        self.clients.len() <= CLIENTS && named(&self.maker) && self.clients.iter().all(named)
    }
}

impl From<&KeyInfo> for KeyEntry {
    fn from(info: &KeyInfo) -> KeyEntry {
        KeyEntry {
            name: info.name.clone(),
            id: info.id,
            kind: info.kind,
            bytes: u32::try_from(info.bytes).unwrap_or(u32::MAX),
            generation: info.generation,
            state: info.state,
            maker: info.maker.name.clone(),
            clients: info.clients.clone(),
            exportable: info.exportable,
            made: info.made,
        }
    }
}
