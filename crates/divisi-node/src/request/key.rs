//! Keys: new ones as clients ask for them, and what clients see of those that there are.

use divisi_store::{KeyInfo, KeyName, KeyState, KeyType};
use serde::{Deserialize, Serialize};

/// The most clients that a key can name.
pub(crate) const CLIENTS: usize = 64;
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

/// Which key a request used: a name can be another key's by now, if its maker destroyed the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedKey {
    /// What names this key and no other.
    pub id: [u8; 16],
    /// Who made it.
    pub maker: String,
}

/// The longest name of a client that a configuration takes.
const CLIENT_NAME: usize = 64;
impl NewKey {
    /// That it names no more clients than a key can, and none at more length than a configuration does.
    pub(super) fn is_well_formed(&self) -> bool {
        self.clients.len() <= CLIENTS && self.clients.iter().all(|name| name.len() <= CLIENT_NAME)
    }
}

impl KeyEntry {
    /// That it names no more clients than a key can, each as a configuration may.
    pub(crate) fn is_well_formed(&self) -> bool {
        let named = |name: &String| is_client_name(name);
        self.clients.len() <= CLIENTS && named(&self.maker) && self.clients.iter().all(named)
    }
}

/// Whether a configuration takes this for a client's name.
pub(crate) fn is_client_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
    (1..=CLIENT_NAME).contains(&name.len()) && name.bytes().all(good)
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
