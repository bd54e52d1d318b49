//! Keys held by three Divisi servers, behind the HTTP API of Transit and behind KMS v2 of Kubernetes.
//!
//! The gateway is a process beside one application. To the servers it is a client like any other; to the
//! application it is a server of Transit, whose clients use the keys unchanged, or a plugin of
//! kube-apiserver.
//!
//! **Trust.** The gateway sees what its application sees: plaintexts, data keys and tokens. It never has a
//! key: the three servers hold each, and each of them decides by its own lists which keys the gateway's
//! identity may use. A stolen gateway reaches the keys of its application, until any one operator takes its
//! identity out of the mesh. A lying server cannot make an answer wrong: the client that the gateway is
//! compares what the three answer. **What it does not protect**: the plaintext in its memory from whoever
//! rules its machine. What passes through buffers of the HTTP library is not wiped.
//!
//! | module | contents |
//! |---|---|
//! | [`config`], [`tokens`] | the two files of a gateway |
//! | [`backend`] | the three servers, as a trait over divisi-node's clients |
//! | [`api`] | the Transit API without HTTP: the table of routes, a module a group of them |
//! | [`json`], [`base64`] | the two formats as the recorded server reads and writes them |
//! | [`http`] | connections, bodies, TLS, limits |
//! | [`kms`] | KMS v2 of Kubernetes: gRPC on a unix socket of its own |
//! | [`turns`] | how many requests wait for the servers and are done, of both faces |
//! | [`run`], [`check`] | the program: start, signals, end; what is wrong with a configuration |
//! | [`demo`], [`mod@bench`] | three servers and a gateway on this machine |
//! | [`log`] | a JSON object on a line for each request |
//!
//! `docs/transit.md` in the repository lists every route and error.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "what clients ask for is theirs, and belongs to no session")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod api;
pub mod backend;
pub mod base64;
pub mod bench;
pub mod check;
mod client;
pub mod config;
pub mod demo;
mod dumps;
mod files;
pub mod http;
pub mod json;
pub mod kms;
pub mod log;
#[cfg(test)]
mod remains;
pub mod run;
pub mod tokens;
pub mod turns;
