//! The algorithm of a file of hashes or MACs, and the settings of a test.

use super::member::bytes;
use crate::kat::content::Content;
use crate::kat::vector::VectorAlgorithm;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::{Algorithm as Function, Settings, Strength};
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use serde_json::Value;

/// The functions that a file tests.
#[derive(Clone, Copy)]
pub(super) enum Family {
    Hash(Hash),
    Shake(Strength),
    Cshake(Strength),
    Hmac(Hash),
    Kmac(Strength),
    Cmac,
    Gmac,
}

impl Family {
    /// The function for keys of that many bytes.
    pub(super) fn of(self, key_bytes: usize) -> Result<Function, String> {
        let size =
            || KeySize::from_bytes(key_bytes).ok_or_else(|| format!("a key of {} bits", 8 * key_bytes));
        Ok(match self {
            Family::Hash(hash) => Function::Hash(hash),
            Family::Shake(strength) => Function::Shake(strength),
            Family::Cshake(strength) => Function::Cshake(strength),
            Family::Hmac(hash) => Function::Hmac(hash),
            Family::Kmac(strength) => Function::Kmac(strength),
            Family::Cmac => Function::Cmac(size()?),
            Family::Gmac => Function::Gmac(size()?),
        })
    }

    /// The function by whose name a vector is counted if its key is unknown.
    pub(super) fn by_default(self) -> Function {
        self.of(16).unwrap_or(Function::Cmac(KeySize::Aes128))
    }

    /// The function by whose name a vector is counted, given the number of bytes of its key if that is known.
    fn named(self, key_bytes: Option<usize>) -> Function {
        key_bytes.and_then(|bytes| self.of(bytes).ok()).unwrap_or(self.by_default())
    }

    pub(super) fn is_mac(self) -> bool {
        !matches!(self, Family::Hash(_) | Family::Shake(_) | Family::Cshake(_))
    }
}

pub(super) fn hash(name: &str) -> Option<Hash> {
    if ["SHA-1", "SHA1"].contains(&name) {
        return Some(Hash::Sha1);
    }
    Hash::from_name(&name.to_ascii_lowercase().replace('/', "-").replace("sha2-", "sha"))
}

pub(super) fn strength(bits: &str) -> Option<Strength> {
    match bits {
        "128" => Some(Strength::S128),
        "256" => Some(Strength::S256),
        _ => None,
    }
}

impl Content {
    /// Count a test that cannot run, under the algorithm that belongs to its key.
    pub(super) fn count(&mut self, family: Family, group: &Value, test: &Value, reason: String) {
        let algorithm = VectorAlgorithm::Function(family.named(key_bytes(group, test)));
        *self.unsupported.entry((algorithm, reason)).or_default() += 1;
    }
}

/// The length of a test's key in bytes: that of the key itself, or the one that the test or its group says in
/// ACVP or Wycheproof; `None` if there is neither.
pub(super) fn key_bytes(group: &Value, test: &Value) -> Option<usize> {
    let said = || {
        let number = |name| [test, group].iter().find_map(|value| value.get(name)).and_then(Value::as_u64);
        number("keyLen").or(number("keySize")).and_then(|bits| usize::try_from(bits / 8).ok())
    };
    bytes(test, &["key"]).ok().map(|key| key.len()).or_else(said)
}

pub(super) const BIT_LENGTH: &str = "a length that is no whole number of bytes";

pub(super) fn settings(family: Family, key: &[u8], output: &[u8]) -> Result<Settings, String> {
    let algorithm = family.of(key.len())?;
    let settings =
        Settings { adder: Adder::LowDepth, output_bytes: output.len(), ..Settings::new(algorithm) };
    if settings.check().is_err() {
        return Err(format!("an output of {} bits", 8 * output.len()));
    }
    Ok(settings)
}

/// The number of a test, which some tools write as a text.
pub(super) fn id(test: &Value) -> u64 {
    let number = |id: &Value| id.as_u64().or_else(|| id.as_str()?.parse().ok());
    test.get("tcId").and_then(number).unwrap_or(0)
}
