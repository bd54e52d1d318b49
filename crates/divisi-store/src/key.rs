//! A key as one server stores it: its public data, and that server's two components.

use crate::name::KeyName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use zeroize::Zeroizing;

/// The largest number of messages that one key may encrypt: GCM with random 96-bit IVs (SP 800-38D, section
/// 8.3).
pub const USES: u64 = 1 << 32;

/// The longest key of HMAC and KMAC, in bytes.
pub const LONGEST_MAC_KEY: usize = 1024;

/// The type of a key: the algorithm that it serves. The order is that of the file format: new types are
/// appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum KeyType {
    /// GCM with AES-128.
    Aes128,
    /// GCM with AES-192.
    Aes192,
    /// GCM with AES-256.
    Aes256,
    /// HMAC-SHA-224.
    HmacSha224,
    /// HMAC-SHA-256.
    HmacSha256,
    /// HMAC-SHA-384.
    HmacSha384,
    /// HMAC-SHA-512.
    HmacSha512,
    /// HMAC-SHA-512/256.
    HmacSha512_256,
    /// HMAC-SHA3-224.
    HmacSha3_224,
    /// HMAC-SHA3-256.
    HmacSha3_256,
    /// HMAC-SHA3-384.
    HmacSha3_384,
    /// HMAC-SHA3-512.
    HmacSha3_512,
    /// KMAC128.
    Kmac128,
    /// KMAC256.
    Kmac256,
    /// CMAC over AES-128.
    CmacAes128,
    /// CMAC over AES-256.
    CmacAes256,
    /// GMAC over AES-128.
    GmacAes128,
    /// GMAC over AES-256.
    GmacAes256,
    /// HMAC-SHA-512/224.
    HmacSha512_224,
    /// HMAC-SHA-1, for old data.
    HmacSha1,
    /// One-time passwords by HMAC-SHA-1.
    OtpSha1,
    /// One-time passwords by HMAC-SHA-256.
    OtpSha256,
    /// One-time passwords by HMAC-SHA-512.
    OtpSha512,
    /// CBC with AES-128, for old data.
    Aes128Cbc,
    /// CBC with AES-192, for old data.
    Aes192Cbc,
    /// CBC with AES-256, for old data.
    Aes256Cbc,
    /// SIV with two keys of AES-128.
    Aes128Siv,
    /// SIV with two keys of AES-192.
    Aes192Siv,
    /// SIV with two keys of AES-256.
    Aes256Siv,
    /// KW and KWP with AES-128.
    Aes128Kw,
    /// KW and KWP with AES-192.
    Aes192Kw,
    /// KW and KWP with AES-256.
    Aes256Kw,
}

impl KeyType {
    /// Every type.
    pub const ALL: &'static [KeyType] = &[
        KeyType::Aes128,
        KeyType::Aes192,
        KeyType::Aes256,
        KeyType::HmacSha224,
        KeyType::HmacSha256,
        KeyType::HmacSha384,
        KeyType::HmacSha512,
        KeyType::HmacSha512_256,
        KeyType::HmacSha3_224,
        KeyType::HmacSha3_256,
        KeyType::HmacSha3_384,
        KeyType::HmacSha3_512,
        KeyType::Kmac128,
        KeyType::Kmac256,
        KeyType::CmacAes128,
        KeyType::CmacAes256,
        KeyType::GmacAes128,
        KeyType::GmacAes256,
        KeyType::HmacSha512_224,
        KeyType::HmacSha1,
        KeyType::OtpSha1,
        KeyType::OtpSha256,
        KeyType::OtpSha512,
        KeyType::Aes128Cbc,
        KeyType::Aes192Cbc,
        KeyType::Aes256Cbc,
        KeyType::Aes128Siv,
        KeyType::Aes192Siv,
        KeyType::Aes256Siv,
        KeyType::Aes128Kw,
        KeyType::Aes192Kw,
        KeyType::Aes256Kw,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            KeyType::Aes128 => "aes-128",
            KeyType::Aes192 => "aes-192",
            KeyType::Aes256 => "aes-256",
            KeyType::HmacSha224 => "hmac-sha224",
            KeyType::HmacSha256 => "hmac-sha256",
            KeyType::HmacSha384 => "hmac-sha384",
            KeyType::HmacSha512 => "hmac-sha512",
            KeyType::HmacSha512_256 => "hmac-sha512-256",
            KeyType::HmacSha3_224 => "hmac-sha3-224",
            KeyType::HmacSha3_256 => "hmac-sha3-256",
            KeyType::HmacSha3_384 => "hmac-sha3-384",
            KeyType::HmacSha3_512 => "hmac-sha3-512",
            KeyType::Kmac128 => "kmac128",
            KeyType::Kmac256 => "kmac256",
            KeyType::CmacAes128 => "cmac-aes128",
            KeyType::CmacAes256 => "cmac-aes256",
            KeyType::GmacAes128 => "gmac-aes128",
            KeyType::GmacAes256 => "gmac-aes256",
            KeyType::HmacSha512_224 => "hmac-sha512-224",
            KeyType::HmacSha1 => "hmac-sha1-for-old-data",
            KeyType::OtpSha1 => "one-time-password-sha1",
            KeyType::OtpSha256 => "one-time-password-sha256",
            KeyType::OtpSha512 => "one-time-password-sha512",
            KeyType::Aes128Cbc => "aes-128-cbc",
            KeyType::Aes192Cbc => "aes-192-cbc",
            KeyType::Aes256Cbc => "aes-256-cbc",
            KeyType::Aes128Siv => "aes-128-siv",
            KeyType::Aes192Siv => "aes-192-siv",
            KeyType::Aes256Siv => "aes-256-siv",
            KeyType::Aes128Kw => "aes-128-kw",
            KeyType::Aes192Kw => "aes-192-kw",
            KeyType::Aes256Kw => "aes-256-kw",
        }
    }

    /// The lengths in bytes that a key may have: HMAC and KMAC take a key of any length (FIPS 198-1, 3;
    /// SP 800-185, 4), here up to [`LONGEST_MAC_KEY`]; one-time passwords a secret as their applications have
    /// it; all else the one length of its algorithm.
    #[must_use]
    pub const fn lengths(self) -> RangeInclusive<usize> {
        match self {
            KeyType::HmacSha1
            | KeyType::HmacSha224
            | KeyType::HmacSha256
            | KeyType::HmacSha384
            | KeyType::HmacSha512
            | KeyType::HmacSha512_224
            | KeyType::HmacSha512_256
            | KeyType::HmacSha3_224
            | KeyType::HmacSha3_256
            | KeyType::HmacSha3_384
            | KeyType::HmacSha3_512
            | KeyType::Kmac128
            | KeyType::Kmac256 => 1..=LONGEST_MAC_KEY,
            KeyType::OtpSha1 | KeyType::OtpSha256 | KeyType::OtpSha512 => 10..=64,
            _ => self.bytes()..=self.bytes(),
        }
    }

    /// The length in bytes that a key has unless another one is asked for: for HMAC that of the digest, for
    /// SIV that of two keys.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            KeyType::Aes128
            | KeyType::Aes128Cbc
            | KeyType::Aes128Kw
            | KeyType::Kmac128
            | KeyType::CmacAes128
            | KeyType::GmacAes128 => 16,
            KeyType::HmacSha1 | KeyType::OtpSha1 => 20,
            KeyType::Aes192 | KeyType::Aes192Cbc | KeyType::Aes192Kw => 24,
            KeyType::HmacSha224 | KeyType::HmacSha3_224 | KeyType::HmacSha512_224 => 28,
            KeyType::Aes256
            | KeyType::Aes256Cbc
            | KeyType::Aes256Kw
            | KeyType::Aes128Siv
            | KeyType::HmacSha256
            | KeyType::OtpSha256
            | KeyType::HmacSha512_256
            | KeyType::HmacSha3_256
            | KeyType::Kmac256
            | KeyType::CmacAes256
            | KeyType::GmacAes256 => 32,
            KeyType::HmacSha384 | KeyType::HmacSha3_384 | KeyType::Aes192Siv => 48,
            KeyType::HmacSha512 | KeyType::HmacSha3_512 | KeyType::OtpSha512 | KeyType::Aes256Siv => 64,
        }
    }

    /// The purpose of such a key: it serves nothing else.
    #[must_use]
    pub const fn purpose(self) -> Purpose {
        match self {
            KeyType::Aes128 | KeyType::Aes192 | KeyType::Aes256 => Purpose::Gcm,
            KeyType::Aes128Cbc | KeyType::Aes192Cbc | KeyType::Aes256Cbc => Purpose::Cbc,
            KeyType::Aes128Siv | KeyType::Aes192Siv | KeyType::Aes256Siv => Purpose::Siv,
            KeyType::Aes128Kw | KeyType::Aes192Kw | KeyType::Aes256Kw => Purpose::Wrap,
            _ => Purpose::Mac,
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        KeyType::ALL.iter().copied().find(|t| t.name() == name).ok_or_else(|| {
            let known: Vec<&str> = KeyType::ALL.iter().map(|t| t.name()).collect();
            format!("unknown key type {name:?}: choose one of {}", known.join(", "))
        })
    }
}

/// The purpose of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Purpose {
    /// Encryption and decryption of messages by AES-GCM.
    Gcm,
    /// Authentication of messages by the MAC that the type names.
    Mac,
    /// Encryption and decryption by AES-CBC, for old data.
    Cbc,
    /// Encryption and decryption by AES-SIV.
    Siv,
    /// Wrapping and unwrapping of keys by AES-KW and AES-KWP.
    Wrap,
}

/// The state of a key in its life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "a key in a state that somebody does not know must not be used")]
pub enum KeyState {
    /// This server has its part; it is not known yet whether all servers have theirs.
    Prepared,
    /// All three have their parts, and have compared them.
    Active,
    /// A key of this name existed; its components are erased.
    Destroyed,
}

/// The client that made a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Its name.
    pub name: String,
    /// The fingerprint of its identity.
    pub fingerprint: [u8; 32],
}

/// The public data of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyInfo {
    /// Its name.
    pub name: KeyName,
    /// The id of the key, unique even among keys of one name; all servers draw it together.
    pub id: [u8; 16],
    /// The type of the key: the algorithm that it serves.
    pub kind: KeyType,
    /// The length of the key, in bytes. In a key's file it is that of the components; a destroyed key has
    /// none, and counts as one of the default length.
    #[serde(skip)]
    pub bytes: usize,
    /// The purpose of the key.
    pub purpose: Purpose,
    /// The number of this key among the keys of its name, from 1.
    pub generation: u32,
    /// The state of the key at this server.
    pub state: KeyState,
    /// The client's name for the request that made the key: a repeated request with this name finds this key
    /// instead of making another one.
    pub request: [u8; 16],
    /// The client that made it.
    pub maker: Maker,
    /// The other clients that may use it.
    pub clients: Vec<String>,
    /// Whether its maker may export it.
    pub exportable: bool,
    /// The party to which the file belongs.
    pub party: u8,
    /// A digest of the parties that made it.
    pub mesh: [u8; 32],
    /// When it was made, in seconds since 1970: the middle one of the times of the three servers, never 0.
    /// `None` if that is not known, as for keys of earlier versions. In a key's file it stands at the end.
    #[serde(skip)]
    pub made: Option<u64>,
}

impl KeyInfo {
    /// A digest of everything that must be the same at all servers: all but the state and the party \[A26\].
    #[must_use]
    pub fn agreed(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 key information v2");
        let mut put = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        put(self.name.as_str().as_bytes());
        put(&self.id);
        put(self.kind.name().as_bytes());
        put(&(self.bytes as u64).to_le_bytes());
        put(match self.purpose {
            Purpose::Gcm => b"gcm",
            Purpose::Mac => b"mac",
            Purpose::Cbc => b"cbc",
            Purpose::Siv => b"siv",
            Purpose::Wrap => b"wrap",
        });
        put(&self.generation.to_le_bytes());
        put(&self.request);
        put(self.maker.name.as_bytes());
        put(&self.maker.fingerprint);
        put(&(self.clients.len() as u64).to_le_bytes());
        for client in &self.clients {
            put(client.as_bytes());
        }
        put(&[u8::from(self.exportable)]);
        put(&self.mesh);
        put(&self.made.unwrap_or(0).to_le_bytes());
        put(&USES.to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// This server's two components of a key. The type does not implement `Debug`; the components are wiped on
/// drop.
pub struct Secret {
    /// The component with this party's number.
    pub first: Zeroizing<Vec<u8>>,
    /// The component with the next number, which is 1 after 3.
    pub second: Zeroizing<Vec<u8>>,
}

/// The contents of a key's file.
pub struct KeyFile {
    /// The public data.
    pub info: KeyInfo,
    /// The number of uses reserved so far.
    pub reserved: u64,
    /// The components; `None` for a destroyed key.
    pub secret: Option<Secret>,
    /// A change of its clients that is written and not in force: those that it is to serve besides its maker,
    /// once all servers have written the same.
    pub next_clients: Option<Vec<String>>,
}

impl KeyFile {
    /// What [`KeyInfo::agreed`] will be when the change of its clients is in force; `None` if there is no
    /// change.
    #[must_use]
    pub fn agreed_next(&self) -> Option<[u8; 32]> {
        let clients = self.next_clients.clone()?;
        Some(KeyInfo { clients, ..self.info.clone() }.agreed())
    }
}

#[cfg(test)]
mod tests;
