//! Which hash a file is about, and the last bits of messages of SHA-3.

use super::records::Record;

/// The name of a hash in ACVP with digests of that many bits: by the letters and digits of the file's name
/// and comments, or by the declared length, which is in bytes for SHA-1 and SHA-2, and in bits for SHA-3.
pub(super) fn hash(letters: &str, record: &Record, bits: usize) -> String {
    let says = |name: &str| letters.contains(&format!("{name}{bits}"));
    if says("sha3") || (bits >= 224 && record.number("l") == Some(bits as u64)) {
        format!("SHA3-{bits}")
    } else if bits < 384 && says("sha512") {
        format!("SHA2-512/{bits}")
    } else if bits == 160 {
        "SHA-1".into()
    } else {
        format!("SHA2-{bits}")
    }
}

/// The strength of SHAKE that these letters say.
pub(super) fn strength(letters: &str) -> Option<&'static str> {
    ["128", "256"].into_iter().find(|bits| letters.contains(&format!("shake{bits}")))
}

/// A message of SHA-3 of that many bits as ACVP writes it: the last bits are at the high end of the last
/// byte, where these files have them at the low end (FIPS 202, B.1).
pub(super) fn sponge_message(message: &str, bits: u64) -> String {
    let spare = (8 - bits % 8) % 8;
    let kept = hex::decode(message).ok().filter(|_| spare > 0);
    let Some(mut bytes) = kept else { return message.to_owned() };
    bytes.truncate(usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX));
    if let Some(last) = bytes.last_mut() {
        *last <<= spare;
    }
    hex::encode(bytes)
}
