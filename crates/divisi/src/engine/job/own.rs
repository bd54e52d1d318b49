//! What a party alone has of a job.

use crate::engine::Differ;
use zeroize::Zeroizing;

/// What a party brings to a phase, or has of its outputs: in its engine's own form, and wiped.
pub type Own = Zeroizing<Vec<u8>>;

/// What all parties have alike.
///
/// # Errors
/// If they have not.
pub fn alike(outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
    let mut outputs = outputs.into_iter();
    let first = outputs.next().unwrap_or_default();
    for output in outputs {
        if output != first {
            return Err(Differ { party: None, what: "the parties gave different outputs" });
        }
    }
    Ok(first.to_vec())
}
