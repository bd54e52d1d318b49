//! The reader: a JSON text becomes a value, or an error in the words of Go's tokenizer.

use super::Json;
use zeroize::Zeroizing;

/// The most texts that a request has, names of members included: with more it is refused. A batch of items of
/// one member has at most 499.
pub const STRINGS: usize = 1000;
/// How deep values may be nested.
const DEPTH: usize = 1000;

/// The positions in which the tokenizer stands, by what it says of a wrong character there.
const VALUE: &str = " looking for beginning of value";
const FIRST_KEY: &str = "";
const KEY: &str = " looking for beginning of object key string";
const COLON: &str = " after object key";
const MEMBER: &str = " after object key:value pair";
const ELEMENT: &str = " after array element";

/// The object in the body of a request: nothing, blanks and `null` are an empty one. What follows the first
/// value is ignored if it is another value.
///
/// # Errors
/// The text of the answer's error.
pub fn read_object(bytes: &[u8]) -> Result<Json, String> {
    let mut reader = Reader { bytes, at: 0, strings: 0 };
    reader.skip();
    if reader.at == bytes.len() {
        return Ok(Json::empty());
    }
    let value = reader.value(0)?;
    reader.skip();
    if reader.at < bytes.len() {
        reader.value(0)?;
    }
    match value {
        Json::Object(_) => Ok(value),
        Json::Null => Ok(Json::empty()),
        other => {
            let kind = match other {
                Json::Array(_) => "array",
                Json::String(_) => "string",
                Json::Number(_) => "number",
                _ => "bool",
            };
            Err(failed(&format!(
                "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            )))
        }
    }
}

/// One value, with nothing but blanks around it.
///
/// # Errors
/// What is wrong with the text.
pub fn read(bytes: &[u8]) -> Result<Json, String> {
    let mut reader = Reader { bytes, at: 0, strings: 0 };
    reader.skip();
    let value = reader.value(0)?;
    reader.skip();
    if reader.at == bytes.len() { Ok(value) } else { Err(reader.wrong(VALUE)) }
}

fn failed(why: &str) -> String {
    format!("failed to decode JSON input: {why}")
}

/// A character as Go quotes it in an error; a byte beyond ASCII stands for the character of its number.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".into(),
        b'"' => "'\"'".into(),
        b'\\' => r"'\\'".into(),
        b'\n' => r"'\n'".into(),
        b'\r' => r"'\r'".into(),
        b'\t' => r"'\t'".into(),
        7 => r"'\a'".into(),
        8 => r"'\b'".into(),
        11 => r"'\v'".into(),
        12 => r"'\f'".into(),
        0..=31 | 127 => format!("'\\x{byte:02x}'"),
        128..=160 | 173 => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    strings: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The error for the character here, or for the end of the text.
    fn wrong(&self, context: &str) -> String {
        match self.peek() {
            Some(byte) => failed(&format!("invalid character {}{context}", quoted(byte))),
            None => failed("unexpected EOF"),
        }
    }

    /// The next byte that is no blank, which is left where it is.
    fn next(&mut self) -> Option<u8> {
        self.skip();
        self.peek()
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH {
            return Err("refused JSON input due to high complexity: exceeded maximum depth".into());
        }
        match self.next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b't') => self.literal("true", Json::Bool(true)),
            Some(b'f') => self.literal("false", Json::Bool(false)),
            Some(b'n') => self.literal("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.wrong(VALUE)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            let context = if members.is_empty() { FIRST_KEY } else { KEY };
            match self.next() {
                Some(b'"') => {}
                Some(b'}') if members.is_empty() => break,
                _ => return Err(self.wrong(context)),
            }
            // a name is no secret
            let name = self.string()?.as_str().to_owned();
            if self.next() != Some(b':') {
                return Err(self.wrong(COLON));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push((name, value));
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.wrong(MEMBER)),
            }
        }
        self.at += 1;
        Ok(Json::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut elements = Vec::new();
        if self.next() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.wrong(ELEMENT)),
            }
        }
        self.at += 1;
        Ok(Json::Array(elements))
    }

    fn literal(&mut self, word: &str, value: Json) -> Result<Json, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let expected = char::from(expected);
                return Err(self.wrong(&format!(" in literal {word} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.wrong(context));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits(" in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits(" after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits(" in exponent of numeric literal")?;
        }
        let digits = self.bytes.get(start..self.at).unwrap_or_default();
        let text = String::from_utf8_lossy(digits).into_owned();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Number(text)),
            _ => Err(failed(&format!("json: cannot unmarshal number {text} into Go value of type float64"))),
        }
    }

    /// Text: what is no UTF-8, and halves of surrogate pairs, become U+FFFD.
    fn string(&mut self) -> Result<Zeroizing<String>, String> {
        self.strings += 1;
        if self.strings > STRINGS {
            return Err(
                "refused JSON input due to high complexity: exceeded maximum number of strings".into()
            );
        }
        self.at += 1;
        let start = self.at;
        let end = self.end_of_string()?;
        let raw = self.bytes.get(start..end).unwrap_or_default();
        self.at = end + 1;
        // no text is longer than three times its bytes, so that the buffer never moves
        let mut text = Zeroizing::new(String::with_capacity(3 * raw.len()));
        let mut rest = raw;
        while let Some(place) = rest.iter().position(|byte| *byte == b'\\') {
            let (before, escape) = rest.split_at(place);
            lossy(before, &mut text);
            rest = unescape(escape, &mut text);
        }
        lossy(rest, &mut text);
        Ok(text)
    }

    /// The place of the quote that ends the text, with its escapes checked.
    fn end_of_string(&mut self) -> Result<usize, String> {
        loop {
            match self.peek() {
                Some(b'"') => return Ok(self.at),
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'u') => {
                            for _ in 0..4 {
                                self.at += 1;
                                if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                                    return Err(self.wrong(r" in \u hexadecimal character escape"));
                                }
                            }
                        }
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                        _ => return Err(self.wrong(" in string escape code")),
                    }
                }
                Some(byte) if byte >= 0x20 => {}
                _ => return Err(self.wrong(" in string literal")),
            }
            self.at += 1;
        }
    }
}

/// Append bytes, with U+FFFD for each that belongs to no character.
fn lossy(bytes: &[u8], text: &mut String) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push('\u{fffd}'));
    }
}

/// Append the character of a checked escape, and return what follows it.
fn unescape<'a>(escape: &'a [u8], text: &mut String) -> &'a [u8] {
    let after = |count: usize| escape.get(count..).unwrap_or_default();
    let simple = match escape.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let high = unit(escape);
            let low = if after(6).starts_with(b"\\u") { unit(after(6)) } else { 0 };
            if (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low) {
                let point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                text.push(char::from_u32(point).unwrap_or('\u{fffd}'));
                return after(12);
            }
            text.push(char::from_u32(high).unwrap_or('\u{fffd}'));
            return after(6);
        }
        Some(byte) => char::from(*byte),
        None => return &[],
    };
    text.push(simple);
    after(2)
}

/// The number in `\uXXXX`.
fn unit(escape: &[u8]) -> u32 {
    let digits = escape.get(2..6).unwrap_or_default();
    digits.iter().fold(0, |sum, digit| 16 * sum + char::from(*digit).to_digit(16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read_object(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn errors_have_the_recorded_words() {
        let of = |text: &str| error(text).strip_prefix("failed to decode JSON input: ").unwrap().to_owned();
        assert_eq!(of("{\"plaintext\":"), "unexpected EOF");
        assert_eq!(of("{"), "unexpected EOF");
        assert_eq!(of("hello"), "invalid character 'h' looking for beginning of value");
        assert_eq!(of("[1]"), "json: cannot unmarshal array into Go value of type map[string]interface {}");
        assert_eq!(
            of("\"x\""),
            "json: cannot unmarshal string into Go value of type map[string]interface {}"
        );
        assert_eq!(of("true"), "json: cannot unmarshal bool into Go value of type map[string]interface {}");
        assert_eq!(of("{\"plaintext\": \"\"}x"), "invalid character 'x' looking for beginning of value");
        assert_eq!(of("{'plaintext':''}"), r"invalid character '\''");
        assert_eq!(of("{\"a\":NaN}"), "invalid character 'N' looking for beginning of value");
        assert_eq!(of("{\"a\":1,}"), "invalid character '}' looking for beginning of object key string");
        assert_eq!(of("\u{feff}{}"), "invalid character 'ï' looking for beginning of value");
        let big = "json: cannot unmarshal number 1e400 into Go value of type float64";
        assert_eq!(of("{\"a\":1e400}"), big);
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        for text in ["", " ", "null", "{}", "{}{\"a\":1}", "{}\n"] {
            assert!(read_object(text.as_bytes()).unwrap() == Json::empty(), "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_the_last_member_counts() {
        let value = read_object(br#"{"a":1.0,"b":"x","b":"\u0061\ud83d\ude00\ud800"}"#).unwrap();
        assert!(value.get("a") == Some(&Json::Number("1.0".into())));
        assert_eq!(value.get("b").unwrap().as_str(), Some("a\u{1f600}\u{fffd}"));
        let value = read_object(b"{\"a\":\"\xff\xfe\"}").unwrap();
        assert_eq!(value.get("a").unwrap().as_str(), Some("\u{fffd}\u{fffd}"));
    }

    #[test]
    fn a_batch_has_at_most_499_items_of_one_member() {
        let batch = |items: usize| {
            let items = vec![r#"{"plaintext":"QQ=="}"#; items].join(",");
            read_object(format!("{{\"batch_input\":[{items}]}}").as_bytes())
        };
        assert!(batch(499).is_ok());
        let refused = "refused JSON input due to high complexity: exceeded maximum number of strings";
        assert_eq!(batch(500).unwrap_err(), refused);
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(read_object(deep(600).as_bytes()).is_ok());
        let arrays = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(error(&arrays).ends_with("exceeded maximum depth"));
    }
}
