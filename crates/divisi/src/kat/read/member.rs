//! Reading members of JSON objects, for both formats.

use serde_json::Value;

/// Why a test without an answer cannot run.
pub(in crate::kat) const UNANSWERED: &str =
    "no answer: give expectedResults.json with prompt.json, or internalProjection.json";

/// The tests of a group. A tool that writes an empty list as `null` means an empty list.
pub(super) fn tests(group: &Value) -> Result<&[Value], String> {
    match group.get("tests") {
        Some(Value::Array(tests)) => Ok(tests),
        Some(Value::Null) => Ok(&[]),
        _ => Err("a test group has no \"tests\": give the whole file".into()),
    }
}

/// A member of a JSON object that is bytes in hexadecimal digits: the first of `names` that there is.
pub(super) fn bytes(test: &Value, names: &[&str]) -> Result<Vec<u8>, String> {
    let found = names.iter().find_map(|name| test.get(name)).and_then(Value::as_str);
    let name = names.first().copied().unwrap_or_default();
    hex::decode(found.ok_or_else(|| format!("no {name:?} in the file"))?)
        .map_err(|_| format!("{name:?} is not hexadecimal"))
}
