//! What the coordinating process and the parties of a benchmark say to each other, over pipes.

use super::work::Told;
use crate::local::seat::Seat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a party learns first.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub seat: Seat,
    pub protocol: String,
    pub security: String,
    pub work: Told,
    /// The bits that verifications are to reach at least.
    pub statistical: u32,
    pub threads: u32,
    pub chunk: u32,
    pub rtt_ms: Option<f64>,
    pub rate_mbit: Option<f64>,
    pub timeout_ms: u64,
}

/// What a party is told to do.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Order {
    /// Begin a session, which serves one repetition or many: two frames follow, the components of the key.
    Begin { session: u32, strands: u32 },
    /// Take over inputs: two frames follow, the components, a column for each byte of an input, chunk by chunk.
    Inputs { blocks: u32 },
    /// The barrier is open: do it, with the clock running.
    Go,
    /// Send the outputs: two frames.
    Outputs,
    /// The repetition is over: say what it cost, the session's setup included.
    Counts,
    /// The session is over.
    End,
}

/// How long something took.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Took {
    pub seconds: f64,
    pub cpu_seconds: f64,
}

impl Took {
    pub fn add(&mut self, other: Took) {
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
    }

    /// The larger of each: a phase runs to the last party's end.
    pub fn max(self, other: Took) -> Took {
        Took {
            seconds: self.seconds.max(other.seconds),
            cpu_seconds: self.cpu_seconds.max(other.cpu_seconds),
        }
    }
}

/// What one `Go` took.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Times {
    pub setup: Took,
    pub preprocessing: Took,
    pub online: Took,
    pub verification: Took,
}

impl Times {
    pub fn max(self, other: Times) -> Times {
        Times {
            setup: self.setup.max(other.setup),
            preprocessing: self.preprocessing.max(other.preprocessing),
            online: self.online.max(other.online),
            verification: self.verification.max(other.verification),
        }
    }

    pub fn add(&mut self, other: Times) {
        self.setup.add(other.setup);
        self.preprocessing.add(other.preprocessing);
        self.online.add(other.online);
        self.verification.add(other.verification);
    }
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
}
