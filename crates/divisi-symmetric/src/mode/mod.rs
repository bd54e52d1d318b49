//! Modes of operation of block ciphers.
//!
//! [`block`], [`cbc`], [`cmac`] and [`feedback`] are written over either block cipher; GCM needs blocks of
//! 128 bits.

pub mod block;
pub mod cbc;
pub mod cmac;
pub mod columns;
pub mod ctr;
pub mod feedback;
pub mod gcm;
pub mod ghash;
pub mod one_shot;
