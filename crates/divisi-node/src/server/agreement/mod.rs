//! What the three servers agree on before they compute.
//!
//! What a request goes through here: the leader of a round, another server each time, proposes steps of
//! requests ([`proposal`]). Each server brings what it has of each ([`offers`]): messages of its schedule,
//! and the key with which it admitted a first step. All three compare the public part of each \[A25\], and
//! the two holders of each component compare it, for a client's input \[A24\] and for stored keys \[A26\]
//! ([`comparison`], [`data`]). The verdict is the same at all honest servers ([`fate`]):
//! a step of which one server lacks a message goes back to the schedule and waits, a difference or one
//! server's refusal ends this request and no other. What it hands on: the steps that all three have, with
//! data and keys that are the same.
//!
//! At the start of each session the servers also compare their stores ([`stores`]).

mod comparison;
mod data;
mod fate;
mod offers;
mod proposal;
mod stores;
mod trips;

#[cfg(test)]
pub(crate) use comparison::STATUS;
pub(crate) use comparison::{About, agree, exchange, first, public, verdict_of};
pub(crate) use data::{StepData, unexpected};
#[cfg(test)]
pub(crate) use fate::{Fate, Mine, fate};
pub(crate) use offers::{Candidate, Missing, agree_offers, within_budget};
#[cfg(test)]
pub(crate) use proposal::{CALL, OFFERS, rounds_of};
pub(crate) use proposal::{Proposal, follow, lead};
pub(crate) use stores::compare_stores;
pub(crate) use trips::RoundTrips;
