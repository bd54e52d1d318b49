//! Names that are built in or those of files, as they were given: file names are not always Unicode.

use serde::{Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::Path;

/// A name as it was given. As text, whatever is not Unicode stands in it as U+FFFD.
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

    /// The name, if it is Unicode: else nothing built in has it.
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

/// As text.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_is_no_text_is_a_name_all_the_same() {
        let odd = OsStr::from_bytes(b"aes128\xff");
        let name = Name::from(odd.to_owned());
        assert_eq!((name.exact(), name.to_string().as_str(), name.unicode()), (odd, "aes128\u{fffd}", None));
        let plain = Name::from("aes128");
        assert!(name != *"aes128\u{fffd}" && plain == *"aes128");
    }
}
