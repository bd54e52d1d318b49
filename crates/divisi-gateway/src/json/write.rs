//! The writer. A value may be plaintext: its length is counted first, so that the buffer never moves and is
//! wiped as one.

use super::Json;
use zeroize::Zeroizing;

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Json {
    /// The text of this value, without a newline.
    #[must_use]
    pub fn write(&self) -> Zeroizing<Vec<u8>> {
        self.write_with(b"")
    }

    /// The text of this value and a newline, as the body of an answer has it.
    #[must_use]
    pub fn write_line(&self) -> Zeroizing<Vec<u8>> {
        self.write_with(b"\n")
    }

    fn write_with(&self, end: &[u8]) -> Zeroizing<Vec<u8>> {
        let mut length = end.len();
        self.visit(&mut |piece| length += piece.len());
        let mut text = Zeroizing::new(Vec::with_capacity(length));
        self.visit(&mut |piece| text.extend_from_slice(piece));
        text.extend_from_slice(end);
        text
    }

    fn visit(&self, out: &mut dyn FnMut(&[u8])) {
        match self {
            Json::Null => out(b"null"),
            Json::Bool(true) => out(b"true"),
            Json::Bool(false) => out(b"false"),
            Json::Number(digits) => out(digits.as_bytes()),
            Json::String(text) => string(text, out),
            Json::Array(elements) => {
                out(b"[");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out(b",");
                    }
                    element.visit(out);
                }
                out(b"]");
            }
            Json::Object(members) => {
                out(b"{");
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out(b",");
                    }
                    string(name, out);
                    out(b":");
                    value.visit(out);
                }
                out(b"}");
            }
        }
    }
}

fn string(text: &str, out: &mut dyn FnMut(&[u8])) {
    out(b"\"");
    let mut rest = text.as_bytes();
    let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f);
    while let Some(place) = rest.iter().position(special) {
        let (before, after) = rest.split_at(place);
        out(before);
        let Some((byte, after)) = after.split_first() else { break };
        match byte {
            b'"' => out(b"\\\""),
            b'\\' => out(b"\\\\"),
            b'\n' => out(b"\\n"),
            b'\r' => out(b"\\r"),
            b'\t' => out(b"\\t"),
            byte => out(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = after;
    }
    out(rest);
    out(b"\"");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    #[test]
    fn what_is_written_is_read_again() {
        let value = object([
            ("a", Json::texts(["x\"\\\n\u{1}\u{7f}é", ""])),
            ("b", object([("c", Json::Null), ("d", Json::Bool(true)), ("e", Json::number(-5))])),
            ("f", Json::Array(Vec::new())),
        ]);
        let text = value.write();
        assert!(read(&text).unwrap() == value, "{}", String::from_utf8_lossy(&text));
        assert_eq!(text.capacity(), text.len());
        assert_eq!(&Json::empty().write_line()[..], b"{}\n");
    }
}
