//! Base64 as the recorded server reads it: line breaks are skipped, bits after the last byte may be anything,
//! padding is required, and an error names the byte.
//!
//! Neither direction promises constant time: the gateway's process holds the plaintext anyway.

use data_encoding::BASE64;
use std::fmt;
use zeroize::Zeroizing;

/// The place at which a text stops being base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(usize);

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal base64 data at input byte {}", self.0)
    }
}

/// The text of these bytes, with padding.
#[must_use]
pub fn encode(bytes: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(BASE64.encode(bytes))
}

/// The bytes of a text.
///
/// # Errors
/// [`Corrupt`] with the place that the recorded server names.
pub fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
    let text = text.as_bytes();
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() / 4 * 3 + 3));
    let mut at = 0;
    let breaks = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\n' | b'\r')) {
            *at += 1;
        }
    };
    loop {
        let mut group = [0; 4];
        let mut filled = 0;
        while filled < 4 {
            breaks(&mut at);
            let Some(byte) = text.get(at) else {
                return if filled == 0 { Ok(bytes) } else { Err(Corrupt(at - filled)) };
            };
            at += 1;
            if let (Some(value), Some(place)) = (value(*byte), group.get_mut(filled)) {
                *place = value;
                filled += 1;
                continue;
            }
            if *byte != b'=' || filled < 2 {
                return Err(Corrupt(at - 1));
            }
            if filled == 2 {
                breaks(&mut at);
                match text.get(at) {
                    Some(b'=') => at += 1,
                    Some(_) => return Err(Corrupt(at - 1)),
                    None => return Err(Corrupt(text.len())),
                }
            }
            breaks(&mut at);
            if at < text.len() {
                return Err(Corrupt(at));
            }
            let three = join(group);
            bytes.extend_from_slice(three.get(..filled - 1).unwrap_or_default());
            return Ok(bytes);
        }
        bytes.extend_from_slice(&join(group));
    }
}

fn join([a, b, c, d]: [u8; 4]) -> [u8; 3] {
    [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]
}

fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_recorded_byte() {
        let recorded = [
            ("a%b=", 1),
            ("YW%=", 2),
            ("YWJ%", 3),
            ("YWJ", 0),
            ("YWI", 0),
            ("YWI==", 4),
            ("YWJjYQ=", 7),
            ("YQ=x", 2),
            ("-_-_", 0),
            ("YW Jj", 2),
            ("YWJj ", 4),
            ("Y", 0),
            ("=", 0),
            ("Y=", 1),
            ("Y===", 1),
            ("é", 0),
            ("%", 0),
        ];
        for (text, place) in recorded {
            assert_eq!(decode(text).unwrap_err(), Corrupt(place), "{text}");
        }
    }

    #[test]
    fn breaks_and_trailing_bits_pass() {
        for (text, bytes) in [
            ("YW\nJj", "abc"),
            ("YW\r\nJj", "abc"),
            ("YWJj\n", "abc"),
            ("YWJ=", "ab"),
            ("", ""),
            ("YQ==", "a"),
        ] {
            assert_eq!(&decode(text).unwrap()[..], bytes.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn both_directions_agree() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|i| i.wrapping_mul(151).wrapping_add(length)).collect();
            assert_eq!(*decode(&encode(&bytes)).unwrap(), bytes);
        }
    }
}
