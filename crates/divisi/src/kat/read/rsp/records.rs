//! The lines of a file, as records of values that belong together.

use divisi_core::Direction;
use std::collections::BTreeMap;

/// The most values of a record, whose names are searched one by one: those of NIST have some twenty.
const VALUES: usize = 256;

/// Values that belong together: those between two empty lines, or up to a name that is there already.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// The number of its first line, from 1.
    pub line: u64,
    /// The direction of its section, if it is in one of a direction.
    pub direction: Option<Direction>,
    /// What the sections before it declare, by name in small letters.
    pub declared: BTreeMap<String, String>,
    /// Its names in small letters, and their values, in the order of the file.
    pub values: Vec<(String, String)>,
    /// Whether it has the line `FAIL`.
    pub fails: bool,
}

impl Record {
    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The number of this name, in the record or declared before it.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name).or_else(|| self.declared.get(name).map(String::as_str))?.parse().ok()
    }

    /// The direction: that of the section, or from the text that comes first in the record.
    pub fn direction(&self, plain: &str, cipher: &str) -> Direction {
        let at = |name: &str| self.values.iter().position(|(own, _)| own == name).unwrap_or(usize::MAX);
        self.direction.unwrap_or(if self.fails || at(cipher) < at(plain) {
            Direction::Decrypt
        } else {
            Direction::Encrypt
        })
    }
}

/// All comments in small letters, and all records.
///
/// # Errors
/// If a line is neither a value nor a section, comment or verdict, a verdict is that of no record, or a
/// record has too many values.
pub(super) fn read(text: &str) -> Result<(String, Vec<Record>), String> {
    let (mut comments, mut all) = (String::new(), Vec::<Record>::new());
    let mut now = Record::default();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            comments += &comment.to_ascii_lowercase();
            comments.push('\n');
            continue;
        }
        let section = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if line.is_empty() || section.is_some() {
            finish(&mut all, &mut now);
        }
        if let Some(section) = section {
            declare(&mut now, section);
        } else if let Some((name, value)) = line.split_once('=') {
            let name = name.trim().to_ascii_lowercase();
            if name == "count" || now.has(&name) {
                finish(&mut all, &mut now);
            }
            if now.values.is_empty() {
                now.line = number;
            }
            if now.values.len() == VALUES {
                return Err(format!(
                    "line {number} is one value too many for a record, which has at most {VALUES}: put an \
                     empty line between records"
                ));
            }
            now.values.push((name, value.trim().to_owned()));
        } else if line.eq_ignore_ascii_case("fail") {
            // behind an empty line it is the verdict of the record before
            let record = if now.values.is_empty() { all.last_mut() } else { Some(&mut now) };
            let Some(record) = record else {
                return Err(format!("line {number} (\"FAIL\") is behind no record: put it behind its own"));
            };
            record.fails = true;
        } else if !line.is_empty() {
            let shown: String = line.chars().take(40).collect();
            return Err(format!(
                "line {number} ({shown:?}) is no \"name = value\": give the file as NIST has it"
            ));
        }
    }
    finish(&mut all, &mut now);
    Ok((comments, all))
}

/// End a record, if it has values; what sections declare holds for the next one, too.
fn finish(all: &mut Vec<Record>, now: &mut Record) {
    if !now.values.is_empty() {
        let next = Record { direction: now.direction, declared: now.declared.clone(), ..Record::default() };
        all.push(std::mem::replace(now, next));
    }
}

/// Take what a section declares: a direction, or numbers, of which there may be several.
fn declare(now: &mut Record, section: &str) {
    match section.trim().to_ascii_lowercase().as_str() {
        "encrypt" => now.direction = Some(Direction::Encrypt),
        "decrypt" => now.direction = Some(Direction::Decrypt),
        other => {
            for (name, value) in other.split(',').filter_map(|part| part.split_once('=')) {
                now.declared.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_that_of_the_record_before_it() {
        let fails =
            |text: &str| -> Vec<bool> { read(text).unwrap().1.iter().map(|record| record.fails).collect() };
        assert_eq!(fails("Count = 0\nCT = 00\nFAIL\n\nCount = 1\nCT = 01\n"), [true, false]);
        assert_eq!(fails("Count = 0\nCT = 00\n\nFAIL\n\nCount = 1\nCT = 01\n"), [true, false]);
        assert_eq!(fails("Count = 0\nCT = 00\n\nCount = 1\nCT = 01\n\nFAIL"), [false, true]);
        assert!(read("[Taglen = 96]\n\nFAIL\nCount = 0\n").unwrap_err().starts_with("line 3 "));
    }

    #[test]
    fn a_record_has_a_bounded_number_of_values() {
        let text = |n: usize| (0..n).map(|i| format!("v{i} = 0\n")).collect::<String>();
        assert_eq!(read(&text(VALUES)).unwrap().1[0].values.len(), VALUES);
        assert!(read(&text(VALUES + 1)).unwrap_err().starts_with("line 257 "));
        let records = format!("{}\n{}", text(VALUES), text(VALUES));
        assert_eq!(read(&records).unwrap().1.len(), 2);
    }
}
