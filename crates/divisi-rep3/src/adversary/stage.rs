//! Three parties over memory links with a hand on some of them: runs, recordings, and how each party ended.

use crate::Trio;
use crate::lab::run_over;
use divisi_core::{Abort, Check, Parameters, PartyId, Session};
use divisi_net::memory::mesh_with;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Fault, Frame, Machine, Mesh, Options, World};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a party of a test waits for a message.
pub const LIMIT: Duration = Duration::from_millis(250);

/// No run lasts as long: after it the test program ends, so that a hang is a failure and no wait.
const HANG: Duration = Duration::from_secs(60);

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
pub type Hand = Box<dyn FnMut(Frame) -> Vec<Frame> + Send>;

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

/// Three meshes on which something is about to happen.
pub struct Stage {
    meshes: Vec<Mesh>,
    taps: Vec<Tap>,
    recordings: Vec<Recording>,
    parameters: Parameters,
}

impl Default for Stage {
    fn default() -> Self {
        Stage::new(&Parameters::new("rep3 stage"))
    }
}

impl Stage {
    /// A stage for a session with these parameters.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Stage {
        Stage::in_world(parameters, Arc::new(Machine))
    }

    /// A stage for a session without one check.
    #[must_use]
    pub fn without(check: Option<Check>) -> Stage {
        let parameters = Parameters::new("rep3 stage");
        Stage::new(&check.into_iter().fold(parameters, Parameters::without))
    }

    /// A stage in a world of its own.
    #[must_use]
    pub fn in_world(parameters: &Parameters, world: Arc<dyn World>) -> Stage {
        let meshes = mesh_with(3, &Options { timeout: LIMIT, ..Options::default() }, world);
        let taps = meshes.iter().map(Tap::new).collect();
        let recordings = (0..3).map(|_| Recording::default()).collect();
        let stage = Stage { meshes, taps, recordings, parameters: parameters.clone() };
        for (from, to) in links() {
            stage.hand(from, to, |frame| vec![frame]);
        }
        stage
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

    /// A way to send past the hands.
    #[must_use]
    pub fn tap(&self, party: PartyId) -> Tap {
        self.taps[party.index()].clone()
    }

    /// How long this party waits for a message.
    pub fn patience(&self, party: PartyId, limit: Duration) {
        self.meshes[party.index()].set_timeout(limit);
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
    pub fn act<R: Send>(self, f: impl Fn(Trio) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
        let parameters = self.parameters.clone();
        unless_it_hangs(|| run_over(self.meshes, &parameters, f))
    }

    /// As [`Stage::act`], where each party has parameters of its own and does something before the session starts.
    pub fn act_each<R: Send>(
        self,
        parameters: &[Parameters; 3],
        before: impl Fn(PartyId) + Sync,
        f: impl Fn(Trio) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        let (f, before) = (&f, &before);
        let play = |(mesh, parameters): (Mesh, &Parameters)| {
            before(mesh.me());
            f(Trio::new(Session::start(&Arc::new(mesh), 1, parameters)?)?)
        };
        unless_it_hangs(|| {
            std::thread::scope(|scope| {
                let parties: Vec<_> =
                    self.meshes.into_iter().zip(parameters).map(|p| scope.spawn(move || play(p))).collect();
                let end = |panic| std::panic::resume_unwind(panic);
                parties.into_iter().map(|party| party.join().unwrap_or_else(end)).collect()
            })
        })
    }
}

/// Run `f`; end the program if it lasts too long.
pub fn unless_it_hangs<R>(f: impl FnOnce() -> R) -> R {
    let (done, watch) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if watch.recv_timeout(HANG) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                eprintln!("a run hangs");
                std::process::abort();
            }
        });
        let result = f();
        drop(done);
        result
    })
}

/// All directed links.
pub fn links() -> impl Iterator<Item = (PartyId, PartyId)> {
    PartyId::all(3).flat_map(|p| PartyId::all(3).filter(move |q| *q != p).map(move |q| (p, q)))
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

/// Whether somebody else ended the session, or the link went with it.
#[must_use]
pub fn ended_by_another<R>(result: &Result<R, Abort>) -> bool {
    matches!(result, Err(Abort::Network(Fault::Aborted { .. } | Fault::Lost { .. })))
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
