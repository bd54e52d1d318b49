//! What a mesh is to be like.

use crate::Permits;
use crate::emulate::Emulation;
use std::time::Duration;

/// What a mesh is to be like.
#[derive(Clone)]
pub struct Options {
    /// How long a receive waits for a message.
    pub timeout: Duration,
    /// What the links pretend to be.
    pub emulation: Option<Emulation>,
    /// How much each link may hold that nobody has read yet, in bytes, in each direction.
    pub buffer: usize,
    /// How many threads may run at once.
    pub permits: Permits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            emulation: None,
            buffer: 256 << 20,
            permits: Permits::unlimited(),
        }
    }
}
