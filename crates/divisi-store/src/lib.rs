//! What outlives a process: key files and the counts that must never go back.
