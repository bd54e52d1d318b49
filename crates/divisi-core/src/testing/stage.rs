//! Any number of parties over links in memory with a hand on some of them: attacked runs, and recordings of what was said.

use crate::{Abort, Check, Parameters, PartyId, Session, Step};
use divisi_net::memory::mesh_with;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Frame, Machine, Mesh, Options};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a party on a stage waits for a message.
pub const LIMIT: Duration = Duration::from_millis(400);

/// A message that went past the hand on its sender or receiver.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whether the party sent it, else it received it.
    pub sent: bool,
    /// To or from whom.
    pub peer: PartyId,
    /// The message.
    pub frame: Frame,
}

/// All that one party sent and received, in order.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<Vec<Seen>>>);

impl Recording {
    /// The messages of one step that `peer` was sent, or sent, in order.
    #[must_use]
    pub fn of(&self, sent: bool, peer: PartyId, step: &'static str) -> Vec<Vec<u8>> {
        let id = Step::new(step).id;
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = seen.iter().filter(|seen| (seen.sent, seen.peer, seen.frame.step) == (sent, peer, id));
        ours.map(|seen| seen.frame.body.clone()).collect()
    }

    fn note(&self, sent: bool, peer: PartyId, frame: &Frame) {
        let seen = Seen { sent, peer, frame: frame.clone() };
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
        sent.iter().for_each(|frame| self.recording.note(true, self.peer, frame));
        sent
    }

    fn incoming(&mut self, frame: &Frame) {
        self.recording.note(false, self.peer, frame);
    }
}

/// Meshes of `n` parties on which something is about to happen.
pub struct Stage {
    meshes: Vec<Mesh>,
    taps: Vec<Tap>,
    recordings: Vec<Recording>,
    parameters: Parameters,
}

impl Stage {
    /// A stage of `n` parties for a session with these parameters.
    #[must_use]
    pub fn new(n: usize, parameters: &Parameters) -> Stage {
        let meshes = mesh_with(n, &Options { timeout: LIMIT, ..Options::default() }, Arc::new(Machine));
        let taps = meshes.iter().map(Tap::new).collect();
        let recordings = (0..n).map(|_| Recording::default()).collect();
        let stage = Stage { meshes, taps, recordings, parameters: parameters.clone() };
        for from in PartyId::all(n) {
            for to in PartyId::all(n).filter(|to| *to != from) {
                stage.hand(from, to, |frame| vec![frame]);
            }
        }
        stage
    }

    /// A stage for a session without one check.
    #[cfg(feature = "fault")]
    #[must_use]
    pub fn without(n: usize, parameters: &Parameters, check: Option<Check>) -> Stage {
        Stage::new(n, &check.into_iter().fold(parameters.clone(), Parameters::without))
    }

    /// This stage with parties that wait long: for attacks after which nobody has to wait, on a machine that is busy.
    #[must_use]
    pub fn patient(self) -> Stage {
        self.meshes.iter().for_each(|mesh| mesh.set_timeout(40 * LIMIT));
        self
    }

    /// What this party sends and receives.
    #[must_use]
    pub fn recording(&self, party: PartyId) -> Recording {
        self.recordings[party.index()].clone()
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
        let (id, mut count) = (Step::new(step).id, 0);
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

    /// Run `f` at each party in a session; the results in the parties' order.
    pub fn act<R: Send>(self, f: impl Fn(Session) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
        let parameters = &self.parameters;
        std::thread::scope(|scope| {
            let f = &f;
            let start = |mesh: Mesh| f(Session::start(&Arc::new(mesh), 1, parameters)?);
            let parties: Vec<_> =
                self.meshes.into_iter().map(|mesh| scope.spawn(move || start(mesh))).collect();
            let end = |panic| std::panic::resume_unwind(panic);
            parties.into_iter().map(|party| party.join().unwrap_or_else(end)).collect()
        })
    }
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
