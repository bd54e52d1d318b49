//! Permits: the limit of threads of a process that run protocol code at the same time (`--threads T`).
//!
//! A strand takes a permit before it works. A receive that has to wait looks at the socket for 20 us, or once
//! if another thread wants the permit; then it returns the permit while it waits, and takes a permit again
//! before it uses the message. Waiting threads are served in the order of their arrival.

use crate::world::lock;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

thread_local! {
    /// The permits of which this thread holds one.
    static HELD: RefCell<Option<Permits>> = const { RefCell::new(None) };
}

/// A number of permits shared by all threads that hold a clone.
#[derive(Clone)]
pub struct Permits(Arc<Pool>);

struct Pool {
    total: usize,
    state: Mutex<State>,
    turn: Condvar,
}

struct State {
    used: usize,
    /// The next number to be drawn by a thread that waits.
    drawn: u64,
    /// The number whose turn it is.
    served: u64,
}

impl Permits {
    /// At most `threads` (at least one) threads run at the same time.
    pub fn new(threads: usize) -> Self {
        let state = Mutex::new(State { used: 0, drawn: 0, served: 0 });
        Self(Arc::new(Pool { total: threads.max(1), state, turn: Condvar::new() }))
    }

    /// No limit.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// The number of permits.
    pub fn total(&self) -> usize {
        self.0.total
    }

    /// Takes a permit, and waits for one if need be. A thread that holds one already gets no second one.
    pub fn enter(&self) -> Permit {
        let own = HELD.with_borrow_mut(|held| match held {
            Some(_) => false,
            None => {
                *held = Some(self.clone());
                true
            }
        });
        if own {
            self.acquire();
        }
        Permit { own, here: PhantomData }
    }

    /// Runs `wait`, which blocks on something other than a link, and lends this thread's permit to others
    /// meanwhile.
    pub fn outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        let _pause = pause();
        wait()
    }

    fn acquire(&self) {
        let pool = &*self.0;
        let mut state = lock(&pool.state);
        let number = state.drawn;
        state.drawn += 1;
        while state.served != number || state.used >= pool.total {
            state = pool.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.served += 1;
        state.used += 1;
        if state.used < pool.total && state.served != state.drawn {
            pool.turn.notify_all();
        }
    }

    fn release(&self) {
        let mut state = lock(&self.0.state);
        state.used -= 1;
        if state.served != state.drawn {
            self.0.turn.notify_all();
        }
    }
}

/// Held by a thread that may run; returned on drop.
#[must_use]
pub struct Permit {
    own: bool,
    /// Bound to its thread.
    here: PhantomData<*const ()>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.own
            && let Some(held) = HELD.with_borrow_mut(Option::take)
        {
            held.release();
        }
    }
}

/// While this object lives, the thread's permit is free for others.
pub(crate) struct Pause(Option<Permits>);

/// Gives the thread's permit back until the result is dropped; does nothing if it has none.
pub(crate) fn pause() -> Pause {
    let held = HELD.with_borrow_mut(Option::take);
    if let Some(permits) = &held {
        permits.release();
    }
    Pause(held)
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(permits) = self.0.take() {
            permits.acquire();
            HELD.set(Some(permits));
        }
    }
}

/// Whether another thread waits for the permit that this thread holds.
pub(crate) fn wanted() -> bool {
    HELD.with_borrow(|held| {
        held.as_ref().is_some_and(|permits| {
            let state = lock(&permits.0.state);
            state.served != state.drawn
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn whoever_holds_a_permit_learns_that_another_waits() {
        let permits = Permits::new(1);
        let _permit = permits.enter();
        assert!(!wanted());
        std::thread::scope(|s| {
            s.spawn(|| drop(permits.enter()));
            while !wanted() {
                std::thread::yield_now();
            }
            drop(pause());
            while wanted() {
                std::thread::yield_now();
            }
        });
    }

    /// Whoever gives a permit back calls those who wait, however many they are.
    #[test]
    fn a_permit_that_is_given_back_is_taken() {
        let permits = Permits::new(1);
        let (told, hears) = std::sync::mpsc::channel();
        for others in [0, 255] {
            let held = permits.enter();
            let before = lock(&permits.0.state).drawn;
            let (waits, told) = (permits.clone(), told.clone());
            std::thread::spawn(move || {
                drop(waits.enter());
                let _ = told.send(());
            });
            while lock(&permits.0.state).drawn == before {
                std::thread::yield_now();
            }
            // as if so many others had come after it
            lock(&permits.0.state).drawn += others;
            assert!(wanted());
            drop(held);
            assert_eq!(hears.recv_timeout(Duration::from_secs(20)), Ok(()));
        }
    }

    /// Whoever came later does not go first, also if it is called while a permit is free.
    #[test]
    fn permits_are_taken_in_the_order_of_coming() {
        let permits = Permits::new(1);
        let (told, hears) = std::sync::mpsc::channel();
        // as if another one had come before
        lock(&permits.0.state).drawn = 1;
        let waits = permits.clone();
        std::thread::spawn(move || {
            drop(waits.enter());
            let _ = told.send(());
        });
        let begun = std::time::Instant::now();
        while lock(&permits.0.state).drawn == 1 {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        }
        permits.0.turn.notify_all();
        assert!(hears.recv_timeout(Duration::from_millis(50)).is_err());
        lock(&permits.0.state).served = 1;
        permits.0.turn.notify_all();
        assert_eq!(hears.recv_timeout(Duration::from_secs(20)), Ok(()));
    }

    #[test]
    fn never_more_than_t_inside_and_pauses_make_room() {
        let permits = Permits::new(2);
        let (inside, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let _permit = permits.enter();
                    let _nested = permits.enter();
                    for _ in 0..20 {
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_micros(50));
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(pause());
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(done.into_inner(), 8);
        assert_eq!(most.into_inner(), 2);
        assert_eq!(lock(&permits.0.state).used, 0);
    }
}
