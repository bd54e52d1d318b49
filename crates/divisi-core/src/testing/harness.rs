//! Any number of parties over links in memory, some of which are controlled by a test: attacked runs, and
//! recordings of messages.

use super::parties::{links, run_over};
use crate::{Abort, PartyId, PublicParameters, Session, Step};
use divisi_net::memory::mesh_that_skips;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Emulation, Frame, Machine, Mesh, Options, World};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a party on a harness waits for a message, unless the harness says otherwise: longer than a
/// message takes to arrive on a busy machine. If no message comes, the wait takes no time, because a harness
/// skips waits that nothing can end.
pub const LIMIT: Duration = Duration::from_secs(10);

/// The direction of a recorded message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there for tests alone")]
pub enum MessageDirection {
    /// Sent by the party.
    Out,
    /// Received by it.
    In,
}

/// A message that one party sent or received.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which way it went.
    pub way: MessageDirection,
    /// The party to which or from which it went.
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

    /// How many messages there are for which `counts` returns true.
    pub fn count(&self, counts: impl Fn(MessageDirection, &Frame) -> bool) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|seen| counts(seen.way, &seen.frame)).count()
    }

    /// The messages of one step that went one way, in order.
    #[must_use]
    pub fn of(&self, way: MessageDirection, step: &'static str) -> Vec<Seen> {
        let id = Step::new(step).id;
        self.read().into_iter().filter(|seen| seen.way == way && seen.frame.step == id).collect()
    }

    /// The bodies of the messages of one step that went one way, to or from one peer, in order.
    #[must_use]
    pub fn bodies(&self, way: MessageDirection, peer: PartyId, step: &'static str) -> Vec<Vec<u8>> {
        let theirs = self.of(way, step).into_iter().filter(|seen| seen.peer == peer);
        theirs.map(|seen| seen.frame.body).collect()
    }

    fn note(&self, way: MessageDirection, peer: PartyId, frame: &Frame) {
        let seen = Seen { way, peer, frame: frame.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

/// What each party sent to each other, in order.
pub type Sent = BTreeMap<(PartyId, PartyId), Vec<Frame>>;

/// What was sent, by the recordings of all parties, in the parties' order.
#[must_use]
pub fn sent(recordings: &[Recording]) -> Sent {
    let mut sent = Sent::new();
    for (from, recording) in PartyId::all(recordings.len()).zip(recordings) {
        for seen in recording.read().into_iter().filter(|seen| seen.way == MessageDirection::Out) {
            sent.entry((from, seen.peer)).or_default().push(seen.frame);
        }
    }
    sent
}

/// A function that changes a message on its way out: it returns the frames that are sent in its place.
type Hand = Box<dyn FnMut(Frame) -> Vec<Frame> + Send>;

struct Hold {
    peer: PartyId,
    recording: Recording,
    hand: Hand,
}

impl Intercept for Hold {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        let sent = (self.hand)(frame);
        sent.iter().for_each(|frame| self.recording.note(MessageDirection::Out, self.peer, frame));
        sent
    }

    fn incoming(&mut self, frame: &Frame) {
        self.recording.note(MessageDirection::In, self.peer, frame);
    }
}

/// The meshes of the parties of a test, before the parties run: tests place functions on links that change
/// messages, and keep recordings.
pub struct Harness {
    meshes: Vec<Mesh>,
    taps: Vec<Tap>,
    recordings: Vec<Recording>,
    parameters: PublicParameters,
    limit: Duration,
}

impl Harness {
    /// A harness of `n` parties for a session with these parameters.
    #[must_use]
    pub fn new(n: usize, parameters: &PublicParameters) -> Harness {
        Harness::in_world(n, parameters, Arc::new(Machine))
    }

    /// A harness for a session without one check ([`without`](super::without)).
    ///
    /// # Panics
    /// If a check is given, but in the copy of `lab/attacks`.
    #[must_use]
    pub fn without(n: usize, parameters: &PublicParameters, check: Option<crate::Check>) -> Harness {
        Harness::new(n, &super::without(parameters.clone(), check))
    }

    /// A harness whose parties have the time and the randomness of this world.
    #[must_use]
    pub fn in_world(n: usize, parameters: &PublicParameters, world: Arc<dyn World>) -> Harness {
        let options = Options { timeout: LIMIT, ..Options::default() };
        Harness::over(mesh_that_skips(n, &options, world), parameters, LIMIT)
    }

    /// A harness whose messages take this long, by a clock that is skipped ahead while all parties wait. It
    /// is returned with a function that reads the clock: if the delay is much longer than the computation,
    /// the time that passed gives the number of waits of a run.
    pub fn distant(
        n: usize,
        parameters: &PublicParameters,
        delay: Duration,
    ) -> (Harness, impl Fn() -> Instant + Sync + use<>) {
        let emulation = Some(Emulation { rtt: 2 * delay, bits_per_second: None });
        let limit = 100 * delay;
        let options = Options { timeout: limit, emulation, ..Options::default() };
        let harness = Harness::over(mesh_that_skips(n, &options, Arc::new(Machine)), parameters, limit);
        let clock = harness.clock();
        (harness, clock)
    }

    /// A function that reads the parties' clock, which is ahead by the waits that were skipped.
    pub fn clock(&self) -> impl Fn() -> Instant + Sync + use<> {
        let world = self.meshes.first().map(|mesh| Arc::clone(mesh.world()));
        move || world.as_ref().map_or_else(Instant::now, |world| world.now())
    }

    fn over(meshes: Vec<Mesh>, parameters: &PublicParameters, limit: Duration) -> Harness {
        let taps = meshes.iter().map(Tap::new).collect();
        let n = meshes.len();
        let recordings = (0..n).map(|_| Recording::default()).collect();
        let harness = Harness { meshes, taps, recordings, parameters: parameters.clone(), limit };
        for (from, to) in links(n) {
            harness.hand(from, to, |frame| vec![frame]);
        }
        harness
    }

    /// This harness with another time limit for messages.
    #[must_use]
    pub fn waiting(mut self, limit: Duration) -> Harness {
        self.limit = limit;
        PartyId::all(self.parties()).for_each(|party| self.patience(party, limit));
        self
    }

    /// This harness with four times its time limit: for runs in which a party computes long.
    #[must_use]
    pub fn patient(self) -> Harness {
        let limit = 4 * self.limit;
        self.waiting(limit)
    }

    /// Set the time limit of this party alone for messages.
    pub fn patience(&self, party: PartyId, limit: Duration) {
        self.meshes[party.index()].set_timeout(limit);
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.meshes.len()
    }

    /// How long a party waits for a message.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// What this party sends and receives.
    #[must_use]
    pub fn recording(&self, party: PartyId) -> Recording {
        self.recordings[party.index()].clone()
    }

    /// What all parties send and receive, in the parties' order.
    #[must_use]
    pub fn recordings(&self) -> Vec<Recording> {
        self.recordings.clone()
    }

    /// Access to this party's links, to send messages that no hand changes or records.
    #[must_use]
    pub fn tap(&self, party: PartyId) -> Tap {
        self.taps[party.index()].clone()
    }

    /// From now on change every message that `from` sends to `to` by this function, whose results are sent
    /// instead.
    pub fn hand(&self, from: PartyId, to: PartyId, hand: impl FnMut(Frame) -> Vec<Frame> + Send + 'static) {
        self.hold(from, to, Box::new(hand));
    }

    fn hold(&self, from: PartyId, to: PartyId, hand: Hand) {
        let hold = Hold { peer: to, recording: self.recording(from), hand };
        // this cannot fail: both are parties of this harness
        let _ = self.taps[from.index()].intercept(to, Box::new(hold));
    }

    /// Change the body of message number `n`, counted from 0, of one step on one link.
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

    /// Run `f` at each party in a session. The results are in the parties' order.
    pub fn act<R: Send>(self, f: impl Fn(Session) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
        let (meshes, parameters) = self.into_parts();
        run_over(meshes, |_| parameters.clone(), f)
    }

    /// Like [`Harness::act`], with parameters for each party, for which `parameters` is called in the party's
    /// own thread before its session starts.
    pub fn act_each<R: Send>(
        self,
        parameters: impl Fn(PartyId) -> PublicParameters + Sync,
        f: impl Fn(Session) -> Result<R, Abort> + Sync,
    ) -> Vec<Result<R, Abort>> {
        run_over(self.into_parts().0, parameters, f)
    }

    /// What a run needs; no type of [`Harness::act`] is in it, so that the rest is dropped in one place.
    fn into_parts(self) -> (Vec<Mesh>, PublicParameters) {
        (self.meshes, self.parameters)
    }
}
