//! Corrupt parties for tests (feature `testing`; never part of a build that holds real secrets): hands on their messages, and parties
//! whose own code deviates.

pub mod corrupt;
pub mod operators;
pub mod stage;
