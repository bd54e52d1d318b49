//! Oblivious transfer and what authenticated garbling and SPDZ build on it.
#![forbid(unsafe_code)]
