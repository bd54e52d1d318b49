//! A server: one of the three that hold the keys' shares.
//!
//! What a request goes through, each with a folder of its own:
//!
//! 1. [`admission`]: its client's connection is accepted, its messages are received, and at its first step
//!    this server decides by itself whether it admits the request.
//! 2. [`scheduling`]: it waits until all messages of a step are here and until its client has its turn.
//! 3. [`agreement`]: the leader of a round offers the step, and all three servers compare what they have of
//!    it.
//! 4. [`execution`]: the three compute the step together.
//! 5. [`release`]: what the client is to get leaves, after the verification of everything that it depends on.
//!
//! A request is done step by step, with steps of other requests in between. No step begins before all its
//! messages are here, so that a slow client delays nobody else.
//!
//! Threads: one accepts clients, one for each connection talks with its client, one computes with the other
//! two servers ([`session`], in the thread that runs the server). They share the [`node`]. The computing
//! thread owns the session and does round after round. When a session ends by an abort, it tells all waiting
//! clients, wipes what the session had made, and the servers connect again after a pause that grows while
//! aborts are frequent: an adversary that could learn something from each abort gets few of them, and the log
//! has a line for each.
//!
//! The key of a request is what the admission [`found`], until the agreement has compared it.
//!
//! What is no request's way: a server's start ([`open`], [`options`]), what clients may use ([`allowances`]),
//! changes of its configuration ([`reload`], [`in_force`]), operators' orders ([`operators`],
//! [`operator_socket`]), the comparison of stores ([`stores`]), what clients learn of a server that they ask
//! how it is ([`presence`]).
//!
//! Steps are spelled out here, and not named by their module (`step!`): their names go into the frames and
//! the comparisons of the servers and into the failures that clients report, and must not change when code
//! moves.

mod admission;
mod agreement;
mod allowances;
mod execution;
mod found;
mod in_force;
mod node;
mod open;
mod operator_socket;
mod operators;
mod options;
mod presence;
mod release;
mod reload;
#[cfg(test)]
mod schedules;
mod scheduling;
mod session;
mod stores;

pub use admission::least_tag;
pub use allowances::Limits;
pub use open::Server;
pub use options::{ServerError, ServerOptions};
