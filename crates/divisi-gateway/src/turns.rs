//! The queue before the servers, which all faces of the gateway share: at most so many requests wait or are
//! done, and at most as many are done at a time as there are connections.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

    /// Wait for the turn of a request; `None` at once if the queue is full.
    pub async fn take(&self) -> Option<ServerTurn> {
        let place = Some(Arc::clone(&self.queue).try_acquire_owned().ok()?);
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        Some(ServerTurn { _place: place, _turn: turn })
    }

    /// Wait for a turn of the gateway's own, which takes no place in the queue.
    pub async fn take_own(&self) -> Option<ServerTurn> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        Some(ServerTurn { _place: None, _turn: turn })
    }
}
