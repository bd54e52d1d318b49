//! A public table of whole numbers that a user brings, for lookups.

use crate::failure::Failure;
use std::path::Path;

/// The largest number of entries of a table.
const MOST: usize = 1024;
/// The most bytes of a table's file.
const LONGEST: u64 = 1 << 20;

/// A public table: a power of two entries from 2 to 1,024, each below 2^16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTable(Vec<u16>);

impl UserTable {
    /// A table with these entries.
    ///
    /// # Errors
    /// A sentence, if there are not 2, 4, 8, .. or 1,024 entries.
    pub fn new(entries: Vec<u16>) -> Result<UserTable, String> {
        let count = entries.len();
        if count.is_power_of_two() && (2..=MOST).contains(&count) {
            return Ok(UserTable(entries));
        }
        Err(format!("the table has {count} entries: give a power of two from 2 to {MOST}"))
    }

    /// Read the text of a table: whole numbers from 0 to 65535, decimal or with 0x, apart by spaces or
    /// line ends; after a # a line has a comment.
    ///
    /// # Errors
    /// A sentence that names the line.
    pub fn parse(text: &str) -> Result<UserTable, String> {
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            for word in line.split_whitespace() {
                let read = match word.strip_prefix("0x") {
                    Some(digits) => u16::from_str_radix(digits, 16),
                    None => word.parse(),
                };
                let short: String = word.chars().take(24).collect();
                let wrong =
                    |_| format!("line {number}: {short} is not an entry: give whole numbers from 0 to 65535");
                entries.push(read.map_err(wrong)?);
                if entries.len() > MOST {
                    return Err(format!("line {number}: a table has at most {MOST} entries"));
                }
            }
        }
        UserTable::new(entries)
    }

    /// Read the file of a table.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read, or is not a table.
    pub fn load(path: &Path) -> Result<UserTable, Failure> {
        use std::io::Read;
        let failed = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let file = std::fs::File::open(path).map_err(|e| failed(format!("{e}: give another file")))?;
        let mut text = String::new();
        let read = file.take(LONGEST + 1).read_to_string(&mut text);
        read.map_err(|e| failed(format!("{e}: give a text file with the entries of a table")))?;
        if text.len() as u64 > LONGEST {
            return Err(failed(format!("more than {LONGEST} bytes: give a table of at most {MOST} entries")));
        }
        UserTable::parse(&text).map_err(failed)
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[u16] {
        &self.0
    }

    /// The number of bits of the largest entry, at least 1.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.iter().map(|entry| (u16::BITS - entry.leading_zeros()) as usize).max().unwrap_or(0).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_what_is_none_is_named() {
        let table = UserTable::parse("# cubes\n0 1 8 27\n0x40 125 216\t343 # seven\n").unwrap();
        assert_eq!((table.entries(), table.width()), (&[0, 1, 8, 27, 64, 125, 216, 343][..], 9));
        assert_eq!(UserTable::parse("0 0").unwrap().width(), 1);
        assert_eq!(UserTable::parse(&"1 ".repeat(1024)).unwrap().entries().len(), 1024);
        for (text, says) in [
            ("", "has 0 entries"),
            ("1 2 3", "has 3 entries: give a power of two"),
            ("1\n2 x", "line 2: x is not an entry"),
            ("1 -2", "line 1: -2 is not an entry"),
            ("1\n\n65536", "line 3: 65536 is not an entry"),
            (&"1 ".repeat(1025), "at most 1024"),
        ] {
            let error = UserTable::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    /// A file that is no text, too long or not there is told from one that is no table.
    #[test]
    fn files_of_tables_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table");
        let load = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            UserTable::load(&path).map_err(|failure| failure.error)
        };
        let spaced = |bytes: u64| [&b"1 2"[..], &vec![b' '; bytes as usize - 3]].concat();
        assert_eq!(load(&spaced(LONGEST)).unwrap().entries(), [1, 2]);
        for (bytes, says) in [
            (spaced(LONGEST + 1), "more than"),
            (b"1 2 3".to_vec(), "has 3 entries"),
            (vec![0xff; 4], "give a text file"),
        ] {
            let error = load(&bytes).unwrap_err();
            assert!(error.contains(says) && error.starts_with(path.to_str().unwrap()), "{error}");
        }
        assert!(UserTable::load(&dir.path().join("none")).unwrap_err().error.contains("give another file"));
    }

    /// Whatever is read as a table is one, and nothing makes the reader panic.
    #[test]
    fn random_tables() {
        let seeds = [b"0 1 2 3".to_vec(), b"# one\n0x10 65535\n".to_vec()];
        divisi_fuzz::run("tables", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
            let Ok(table) = UserTable::parse(text) else { return Ok(false) };
            let again: Vec<String> = table.entries().iter().map(u16::to_string).collect();
            if UserTable::parse(&again.join(" ")) != Ok(table) {
                return Err("another table".into());
            }
            Ok(true)
        });
    }
}
