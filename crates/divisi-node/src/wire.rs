//! The encoding of messages between client and server.
//!
//! Every message is `"DV" | version u16 | message (postcard)`, numbers little-endian, in one message of the
//! TLS connection. A message longer than [`LONGEST`] is never read, the length of the message bounds the
//! lists in it, and a message that does not decode to its last byte is refused. Golden bytes of every message
//! are in the tests of [`crate::request`].

use postcard::ser_flavors::Size;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The lowest and the highest version that this program speaks.
pub(crate) const VERSIONS: (u16, u16) = (5, 5);
/// No message is longer: two components of a chunk, or a request with its associated data, with room to
/// spare.
pub(crate) const LONGEST: usize = 512 * 1024;

const MAGIC: [u8; 2] = *b"DV";
const HEAD: usize = 4;
/// Room for a message without a long body.
const SHORT: usize = 4096;

/// Bytes that may be secret: sent as one piece, never printed, wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Blob(pub Vec<u8>);

impl Drop for Blob {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The bytes of a message; `None` if it is longer than any may be. `body` is the length of its part of
/// variable length; a message that needs more room is measured, because all of the room is wiped.
pub(crate) fn encode<M: Serialize>(message: &M, body: usize) -> Option<Zeroizing<Vec<u8>>> {
    let within = |capacity: usize| {
        let mut out = Zeroizing::new(vec![0; capacity]);
        let (head, rest) = out.split_at_mut(HEAD);
        let (magic, version) = head.split_at_mut(MAGIC.len());
        magic.copy_from_slice(&MAGIC);
        version.copy_from_slice(&VERSIONS.1.to_le_bytes());
        let len = postcard::to_slice(message, rest).ok()?.len();
        out.truncate(HEAD + len);
        Some(out)
    };
    within((SHORT + body).min(LONGEST)).or_else(|| {
        let len = HEAD + postcard::serialize_with_flavor(message, Size::default()).ok()?;
        if len <= LONGEST { within(len) } else { None }
    })
}

/// The message of these bytes; `None` if they are no such message, or of a version that this program does not
/// speak.
pub(crate) fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Option<M> {
    let (_, body) = bytes.split_first_chunk::<HEAD>()?;
    if version(bytes).is_none_or(is_foreign) {
        return None;
    }
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// The version in which a message is written; `None` if it is none of this protocol.
pub(crate) fn version(bytes: &[u8]) -> Option<u16> {
    let ([a, b, low, high], _) = bytes.split_first_chunk::<HEAD>()?;
    ([*a, *b] == MAGIC).then_some(u16::from_le_bytes([*low, *high]))
}

/// Whether this program does not speak this version.
pub(crate) fn is_foreign(version: u16) -> bool {
    !(VERSIONS.0..=VERSIONS.1).contains(&version)
}

/// What is said of two ends that have no version in common.
pub(crate) fn no_common_version(lowest: u16, highest: u16) -> String {
    format!(
        "speaks versions {lowest} to {highest} of the protocol, this program {} to {}: use releases that have one in \
         common",
        VERSIONS.0, VERSIONS.1
    )
}
