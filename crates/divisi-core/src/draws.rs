//! A record of what was drawn from every stream of a session, for tests (feature `testing`; never part of a
//! build that holds real secrets): each draw's stream and its range of bytes there, so that a test notices a
//! value that is left out or given out twice. Only sessions whose parameters ask for it have a record
//! ([`crate::PublicParameters::recording`]).

use crate::PartyId;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stream that two parties share, and what one of them drew from it.
#[derive(Clone, Debug)]
pub struct DrawnStream {
    /// The strand that asked for it.
    pub strand: u32,
    /// The peer that shares it.
    pub peer: PartyId,
    /// Its purpose.
    pub purpose: &'static str,
    /// How many streams for this purpose were requested before.
    pub generation: u64,
    /// Its key.
    pub key: [u8; 16],
    /// The ranges of bytes that were drawn, in order.
    pub drawn: Vec<Range<u64>>,
}

impl DrawnStream {
    /// How many bytes were drawn.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.drawn.iter().map(|range| range.end.wrapping_sub(range.start)).sum()
    }
}

/// All streams of a session.
#[derive(Clone, Default)]
pub(crate) struct Draws(Arc<Mutex<Vec<DrawnStream>>>);

impl Draws {
    fn streams(&self) -> MutexGuard<'_, Vec<DrawnStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Record that a stream was requested; draws from it are noted in the result.
    pub(crate) fn begin(
        &self,
        strand: u32,
        peer: PartyId,
        purpose: &'static str,
        generation: u64,
        key: [u8; 16],
    ) -> Record {
        let mut streams = self.streams();
        streams.push(DrawnStream { strand, peer, purpose, generation, key, drawn: Vec::new() });
        Record { draws: self.clone(), stream: streams.len() - 1 }
    }

    pub(crate) fn read(&self) -> Vec<DrawnStream> {
        self.streams().clone()
    }
}

/// Notes the draws of one stream.
pub(crate) struct Record {
    draws: Draws,
    stream: usize,
}

impl Record {
    /// Record that this many bytes are drawn, from byte `first` on.
    pub(crate) fn note(&self, first: u64, bytes: usize) {
        if let Some(stream) = self.draws.streams().get_mut(self.stream)
            && bytes > 0
        {
            stream.drawn.push(first..first.wrapping_add(bytes as u64));
        }
    }
}
