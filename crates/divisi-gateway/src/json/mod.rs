//! JSON as the recorded server reads and writes it.
//!
//! A reader of its own, because three things here are none of serde_json's: numbers keep their text (`1.0` is
//! no version of a key, and `12345678` is base64), errors have the words that clients' tests know, and all
//! text is wiped when it is dropped, since most of it is plaintext.

mod read;
mod write;

pub use read::{STRINGS, VALUES, read, read_object};
pub use write::object;

use zeroize::Zeroizing;

/// A JSON value. Text is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these values and no others")]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its digits were written, which may be base64.
    Number(Zeroizing<String>),
    /// Text.
    String(Zeroizing<String>),
    /// An array.
    Array(Vec<Json>),
    /// The members of an object in their order. Of two with one name the last counts.
    Object(Vec<(String, Json)>),
}

/// The most characters of a request that one error repeats.
pub(crate) const ECHO: usize = 200;

/// The beginning of a text of a request that an answer repeats, so that an answer is short whatever was sent.
#[must_use]
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // a value may be a secret: only its kind is shown
        f.write_str(self.kind())
    }
}

impl Json {
    /// An object without members.
    #[must_use]
    pub const fn empty() -> Json {
        Json::Object(Vec::new())
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Json {
        Json::String(Zeroizing::new(text.into()))
    }

    /// A whole number.
    pub fn number(number: impl Into<i128>) -> Json {
        Json::Number(Zeroizing::new(number.into().to_string()))
    }

    /// An array of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Json {
        Json::Array(texts.into_iter().map(Json::text).collect())
    }

    /// The member of this name, if this is an object that has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().rfind(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value at this path of members.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The text, if this is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The name that Go's reader gives to the type of this value.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Json::Null => "<nil>",
            Json::Bool(_) => "bool",
            Json::Number(_) => "json.Number",
            Json::String(_) => "string",
            Json::Array(_) => "[]interface {}",
            Json::Object(_) => "map[string]interface {}",
        }
    }
}
