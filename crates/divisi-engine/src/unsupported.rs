//! What an engine refuses.

use std::fmt;

/// What an engine cannot do, and why: a sentence for an error message, or a reason that `kat` counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Why.
    pub reason: String,
    /// The instances of the job that it concerns; all if this is empty.
    pub instances: Vec<usize>,
}

impl Unsupported {
    /// A reason that concerns the whole job.
    pub fn new(reason: impl Into<String>) -> Self {
        Unsupported { reason: reason.into(), instances: Vec::new() }
    }

    /// Check that the value of an option is not above a limit.
    ///
    /// # Errors
    /// [`Unsupported`] if it is.
    pub fn above(option: &str, value: usize, most: usize) -> Result<(), Unsupported> {
        if value > most {
            return Err(Unsupported::new(format!("--{option} is more than {most}: give less")));
        }
        Ok(())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unsupported {}
