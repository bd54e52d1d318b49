//! Keys that a user brings: their bytes, raw or in base32, and what they look like.

use data_encoding::BASE32_NOPAD;
use divisi::failure::Failure;
use divisi::source;
use divisi_node::{KeyType, Purpose};
use std::path::Path;
use zeroize::Zeroizing;

/// No file of a key is longer, in base32 neither.
const LONGEST: usize = 4096;
/// The shortest key that protects what must stay secret today, in bytes (SP 800-131A: 112 bits).
const STRONG: usize = 14;

/// Read a key, which must have a length of its type, and warn of what a key rarely looks like.
pub(super) fn read_key(
    path: Option<&Path>,
    kind: KeyType,
    base32: bool,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let path = path.filter(|path| !source::is_stdin(path));
    let shown = path.map_or("standard input".into(), |path| path.display().to_string());
    // a file that is being written would be a shorter key
    let mut key = source::read(path.unwrap_or(Path::new("-")), LONGEST as u64).map_err(|e| {
        Failure::usage(format!("the key in {shown} cannot be read ({e}): give a file with --in"))
    })?;
    if base32 {
        key = of_base32(&key).ok_or_else(|| {
            Failure::usage(format!("{shown} is not base32: give letters, 2 to 7 and perhaps = at the end"))
        })?;
    }
    check_length(kind, key.len(), || format!("{shown} has"))?;
    if !base32 {
        let looks = looks(&key, kind);
        looks.iter().for_each(|what| super::warn(format_args!("warning: the key in {shown} {what}")));
    }
    warn_if_short(kind, key.len());
    Ok(key)
}

/// Check that a type has keys of this length; `has` says what has it, up to the number.
pub(super) fn check_length(kind: KeyType, bytes: usize, has: impl Fn() -> String) -> Result<(), Failure> {
    let lengths = kind.lengths();
    if lengths.contains(&bytes) {
        return Ok(());
    }
    let (least, most) = lengths.into_inner();
    let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let kind = named(kind);
    let has = has();
    Err(Failure::usage(format!(
        "{kind} key has {takes} bytes and {has} {bytes}: give the raw bytes of the key, not digits"
    )))
}

/// A type with its article.
fn named(kind: KeyType) -> String {
    format!("{} {kind}", if kind.name().starts_with(['a', 'h']) { "an" } else { "a" })
}

/// Warn of a key that can be found by trying.
pub(super) fn warn_if_short(kind: KeyType, bytes: usize) {
    if bytes < STRONG {
        let kind = named(kind);
        super::warn(format_args!(
            "warning: {kind} key of {} bits is below 112 bits, and can be found by trying: use it for tests \
             and for what others have fixed",
            8 * bytes
        ));
    }
}

/// What is unusual about the raw bytes of a key.
fn looks(key: &[u8], kind: KeyType) -> Vec<&'static str> {
    let digits = key.trim_ascii_end();
    let all = |is: fn(&u8) -> bool| !digits.is_empty() && digits.iter().all(is);
    let mut looks = Vec::new();
    if key.ends_with(b"\n") {
        looks.push(
            "ends in a newline, which is a byte of the key: if an editor or `echo` added it, take it off",
        );
    }
    if all(u8::is_ascii_hexdigit) {
        looks.push("is all hexadecimal digits, which are its bytes as they stand: if they spell the key, decode them first");
    } else if kind.purpose() == Purpose::Mac
        && kind.name().starts_with("one-time-password")
        && all(|byte| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(byte) || *byte == b'=')
    {
        looks.push("looks like base32: if it is, import it with --base32");
    }
    looks
}

/// The bytes that base32 (RFC 4648) spells: in any case, with spaces and dashes between groups as services
/// print it, with padding or without.
fn of_base32(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digits = text.trim_ascii_end();
    let end = digits.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let grouped = |byte: &u8| !matches!(byte, b' ' | b'-' | b'\n' | b'\r' | b'\t');
    let text = digits.get(..end)?;
    // with room for all: a vector that grows leaves copies behind
    let mut digits = Zeroizing::new(Vec::<u8>::with_capacity(text.len()));
    digits.extend(text.iter().copied().filter(grouped).map(|byte| byte.to_ascii_uppercase()));
    let mut bytes = Zeroizing::new(vec![0u8; BASE32_NOPAD.decode_len(digits.len()).ok()?]);
    let length = BASE32_NOPAD.decode_mut(&digits, &mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10, and forms in which services print secrets.
    #[test]
    fn base32_is_that_of_the_standard() {
        let vectors = [
            ("", ""),
            ("MY======", "f"),
            ("MZXQ====", "fo"),
            ("MZXW6===", "foo"),
            ("MZXW6YQ=", "foob"),
            ("MZXW6YTB", "fooba"),
            ("MZXW6YTBOI======", "foobar"),
            ("mzxw 6ytb-oi\n", "foobar"),
            ("GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ\r\n", "12345678901234567890"),
        ];
        for (text, bytes) in vectors {
            let read = of_base32(text.as_bytes());
            assert_eq!(read.as_deref().map(Vec::as_slice), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["M", "MZ1", "MZXW6YT8", "M=Y", "MZ", "M\u{e9}"] {
            assert!(of_base32(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_a_key_rarely_looks_like_is_named() {
        let said = |key: &[u8], kind| looks(key, kind).join("; ");
        let hmac = KeyType::HmacSha256;
        assert!(said(b"a key\n", hmac).starts_with("ends in a newline"));
        assert!(said(b"00ffAB12", hmac).starts_with("is all hexadecimal"));
        let both = said(b"00ffAB12\n", hmac);
        assert!(both.contains("newline") && both.contains("hexadecimal"), "{both}");
        assert!(said(b"JBSWY3DPEHPK3PXP", KeyType::OtpSha1).contains("--base32"));
        for (key, kind) in
            [(&b"JBSWY3DPEHPK3PXP"[..], hmac), (b"a key", hmac), (b"\n.", hmac), (b"\xff\x0a\x01", hmac)]
        {
            assert_eq!(said(key, kind), "", "{key:?}");
        }
    }
}
