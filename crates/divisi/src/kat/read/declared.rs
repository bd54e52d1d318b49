//! Lengths of tags that a test or its group declares, compared with what is there. A vector that contradicts
//! its file has no right answer: ACVP's server once wrote MACs of full length where a shorter one was
//! declared (usnistgov/ACVP-Server, issue 138).

use serde_json::Value;

/// The end of the reason.
const DECLARED: &str = "are declared";

/// Whether a vector that cannot run for this reason contradicts its file.
pub(super) fn contradicts(reason: &str) -> bool {
    reason.ends_with(DECLARED)
}

/// Compare the length of a tag in bytes with the bits that a test, or else its group, declares under this
/// name.
///
/// # Errors
/// If another length is declared: the reason, with both.
pub(super) fn agrees(of: [&Value; 2], name: &str, bytes: usize) -> Result<(), String> {
    match of.iter().find_map(|value| value.get(name)?.as_u64()) {
        Some(bits) if bits.div_ceil(8) != bytes as u64 => {
            Err(format!("a tag of {} bits where {bits} {DECLARED}", 8 * bytes))
        }
        _ => Ok(()),
    }
}
