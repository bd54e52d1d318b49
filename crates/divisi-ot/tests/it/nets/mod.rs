//! Nets over oblivious transfer.

mod draws;
