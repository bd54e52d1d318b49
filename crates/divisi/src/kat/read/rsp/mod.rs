//! Files of NIST's Cryptographic Algorithm Validation Program (`.rsp`): lines `name = value`, sections in
//! brackets, comments after `#`. They are put into the form of ACVP's files, whose reader makes the vectors,
//! so that both are checked alike. A vector's number is that of the line on which it begins.
//!
//! What a file tests is in its name and its comments, in the declared lengths, and in the names of its
//! values: a file that was renamed and has no comments is read as long as these say enough. Messages with an
//! IV are taken for CBC.

mod hashes;
mod records;
mod sets;

use serde_json::Value;
use std::path::Path;

/// Whether a text that is no JSON has this format: its first line that is neither empty nor a comment is a
/// value or a section.
pub(in crate::kat) fn is_rsp(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_value = |line: &str| {
        let name = line.split_once('=').map_or("", |(name, _)| name.trim());
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || " _()/-".contains(c))
    };
    lines.next().is_some_and(|line| {
        let section = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        is_value(line) || section.is_some_and(|inner| !inner.contains(['[', '{', '"']))
    })
}

/// The vectors of a file of this name as sets of ACVP.
///
/// # Errors
/// If a line has another form, or there are no vectors.
pub(in crate::kat) fn read(name: &str, text: &str) -> Result<Value, String> {
    let (comments, records) = records::read(text)?;
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().to_ascii_lowercase());
    let sets = sets::make(&stem.unwrap_or_default(), &comments, &records);
    if sets.is_empty() {
        return Err("it has no test vectors: give a .rsp file, which has the answers".into());
    }
    Ok(Value::Array(sets))
}
