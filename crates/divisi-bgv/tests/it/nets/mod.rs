//! Nets over keys and ciphertexts.

mod draws;
