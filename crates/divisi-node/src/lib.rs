//! Client and server of the three: requests, agreement on inputs, stored keys, release of answers.
//!
//! **Trust.** Three servers, at most one of them corrupt, and any number of corrupt clients. A client who is served learns its
//! answer and nothing else; no server learns a key, a plaintext or an intermediate value. A corrupt server can end sessions
//! and refuse requests; it cannot make an answer wrong, choose an IV, use a key for a client whom its maker did not name, or
//! make the others forget a key. Stored keys are used with security against malicious servers only. **What it does not
//! protect**: the lengths and times of requests, the names of clients and keys, and that a request was refused or aborted
//! are seen by all servers.
//!
//! The way of a file: [`Client::encrypt`] splits it chunk by chunk ([`divisi_rep3::deal`]) and sends each server its part
//! (`request`, `wire`); each server's `line` takes it, its `session` compares it with the others (`agree`), computes on it
//! ([`gcm`]) and answers what is verified; the client compares the three answers and writes.
//!
//! A file is `IV (12 bytes) | ciphertext | tag (16 bytes)`, which any AES-GCM library opens, given the key.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod admit;
mod agree;
mod client;
mod error;
pub mod gcm;
pub mod many;
mod request;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub use admit::{Admit, Grant, Lists, What, Who};
pub use client::{Client, Listed, OVERHEAD, ReadSeek};
pub use divisi_store::{KeyName, KeyState, KeyType};
pub use error::{Error, ErrorKind};
pub use gcm::CHUNK;
pub use request::{AAD, KeyEntry, NewKey};
pub use server::{Server, ServerError, ServerOptions};
