//! Nets over modes and MACs among three parties.

mod draws;
