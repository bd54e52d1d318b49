//! Nets over the protocols of garbling.

mod draws;
