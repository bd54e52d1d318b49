//! What a corrupt party of a test computes from what it received (feature `testing`; never part of a build
//! that holds real secrets). It changes nothing that a party does.

pub mod offline;
