//! Inputs and outputs of one party.

use crate::engine::Differ;
use zeroize::Zeroizing;

/// A party's input to a phase, or its outputs: in its engine's own form, and wiped.
pub type Own = Zeroizing<Vec<u8>>;

/// The outputs, which must be the same at all parties.
///
/// # Errors
/// [`Differ`] if they are not.
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
