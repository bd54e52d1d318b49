//! Parties over memory links with a hand on some of them: runs, recordings, and how each party ended.

use crate::lab::run_over;
use divisi_core::{Abort, Check, Parameters, PartyId, Session};
use divisi_net::memory::mesh_with;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Frame, Machine, Mesh, Options};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a party of a test waits for a message.
pub const LIMIT: Duration = Duration::from_millis(400);

/// Which way a recorded message went past the hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Sent by the party.
    Out,
    /// Received by it.
    In,
}

/// A message that one party sent or received.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which way it went.
    pub way: Way,
    /// To or from whom.
    pub peer: PartyId,
    /// The message.
    pub frame: Frame,
}

/// All that one party sent and received, in order.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<Vec<Seen>>>);

impl Recording {
    /// What was recorded so far.
    #[must_use]
    pub fn read(&self) -> Vec<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages of one step that went one way, in order.
    #[must_use]
    pub fn of(&self, way: Way, step: &'static str) -> Vec<Seen> {
        let id = divisi_core::Step::new(step).id;
        self.read().into_iter().filter(|seen| seen.way == way && seen.frame.step == id).collect()
    }

    fn note(&self, way: Way, peer: PartyId, frame: &Frame) {
        let seen = Seen { way, peer, frame: frame.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

/// What is done to a message on its way out: what is sent in its place.
type Hand = Box<dyn FnMut(Frame) -> Vec<Frame> + Send>;

struct Hold {
    peer: PartyId,
    recording: Recording,
    hand: Hand,
}

impl Intercept for Hold {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        let sent = (self.hand)(frame);
        sent.iter().for_each(|frame| self.recording.note(Way::Out, self.peer, frame));
        sent
    }

    fn incoming(&mut self, frame: &Frame) {
        self.recording.note(Way::In, self.peer, frame);
    }
}

/// Meshes on which something is about to happen.
pub struct Stage {
    meshes: Vec<Mesh>,
    taps: Vec<Tap>,
    recordings: Vec<Recording>,
}

impl Stage {
    /// A stage for so many parties, each of which waits so long for a message.
    #[must_use]
    pub fn new(n: usize, limit: Duration) -> Stage {
        let meshes = mesh_with(n, &Options { timeout: limit, ..Options::default() }, Arc::new(Machine));
        let taps = meshes.iter().map(Tap::new).collect();
        let recordings = (0..n).map(|_| Recording::default()).collect();
        let stage = Stage { meshes, taps, recordings };
        for (from, to) in links(n) {
            stage.hand(from, to, |frame| vec![frame]);
        }
        stage
    }

    /// What this party sends and receives.
    #[must_use]
    pub fn recording(&self, party: PartyId) -> Recording {
        self.recordings[party.index()].clone()
    }

    /// A way to send past the hands.
    #[must_use]
    pub fn tap(&self, party: PartyId) -> Tap {
        self.taps[party.index()].clone()
    }

    /// From now on this hand is on everything that `from` sends to `to`.
    pub fn hand(&self, from: PartyId, to: PartyId, hand: impl FnMut(Frame) -> Vec<Frame> + Send + 'static) {
        let hold = Hold { peer: to, recording: self.recording(from), hand: Box::new(hand) };
        // both are parties of this stage
        let _ = self.taps[from.index()].intercept(to, Box::new(hold));
    }

    /// Change the `n`-th message of one step on one link.
    pub fn change(
        &self,
        from: PartyId,
        to: PartyId,
        step: &'static str,
        n: usize,
        mut how: impl FnMut(&mut Vec<u8>) + Send + 'static,
    ) {
        let (id, mut count) = (divisi_core::Step::new(step).id, 0);
        self.hand(from, to, move |mut frame| {
            if frame.step == id {
                if count == n {
                    how(&mut frame.body);
                }
                count += 1;
            }
            vec![frame]
        });
    }

    /// Run `f` at each party, the session included; the results in the parties' order.
    pub fn act<R: Send>(
        self,
        parameters: &Parameters,
        f: impl Fn(&mut Session) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        self.act_each(|_| parameters.clone(), f)
    }

    /// As [`Stage::act`], where each party has parameters of its own.
    pub fn act_each<R: Send>(
        self,
        parameters: impl Fn(PartyId) -> Parameters + Sync,
        f: impl Fn(&mut Session) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        run_over(self.meshes, parameters, f)
    }
}

/// All directed links.
pub fn links(n: usize) -> impl Iterator<Item = (PartyId, PartyId)> {
    PartyId::all(n).flat_map(move |p| PartyId::all(n).filter(move |q| *q != p).map(move |q| (p, q)))
}

/// The party with this number.
///
/// # Panics
/// If it is 0.
#[must_use]
pub fn party(number: u8) -> PartyId {
    PartyId::new(number).unwrap_or_else(|| unreachable!("parties are counted from 1"))
}

/// The check that ended a session, if one did.
#[must_use]
pub fn failed_check<R>(result: &Result<R, Abort>) -> Option<Check> {
    match result {
        Err(Abort::CheckFailed { check, .. }) => Some(*check),
        _ => None,
    }
}

/// Run jobs `0..n` in `threads` threads; the results in order. Most of an attacked run is waiting.
pub fn many<R: Send>(n: usize, threads: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(n) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if i >= n {
                        break;
                    }
                    let result = job(i);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
