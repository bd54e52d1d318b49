//! Nets over linear garbling.

mod draws;
