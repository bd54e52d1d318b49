//! The error for a wrong circuit file.

use std::fmt;

/// What is wrong with a file, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BristolError {
    line: usize,
    reason: String,
    unreadable: bool,
}

impl BristolError {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> BristolError {
        BristolError { line, reason: reason.into(), unreadable: false }
    }

    pub(super) fn unreadable(line: usize, reason: String) -> BristolError {
        BristolError { line, reason, unreadable: true }
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether the system could not read the line.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.unreadable
    }
}

impl fmt::Display for BristolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for BristolError {}
