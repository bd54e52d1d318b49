//! The text of a file of test vectors, without the byte order mark that some servers and editors write.

/// Decode the bytes of a file: UTF-8, or UTF-16 if a byte order mark says so.
///
/// # Errors
/// If it is no text in its encoding.
pub(in crate::kat) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    match bytes.as_slice() {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest.to_vec()),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| format!("byte {} is no UTF-8", e.utf8_error().valid_up_to()))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let units = bytes.chunks(2).map(|pair| <[u8; 2]>::try_from(pair).map(unit));
    let units = units.collect::<Result<Vec<u16>, _>>().map_err(|_| "it ends within a letter of UTF-16")?;
    String::from_utf16(&units).map_err(|_| "it is no UTF-16, as its byte order mark says".into())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn marks_are_left_out_and_what_is_no_text_is_refused() {
        let le = |text: &str| {
            [vec![0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()
        };
        let be = |text: &str| {
            [vec![0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat()
        };
        for bytes in [b"{}\n".to_vec(), b"\xef\xbb\xbf{}\n".to_vec(), le("{}\n"), be("{}\n")] {
            assert_eq!(decode(bytes).as_deref(), Ok("{}\n"));
        }
        for bytes in [vec![b'a', 0xff], vec![0xff, 0xfe, 0x41], vec![0xff, 0xfe, 0x00, 0xd8]] {
            decode(bytes).unwrap_err();
        }
    }
}
