//! What a server says to its client, as it is on the wire: `"DV" | version | message (postcard)`. The types of
//! divisi-node are private, and whoever stands between the two needs none of its code.

use divisi_node::{ErrorKind, KeyEntry, UsedKey};
use serde::{Deserialize, Serialize};

const HEAD: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub number: u64,
    pub nth: u64,
    pub what: Word,
}

/// The content of a message, in the order of the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    Welcome { lowest: u16, highest: u16, party: u8, challenge: [u8; 32] },
    Ready,
    Waiting,
    Failed(Failure),
    Accepted,
    Done,
    Key(KeyEntry),
    Keys { keys: Vec<KeyEntry>, more: bool },
    Sealing { iv: [u8; 12], key: UsedKey },
    Ciphertext(Vec<u8>),
    Digest([u8; 32]),
    Tag([u8; 16]),
    Valid,
    Answer { component: Vec<u8>, digest: [u8; 32] },
    Tagging { nonce: [u8; 12], key: Option<UsedKey> },
    Begun { iv: [u8; 16], key: UsedKey },
    Condition(Told),
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: ErrorKind,
    pub retry: bool,
    pub peer: u8,
    pub step: String,
    pub message: String,
    pub hearsay: bool,
}

/// How a server says that it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub joined: bool,
    pub missing: Vec<u8>,
    pub lost: Vec<u8>,
    pub seconds: u64,
    pub waiting: u64,
}

impl Said {
    /// The message of these bytes, which are those of one.
    pub fn read(bytes: &[u8]) -> Said {
        let said: Said = postcard::from_bytes(&bytes[HEAD..]).expect("a message of a server");
        assert_eq!(said.write(bytes), bytes, "the format has changed: change these types, too");
        said
    }

    /// The same with the head of another message.
    pub fn write(&self, like: &[u8]) -> Vec<u8> {
        [&like[..HEAD], &postcard::to_stdvec(self).unwrap()[..]].concat()
    }
}
