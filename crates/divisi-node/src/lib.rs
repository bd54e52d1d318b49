//! Client and servers of the three-party service: requests, agreement on inputs, stored keys, release of
//! answers.
//!
//! **Trust.** There are three servers, of which at most one is corrupt, and any number of corrupt clients. A
//! client that is served learns its answer and nothing else; no server learns a key, a plaintext or an
//! intermediate value. A corrupt server can end sessions and refuse requests; it cannot make an answer wrong,
//! choose an IV, use a key for a client that its maker did not name, or make the other servers forget a key.
//! The servers use stored keys only with security against malicious servers. **What it does not protect**:
//! all servers see the lengths and times of requests, the names of clients and keys, and whether a request
//! was refused or aborted.
//!
//! How a file is encrypted: [`Client::encrypt`] splits it chunk by chunk ([`divisi_rep3::deal`]) and sends
//! each server its part (`request`, `wire`). Each server receives it (`server::admission`), compares it with
//! the others (`server::agreement`), computes on it (`server::execution`, [`divisi_symphony::gcm`]) and
//! answers what is verified (`server::release`). The client compares the three answers and writes the result.
//!
//! A file is `IV (12 bytes) | ciphertext | tag (16 bytes)`, which any AES-GCM library opens with the key.
//!
//! The servers' computation is in [`divisi_symphony`]: the same without clients and servers, among three
//! parties that bring their own inputs.
//!
//! ```
//! use divisi_net::{Config, Machine, PartyId};
//! use divisi_node::{Client, KeyType, Server, ServerOptions};
//! use std::error::Error;
//! use std::io::Cursor;
//! use std::net::TcpListener;
//! use std::sync::{Arc, atomic::Ordering};
//!
//! fn client(config: &Config, identity: &divisi_net::Identity) -> Result<(), Box<dyn Error>> {
//!     let mut alice = Client::connect(config, identity, Arc::new(Machine))?;
//!     let new = alice.new_key("backup".parse()?, KeyType::Aes128, false, vec![]);
//!     let key = alice.key_new(&new)?.name; // no server knows it, nor does alice
//!     let (mut file, mut plaintext) = (Vec::new(), Vec::new());
//!     alice.encrypt(&key, b"", &mut &b"a secret"[..], 8, &mut file, &mut |_| {})?;
//!     alice.decrypt(&key, b"", &mut Cursor::new(&file), file.len() as u64, &mut plaintext, &mut |_| {})?;
//!     assert_eq!(plaintext, b"a secret");
//!     Ok(())
//! }
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let dir = tempfile::tempdir()?;
//!     let ports: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
//!     let hosts: Vec<_> = ports.iter().map(|p| p.local_addr().map(|a| a.to_string())).collect::<Result<_, _>>()?;
//!     let made = Config::create(3, &hosts, &["alice".into()], &Machine)?;
//!     let mut servers = Vec::new();
//!     for ((me, port), identity) in PartyId::all(3).zip(ports).zip(made.parties) {
//!         let (config, data) = (made.config.clone(), dir.path().join(me.to_string()));
//!         let options = ServerOptions::default();
//!         servers.push(Server::open_at(port, config, me, identity.into(), &data, options, Arc::new(Machine))?);
//!     }
//!     std::thread::scope(|s| {
//!         servers.iter().for_each(|server| drop(s.spawn(|| server.run())));
//!         let done = client(&made.config, &made.clients[0]);
//!         servers.iter().for_each(|server| server.stop_flag().store(true, Ordering::SeqCst));
//!         done
//!     })
//! }
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "clients and admission draw outside of sessions")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod admit;
mod client;
mod error;
pub mod files;
#[cfg(test)]
mod fuzz;
pub mod operator;
pub mod purposes;
mod request;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub use admit::{Admit, Grant, Lists, What, Who};
pub use client::{
    Client, ClientPool, HealthReport, HealthWatch, Listed, OVERHEAD, ReadSeek, ServerConnection, Tagged,
};
pub use divisi_rep3::RoundsChoice;
pub use divisi_store::{KeyName, KeyState, KeyType, Purpose};
pub use divisi_symphony::CHUNK;
pub use error::{Error, ErrorKind};
pub use request::{AAD, Condition, KeyEntry, MESSAGE, MODE_MESSAGE, Mode, NewKey, OUTPUT, UsedKey};
pub use server::{Limits, Server, ServerError, ServerOptions, least_tag};
