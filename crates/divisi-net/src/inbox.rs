//! The receiving end of one directed link: frames that have arrived, and the threads that wait for them.
//!
//! There is one lock for each link. Threads that wait for a message sleep on a condition variable of their
//! own channel; on links with a socket one of them is the *reader* (`reading`), and when it leaves it wakes
//! another one to take its place.

use crate::body::Body;
use crate::emulate::Emulation;
use crate::fault::{Fault, Loss};
use crate::frame::{HEAD, Head};
use crate::skip::Skipping;
use crate::world::{World, lock};
use crate::{PartyId, Step};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Session and strand.
pub(crate) type Key = (u32, u32);

/// The number of channels to which a peer may send before this party has opened them.
const UNOPENED: usize = 1024;
/// The bytes of memory that a queued frame takes beside its body.
const OVERHEAD: usize = 96;

/// A frame that waits to be read.
struct Arrived {
    step: u32,
    depth: u32,
    last: bool,
    due: Option<Instant>,
    body: Body,
}

#[derive(Default)]
struct Slot {
    queue: VecDeque<Arrived>,
    wake: Arc<Condvar>,
    /// Threads that sleep on `wake`: ringing for nobody would cost a system call a message.
    asleep: usize,
    /// The threads that sleep on a clock that is skipped ahead, by that clock's numbers.
    dozing: Vec<(Arc<Skipping>, u64)>,
    /// Whether this party has opened the channel.
    opened: bool,
    /// The step that a thread of this party waits for here.
    waiting: Option<u32>,
    /// Whether the peer was asked whom it waits for.
    asked: bool,
    /// Its answer, once there is one: the party and the step that it says it waits for, or `None` if it named
    /// no party of this mesh.
    claim: Option<Option<(PartyId, u32)>>,
}

impl Slot {
    /// Wakes the threads that sleep here.
    fn ring(&self) {
        if self.asleep > 0 {
            self.wake.notify_all();
        }
        for (skipping, id) in &self.dozing {
            skipping.call(*id);
        }
    }
}

#[derive(Default)]
struct State {
    slots: BTreeMap<Key, Slot>,
    buffered: usize,
    unopened: usize,
    down: Option<Loss>,
    reading: bool,
    free: Option<Instant>,
}

impl State {
    /// Wakes a thread that waits, so that it reads the socket if nobody does. A thread that is called and
    /// need not read calls the next one.
    fn call_reader(&self) {
        if !self.reading
            && let Some(slot) = self.slots.values().find(|slot| slot.waiting.is_some())
        {
            slot.ring();
        }
    }
}

/// The receiving end.
pub(crate) struct Inbox {
    peer: PartyId,
    cap: usize,
    emulation: Option<Emulation>,
    skipping: Option<Arc<Skipping>>,
    state: Mutex<State>,
}

/// How far a message of several frames has been read.
#[derive(Default)]
pub(crate) struct Progress {
    at: usize,
}

/// The outcome of a look into the inbox.
pub(crate) enum Look {
    /// The message is complete; its depth.
    Complete(u32),
    /// The message is not complete. The next part is due at this time; `None` if it has not arrived.
    Wait(Option<Instant>),
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Awaited {
    /// The next message of the channel.
    Message,
    /// The peer's answer to the question whom it waits for; messages may lie there meanwhile.
    Answer,
}

/// What a waiting thread is to do next.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Read the socket; give the role back with [`Inbox::leave`].
    Read,
    /// Look again.
    Look,
}

impl Inbox {
    pub fn new(peer: PartyId, cap: usize, emulation: Option<Emulation>) -> Self {
        Self { peer, cap, emulation, skipping: None, state: Mutex::default() }
    }

    /// From now on threads wait here by this clock.
    pub fn set_skipping(&mut self, skipping: Arc<Skipping>) {
        self.skipping = Some(skipping);
    }

    /// Whether the frames of this link carry the time of their sending.
    pub fn emulated(&self) -> bool {
        self.emulation.is_some()
    }

    /// Makes room for a channel; false if it is open already.
    pub fn open(&self, key: Key) -> bool {
        let state = &mut *lock(&self.state);
        let known = state.slots.contains_key(&key);
        let slot = state.slots.entry(key).or_default();
        if slot.opened {
            return false;
        }
        slot.opened = true;
        if known {
            state.unopened -= 1;
        }
        true
    }

    /// Forgets a channel and what waits in it.
    pub fn shut(&self, key: Key) {
        let state = &mut *lock(&self.state);
        if let Some(slot) = state.slots.remove(&key) {
            state.buffered -= slot.queue.iter().map(|a| a.body.len() + OVERHEAD).sum::<usize>();
            if !slot.opened {
                state.unopened -= 1;
            }
        }
    }

    /// Takes in a frame. `is_over` tells whether its session has ended; it is asked about unopened channels
    /// only.
    pub fn deliver(
        &self,
        head: &Head,
        body: Body,
        sent: Option<Instant>,
        is_over: impl FnOnce(u32) -> bool,
    ) -> Result<(), Loss> {
        let state = &mut *lock(&self.state);
        if state.down.is_some() {
            return Ok(());
        }
        let key = (head.session, head.strand);
        if !state.slots.contains_key(&key) {
            if is_over(head.session) {
                return Ok(());
            }
            if state.unopened >= UNOPENED {
                return Err(Loss::Flooded);
            }
            state.unopened += 1;
        }
        let cost = body.len() + OVERHEAD;
        if state.buffered + cost > self.cap {
            return Err(Loss::Flooded);
        }
        state.buffered += cost;
        let due = match (&self.emulation, sent) {
            (Some(e), Some(sent)) => Some(e.due(&mut state.free, sent, (body.len() + HEAD) as u64)),
            _ => None,
        };
        let slot = state.slots.entry(key).or_default();
        slot.queue.push_back(Arrived { step: head.step, depth: head.depth, last: !head.more, due, body });
        slot.ring();
        Ok(())
    }

    /// Moves what has arrived into `body`, checking step and length.
    pub fn take(
        &self,
        key: Key,
        step: Step,
        body: &mut [u8],
        progress: &mut Progress,
        world: &dyn World,
    ) -> Result<Look, Fault> {
        let peer = self.peer;
        loop {
            let arrived = {
                let state = &mut *lock(&self.state);
                let Some(slot) = state.slots.get_mut(&key) else { return Ok(Look::Wait(None)) };
                match slot.queue.front() {
                    Some(Arrived { due: Some(due), .. }) if *due > world.now() => {
                        return Ok(Look::Wait(Some(*due)));
                    }
                    _ => {}
                }
                let Some(arrived) = slot.queue.pop_front() else {
                    return match state.down {
                        None => Ok(Look::Wait(None)),
                        Some(Loss::Flooded) => Err(Fault::Flooded { peer, step }),
                        Some(reason) => Err(Fault::Lost { peer, step, reason }),
                    };
                };
                state.buffered -= arrived.body.len() + OVERHEAD;
                arrived
            };
            if arrived.step != step.id {
                return Err(Fault::WrongStep { peer, step, got: arrived.step });
            }
            let (want, got) = (body.len(), progress.at.saturating_add(arrived.body.len()));
            match body.get_mut(progress.at..got) {
                Some(to) if !arrived.last || got == want => to.copy_from_slice(&arrived.body),
                _ => return Err(Fault::Malformed { peer, step, want, got }),
            }
            progress.at = got;
            if arrived.last {
                return Ok(Look::Complete(arrived.depth));
            }
        }
    }

    /// Sleeps until what is awaited may have come to this channel, `until` has come, or (with `may_read`) the
    /// socket needs a reader. `stop` is asked under the lock that [`Self::wake_session`] takes.
    pub fn wait(
        &self,
        key: Key,
        step: Step,
        awaited: Awaited,
        until: Instant,
        may_read: bool,
        world: &dyn World,
        stop: impl Fn() -> bool,
    ) -> Turn {
        let mut guard = lock(&self.state);
        loop {
            let state = &mut *guard;
            let now = world.now();
            let down = state.down.is_some();
            let Some(slot) = state.slots.get_mut(&key) else { return Turn::Look };
            let first = slot.queue.front().filter(|_| awaited == Awaited::Message);
            let ready = first.is_some_and(|a| a.due.is_none_or(|due| due <= now));
            if ready || now >= until || stop() || (down && first.is_none()) || slot.claim.is_some() {
                slot.waiting = None;
                if may_read {
                    state.call_reader();
                }
                return Turn::Look;
            }
            slot.waiting = Some(step.id);
            if may_read && !state.reading && !down {
                state.reading = true;
                return Turn::Read;
            }
            let due = first.and_then(|a| a.due).map_or(until, |due| due.min(until));
            let wake = slot.wake.clone();
            if let Some(skipping) = &self.skipping {
                let id = skipping.doze(due);
                slot.dozing.push((skipping.clone(), id));
                drop(guard);
                skipping.sleep(id);
                guard = lock(&self.state);
                if let Some(slot) = guard.slots.get_mut(&key) {
                    slot.dozing.retain(|(_, other)| *other != id);
                }
                continue;
            }
            let nap = due.saturating_duration_since(now);
            slot.asleep += 1;
            guard = wake.wait_timeout(guard, nap).unwrap_or_else(PoisonError::into_inner).0;
            if let Some(slot) = guard.slots.get_mut(&key) {
                slot.asleep = slot.asleep.saturating_sub(1);
            }
        }
    }

    /// Becomes the reader from outside a wait, if nobody is.
    pub fn enter(&self) -> bool {
        let state = &mut *lock(&self.state);
        let free = !state.reading && state.down.is_none();
        state.reading |= free;
        free
    }

    /// Gives the reader's role back and wakes a thread to take it.
    pub fn leave(&self, own: Option<Key>) {
        let state = &mut *lock(&self.state);
        state.reading = false;
        if let Some(slot) = own.and_then(|key| state.slots.get_mut(&key)) {
            slot.waiting = None;
        }
        state.call_reader();
    }

    /// Whether a thread is reading the socket.
    pub fn is_read(&self) -> bool {
        lock(&self.state).reading
    }

    /// The step that this party waits for in a channel, if it does.
    pub fn waiting(&self, key: Key) -> Option<u32> {
        lock(&self.state).slots.get(&key).and_then(|slot| slot.waiting)
    }

    /// Notes that the peer is asked whom it waits for (an answer to no question is ignored), or that the
    /// question is void.
    pub fn ask(&self, key: Key, asked: bool) {
        if let Some(slot) = lock(&self.state).slots.get_mut(&key) {
            slot.asked = asked;
            slot.claim = None;
        }
    }

    /// Notes the peer's answer to the question whom it waits for.
    pub fn answer(&self, key: Key, claim: Option<(PartyId, u32)>) {
        if let Some(slot) = lock(&self.state).slots.get_mut(&key).filter(|slot| slot.asked) {
            slot.asked = false;
            slot.claim = Some(claim);
            slot.ring();
        }
    }

    /// The peer's answer, if it has come.
    pub fn take_claim(&self, key: Key) -> Option<Option<(PartyId, u32)>> {
        lock(&self.state).slots.get_mut(&key).and_then(|slot| slot.claim.take())
    }

    /// Wakes all strands of a session that has ended, and drops what waited for them.
    pub fn wake_session(&self, session: u32) {
        let state = &mut *lock(&self.state);
        let (mut freed, mut unopened) = (0, 0);
        state.slots.retain(|key, slot| {
            if key.0 == session {
                freed += slot.queue.drain(..).map(|a| a.body.len() + OVERHEAD).sum::<usize>();
                unopened += usize::from(!slot.opened);
                slot.ring();
            }
            key.0 != session || slot.opened
        });
        state.buffered -= freed;
        state.unopened -= unopened;
    }

    /// Marks the link as gone; the first reason stands.
    pub fn lose(&self, reason: Loss) {
        let state = &mut *lock(&self.state);
        state.down.get_or_insert(reason);
        for slot in state.slots.values() {
            slot.ring();
        }
    }

    /// Why the link is gone, if it is.
    pub fn down(&self) -> Option<Loss> {
        lock(&self.state).down
    }
}

#[cfg(test)]
mod tests;
