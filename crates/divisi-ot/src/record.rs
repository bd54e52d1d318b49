//! Records, for tests, what a party's thread hashed and how its authenticated bits were used (feature
//! `testing`; never part of a build that holds real secrets). Recording begins when a test asks for it.

use std::cell::RefCell;

/// The record of one thread.
#[derive(Default)]
pub struct Records {
    /// Every call of the hash.
    pub calls: Vec<Call>,
    /// Our keys of all authenticated bits that were made. No two are equal, so a key identifies its bit.
    pub made: Vec<u128>,
    /// Our keys of the bits at each place where a bit is used for its purpose, in order.
    pub used: Vec<u128>,
    /// Our keys of the three bits of each triple, where the triple is used.
    pub triples: Vec<u128>,
}

/// One call of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The name of the key: step, sender and receiver, a byte each, from bit 64 on; below them the number of
    /// the block of units.
    pub key: u128,
    /// The word that is added between the two permutations.
    pub tweak: u128,
    /// The input of the hash.
    pub input: u128,
}

thread_local! {
    static RECORDS: RefCell<Option<Records>> = const { RefCell::new(None) };
}

/// Begins to record what this thread does.
pub fn begin() {
    RECORDS.with(|records| *records.borrow_mut() = Some(Records::default()));
}

/// Ends the recording and returns what was recorded since [`begin`].
#[must_use]
pub fn end() -> Records {
    RECORDS.with(|records| records.borrow_mut().take()).unwrap_or_default()
}

/// Calls `write` on the record, if one is being made.
pub fn note(write: impl FnOnce(&mut Records)) {
    RECORDS.with(|records| {
        if let Some(records) = &mut *records.borrow_mut() {
            write(records);
        }
    });
}
