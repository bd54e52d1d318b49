//! The lines of a file, as records of values that belong together.

use divisi_core::Direction;
use std::collections::BTreeMap;

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
/// If a line is neither a value nor a section, comment or verdict.
pub(super) fn read(text: &str) -> Result<(String, Vec<Record>), String> {
    let (mut comments, mut all) = (String::new(), Vec::new());
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
            now.values.push((name, value.trim().to_owned()));
        } else if line.eq_ignore_ascii_case("fail") {
            now.fails = true;
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
