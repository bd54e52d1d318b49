//! Time, randomness and threads: the only access of this crate to the system's clock and random source.
//!
//! The TLS library has a random source of its own; all other code uses a [`World`].

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The surroundings of a party: time, randomness and threads.
pub trait World: Send + Sync + 'static {
    /// The time that only moves forward; for limits and measurements.
    fn now(&self) -> Instant;
    /// The time of day, since 1970.
    fn unix_time(&self) -> Duration;
    /// Fills `out` with fresh randomness that nobody can predict.
    fn entropy(&self, out: &mut [u8]);
    /// Runs `work` in a thread of its own.
    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()>;
    /// The processor's time that the calling thread has used: it stands still while the thread waits.
    fn thread_time(&self) -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0).min(999_999_999))
    }
}

/// The real machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl World for Machine {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn unix_time(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn entropy(&self, out: &mut [u8]) {
        if aws_lc_rs::rand::fill(out).is_err() {
            // Nothing sound can be done without randomness, and an error could be ignored.
            std::process::abort()
        }
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        std::thread::Builder::new().name(name).stack_size(512 * 1024).spawn(work).map(drop)
    }
}

/// Locks, whether or not another thread panicked while it held the lock: every critical section of this
/// crate leaves its data whole.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A poll's time limit.
pub(crate) fn lasting(time: Duration) -> rustix::event::Timespec {
    let time = time.min(Duration::from_secs(3600));
    rustix::event::Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ }
}

/// The moment at `time` after `now`; a year after `now` if the clock cannot represent that moment.
pub(crate) fn later(now: Instant, time: Duration) -> Instant {
    now.checked_add(time).unwrap_or(now + Duration::from_secs(31_536_000))
}

/// A machine whose time of day stands still and whose randomness is known, for tests that compare bytes. It
/// needs nothing of the TLS library, so that an interpreter (Miri) can run these tests.
#[cfg(test)]
pub(crate) struct FixedWorld;

#[cfg(test)]
impl World for FixedWorld {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn unix_time(&self) -> Duration {
        Duration::from_millis(0x0102)
    }

    fn entropy(&self, out: &mut [u8]) {
        out.fill(9);
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// Demands that every bit of what `draw` returns is drawn, and that no two bytes are always alike.
#[cfg(test)]
pub(crate) fn assert_drawn(draw: impl Fn() -> Vec<u8>) {
    let draws: Vec<Vec<u8>> = (0..64).map(|_| draw()).collect();
    let column = |at: usize| draws.iter().map(move |drawn| drawn[at]);
    for at in 0..draws[0].len() {
        for bit in 0..8 {
            let ones = column(at).filter(|byte| byte >> bit & 1 == 1).count();
            assert!((1..64).contains(&ones), "bit {bit} of byte {at}");
        }
        assert!((0..at).all(|other| column(other).ne(column(at))), "byte {at} is that of another place");
    }
}

/// The machine with its clock set forward by this time.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Ahead(pub Mutex<Duration>);

#[cfg(test)]
impl World for Ahead {
    fn now(&self) -> Instant {
        Machine.now() + *lock(&self.0)
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        Machine.entropy(out);
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waiting is not computing.
    #[test]
    fn a_thread_that_waits_uses_no_time() {
        let begun = Machine.thread_time();
        std::thread::sleep(Duration::from_millis(300));
        let waited = Machine.thread_time() - begun;
        assert!(waited < Duration::from_millis(100), "{waited:?}");
        let mut sum = 0_u64;
        while Machine.thread_time() - begun < Duration::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0);
    }

    #[test]
    fn entropy_differs() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        Machine.entropy(&mut a);
        Machine.entropy(&mut b);
        assert_ne!(a, b);
    }
}
