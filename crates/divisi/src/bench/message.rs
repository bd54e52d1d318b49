//! What the coordinating process and the parties of a benchmark say to each other, over pipes.

use crate::engine::Took;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a party is told to do.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Order {
    /// Begin a session, which serves one repetition or many of so many instances: a frame follows, what we
    /// bring to the set-up.
    Begin { session: u32, count: u64 },
    /// A batch of so many instances: a frame follows, what we bring to it.
    Batch { count: u64 },
    /// All stand at the barrier: go on, with the clock running.
    Go,
    /// Send the outputs of the batch: a frame.
    Outputs,
    /// The repetition is over: say what it cost, the session's setup included.
    Counts,
    /// The session is over.
    End,
}

/// What a party says while it works.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Said {
    /// It stands at the barrier before this phase.
    Here(String),
    /// It is through, and its phases took so long.
    Done(Vec<(String, Took)>),
}

/// Payload bits, bytes and rounds by phase, and what else a meter holds.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Costs {
    pub phases: BTreeMap<String, (u64, u64, u32)>,
    pub checks: BTreeMap<String, u64>,
    pub verification_error_bits: Option<f64>,
    pub computational_bits: Option<f64>,
    pub peak_rss_bytes: Option<u64>,
    pub kernel: String,
    /// What the engine says of how it went: a JSON object.
    pub facts: String,
}
