//! The messages between the coordinating process and the parties of a benchmark, over pipes.

use crate::engine::Took;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An order of the coordinator to a party.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Order {
    /// Begin a session, for one repetition or many, with `count` instances. A frame follows: this party's
    /// input to the set-up.
    Begin { session: u32, count: u64 },
    /// A batch of `count` instances. A frame follows: this party's input to it.
    Batch { count: u64 },
    /// All parties have reached the barrier: continue, the clock runs.
    Go,
    /// Send the outputs of the batch, as a frame.
    Outputs,
    /// The repetition has ended: report its costs, the session's set-up included.
    Counts,
    /// The session has ended.
    End,
}

/// What a party says while it works.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Said {
    /// The party has reached the barrier before this phase.
    Here(String),
    /// The party has finished, and its phases took this long.
    Done(Vec<(String, Took)>),
}

/// The costs of a repetition at one party: payload bits, bytes and rounds by phase, and other figures of the
/// meter and the process.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Costs {
    pub phases: BTreeMap<String, (u64, u64, u32)>,
    pub checks: BTreeMap<String, u64>,
    pub verification_error_bits: Option<f64>,
    pub computational_bits: Option<f64>,
    pub peak_rss_bytes: Option<u64>,
    pub kernel: String,
    /// The engine's facts about the run: a JSON object.
    pub facts: String,
}
