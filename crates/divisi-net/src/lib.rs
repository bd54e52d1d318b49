//! Meshes of parties over mutual TLS 1.3 or memory, with time limits, emulation and tampering.
//!
//! A [`Mesh`] is one party's set of links to all others; many sessions share it. A [`Channel`] is one strand
//! of one session: it sends without waiting for the peer to read, and receives messages whose length and step
//! the protocol knows, within a time limit. Every failure is a [`Fault`] that names peer and step. This crate
//! knows nothing of protocols.
//!
//! Trust: links over TLS are authenticated, confidential and ordered (the setting that every protocol of the
//! project assumes). The peer at the other end may be corrupt, so that no length, number or order that it
//! sends is trusted. Links in memory are for tests, and for parties that share a process anyway.
//!
//! ```
//! use divisi_net::{memory, step};
//! let meshes = memory::mesh(3);
//! std::thread::scope(|s| {
//!     for mesh in &meshes {
//!         s.spawn(move || {
//!             let n = mesh.parties();
//!             let channel = mesh.open(1, 0)?;
//!             channel.send(mesh.me().next(n), step!("ring"), 1, &[mesh.me().number()])?;
//!             let mut got = [0];
//!             channel.recv(mesh.me().prev(n), step!("ring"), &mut got)?;
//!             assert_eq!(got[0], mesh.me().prev(n).number());
//!             Ok::<_, divisi_net::Fault>(())
//!         });
//!     }
//! });
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "the streams and keys of a connection belong to no session")]

mod body;
mod channel;
mod check;
mod config;
mod connection;
mod dial;
mod duplex;
mod emulate;
mod fabric;
mod fault;
mod frame;
#[cfg(test)]
mod fuzz;
mod handshakes;
mod hello;
mod identity;
mod inbox;
mod intercept;
mod interrupt;
mod join;
mod link;
mod listener;
pub mod memory;
mod mesh;
mod options;
mod party;
mod permits;
mod pump;
mod push;
mod session;
mod side;
mod skip;
mod status;
mod step;
pub mod tamper;
mod tls;
mod trouble;
mod wire;
mod world;

pub use channel::Channel;
pub use check::{LinkReport, Reached, check};
pub use config::{ClientEntry, Config, ConfigError, Created, Grants, IdentityDigest, PartyEntry, Pin};
pub use connection::{Connection, ConnectionError, Peer};
pub use duplex::{Bell, Duplex, WaitOutcome};
pub use emulate::Emulation;
pub use fault::{Fault, Loss};
pub use frame::{Frame, wire_bytes};
pub use handshakes::Refused;
pub use identity::{Fingerprint, Identity, IdentityError, PublicKey};
pub use interrupt::Interrupt;
pub use join::JoinError;
pub use listener::Listener;
pub use mesh::Mesh;
pub use options::Options;
pub use party::PartyId;
pub use permits::{Permit, Permits};
pub use status::ServerStatus;
pub use step::Step;
pub use trouble::Trouble;
pub use world::{Machine, World};
