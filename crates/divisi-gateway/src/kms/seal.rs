//! The format of a ciphertext of KMS v2: a byte with the version of the format, the IV, what is encrypted,
//! and the tag. The associated data are a label of this interface and format, and the id of the key.
//!
//! The label keeps ciphertexts of KMS and of Transit apart, whose associated data the user chooses and are
//! mostly empty. The id keeps apart those of a key and of its successor of the same name.

use crate::backend::{IV, TAG};
use data_encoding::HEXLOWER;

/// The version of the format.
const FORMAT: u8 = 1;
/// What the associated data begin with; it ends in the version.
const LABEL: &[u8] = b"divisi gateway, kubernetes kms v2, format 1\0";
/// kube-apiserver takes no longer ciphertext.
const LONGEST: usize = 1024;
/// The bytes of a ciphertext besides those of the plaintext.
const AROUND: usize = 1 + IV + TAG;
/// The longest plaintext whose ciphertext is short enough.
pub(super) const LONGEST_PLAINTEXT: usize = LONGEST - AROUND;

/// The id of a key.
pub(super) type Id = [u8; 16];

/// The `key_id` of a key: its id in hexadecimal digits.
#[must_use]
pub fn key_id(id: &[u8; 16]) -> String {
    HEXLOWER.encode(id)
}

/// The id in a `key_id`.
pub(super) fn parse_key_id(text: &str) -> Option<Id> {
    // a text of another length is none, and is not decoded
    let digits = Some(text.as_bytes()).filter(|digits| digits.len() == 32)?;
    HEXLOWER.decode(digits).ok()?.try_into().ok()
}

/// What a ciphertext is bound to.
pub(super) fn associated(id: &Id) -> Vec<u8> {
    [LABEL, id].concat()
}

/// The ciphertext around what the servers returned, if they returned one of the right length.
pub(super) fn wrap(sealed: &[u8], plaintext: usize) -> Option<Vec<u8>> {
    let fits = sealed.len() == plaintext + IV + TAG && sealed.len() < LONGEST;
    fits.then(|| [&[FORMAT], sealed].concat())
}

/// What the servers are to decrypt.
///
/// # Errors
/// What is wrong with the ciphertext.
pub(super) fn unwrap(ciphertext: &[u8]) -> Result<&[u8], String> {
    match ciphertext.split_first() {
        _ if ciphertext.len() > LONGEST => Err(format!(
            "the ciphertext has {} bytes, and none of this plugin has more than {LONGEST}",
            ciphertext.len()
        )),
        Some((&FORMAT, sealed)) if sealed.len() >= IV + TAG => Ok(sealed),
        Some((&FORMAT, _)) => Err("the ciphertext is cut off".into()),
        Some(_) => Err("the ciphertext is not of this plugin, or of a later version of it".into()),
        None => Err("the ciphertext is empty".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_ids_are_those_of_ids_and_no_other_text() {
        let id = [0xab; 16];
        assert_eq!(parse_key_id(&key_id(&id)), Some(id));
        for text in ["", "ab", &"AB".repeat(16), &"zz".repeat(16), &"ab".repeat(17), &"é".repeat(16)] {
            assert_eq!(parse_key_id(text), None, "{text}");
        }
    }

    /// Ciphertexts of two keys, or of Transit, are bound to something else.
    #[test]
    fn what_a_ciphertext_is_bound_to_names_interface_and_key() {
        let (one, other) = (associated(&[1; 16]), associated(&[2; 16]));
        assert_ne!(one, other);
        assert!(one.starts_with(LABEL) && one.ends_with(&[1; 16]));
        assert_eq!(one.len(), LABEL.len() + 16);
    }

    #[test]
    fn ciphertexts_have_a_version_and_at_most_a_kilobyte() {
        let sealed = vec![7; LONGEST_PLAINTEXT + IV + TAG];
        let wrapped = wrap(&sealed, LONGEST_PLAINTEXT).unwrap();
        assert_eq!(wrapped.len(), LONGEST);
        assert_eq!(unwrap(&wrapped).unwrap(), sealed);
        assert_eq!(wrap(&sealed, LONGEST_PLAINTEXT - 1), None);
        assert_eq!(wrap(&vec![7; LONGEST], LONGEST - IV - TAG), None);
        for (wrong, what) in [
            (&[][..], "empty"),
            (&[2; 40], "not of this plugin"),
            (&[1; IV + TAG], "cut off"),
            (&[1; LONGEST + 1], "1025 bytes"),
        ] {
            let why = unwrap(wrong).unwrap_err();
            assert!(why.contains(what), "{why}");
        }
    }
}
