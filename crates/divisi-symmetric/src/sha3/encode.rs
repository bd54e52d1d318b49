//! The encodings of SP 800-185, section 2.3, of public lengths and strings.

/// `left_encode`: a number, preceded by its length.
#[must_use]
pub fn left_encode(x: u64) -> Vec<u8> {
    let digits = digits(x);
    [&[digits.len() as u8], digits.as_slice()].concat()
}

/// `right_encode`: a number, followed by its length.
#[must_use]
pub fn right_encode(x: u64) -> Vec<u8> {
    let digits = digits(x);
    [digits.as_slice(), &[digits.len() as u8]].concat()
}

/// `encode_string`: a string, preceded by its length in bits.
#[must_use]
pub fn encode_string(s: &[u8]) -> Vec<u8> {
    [left_encode(8 * s.len() as u64).as_slice(), s].concat()
}

/// `bytepad`: a string, preceded by `w`, padded with zeros to a multiple of `w` bytes.
#[must_use]
pub fn bytepad(x: &[u8], w: usize) -> Vec<u8> {
    let mut padded = [left_encode(w as u64).as_slice(), x].concat();
    padded.resize(padded.len().next_multiple_of(w.max(1)), 0);
    padded
}

/// The bytes of a number in big-endian order; at least one.
fn digits(x: u64) -> Vec<u8> {
    let bytes = x.to_be_bytes();
    let zeros = (x.leading_zeros() as usize / 8).min(7);
    bytes[zeros..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_those_of_the_standard() {
        assert_eq!(left_encode(0), [1, 0]);
        assert_eq!(right_encode(0), [0, 1]);
        assert_eq!(left_encode(168), [1, 168]);
        assert_eq!(left_encode(256), [2, 1, 0]);
        assert_eq!(right_encode(u64::MAX), [255, 255, 255, 255, 255, 255, 255, 255, 8]);
        assert_eq!(encode_string(b""), [1, 0]);
        assert_eq!(encode_string(b"AB"), [1, 16, b'A', b'B']);
        assert_eq!(bytepad(b"AB", 6), [1, 6, b'A', b'B', 0, 0]);
        assert_eq!(bytepad(b"ABCD", 6), [1, 6, b'A', b'B', b'C', b'D']);
    }

    /// The length of a long string is written whole, so that no two lists of strings are written alike.
    #[test]
    fn lengths_of_strings_are_whole() {
        for (bytes, length) in [
            (31, &[1, 248][..]),
            (32, &[2, 1, 0]),
            (8191, &[2, 0xff, 0xf8]),
            (8192, &[3, 1, 0, 0]),
            (8193, &[3, 1, 0, 8]),
            (1 << 21, &[4, 1, 0, 0, 0]),
        ] {
            assert!(encode_string(&vec![7; bytes]) == [length, &vec![7; bytes]].concat(), "{bytes}");
        }
    }
}
