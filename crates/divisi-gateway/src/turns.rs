//! The queue before the servers, which all faces of the gateway share: at most so many requests wait or are
//! done, and at most as many are done at a time as there are connections.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a request waits for its turn. If the servers are silent then, it lasts ten
/// seconds more, the usual time limit of a mesh.
const LONGEST: Duration = Duration::from_secs(4);

/// Why a request has no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its status")]
pub enum NoTurn {
    /// The queue is full.
    Full,
    /// Those before it have waited for the servers for too long.
    Late,
}

impl NoTurn {
    /// What a client is told that was too late.
    pub const LATE: &'static str = "requests before this one wait for the servers: see sys/health";
}

/// The queue. Clones are the same one.
#[derive(Clone, Debug)]
pub struct ServerTurns {
    queue: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// The turn of a request, until it is dropped.
#[derive(Debug)]
pub struct ServerTurn {
    _place: Option<OwnedSemaphorePermit>,
    _turn: OwnedSemaphorePermit,
}

impl ServerTurns {
    /// A queue for so many requests, of which so many are done at a time.
    #[must_use]
    pub fn new(queue: usize, turns: usize) -> ServerTurns {
        let of = |places: usize| Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        ServerTurns { queue: of(queue), turns: of(turns) }
    }

    /// Wait for the turn of a request, up to four seconds.
    ///
    /// # Errors
    /// [`NoTurn::Full`] at once, or [`NoTurn::Late`].
    pub async fn take(&self) -> Result<ServerTurn, NoTurn> {
        let place = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| NoTurn::Full)?;
        let turn = tokio::time::timeout(LONGEST, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| NoTurn::Late)?.map_err(|_| NoTurn::Late)?;
        Ok(ServerTurn { _place: Some(place), _turn: turn })
    }

    /// Wait for a turn of the gateway's own, which takes no place in the queue.
    pub async fn take_own(&self) -> Option<ServerTurn> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        Some(ServerTurn { _place: None, _turn: turn })
    }
}
