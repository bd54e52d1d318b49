//! Who is heard, and which requests this server admits.
//!
//! What a request goes through here: its client's connection is accepted, if the client is in the
//! configuration and has a place ([`listener`], [`slots`]). A thread for the connection receives the
//! request's messages, whose number and length are bounded, and reports each to the schedule; later it sends
//! the answers that stand there ([`connection`]). When the first step of the request is offered, this server
//! decides by itself, with its own policy and store, whether the client may have it and whether the key and
//! the algorithm take it, and counts the use of the key ([`requests`], [`algorithms`]). What it hands on:
//! messages to the schedule, and to the agreement an admitted request with the key that was found for it.

mod algorithms;
mod connection;
mod listener;
mod requests;
mod slots;

pub use algorithms::least_tag;
pub(crate) use algorithms::{function_settings, gcm_takes, key_size};
#[cfg(test)]
pub(crate) use algorithms::{gcm_serves, mode_serves};
pub(crate) use listener::accept;
#[cfg(test)]
pub(crate) use listener::identity;
pub(crate) use requests::{LOAD, admit, count, find, into_use, is_counted, stored};
