//! The reader: a JSON text becomes a value, or an error in the words of Go's tokenizer.

use super::{ECHO, Json, cut};
use zeroize::Zeroizing;

/// The most texts that a request has, names of members included: with more it is refused. A batch of items of
/// one member has at most 499.
pub const STRINGS: usize = 1000;
/// The most values that a request has: far more than one of the most texts needs, and few enough that what
/// each costs, whatever is sent, is small beside the texts.
pub const VALUES: usize = 4000;
/// By how many bytes texts may become longer than they were sent, when they are read and written again: what
/// is no UTF-8 becomes three bytes each. Texts of Transit are base64, which never does.
const SWELLING: usize = 64 << 10;
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
    let mut reader = Reader::of(bytes);
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
    let mut reader = Reader::of(bytes);
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
    values: usize,
    /// How much longer the texts are, or will be when they are written, than they were sent.
    swelling: usize,
}

fn too_complex(what: &str) -> String {
    format!("refused JSON input due to high complexity: exceeded maximum {what}")
}

impl<'a> Reader<'a> {
    const fn of(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, strings: 0, values: 0, swelling: 0 }
    }

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
            return Err(too_complex("depth"));
        }
        self.values += 1;
        if self.values > VALUES {
            return Err(too_complex("number of values"));
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
        let text = std::str::from_utf8(digits).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Number(Zeroizing::new(text.to_owned()))),
            _ => {
                let text = cut(text, ECHO);
                Err(failed(&format!("json: cannot unmarshal number {text} into Go value of type float64")))
            }
        }
    }

    /// Text: what is no UTF-8, and halves of surrogate pairs, become U+FFFD.
    fn string(&mut self) -> Result<Zeroizing<String>, String> {
        self.strings += 1;
        if self.strings > STRINGS {
            return Err(too_complex("number of strings"));
        }
        self.at += 1;
        let start = self.at;
        let end = self.end_of_string()?;
        let raw = self.bytes.get(start..end).unwrap_or_default();
        self.at = end + 1;
        let (longer, written) = swelling(raw);
        self.swelling += longer + written;
        if self.swelling > SWELLING {
            return Err(too_complex("number of characters that are no UTF-8, or not printable"));
        }
        // an escape is never longer when it is read, so that the buffer never moves
        let mut text = Zeroizing::new(String::with_capacity(raw.len() + longer));
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

/// By how much a text is longer when it is read, and by how much when it is written again.
fn swelling(raw: &[u8]) -> (usize, usize) {
    let longer = raw.utf8_chunks().map(|chunk| 2 * chunk.invalid().len()).sum();
    // DEL, \b and \f are written as six characters
    let deleted = raw.iter().filter(|byte| **byte == 0x7f).count();
    let escaped = raw.windows(2).filter(|pair| matches!(pair, [b'\\', b'b' | b'f'])).count();
    (longer, 5 * deleted + 4 * escaped)
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
mod tests;
