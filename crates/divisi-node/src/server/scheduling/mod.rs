//! Which step of which request is done next: one state machine, the [`Schedule`], without a thread, a socket,
//! a clock or a file of its own. Times are arguments, and what it decides are values; the same events in the
//! same order have the same effect (`server/schedules.rs` runs thousands of orders of them).
//!
//! What a request goes through here: admission reports each of its messages. The schedule keeps them until a
//! step has all that it needs ([`script`]), and refuses what exceeds its client's limits ([`limits`]). When
//! this server leads a round, it plans which steps to offer to the two others: what fits the budget of a
//! round ([`plan`]), with clients in turn ([`turns`]). What it hands on: the offers of this server, and of
//! each offer that the servers agree on the request with the messages of the step. It takes back how the step
//! went: done, more to come, refused, or put back because another server lacks a message. Answers stand in it
//! until the thread of their client's connection sends them.

mod leads;
mod limits;
mod log;
mod plan;
mod queue;
mod schedule;
mod script;
mod turns;

pub(crate) use limits::known_names;
pub(crate) use plan::{Budget, KeyStatus, RoundPlan};
pub(crate) use schedule::{After, Offer, Schedule, Stand, Taken};
#[cfg(test)]
pub(crate) use script::{Due, due};
pub(crate) use script::{Group, Kind, Shape, cost, kind, runs_programs};
