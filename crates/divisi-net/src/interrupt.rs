//! Waits that end early, because who waits is asked now and then whether an answer is still wanted.
//!
//! A program that somebody can interrupt (an interpreter in which Ctrl-C was pressed) makes a call that may
//! wait for other machines, and cannot leave it by itself. What waits asks it instead.

use crate::world::lock;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often who waits is asked.
const ATTENTION: Duration = Duration::from_millis(150);

/// The question to the caller of something that waits, whether it wants to wait no more. It is asked a few
/// times a second, by the thread that waits; after a yes it is not asked again, and all that waits for the
/// same caller ends as if its time were over. By default nobody is asked, and nothing ends early.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<Question>>);

struct Question {
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    due: AtomicBool,
    /// When it was asked last, or could have been for the first time.
    last: Mutex<Option<Instant>>,
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

impl Interrupt {
    /// An interrupt of whoever answers `ask`.
    #[must_use]
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        let question = Question { ask: Box::new(ask), due: AtomicBool::new(false), last: Mutex::new(None) };
        Interrupt(Some(Arc::new(question)))
    }

    /// Whether nobody is asked.
    #[must_use]
    pub fn is_never(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the caller wants no more to wait: asks it, unless it has said so.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|question| question.asked())
    }

    /// The same; it is asked only if it was not for a moment before `now`. A connection calls this before
    /// each wait, and most waits are short.
    #[must_use]
    pub fn is_due_at(&self, now: Instant) -> bool {
        let Some(question) = &self.0 else { return false };
        if question.due.load(Ordering::SeqCst) {
            return true;
        }
        let mut last = lock(&question.last);
        let since = *last.get_or_insert(now);
        if now.saturating_duration_since(since) < ATTENTION {
            return false;
        }
        *last = Some(now);
        drop(last);
        question.asked()
    }

    /// For how long to wait, of the time that is left, until it is asked again.
    #[must_use]
    pub fn slice(&self, left: Duration) -> Duration {
        if self.is_never() { left } else { left.min(ATTENTION) }
    }

    /// Do `work` in a thread of its own, while this thread is the one that asks: the interrupt that `work` is
    /// given can be asked by any thread, also where the caller answers this one alone.
    ///
    /// # Errors
    /// The error of the system if no thread can be started.
    pub fn watched<T: Send>(&self, work: impl FnOnce(&Interrupt) -> T + Send) -> io::Result<T> {
        if self.is_never() {
            return Ok(work(self));
        }
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let inner = Interrupt::new(move || seen.load(Ordering::SeqCst));
        let (tell, told) = channel::<()>();
        std::thread::scope(|scope| {
            let working = std::thread::Builder::new().name("call".into()).spawn_scoped(scope, move || {
                let done = work(&inner);
                drop(tell);
                done
            })?;
            while told.recv_timeout(ATTENTION) == Err(RecvTimeoutError::Timeout) {
                if self.is_due() {
                    over.store(true, Ordering::SeqCst);
                }
            }
            working.join().map_err(|_| io::Error::other("a thread of the call ended early"))
        })
    }
}

impl Question {
    fn asked(&self) -> bool {
        if self.due.load(Ordering::SeqCst) {
            return true;
        }
        let due = (self.ask)();
        if due {
            self.due.store(true, Ordering::SeqCst);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// An interrupt that counts how often it is asked, and says yes from the given time on.
    fn counted(yes: usize) -> (Interrupt, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&asked);
        (Interrupt::new(move || counts.fetch_add(1, Ordering::SeqCst) + 1 >= yes), asked)
    }

    #[test]
    fn who_said_yes_is_asked_no_more() {
        let (interrupt, asked) = counted(2);
        assert!(!interrupt.is_due() && interrupt.is_due() && interrupt.is_due());
        assert!(interrupt.is_due_at(Instant::now()) && asked.load(Ordering::SeqCst) == 2);
    }

    #[test]
    fn short_waits_ask_nobody() {
        let (interrupt, asked) = counted(1);
        let now = Instant::now();
        assert!((0..100).all(|nth| !interrupt.is_due_at(now + ATTENTION * nth / 101)));
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        assert!(interrupt.is_due_at(now + ATTENTION));
        // who says no is asked again
        let (interrupt, asked) = counted(3);
        let due: Vec<bool> = (0..5).map(|nth| interrupt.is_due_at(now + ATTENTION * nth)).collect();
        assert_eq!((due, asked.load(Ordering::SeqCst)), (vec![false, false, false, true, true], 3));
        assert!(!Interrupt::default().is_due_at(now + ATTENTION) && !Interrupt::default().is_due());
        assert_eq!(Interrupt::default().slice(Duration::MAX), Duration::MAX);
    }

    /// The thread that calls is asked, and no other; what it says reaches the work.
    #[test]
    fn work_elsewhere_hears_what_the_caller_says() {
        let (me, begun) = (std::thread::current().id(), Instant::now());
        let here = Interrupt::new(move || {
            assert_eq!(std::thread::current().id(), me);
            true
        });
        let rounds = here.watched(|inner| {
            let mut rounds = 0;
            while !inner.is_due_at(Instant::now()) {
                std::thread::sleep(Duration::from_millis(5));
                rounds += 1;
            }
            rounds
        });
        assert!(rounds.unwrap() > 0 && begun.elapsed() < Duration::from_secs(5));
        assert_eq!(here.watched(|_| 7).unwrap(), 7);
    }
}
