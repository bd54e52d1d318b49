//! The stock of calls garbled in idle time, for programs like those that ran last.

use super::ahead::{self, Ahead};
use divisi_circuit::Program;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many programs are remembered.
const PROGRAMS: usize = 16;

/// What waits in an engine, the program that was used last at the end. What is wanted, made, used and thrown
/// away follows from public calls, so that the parties agree on it; and each call has a number, so that they
/// end in an abort if they do not.
#[derive(Default)]
pub(crate) struct Calls {
    /// The limit in bytes.
    budget: usize,
    /// Programs are noted, and not run.
    pub(super) foreseeing: bool,
    shelves: Vec<Shelf>,
}

struct Shelf {
    /// The digest of the program as it is run.
    digest: [u8; 32],
    lanes: usize,
    /// The program without inner constants.
    program: Arc<Program>,
    /// The bytes of one call.
    bytes: usize,
    calls: VecDeque<Ahead>,
    /// How many calls were used or foreseen, and not replaced yet.
    lacking: usize,
}

impl Shelf {
    fn bytes(&self) -> usize {
        self.calls.len() * self.bytes
    }
}

impl Calls {
    /// None yet, and never more than so many bytes.
    pub(super) fn bounded(budget: usize) -> Calls {
        Calls { budget, ..Calls::default() }
    }

    /// What was used is not wanted again.
    pub(super) fn want_nothing(&mut self) {
        self.shelves.iter_mut().for_each(|shelf| shelf.lacking = 0);
    }

    /// Note that this program runs on so many lanes, and will again.
    pub(super) fn note(&mut self, program: &Program, lanes: usize) {
        let digest = program.digest();
        let is_it = |shelf: &Shelf| (shelf.digest, shelf.lanes) == (digest, lanes);
        let mut shelf = match self.shelves.iter().position(is_it) {
            Some(at) => self.shelves.remove(at),
            None => {
                let folded = match program.folded() {
                    Cow::Borrowed(program) => program.clone(),
                    Cow::Owned(program) => program,
                };
                let Some(bytes) = ahead::size(&folded, lanes).filter(|bytes| *bytes <= self.budget) else {
                    return;
                };
                let (program, calls) = (Arc::new(folded), VecDeque::new());
                Shelf { digest, lanes, program, bytes, calls, lacking: 0 }
            }
        };
        let most = self.budget / shelf.bytes.max(1);
        shelf.lacking = (shelf.lacking + 1).min(most.saturating_sub(shelf.calls.len()));
        if self.shelves.len() >= PROGRAMS {
            self.shelves.remove(0);
        }
        self.shelves.push(shelf);
    }

    /// The call that waits longest for this program; that one was used is noted.
    pub(super) fn take(&mut self, program: &Program, lanes: usize) -> Option<Ahead> {
        if self.budget == 0 {
            return None;
        }
        let digest = program.digest();
        let is_it = |shelf: &&mut Shelf| (shelf.digest, shelf.lanes) == (digest, lanes);
        let call = self.shelves.iter_mut().find(is_it).and_then(|shelf| shelf.calls.pop_front());
        self.note(program, lanes);
        call
    }

    /// What to make next: of the program that was used last.
    pub(super) fn wanted(&mut self) -> Option<(usize, Arc<Program>, usize)> {
        let at = self.shelves.iter().rposition(|shelf| shelf.lacking > 0)?;
        let shelf = &self.shelves[at];
        let (program, lanes, bytes) = (shelf.program.clone(), shelf.lanes, shelf.bytes);
        // those of programs that were used before this one make room
        while self.bytes() + bytes > self.budget {
            let Some(older) = self.shelves[..at].iter_mut().find(|shelf| !shelf.calls.is_empty()) else {
                // beyond the budget nothing is made
                self.shelves[at].lacking = 0;
                return self.wanted();
            };
            drop(older.calls.pop_front());
        }
        self.shelves[at].lacking -= 1;
        Some((at, program, lanes))
    }

    /// Put what was wanted where it was wanted.
    pub(super) fn put(&mut self, at: usize, call: Ahead) {
        if let Some(shelf) = self.shelves.get_mut(at) {
            shelf.calls.push_back(call);
        }
    }

    pub(crate) fn lack(&self) -> bool {
        self.shelves.iter().any(|shelf| shelf.lacking > 0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shelves.iter().map(Shelf::bytes).sum()
    }
}
