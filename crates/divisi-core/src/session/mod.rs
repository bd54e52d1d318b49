//! A session of parties: its channel, keys, and the one place for checks.

pub(crate) mod agree;
mod bound;
mod parameters;
mod phases;
mod settled;
mod streams;

use crate::{checks, compared};
pub use bound::{AtEnd, Bound};
pub use parameters::PublicParameters;
pub(crate) use phases::Chains;
pub use phases::PhasePlace;
pub use settled::Settled;

use crate::{Abort, Check, DrawPurpose, Meter, Misuse, taint};
use divisi_net::{Channel, Fault, Mesh, PartyId, Permits, Step, step};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use zeroize::Zeroizing;

/// The id of a session: a digest of its parameters and of fresh randomness of every party.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub(crate) [u8; 32]);

impl SessionId {
    /// The id as bytes, to bind a value to this session.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {:02x}{:02x}{:02x}{:02x}", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

/// What the strands of a session have in common.
struct Shared {
    mesh: Arc<Mesh>,
    number: u32,
    id: SessionId,
    /// The keys of this party with each peer, by the peer's index; zeros at this party's own index. Empty
    /// until the session has started.
    pair_keys: Vec<Zeroizing<[u8; 32]>>,
    meter: Meter,
    settled: Settled,
    next_strand: AtomicU32,
    /// Why the session ended, as the first strand of this party found it.
    cause: OnceLock<Abort>,
    /// The values that are wiped when the session ends.
    bound: bound::All,
    /// The one-time events of a session that have happened.
    happened: Mutex<BTreeSet<&'static str>>,
    /// The record of the draws of all strands, if a test asked for one.
    #[cfg(feature = "testing")]
    draws: Option<crate::draws::DrawRecord>,
}

/// One strand of a session, at one party: protocol code runs on it.
///
/// Everything sent is counted. Every failure poisons the session, so that none of its strands sends anything
/// more.
pub struct Session {
    shared: Arc<Shared>,
    channel: Channel,
    strand: u32,
    phase: &'static str,
    depth: u32,
    /// The depth from which the current exchange sends, if there is one.
    base: Option<u32>,
    /// How far the chains of this strand's other phases came: a phase that is entered again goes on there.
    chains: Chains,
    /// How many times the meter had been reset when these chains began.
    resets: u64,
    /// How long the detours to each phase took.
    detoured: BTreeMap<&'static str, Duration>,
    /// How many times the streams of each peer and purpose were requested; under this party itself, the
    /// numbers of [`Session::count`].
    asked: BTreeMap<(PartyId, &'static str), u64>,
}

impl Session {
    /// Begin session `number` of a mesh: agree on all parameters, and derive an id and keys that no other
    /// session has. All parties call it with the same number, each number once for a mesh. Two rounds.
    ///
    /// # Errors
    /// [`Abort::Disagreement`] if a peer's parameters differ; [`Abort::CheckFailed`] if a peer's echo or
    /// proof is wrong; [`Abort::Network`] if a link fails.
    pub fn start(mesh: &Arc<Mesh>, number: u32, parameters: &PublicParameters) -> Result<Session, Abort> {
        agree::start(mesh, number, parameters)
    }

    /// The number of this strand in its session.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.strand
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.shared.mesh.me()
    }

    /// The number of parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.shared.mesh.parties()
    }

    /// All parties but this one, in order.
    #[must_use]
    pub fn peers(&self) -> Vec<PartyId> {
        let me = self.me();
        PartyId::all(self.parties()).filter(|p| *p != me).collect()
    }

    /// The id of the session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.shared.id
    }

    /// The session's costs so far, and the checks that it executed.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.shared.meter
    }

    /// Which computations of each engine of the session were settled.
    #[must_use]
    pub fn settled(&self) -> &Settled {
        &self.shared.settled
    }

    /// The limit of threads that run protocol code at the same time in this process.
    #[must_use]
    pub fn permits(&self) -> Permits {
        self.shared.mesh.permits()
    }

    /// Fresh random bytes from the operating system, which only this party knows.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn entropy(&self, purpose: &'static DrawPurpose, out: &mut [u8]) {
        #[expect(clippy::disallowed_methods, reason = "this is the door that names a purpose")]
        let fill = |out: &mut [u8]| self.shared.mesh.world().entropy(out);
        #[cfg(feature = "testing")]
        if let Some(draws) = self.drawing() {
            return draws.entropy(purpose, self.strand, std::panic::Location::caller(), out, fill);
        }
        #[cfg(not(feature = "testing"))]
        let _ = purpose;
        fill(out);
    }

    /// Another strand of the session, with its own channel and its own keys. All parties must open their
    /// strands in the same order. What it sends counts as sent after all that this strand has received so
    /// far, and is counted beside what this strand does from now on.
    ///
    /// # Errors
    /// [`Abort::Network`] if the mesh is closed.
    pub fn strand(&self) -> Result<Session, Abort> {
        let strand = self.shared.next_strand.fetch_add(1, Ordering::Relaxed);
        let channel = self.shared.mesh.open(self.shared.number, strand)?;
        Ok(Session {
            shared: Arc::clone(&self.shared),
            channel,
            strand,
            phase: self.phase,
            depth: self.chain(),
            base: None,
            chains: self.chains(),
            resets: self.shared.meter.resets(),
            detoured: BTreeMap::new(),
            asked: BTreeMap::new(),
        })
    }

    /// Lets this strand's receives wait for up to `limits` more time limits, one each time that the peer says
    /// that it works, or waits for somebody else: where parties take turns, the last waits for the work of
    /// all. Parties that all wait for one another wait for one more limit.
    pub fn set_patience(&mut self, limits: usize) {
        self.channel.set_patience(u32::try_from(limits).unwrap_or(u32::MAX));
    }

    /// Send and receive in any order, within one round: no message sent in `f` depends on one received in
    /// `f`, so that a long exchange can go chunk by chunk in bounded memory and still counts as one round.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn exchange<R>(&mut self, f: impl FnOnce(&mut Session) -> Result<R, Abort>) -> Result<R, Abort> {
        self.begin_again_after_reset();
        let outer = self.base;
        self.base = Some(outer.unwrap_or(self.depth));
        let result = f(self);
        self.base = outer;
        result
    }

    /// Within an exchange: messages that `f` sends count as those of the next round, and may depend on
    /// messages received in this exchange. A protocol of two rounds can then go chunk by chunk, too.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn next_round<R>(&mut self, f: impl FnOnce(&mut Session) -> Result<R, Abort>) -> Result<R, Abort> {
        let outer = self.base;
        self.base = outer.map(|base| base.saturating_add(1));
        let result = f(self);
        self.base = outer;
        result
    }

    /// Send `body` to `to`. `bits` is the payload as papers count it: field elements times the bits of their
    /// field; zero for digests.
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned or the link is gone.
    pub fn send(&mut self, step: Step, to: PartyId, body: &[u8], bits: u64) -> Result<(), Abort> {
        self.begin_again_after_reset();
        #[cfg(feature = "testing")]
        if let Some(draws) = self.drawing() {
            draws.sent(self.strand, step, to, body);
        }
        let depth = self.base.unwrap_or(self.depth).saturating_add(1);
        let sent = self.channel.send(to, step, depth, body);
        self.network(sent)?;
        self.shared.meter.sent(self.phase, step, bits, divisi_net::wire_bytes(body.len()));
        Ok(())
    }

    /// Wait until at most `most` bytes wait to be sent to `to`: this bounds the memory of a party that sends
    /// much and does not wait for the peer otherwise. The peer must not wait for this party in the same way.
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned, the link is gone, or the peer reads nothing in time.
    pub fn wait_for_capacity(&mut self, step: Step, to: PartyId, most: usize) -> Result<(), Abort> {
        let waited = self.channel.wait_for_capacity(to, step, most);
        self.network(waited)
    }

    /// Receive from `from` exactly `body.len()` bytes: lengths come from the protocol, never from the peer
    /// \[M0.6\].
    ///
    /// # Errors
    /// [`Abort::Network`] if no message arrives in time, or one of another step or length.
    pub fn recv(&mut self, step: Step, from: PartyId, body: &mut [u8]) -> Result<(), Abort> {
        let received = self.channel.recv(from, step, body);
        #[cfg(feature = "testing")]
        let _ = self.drawing();
        let depth = self.network(received)?;
        taint::received(step, body);
        self.begin_again_after_reset();
        self.depth = self.depth.max(depth);
        self.shared.meter.depth(self.phase, self.depth);
        Ok(())
    }

    /// Send a digest to every peer and demand that theirs are equal. It compares values that were broadcast,
    /// or have to be the same at all parties, before anything depends on them. One round.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if a digest differs, without a culprit, because a party that told the others
    /// different things makes honest parties differ; [`Abort::Network`] if a link fails.
    pub fn compare(&mut self, check: Check, step: Step, digest: &[u8; 32]) -> Result<(), Abort> {
        self.show(step, digest)?;
        self.demand_same(check, step, digest)
    }

    /// The first half of [`Session::compare`]: send a digest to every peer. Messages that depend on nothing
    /// that is compared may follow before the second half, and travel beside it.
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned or a link is gone.
    pub fn show(&mut self, step: Step, digest: &[u8; 32]) -> Result<(), Abort> {
        self.peers().into_iter().try_for_each(|peer| self.send(step, peer, digest, 0))
    }

    /// The second half of [`Session::compare`]: receive every peer's digest and demand that it equals this
    /// one.
    ///
    /// # Errors
    /// Those of [`Session::compare`].
    pub fn demand_same(&mut self, check: Check, step: Step, digest: &[u8; 32]) -> Result<(), Abort> {
        for peer in self.peers() {
            let mut theirs = [0; 32];
            self.recv(step, peer, &mut theirs)?;
            self.require(check, step, self.same_digest(digest, &theirs), None)?;
        }
        Ok(())
    }

    /// Whether two digests are equal: all 32 bytes, in constant time \[M0.6\].
    #[must_use]
    pub fn same_digest(&self, ours: &[u8; 32], theirs: &[u8; 32]) -> bool {
        self.observe(checks::M0_6); // [M0.6]
        taint::verdict(DIGESTS, compared::same_digest(ours, theirs))
    }

    /// Execute a check: count it, and end the session if it failed. No other function makes an
    /// [`Abort::CheckFailed`].
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if `ok` is false.
    pub fn require(&self, check: Check, step: Step, ok: bool, culprit: Option<PartyId>) -> Result<(), Abort> {
        self.shared.meter.check(check, 1);
        #[cfg(feature = "testing")]
        self.shared.meter.compared(check, compared::tally::take());
        #[cfg(feature = "testing")]
        if self.drawing().is_some_and(|draws| draws.goes_on(check, step, ok)) {
            return Ok(());
        }
        if ok {
            return Ok(());
        }
        Err(self.fail(Abort::CheckFailed { check, step, culprit }))
    }

    /// End the session unless the message of `len` bytes from `from` is a valid encoding. This is no check of
    /// a protocol, and is not counted.
    ///
    /// # Errors
    /// [`Fault::Malformed`] if `ok` is false.
    pub fn well_formed(&self, step: Step, from: PartyId, len: usize, ok: bool) -> Result<(), Abort> {
        let malformed = || Fault::Malformed { peer: from, step, want: len, got: len };
        if ok { Ok(()) } else { Err(self.fail(malformed().into())) }
    }

    /// Count a check that the structure of the code ensures, which cannot fail, but which a change could
    /// leave out; or one whose failure the caller treats in another way than [`Session::require`], for
    /// instance by a refusal.
    pub fn observe(&self, check: Check) {
        self.shared.meter.check(check, 1);
    }

    /// Like [`Session::observe`], for a check that covers `n` things, each of which counts.
    pub fn observe_each(&self, check: Check, n: u64) {
        if n > 0 {
            self.shared.meter.check(check, n);
        }
    }

    /// End the session with this abort: all its strands stop, and the peers learn that it ended, and nothing
    /// else.
    #[must_use]
    pub fn fail(&self, abort: Abort) -> Abort {
        // set before other strands can notice the end, because their own aborts only follow from this one
        let _ = self.shared.cause.set(abort.clone());
        self.shared.bound.forget(&abort);
        match &abort {
            Abort::Network(fault) => self.channel.poison_after(fault),
            _ => self.channel.poison(),
        }
        abort
    }

    /// Why the session ended: the first abort of all its strands, which caused the others.
    #[must_use]
    pub fn cause(&self) -> Option<Abort> {
        self.shared.cause.get().cloned()
    }

    /// Poison the session because the caller asked for something impossible, after which the parties may be
    /// out of step.
    #[must_use]
    pub fn misuse(&self, step: Step, what: Misuse) -> Abort {
        self.fail(Abort::Misuse { step, what })
    }

    fn network<T>(&self, result: Result<T, Fault>) -> Result<T, Abort> {
        result.map_err(|fault| self.fail(fault.into()))
    }
}

/// The step that stands for the start of a session as a whole.
pub(crate) const START: Step = step!("start");
/// The step at which a comparison of digests makes public whether they are equal.
const DIGESTS: Step = step!("same_digest");
