//! Skipped time: in a mesh in memory a time limit passes as soon as no party can send anything.
//!
//! A test in which a message never arrives would otherwise have to choose between a short limit, which a busy
//! machine exceeds without a fault, and a long one, for which it then waits. Here limits are long, and once
//! every party waits (for a message, or for a time) the clock is advanced to the earliest time that somebody
//! waits for.
//!
//! A party counts as *awake* if it may act: each open channel whose owner does not wait in a receive, each
//! mesh without an open channel, and everything for which [`Skipping::busy`] was called. A sleeper that is
//! called counts as awake from the call on, not from the moment at which its thread runs again. Real time
//! passes too, so that a wait for something else ends.

use crate::PartyId;
use crate::world::{World, later, lock};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// A world whose clock runs ahead when everybody waits.
pub(crate) struct Skipping {
    world: Arc<dyn World>,
    /// How far the clock is ahead, in nanoseconds.
    ahead: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    awake: usize,
    sleepers: BTreeMap<u64, Sleeper>,
    next: u64,
    /// By party: how many channels it has open, and whether its mesh is gone.
    meshes: BTreeMap<PartyId, (usize, bool)>,
}

struct Sleeper {
    until: Instant,
    thread: Thread,
}

impl Skipping {
    /// The clock of `n` parties, none of which has opened a channel.
    pub fn new(n: usize, world: Arc<dyn World>) -> Arc<Self> {
        let meshes: BTreeMap<_, _> = PartyId::all(n).map(|p| (p, (0, false))).collect();
        let state = State { awake: meshes.len(), meshes, ..State::default() };
        Arc::new(Self { world, ahead: AtomicU64::new(0), state: Mutex::new(state) })
    }

    /// A party opened a channel.
    pub fn opened(&self, party: PartyId) {
        let state = &mut *lock(&self.state);
        let (channels, gone) = state.meshes.entry(party).or_default();
        *channels += 1;
        // the first channel counts in place of its mesh
        if *channels > 1 || *gone {
            state.awake += 1;
        }
    }

    /// A party closed a channel.
    pub fn shut(&self, party: PartyId) {
        let state = &mut *lock(&self.state);
        let (channels, gone) = state.meshes.entry(party).or_default();
        *channels = channels.saturating_sub(1);
        if *channels > 0 || *gone {
            state.awake = state.awake.saturating_sub(1);
            self.skip(state);
        }
    }

    /// A party's mesh is gone.
    pub fn gone(&self, party: PartyId) {
        let state = &mut *lock(&self.state);
        let (channels, gone) = state.meshes.entry(party).or_default();
        if !std::mem::replace(gone, true) && *channels == 0 {
            state.awake = state.awake.saturating_sub(1);
            self.skip(state);
        }
    }

    /// Records that somebody who has no channel is about to act.
    pub fn busy(&self) {
        lock(&self.state).awake += 1;
    }

    /// Records that somebody who was [`Self::busy`] has acted.
    pub fn idle(&self) {
        let state = &mut *lock(&self.state);
        state.awake = state.awake.saturating_sub(1);
        self.skip(state);
    }

    /// The calling thread, which was awake, counts as asleep from now on until it is called or `until` has
    /// come. Returns the number by which to call it.
    pub fn doze(&self, until: Instant) -> u64 {
        let state = &mut *lock(&self.state);
        let id = state.next;
        state.next += 1;
        state.awake = state.awake.saturating_sub(1);
        state.sleepers.insert(id, Sleeper { until, thread: std::thread::current() });
        self.skip(state);
        id
    }

    /// Calls a sleeper; nothing if it is awake.
    pub fn call(&self, id: u64) {
        let state = &mut *lock(&self.state);
        wake(state, id);
    }

    /// Sleeps as this sleeper, in the thread that called [`Self::doze`].
    pub fn sleep(&self, id: u64) {
        loop {
            let nap = {
                let state = &mut *lock(&self.state);
                let Some(sleeper) = state.sleepers.get(&id) else { return };
                let nap = sleeper.until.saturating_duration_since(self.now());
                if nap.is_zero() {
                    wake(state, id);
                    return;
                }
                nap
            };
            // If the call came before, this returns at once.
            std::thread::park_timeout(nap);
        }
    }

    /// Waits for this time by this clock, in a thread that is awake.
    pub fn pass(&self, time: Duration) {
        self.sleep(self.doze(later(self.now(), time)));
    }

    /// If everybody sleeps, sets the clock to the first time that somebody waits for.
    fn skip(&self, state: &mut State) {
        if state.awake > 0 {
            return;
        }
        let Some(first) = state.sleepers.values().map(|s| s.until).min() else { return };
        let ahead = first.saturating_duration_since(self.now());
        self.ahead.fetch_add(u64::try_from(ahead.as_nanos()).unwrap_or(u64::MAX), Ordering::SeqCst);
        let due = |(id, s): (&u64, &Sleeper)| (s.until <= first).then_some(*id);
        let due: Vec<u64> = state.sleepers.iter().filter_map(due).collect();
        due.into_iter().for_each(|id| wake(state, id));
    }
}

fn wake(state: &mut State, id: u64) {
    if let Some(sleeper) = state.sleepers.remove(&id) {
        state.awake += 1;
        sleeper.thread.unpark();
    }
}

impl World for Skipping {
    fn now(&self) -> Instant {
        later(self.world.now(), Duration::from_nanos(self.ahead.load(Ordering::SeqCst)))
    }

    fn unix_time(&self) -> Duration {
        self.world.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        self.world.entropy(out);
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.world.spawn(name, work)
    }

    fn thread_time(&self) -> Duration {
        self.world.thread_time()
    }
}
