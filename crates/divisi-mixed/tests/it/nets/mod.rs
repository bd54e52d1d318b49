//! Nets over programs of bits and numbers.

mod draws;
