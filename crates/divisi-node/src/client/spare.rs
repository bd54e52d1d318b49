//! What a pool keeps for the next request, and gives back after a while.
//!
//! Servers keep a bounded number of connections of a client, and all programs that have its identity share
//! them. So connections that nobody has used for [`SPARE`] are closed, whether or not more requests come. The
//! one that was used last stays almost as long as servers keep it, so that a program that asks for something
//! now and then does not connect each time.

use crate::request::IDLE;
use divisi_net::World;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection stays that nobody uses.
pub(super) const SPARE: Duration = Duration::from_secs(10);
/// How long before a server would close it the one that was used last is used no more.
const MARGIN: Duration = Duration::from_secs(60);
/// The least time between two looks at what is kept.
const LOOK: Duration = Duration::from_millis(10);

/// Things that are kept, each since a time. They go with this, or when their time is over.
pub(super) struct Spare<T> {
    shared: Arc<Shared<T>>,
    world: Arc<dyn World>,
}

struct Shared<T> {
    held: Mutex<Held<T>>,
    /// Rings when one is given back.
    freed: Condvar,
    /// Rings when nothing is to be kept any more.
    ended: Condvar,
    over: AtomicBool,
}

/// What is in use, and what is kept: together never more than a pool may have.
pub(super) struct Held<T> {
    /// How many are lent, or being made.
    pub used: usize,
    /// Those that nobody uses, and since when; the last used last.
    idle: Vec<(T, Instant)>,
    /// Whether a thread looks after them.
    watched: bool,
}

impl<T> Held<T> {
    /// Those whose time is over.
    fn due(&mut self, now: Instant) -> Vec<(T, Instant)> {
        let mut count = self.idle.partition_point(|(_, since)| age(*since, now) >= SPARE);
        if count == self.idle.len() && self.idle.last().is_some_and(|(_, since)| !is_old(*since, now)) {
            count -= 1;
        }
        self.idle.drain(..count).collect()
    }

    /// How long until the time of the next one is over.
    fn next(&self, now: Instant) -> Duration {
        let limit = if self.idle.len() > 1 { SPARE } else { oldest() };
        let left = self.idle.first().map_or(SPARE, |(_, since)| limit.saturating_sub(age(*since, now)));
        // others may be given back meanwhile
        left.clamp(LOOK, SPARE)
    }
}

fn age(since: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(since)
}

/// The age from which on a server may close a connection at any moment.
fn oldest() -> Duration {
    IDLE.saturating_sub(MARGIN)
}

fn is_old(since: Instant, now: Instant) -> bool {
    age(since, now) >= oldest()
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Close what is due, until nothing is left.
    fn watch(&self, world: &dyn World) {
        let mut held = self.lock();
        loop {
            let all = self.over.load(Ordering::SeqCst);
            let closed = if all { std::mem::take(&mut held.idle) } else { held.due(world.now()) };
            if !closed.is_empty() {
                // without the lock
                drop(held);
                drop(closed);
                held = self.lock();
                continue;
            }
            if held.idle.is_empty() {
                held.watched = false;
                return;
            }
            let wait = held.next(world.now());
            held = self.ended.wait_timeout(held, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<T: Send + 'static> Spare<T> {
    pub fn new(world: Arc<dyn World>) -> Spare<T> {
        let held = Mutex::new(Held { used: 0, idle: Vec::new(), watched: false });
        let (freed, ended, over) = Default::default();
        Spare { shared: Arc::new(Shared { held, freed, ended, over }), world }
    }

    pub fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.shared.lock()
    }

    /// Wait until one is given back, or for this time.
    pub fn wait<'h>(&self, held: MutexGuard<'h, Held<T>>, within: Duration) -> MutexGuard<'h, Held<T>> {
        self.shared.freed.wait_timeout(held, within).unwrap_or_else(PoisonError::into_inner).0
    }

    /// The one that was used last, unless a server may close it at any moment.
    pub fn pop(&self) -> Option<T> {
        loop {
            let popped = self.lock().idle.pop();
            let (item, since) = popped?;
            if !is_old(since, self.world.now()) {
                return Some(item);
            }
        }
    }

    /// One less is used; what is given back is kept.
    pub fn give_back(&self, item: Option<T>) {
        let now = self.world.now();
        let mut held = self.lock();
        held.used = held.used.saturating_sub(1);
        held.idle.extend(item.map(|item| (item, now)));
        let closed = held.due(now);
        let unwatched = !held.idle.is_empty() && !held.watched;
        held.watched |= unwatched;
        drop(held);
        self.shared.freed.notify_one();
        // without the lock
        drop(closed);
        if unwatched {
            let (shared, world) = (Arc::clone(&self.shared), Arc::clone(&self.world));
            let started = self.world.spawn("idle".into(), Box::new(move || shared.watch(&*world)));
            if started.is_err() {
                // the next one that is given back closes what is due
                self.lock().watched = false;
            }
        }
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // in a process that was forked while the thread held the lock, nobody would ever give it back
        let Ok(mut held) = self.shared.held.try_lock() else { return };
        let closed = std::mem::take(&mut held.idle);
        drop(held);
        self.shared.ended.notify_all();
        drop(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ahead;

    /// Let the thread look until it is so; by itself it looks when ten seconds of its own are over.
    fn eventually(spare: &Spare<Arc<()>>, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it did not happen");
            spare.shared.ended.notify_all();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Three that are kept, with how many are there, and a clock.
    fn three() -> (Spare<Arc<()>>, Arc<()>, Arc<Mutex<Duration>>) {
        let (clock, one) = (Arc::new(Mutex::new(Duration::ZERO)), Arc::new(()));
        let spare = Spare::new(ahead(&clock));
        spare.lock().used = 3;
        for left in [2, 1, 0] {
            spare.give_back(Some(Arc::clone(&one)));
            // one thread looks after all of them
            let held = spare.lock();
            assert_eq!((held.used, held.watched), (left, true));
        }
        (spare, one, clock)
    }

    fn pass(clock: &Mutex<Duration>, time: Duration) {
        *clock.lock().unwrap() += time;
    }

    /// Nothing more is asked, and all but the last one go; that one goes before a server would close it.
    #[test]
    fn what_nobody_uses_is_given_back() {
        let (spare, one, clock) = three();
        pass(&clock, SPARE / 2);
        spare.lock().used = 1;
        spare.give_back(spare.pop());
        assert_eq!(Arc::strong_count(&one), 4);
        pass(&clock, SPARE / 2);
        eventually(&spare, || Arc::strong_count(&one) == 2);
        pass(&clock, SPARE);
        let kept = spare.pop();
        assert!(kept.is_some() && spare.pop().is_none());
        spare.give_back(kept);
        pass(&clock, oldest());
        eventually(&spare, || Arc::strong_count(&one) == 1);
        // the thread has ended; another one looks after what comes later
        eventually(&spare, || !spare.lock().watched);
        spare.give_back(Some(Arc::clone(&one)));
        assert!(spare.lock().watched);
        pass(&clock, oldest());
        assert!(spare.pop().is_none());
    }

    /// They go when their time is over, and not before; the last one has a longer time.
    #[test]
    fn a_time_is_over_at_its_end() {
        let since = Instant::now();
        for (kept, limit) in [(2, SPARE), (1, oldest())] {
            for (after, left) in [(limit - Duration::from_nanos(1), kept), (limit, kept - 1)] {
                let mut held = Held { used: 0, idle: vec![((), since); kept], watched: false };
                assert_eq!(held.idle.len() - held.due(since + after).len(), left, "{after:?}");
            }
        }
    }

    /// A system that does not start the first thread, and starts all others.
    struct NoFirstThread(AtomicBool);

    impl World for NoFirstThread {
        fn now(&self) -> Instant {
            Instant::now()
        }
        fn unix_time(&self) -> Duration {
            Duration::ZERO
        }
        fn entropy(&self, _: &mut [u8]) {}
        fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
            if self.0.swap(true, Ordering::SeqCst) {
                divisi_net::Machine.spawn(name, work)
            } else {
                Err(std::io::ErrorKind::WouldBlock.into())
            }
        }
    }

    /// A thread that did not start is started with the next one that is given back.
    #[test]
    fn a_thread_that_did_not_start_is_started_later() {
        let spare = Spare::new(Arc::new(NoFirstThread(AtomicBool::new(false))));
        for watched in [false, true] {
            spare.give_back(Some(()));
            assert_eq!(spare.lock().watched, watched);
        }
    }

    /// With what keeps them they go at once, and the thread, too.
    #[test]
    fn nothing_is_kept_longer_than_its_pool() {
        let (spare, one, _) = three();
        let shared = Arc::downgrade(&spare.shared);
        drop(spare);
        let begun = Instant::now();
        while Arc::strong_count(&one) > 1 || shared.strong_count() > 0 {
            assert!(begun.elapsed() < 3 * SPARE, "they are still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
