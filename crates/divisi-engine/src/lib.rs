//! What an engine is: a way to compute among n parties, behind one trait.
//!
//! The commands know an engine only through [`Engine`]: its name, its parties, the adversary against which it
//! protects, its options as data, its phases, and how it prepares a [`JobSpec`] before there is a session
//! ([`prepare`]). This covers everything public, so that an impossible job is refused before a secret
//! is used. Each party then starts the prepared job on its session ([`Prepared::start`]) and runs batches of
//! instances ([`EngineParty::batch`]). A benchmark observes it through a [`Watch`].
//!
//! The adapter that joins an engine to this trait stands in the engine's own crate, in the module `adapter`;
//! only the crate `divisi` knows all of them. Nothing in this crate knows an engine, but for [`plain`], which
//! computes in the clear.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "inputs of examples belong to no session")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod agree;
pub mod circuit;
mod claim;
pub mod cleanup;
mod clock;
mod counts;
mod demonstration;
mod differ;
mod disagreement;
mod engine;
pub mod evaluations;
pub mod failure;
pub mod job;
pub mod known;
mod measured;
pub mod name;
mod options;
pub mod output;
pub mod padding;
pub mod plain;
mod prepared;
mod rows;
pub mod settings;
pub mod source;
pub mod stock;
mod together;
mod unsupported;
pub mod usage;
mod value;
mod watch;

pub use agree::start;
pub use claim::SecurityClaim;
pub use clock::{Clock, PhaseKind};
pub use counts::SetupCounts;
pub use demonstration::{Demonstration, FileCipher, FileResults, PreparedFile};
pub use differ::Differ;
pub use disagreement::Disagreement;
pub use engine::*;
pub use failure::Failure;
pub use job::{Between, JobSpec, Own, alike, given_to};
pub use measured::{Calibration, Column, Measured, Moment, Page, Phase, Took, columns};
pub use options::{EngineOption, FormerSpelling, OptionScope, OptionValue};
pub use prepared::{BenchSchedule, EngineParty, Prepared, PreparedJob, StartedParty};
pub use rows::Rows;
pub use settings::EngineSettings;
pub use stock::{PreparedStock, StockMaker};
pub use together::{Ended, ProgressReport, together, together_seen};
pub use unsupported::Unsupported;
pub use value::WireValue;
pub use watch::{Unwatched, Watch, timed};
