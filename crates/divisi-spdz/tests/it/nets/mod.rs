//! Nets over masked tables and what prepares them.

mod draws;
