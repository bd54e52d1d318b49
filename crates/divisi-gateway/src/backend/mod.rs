//! What the gateway needs of the three servers, as a trait: the API is tested against a table in memory, and
//! runs over divisi-node's pool of clients ([`Three`]).
//!
//! Only `three.rs` knows the client API of divisi-node: how connections are kept and tried again, how the
//! state of the servers is learnt, and what each error means.

#[cfg(test)]
mod memory;
mod three;

#[cfg(test)]
pub use memory::Memory;
pub use three::{MOST_CONNECTIONS, Three};

use divisi_node::KeyName;
use std::fmt;
use zeroize::Zeroizing;

/// The version of Transit's formats that the keys have: each has this one and no other.
pub const VERSION: i64 = 1;
/// The bytes of the IV before a ciphertext, and those of the tag behind it.
pub const IV: usize = 12;
/// See [`IV`].
pub const TAG: usize = 16;
/// The bytes of a tag of HMAC-SHA-256.
pub const MAC: usize = 32;

/// The type of a key that Transit knows and the servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever adds one decides what each route does with it")]
pub enum KeyKind {
    /// AES-256-GCM.
    Aes256,
    /// AES-128-GCM.
    Aes128,
    /// HMAC-SHA-256 with a key of 32 bytes.
    Hmac,
}

impl KeyKind {
    /// The name in Transit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            KeyKind::Aes256 => "aes256-gcm96",
            KeyKind::Aes128 => "aes128-gcm96",
            KeyKind::Hmac => "hmac",
        }
    }

    /// Whether such a key encrypts.
    #[must_use]
    pub const fn encrypts(self) -> bool {
        !matches!(self, KeyKind::Hmac)
    }
}

/// A key of the servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name at the servers, with the prefix of the mount.
    pub name: KeyName,
    /// Its type.
    pub kind: KeyKind,
    /// Its id, which never comes twice.
    pub id: [u8; 16],
    /// When it was made, in seconds since 1970; 0 if the servers do not know it.
    pub made: u64,
}

/// Why the servers did not do what they were asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its status, and a new one must get its own")]
pub enum BackendTrouble {
    /// They cannot answer now: a server is missing, slow, or deviates. It is the one of that number, if it is
    /// known.
    Down(Option<u8>, String),
    /// They refused the request for good, with this sentence.
    Refused(String),
    /// All three say that the ciphertext is not authentic.
    Forged,
    /// The client refused the request before it was sent.
    Misuse(String),
}

impl fmt::Display for BackendTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendTrouble::Down(_, why) | BackendTrouble::Refused(why) | BackendTrouble::Misuse(why) => {
                f.write_str(why)
            }
            BackendTrouble::Forged => f.write_str("cipher: message authentication failed"),
        }
    }
}

/// The last known state of the servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServersState {
    /// The servers that are missing or do not serve, each with the reason.
    pub missing: Vec<(u8, String)>,
    /// Whether the state was learnt at all.
    pub known: bool,
}

impl ServersState {
    /// Whether all three serve.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.known && self.missing.is_empty()
    }

    /// Whom the gateway waits for, if it is known that somebody is missing.
    #[must_use]
    pub fn waits_for(&self) -> Option<String> {
        let (_, first) = self.missing.first().filter(|_| self.known)?;
        let is_one = self.missing.iter().all(|(_, why)| why == first);
        let missing = self.missing.iter().map(|(party, why)| match is_one {
            true => format!("party {party}"),
            false => format!("party {party} ({why})"),
        });
        let missing = missing.collect::<Vec<_>>().join(", ");
        // a sentence about several servers is said once
        Some(if is_one { format!("waits for {missing} ({first})") } else { format!("waits for {missing}") })
    }
}

/// The three servers. Each call blocks until they have answered.
pub trait Backend: Send + Sync + 'static {
    /// Encrypt: the result is the IV, the ciphertext and the tag.
    ///
    /// # Errors
    /// [`BackendTrouble`]
    fn encrypt(&self, key: &KeyName, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, BackendTrouble>;

    /// Decrypt what [`Backend::encrypt`] returns.
    ///
    /// # Errors
    /// [`BackendTrouble::Forged`] if it is not authentic; else [`BackendTrouble`]
    fn decrypt(&self, key: &KeyName, aad: &[u8], sealed: &[u8])
    -> Result<Zeroizing<Vec<u8>>, BackendTrouble>;

    /// The tag of a message by HMAC-SHA-256.
    ///
    /// # Errors
    /// [`BackendTrouble`]
    fn mac(&self, key: &KeyName, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, BackendTrouble>;

    /// Whether a tag of [`MAC`] bytes is that of the message.
    ///
    /// # Errors
    /// [`BackendTrouble`]
    fn verify(&self, key: &KeyName, tag: &[u8], message: &[u8]) -> Result<bool, BackendTrouble>;

    /// Make a key, once, however often the request has to be sent.
    ///
    /// # Errors
    /// [`BackendTrouble::Refused`] if there is one of this name, or the servers keep no more for this client;
    /// else [`BackendTrouble`]
    fn make(&self, name: &KeyName, kind: KeyKind) -> Result<Key, BackendTrouble>;

    /// The key of this name, if this client may use it and its type is one of Transit's.
    ///
    /// # Errors
    /// [`BackendTrouble`]
    fn find(&self, name: &KeyName) -> Result<Option<Key>, BackendTrouble>;

    /// All such keys, in the order of their names.
    ///
    /// # Errors
    /// [`BackendTrouble`]
    fn list(&self) -> Result<Vec<Key>, BackendTrouble>;

    /// The last known state: it costs no round of the servers.
    fn health(&self) -> ServersState;

    /// How many calls can be under way at once.
    fn lanes(&self) -> usize;

    /// Whether as many requests are asked now as there are lanes, or more: a batch takes no further lane
    /// then.
    fn is_crowded(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_missing_is_named_with_the_reason() {
        let state = |missing: &[(u8, &str)]| {
            let missing = missing.iter().map(|(party, why)| (*party, (*why).to_owned())).collect();
            ServersState { missing, known: true }
        };
        assert_eq!(state(&[]).waits_for(), None);
        assert_eq!(state(&[(2, "away")]).waits_for().unwrap(), "waits for party 2 (away)");
        assert_eq!(state(&[(1, "a"), (3, "a")]).waits_for().unwrap(), "waits for party 1, party 3 (a)");
        let two = state(&[(1, "away"), (3, "absent")]);
        assert_eq!(two.waits_for().unwrap(), "waits for party 1 (away), party 3 (absent)");
        assert_eq!(ServersState { known: false, ..state(&[(1, "a")]) }.waits_for(), None);
    }
}
