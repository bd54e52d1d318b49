//! The formats of ciphertexts and tags, versions of keys, and the parts of a request that several routes
//! have.

use super::super::fields::parse_int;
use crate::backend::{IV, KeyKind, TAG, VERSION};
use crate::base64::{decode, encode};
use zeroize::Zeroizing;

/// What ciphertexts and tags begin with, before the number of their version.
const PREFIX: &str = "vault:v";
/// The answer to a ciphertext that is not authentic.
const FORGED: &str = "cipher: message authentication failed";

/// The text of a ciphertext or tag.
#[must_use]
pub fn join(bytes: &[u8]) -> String {
    format!("{PREFIX}{VERSION}:{}", encode(bytes).as_str())
}

/// The version and the rest of a text with the prefix.
fn parts<'a>(text: &'a str, no_prefix: &str, what: &str) -> Result<(i64, &'a str), String> {
    let rest = text.strip_prefix(PREFIX).ok_or_else(|| format!("{no_prefix}: no prefix"))?;
    let fields = rest.split_once(':').ok_or_else(|| format!("{what}: wrong number of fields"))?;
    let (version, rest) = fields;
    let version = parse_int(version).map_err(|_| format!("{what}: version number could not be decoded"))?;
    if version > VERSION {
        return Err(format!("{what}: version is too new"));
    }
    Ok((version, rest))
}

/// The IV, ciphertext and tag in a ciphertext's text. Version 0 is read as 1.
///
/// # Errors
/// The text of the error.
pub fn sealed(text: &str) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Err("missing ciphertext to decrypt".into());
    }
    let (version, rest) = parts(text, "invalid ciphertext", "invalid ciphertext")?;
    if version < 0 {
        return Err("ciphertext or signature version is disallowed by policy (too old)".into());
    }
    let bytes = decode(rest).map_err(|_| "invalid ciphertext: could not decode base64")?;
    match bytes.len() {
        short if short < IV => Err("invalid ciphertext length".into()),
        short if short < IV + TAG => Err(FORGED.into()),
        _ => Ok(bytes.to_vec()),
    }
}

/// The tag in the text of an HMAC.
///
/// # Errors
/// The text of the error.
pub fn tag(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let (version, rest) = parts(text, "invalid HMAC to verify", "invalid HMAC")?;
    if version < VERSION {
        return Err("cannot verify HMAC: version is too old (disallowed by policy)".into());
    }
    decode(rest).map_err(|e| format!("unable to decode verification HMAC as base64: {e}"))
}

/// Check the version that a request asks a ciphertext to have: 0 is the latest.
///
/// # Errors
/// The text of the error.
pub fn version(asked: i64) -> Result<(), String> {
    match asked {
        ..0 => Err("requested version for encryption is negative".into()),
        0..=VERSION => Ok(()),
        _ => Err("requested version for encryption is higher than the latest key version".into()),
    }
}

/// The associated data in a request.
///
/// # Errors
/// The text of the error.
pub fn associated(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    decode(text).map_err(|e| format!("unable to get associated_data/additional_data from factory[0]: {e}"))
}

/// The input of a hash or MAC.
///
/// # Errors
/// The text of the error.
pub fn input(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    decode(text).map_err(|e| format!("unable to decode input as base64: {e}"))
}

/// Whether a key encrypts.
///
/// # Errors
/// The text of the error.
pub fn encrypts(kind: KeyKind) -> Result<(), String> {
    if kind.encrypts() { Ok(()) } else { Err(unsupported("encryption", kind)) }
}

/// Whether a key decrypts.
///
/// # Errors
/// The text of the error.
pub fn decrypts(kind: KeyKind) -> Result<(), String> {
    if kind.encrypts() { Ok(()) } else { Err(unsupported("decryption", kind)) }
}

fn unsupported(what: &str, kind: KeyKind) -> String {
    format!("message {what} not supported for key type {}", kind.name())
}

/// Whether a key authenticates. The recorded server has a second key for that behind each key; here a key
/// serves one purpose.
///
/// # Errors
/// The text of the error.
pub fn authenticates(kind: KeyKind) -> Result<(), String> {
    if kind == KeyKind::Hmac {
        return Ok(());
    }
    Err(format!(
        "key type {} does not support HMAC here: make a key of type hmac with key_size 32",
        kind.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphertexts_have_the_recorded_errors() {
        for (text, error) in [
            ("", "missing ciphertext to decrypt"),
            ("hello", "invalid ciphertext: no prefix"),
            ("bao:v1:AAAA", "invalid ciphertext: no prefix"),
            ("VAULT:v1:AAAA", "invalid ciphertext: no prefix"),
            ("vault::AAAA", "invalid ciphertext: no prefix"),
            ("vault:v", "invalid ciphertext: wrong number of fields"),
            ("vault:v1", "invalid ciphertext: wrong number of fields"),
            ("vault:v:AAAA", "invalid ciphertext: version number could not be decoded"),
            ("vault:v99999999999999999999:AAAA", "invalid ciphertext: version number could not be decoded"),
            ("vault:v2:AAAA", "invalid ciphertext: version is too new"),
            ("vault:v-1:AAAA", "ciphertext or signature version is disallowed by policy (too old)"),
            ("vault:v1:%%%%", "invalid ciphertext: could not decode base64"),
            ("vault:v1:AAAA:x", "invalid ciphertext: could not decode base64"),
            ("vault:v1:", "invalid ciphertext length"),
            ("vault:v1:AAAAAAAAAAAAAAAA", FORGED),
        ] {
            assert_eq!(sealed(text).unwrap_err(), error, "{text}");
        }
        for version in ["1", "0", "01", "+1"] {
            let text = format!("vault:v{version}:{}\n", &*encode(&[7; 30]));
            assert_eq!(sealed(&text).unwrap(), [7; 30], "{text}");
        }
        assert_eq!(sealed(&join(&[7; 30])).unwrap(), [7; 30]);
    }

    #[test]
    fn tags_have_the_recorded_errors() {
        for (text, error) in [
            ("", "invalid HMAC to verify: no prefix"),
            ("vault:v1", "invalid HMAC: wrong number of fields"),
            ("vault:vx:AAAA", "invalid HMAC: version number could not be decoded"),
            ("vault:v2:AAAA", "invalid HMAC: version is too new"),
            ("vault:v0:AAAA", "cannot verify HMAC: version is too old (disallowed by policy)"),
            (
                "vault:v1:%",
                "unable to decode verification HMAC as base64: illegal base64 data at input byte 0",
            ),
        ] {
            assert_eq!(tag(text).unwrap_err(), error, "{text}");
        }
        assert!(tag("vault:v1:").unwrap().is_empty());
    }
}
