//! The names of keys, and their order.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of a key: 1 to 128 characters of `A-Z a-z 0-9 . _ -`, not beginning with a dot, so that it is a
/// valid file name. Names that differ in the case of a letter are different names, and names of different
/// files: a store does not open in a directory where they are one
/// ([`StoreError::OneCase`](crate::StoreError::OneCase)). Names are ordered by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyName(String);

/// The characters of names, in their order.
const CHARACTERS: &[u8] = b"-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

impl KeyName {
    /// The longest name.
    pub const LONGEST: usize = 128;

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name before this one, in the order of names: a list of keys that begins behind it begins with
    /// this one. `None` if this is the first of all names.
    #[must_use]
    pub fn before(&self) -> Option<KeyName> {
        let (start, last) = self.0.split_at_checked(self.0.len().checked_sub(1)?)?;
        let last = last.bytes().next()?;
        let begins_badly = |byte: &u8| start.is_empty() && *byte == b'.';
        // the longest name that has the next smaller character here, or else the name without this character
        match CHARACTERS.iter().filter(|byte| **byte < last && !begins_badly(byte)).max() {
            Some(smaller) => {
                let mut name = format!("{start}{}", char::from(*smaller));
                name.extend(std::iter::repeat_n('z', Self::LONGEST - name.len()));
                Some(KeyName(name))
            }
            None => (!start.is_empty()).then(|| KeyName(start.to_owned())),
        }
    }
}

impl FromStr for KeyName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let good = |b: u8| CHARACTERS.contains(&b);
        if name.is_empty() || name.len() > Self::LONGEST || name.starts_with('.') || !name.bytes().all(good) {
            let shown: String = name.chars().take(80).flat_map(char::escape_default).collect();
            return Err(format!(
                "\"{shown}\" is not a key name: use 1 to {} of A-Z, a-z, 0-9, dot, underscore and dash, not beginning with a dot",
                Self::LONGEST
            ));
        }
        Ok(KeyName(name.to_owned()))
    }
}

impl TryFrom<String> for KeyName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<KeyName> for String {
    fn from(name: KeyName) -> String {
        name.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_of_files_and_nothing_else() {
        for good in ["a", "A", "Backup-2026", "k.1_x", &"x".repeat(128)] {
            assert_eq!(good.parse::<KeyName>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "../a", "a b", "a\0", "ä", &"x".repeat(129)] {
            assert!(bad.parse::<KeyName>().unwrap_err().contains("is not a key name"), "{bad:?}");
        }
        let [small, large] = ["k", "K"].map(|name| name.parse::<KeyName>().unwrap());
        assert!(large < small, "by bytes");
    }

    /// No name stands between a name and the one before it: among all of one and two characters, and their
    /// extensions by the first and the last character.
    #[test]
    fn before_a_name_is_the_last_smaller_one() {
        assert!(CHARACTERS.is_sorted());
        let one: Vec<String> = CHARACTERS.iter().map(|byte| char::from(*byte).to_string()).collect();
        let two = one.iter().flat_map(|a| one.iter().map(move |b| format!("{a}{b}")));
        let longest =
            two.clone().flat_map(|start| ["-", "z"].map(|end| format!("{start}{}", end.repeat(126))));
        let all: Vec<KeyName> = one
            .iter()
            .cloned()
            .chain(two.clone())
            .chain(longest)
            .filter_map(|name| name.parse().ok())
            .collect();
        assert!(all.len() > 10_000);
        for name in all.iter().step_by(53) {
            let before = name.before();
            assert!(
                before.iter().all(|before| before < name && before.as_str().parse() == Ok(before.clone()))
            );
            assert!(
                all.iter().filter(|other| *other < name).all(|other| Some(other) <= before.as_ref()),
                "{name}"
            );
        }
        let before = |name: &str| name.parse::<KeyName>().unwrap().before().map(String::from);
        assert_eq!(before("-"), None);
        assert_eq!(before("k-").as_deref(), Some("k"));
        assert_eq!(before("0").unwrap(), format!("-{}", "z".repeat(127)));
        assert_eq!(before("k0").unwrap(), format!("k.{}", "z".repeat(126)));
        assert_eq!(before("A").unwrap(), format!("9{}", "z".repeat(127)));
        assert_eq!(before("k_").unwrap(), format!("kZ{}", "z".repeat(126)));
        assert_eq!(before("a").unwrap(), format!("_{}", "z".repeat(127)));
        // a name of the full length has none after it that it begins
        assert_eq!(before(&"a".repeat(128)).unwrap(), format!("{}_", "a".repeat(127)));
    }
}
