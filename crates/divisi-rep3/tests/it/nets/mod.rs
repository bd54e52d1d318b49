//! Nets over the three parties.

mod draws;
