//! The options of a mesh.

use crate::Permits;
use crate::emulate::Emulation;
use std::time::Duration;

/// The options of a mesh.
#[derive(Clone)]
pub struct Options {
    /// How long a receive waits for a message.
    pub timeout: Duration,
    /// The emulated properties of the links.
    pub emulation: Option<Emulation>,
    /// The limit of unread bytes of each link, in each direction.
    pub buffer: usize,
    /// The limit of threads that run at the same time.
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
