//! What all strands of a session share: whether it lives, and if not, why.

use crate::fault::{Fault, Loss};
use crate::world::lock;
use crate::{PartyId, Step};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a session is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// A peer said so.
    Aborted(PartyId),
    /// A link of the mesh is gone.
    Lost(PartyId, Loss),
    /// A strand of this party said so.
    Own,
}

impl Cause {
    /// The fault that a strand meets at `step`.
    pub fn fault(self, step: Step) -> Fault {
        match self {
            Self::Aborted(peer) => Fault::Aborted { peer, step },
            Self::Lost(peer, Loss::Flooded) => Fault::Flooded { peer, step },
            Self::Lost(peer, reason) => Fault::Lost { peer, step, reason },
            Self::Own => Fault::Poisoned { step },
        }
    }
}

/// The common state of a session's strands.
#[derive(Debug)]
pub(crate) struct Session {
    pub number: u32,
    over: AtomicBool,
    cause: Mutex<Option<Cause>>,
    told: AtomicBool,
}

impl Session {
    pub fn new(number: u32) -> Self {
        Self { number, over: AtomicBool::new(false), cause: Mutex::new(None), told: AtomicBool::new(false) }
    }

    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Ends it; the first cause stands.
    pub fn end(&self, cause: Cause) {
        lock(&self.cause).get_or_insert(cause);
        self.over.store(true, Ordering::SeqCst);
    }

    /// True for the one caller that has to tell the peers.
    pub fn must_tell(&self) -> bool {
        !self.told.swap(true, Ordering::SeqCst)
    }

    /// The fault of this session's end, if it is over.
    pub fn check(&self, step: Step) -> Result<(), Fault> {
        if !self.is_over() {
            return Ok(());
        }
        Err(lock(&self.cause).unwrap_or(Cause::Own).fault(step))
    }
}
