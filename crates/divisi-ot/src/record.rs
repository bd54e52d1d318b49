//! What a party's thread hashed, and what became of its authenticated bits, for tests (feature `testing`;
//! never part of a build that holds real secrets). Nothing is recorded before a test asks for it.

use std::cell::RefCell;

/// What was recorded.
#[derive(Default)]
pub struct Records {
    /// Every call of the hash.
    pub calls: Vec<Call>,
    /// Our keys of all authenticated bits that were made. No two are equal, so that each names its bit.
    pub made: Vec<u128>,
    /// Our keys of the bits where each is used for what it was made for, in order.
    pub used: Vec<u128>,
    /// Our keys of the three bits of each triple where it is used.
    pub triples: Vec<u128>,
}

/// One call of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The name of the key: step, sender and receiver from bit 64 on, each a byte; the block below.
    pub key: u128,
    /// What is added between the two permutations.
    pub tweak: u128,
    /// What is hashed.
    pub input: u128,
}

thread_local! {
    static RECORDS: RefCell<Option<Records>> = const { RefCell::new(None) };
}

/// Record what this thread does from here on.
pub fn begin() {
    RECORDS.with(|records| *records.borrow_mut() = Some(Records::default()));
}

/// What was recorded since [`begin`].
#[must_use]
pub fn end() -> Records {
    RECORDS.with(|records| records.borrow_mut().take()).unwrap_or_default()
}

/// Write something down, if a test asked for it.
pub fn note(write: impl FnOnce(&mut Records)) {
    RECORDS.with(|records| {
        if let Some(records) = &mut *records.borrow_mut() {
            write(records);
        }
    });
}
