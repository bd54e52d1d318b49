//! The limits that the operator of a server sets for its clients.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The limits that an operator sets for a client of a server; a server has defaults for missing ones. Each
/// server decides for itself: the parties need not agree, and the smallest of the three limits applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// The number of requests that may wait to be begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// The largest length in bytes of a text to be encrypted or decrypted with GCM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_bytes: Option<u64>,
    /// The largest length in bytes of a message to be hashed or authenticated, and of a text in a mode other
    /// than GCM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<u64>,
    /// Bytes of all texts and messages within an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_an_hour: Option<u64>,
    /// Seconds of a server's processor within an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_an_hour: Option<u64>,
    /// The largest number of names of keys that it has made, those of destroyed keys included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// The largest length in bytes of a message for single algorithms, by name, in place of `message_bytes`.
    /// It is the last field, because tables come last in TOML.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub message_bytes_of: BTreeMap<String, u64>,
}

impl Grants {
    /// These limits, with those of `others` in place of missing ones. A `message_bytes` of these limits takes
    /// precedence over `message_bytes_of` of the others.
    #[must_use]
    pub fn or(self, others: &Grants) -> Grants {
        let mut message_bytes_of = self.message_bytes_of;
        if self.message_bytes.is_none() {
            for (name, bytes) in &others.message_bytes_of {
                message_bytes_of.entry(name.clone()).or_insert(*bytes);
            }
        }
        Grants {
            waiting: self.waiting.or(others.waiting),
            text_bytes: self.text_bytes.or(others.text_bytes),
            message_bytes: self.message_bytes.or(others.message_bytes),
            message_bytes_of,
            bytes_an_hour: self.bytes_an_hour.or(others.bytes_an_hour),
            seconds_an_hour: self.seconds_an_hour.or(others.seconds_an_hour),
            keys: self.keys.or(others.keys),
        }
    }
}
