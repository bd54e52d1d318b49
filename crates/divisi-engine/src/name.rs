//! Names of built-in things or of files, kept exactly as they were given, because file names are not always
//! Unicode.

use serde::{Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A name as it was given. Its text has U+FFFD in place of whatever is not Unicode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    exact: OsString,
    text: String,
}

impl Name {
    /// The name as the system has it.
    #[must_use]
    pub fn exact(&self) -> &OsStr {
        &self.exact
    }

    /// The file of that name.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.exact)
    }

    /// A name with this text, of the file at another path.
    pub fn at(&self, path: PathBuf) -> Name {
        Name { exact: path.into(), text: self.text.clone() }
    }

    /// The name if it is Unicode, else `None`: no built-in thing has such a name.
    #[must_use]
    pub fn unicode(&self) -> Option<&str> {
        self.exact.to_str()
    }
}

impl From<OsString> for Name {
    fn from(exact: OsString) -> Name {
        let text = exact.to_string_lossy().into_owned();
        Name { exact, text }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name { exact: text.clone().into(), text }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        text.to_owned().into()
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Name {
        name.clone()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.unicode() == Some(other)
    }
}

/// A name is serialized as its text.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The text of a path that is not Unicode begins with this character, which no path contains.
const HEX: &str = "\0";

/// The text of a path, for an option: the path itself if it is Unicode, else its bytes in hexadecimal digits.
/// [`path_of`] gives the path back.
#[must_use]
pub fn text_of(path: &Path) -> String {
    path.to_str().map_or_else(|| format!("{HEX}{}", hex::encode(path.as_os_str().as_bytes())), str::to_owned)
}

/// The path of a text that [`text_of`] made.
#[must_use]
pub fn path_of(text: &str) -> PathBuf {
    let exact = text.strip_prefix(HEX).and_then(|digits| hex::decode(digits).ok());
    exact.map_or_else(|| PathBuf::from(text), |bytes| PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_from_its_text() {
        for bytes in [&b"stock"[..], b"", b"a/\xff/b", "\u{e4}".as_bytes(), b"\xc3", b"00ff"] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(path_of(&text_of(path)), path);
        }
        assert_eq!((text_of(Path::new("a b")).as_str(), path_of("\0no")), ("a b", PathBuf::from("\0no")));
    }

    #[test]
    fn what_is_no_text_is_a_name_all_the_same() {
        let odd = OsStr::from_bytes(b"aes128\xff");
        let name = Name::from(odd.to_owned());
        assert_eq!((name.exact(), name.to_string().as_str(), name.unicode()), (odd, "aes128\u{fffd}", None));
        let plain = Name::from("aes128");
        assert!(name != *"aes128\u{fffd}" && plain == *"aes128");
        assert!(["aes12", "aes256", ""].into_iter().all(|other| plain != *other));
    }
}
