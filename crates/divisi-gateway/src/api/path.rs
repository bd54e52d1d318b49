//! Paths and queries of requests, as the recorded server reads them.

use zeroize::Zeroizing;

/// A path below `/v1/`, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The decoded path behind `/v1/`, which may end with a slash.
    Path(String),
    /// The path has double slashes or dots: it is at this place.
    Moved(String),
    /// It is not below `/v1/`.
    Outside,
    /// It has an escape that is none.
    BadEscape,
    /// It has a zero byte.
    Zero,
    /// It has dots that were escaped.
    Relative,
}

/// The place of a path as it stands in the request's first line, without its query.
#[must_use]
pub fn place(raw: &str) -> Place {
    let clean = clean(raw);
    if clean != raw {
        return Place::Moved(clean);
    }
    let Some(below) = raw.strip_prefix("/v1/") else { return Place::Outside };
    let Some(decoded) = decode(below.as_bytes(), false) else { return Place::BadEscape };
    if decoded.contains('\0') {
        return Place::Zero;
    }
    if decoded.split('/').any(|segment| segment == "..") {
        return Place::Relative;
    }
    Place::Path(decoded.to_string())
}

/// The path without empty segments and dots; a slash at its end stays.
fn clean(raw: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in raw.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    let ends = raw.ends_with('/') && !segments.is_empty();
    format!("/{}{}", segments.join("/"), if ends { "/" } else { "" })
}

/// Text whose escapes are decoded; `None` for a wrong escape. What is no UTF-8 becomes U+FFFD. The text of a
/// form may be a plaintext: it is wiped, and never moves.
fn decode(text: &[u8], plus_is_blank: bool) -> Option<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(*rest.next()?).to_digit(16);
                let value = 16 * digit()? + digit()?;
                bytes.push(u8::try_from(value).ok()?);
            }
            b'+' if plus_is_blank => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    let wrong = |chunk: &std::str::Utf8Chunk<'_>| !chunk.invalid().is_empty();
    let longer = bytes.utf8_chunks().filter(wrong).count() * '\u{fffd}'.len_utf8();
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() + longer));
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(wrong(&chunk).then_some('\u{fffd}'));
    }
    Some(text)
}

/// The pairs of a query or form in their order. Pairs that are none are left out, as those of a query are;
/// `None` says that there was one, as a form demands.
#[must_use]
pub fn pairs(text: &str) -> (Vec<(String, Zeroizing<String>)>, bool) {
    let (mut pairs, mut is_whole) = (Vec::new(), true);
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (decode(name.as_bytes(), true), decode(value.as_bytes(), true)) {
            // a name is no secret
            (Some(name), Some(value)) if !pair.contains(';') => pairs.push((name.to_string(), value)),
            _ => is_whole = false,
        }
    }
    (pairs, is_whole)
}

/// Whether Transit takes this for the name of a key: letters, digits and `_` at both ends, `.` and `-` only
/// inside.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = name.as_bytes();
    bytes.first().is_some_and(word)
        && bytes.last().is_some_and(word)
        && bytes.iter().all(|byte| word(byte) || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_decoded() {
        let path = |path: &str| Place::Path(path.into());
        let moved = |path: &str| Place::Moved(path.into());
        for (raw, expected) in [
            ("/v1/transit/keys/k", path("transit/keys/k")),
            ("/v1/transit/keys/k/", path("transit/keys/k/")),
            ("/v1/transit/keys/a+b", path("transit/keys/a+b")),
            ("/v1/transit%2Fkeys%2Fk", path("transit/keys/k")),
            ("/v1/transit/keys/%6b", path("transit/keys/k")),
            ("/v1/", path("")),
            ("/v1/transit//keys/k", moved("/v1/transit/keys/k")),
            ("/v1/transit/keys/k//", moved("/v1/transit/keys/k/")),
            ("/v1/transit/./keys/k", moved("/v1/transit/keys/k")),
            ("/v1/transit/x/../keys/k", moved("/v1/transit/keys/k")),
            ("/v1/transit/keys/..", moved("/v1/transit")),
            ("/v1", Place::Outside),
            ("/v2/transit/keys/k", Place::Outside),
            ("/", Place::Outside),
            ("/v1/transit/keys/%zz", Place::BadEscape),
            ("/v1/transit/keys/%2", Place::BadEscape),
            ("/v1/transit/keys/a%00b", Place::Zero),
            ("/v1/transit/keys/%2e%2e/k", Place::Relative),
            ("/v1/%2e%2e/keys/k", Place::Relative),
            ("/v1/transit/keys/%2e%2e", Place::Relative),
        ] {
            assert_eq!(place(raw), expected, "{raw}");
        }
    }

    #[test]
    fn queries_leave_out_what_is_no_pair() {
        let pair = |a: &str, b: &str| (a.to_owned(), Zeroizing::new(b.to_owned()));
        assert_eq!(
            pairs("list=true&after=a%20b&c"),
            (vec![pair("list", "true"), pair("after", "a b"), pair("c", "")], true)
        );
        assert_eq!(pairs("a+b=c+d%2B"), (vec![pair("a b", "c d+")], true));
        assert_eq!(pairs("a=%ffb%fe%80c"), (vec![pair("a", "\u{fffd}b\u{fffd}\u{fffd}c")], true));
        assert_eq!(pairs("%zz"), (vec![], false));
        assert_eq!(pairs("a;b"), (vec![], false));
    }

    #[test]
    fn names_have_words_at_both_ends() {
        for good in ["k", "a.b", "_a_", "a..b", "0", "Zkey", "d_key-1"] {
            assert!(is_key_name(good), "{good}");
        }
        for bad in ["", "a.", ".a", "-a", "a-", "a b", "a+b", "é", "a:b", "a*"] {
            assert!(!is_key_name(bad), "{bad}");
        }
    }
}
