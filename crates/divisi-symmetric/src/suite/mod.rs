//! The standards' known answers, and random comparisons, to be run on any engine (feature `testing`).
//!
//! An engine with a [`Lab`](divisi_core::testing::Lab) can run every test with a line each. A suite panics if
//! an answer is wrong. It runs whole batches: one run of the lab for each key size and direction.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod aes;
mod des;
pub mod functions;
mod gcm;
mod hashes;
mod samples;
mod vectors;

pub use self::aes::{aes_fips197, aes_random, aes_sp800_38a};
pub use self::des::{triple_des, triple_des_samples};
pub use self::gcm::{GcmMessage, Sealed, alone, gcm_specification, in_batches};
pub use self::hashes::{
    Bitwise, KeyAndMessage, digests, hash_known_answers, hashes_of_different_lengths,
    hmac_of_different_lengths, hmac_tags, kmac_tags, xof_outputs,
};
pub use self::samples::Samples;
pub use self::vectors::{
    VectorCase, aes_fips197_vectors, aes_sp800_38a_vectors, gcm_specification_vectors, hash_vectors,
    mode_vectors, triple_des_vectors,
};
