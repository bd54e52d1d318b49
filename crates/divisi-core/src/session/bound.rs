//! Secrets bound to a session: an abort in any strand wipes them at once, even if they are kept between
//! calls.

use super::{Session, SessionId};
use crate::{Abort, Misuse, Step};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A value of one session, until it is taken or an abort wipes it. Its type must wipe itself when dropped.
pub struct Bound<T> {
    session: SessionId,
    value: Arc<Mutex<Option<T>>>,
}

/// A value or an action that a session keeps for its end by an abort.
trait Forget: Send + Sync {
    fn forget(&self, why: &Abort);
}

impl<T: Send> Forget for Mutex<Option<T>> {
    fn forget(&self, _: &Abort) {
        *locked(self) = None;
    }
}

/// An action that runs if the session ends by an abort while this object is kept.
#[must_use = "an action that is dropped is not done"]
pub struct AtEnd(
    #[expect(dead_code, reason = "kept, for the session knows it as long as somebody does")] Arc<Last>,
);

/// The action, until it has run.
struct Last(Mutex<Option<Box<dyn FnOnce(&Abort) + Send>>>);

impl Forget for Last {
    fn forget(&self, why: &Abort) {
        let last = locked(&self.0).take();
        if let Some(last) = last {
            last(why);
        }
    }
}

/// Everything that is bound to a session and was not dropped yet.
#[derive(Default)]
pub(super) struct All(Mutex<Vec<Weak<dyn Forget>>>);

impl All {
    /// Wipe every value and run every action.
    pub(super) fn forget(&self, why: &Abort) {
        let all = std::mem::take(&mut *locked(&self.0));
        all.iter().filter_map(Weak::upgrade).for_each(|one| one.forget(why));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Bind a value to the session: an abort in any strand wipes it. If the session has ended by an abort,
    /// the value is dropped at once.
    #[must_use]
    pub fn bind<T: Send + 'static>(&self, value: T) -> Bound<T> {
        let value = Arc::new(Mutex::new(Some(value)));
        self.know(Arc::downgrade(&value) as Weak<dyn Forget>);
        Bound { session: self.id(), value }
    }

    /// Run `last` when the session ends by an abort, in whatever strand, before peers or callers are told:
    /// for data that outlive the process. If the session has ended, it runs at once.
    pub fn at_end(&self, last: impl FnOnce(&Abort) + Send + 'static) -> AtEnd {
        let last = Arc::new(Last(Mutex::new(Some(Box::new(last)))));
        self.know(Arc::downgrade(&last) as Weak<dyn Forget>);
        AtEnd(last)
    }

    fn know(&self, one: Weak<dyn Forget>) {
        let all = &self.shared.bound;
        let mut known = locked(&all.0);
        known.retain(|one| one.strong_count() > 0);
        known.push(one);
        drop(known);
        // an abort that came before this was registered did not reach it
        if let Some(why) = self.cause() {
            all.forget(&why);
        }
    }
}

impl<T: Send + 'static> Bound<T> {
    /// Take the value out, in any strand of its session.
    ///
    /// # Errors
    /// [`Abort::Misuse`] in another session, or if the value was wiped or taken.
    pub fn take(&mut self, session: &Session, step: Step) -> Result<T, Abort> {
        if self.session != session.id() {
            return Err(session.misuse(step, Misuse::OtherSession));
        }
        let value = locked(&self.value).take();
        value.ok_or_else(|| session.misuse(step, Misuse::Erased))
    }

    /// Put the value back, unless the session has ended.
    pub fn put(&mut self, session: &Session, value: T) {
        *locked(&self.value) = Some(value);
        if session.cause().is_some() {
            locked(&self.value).take();
        }
    }

    /// Read the value, if it is there.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        locked(&self.value).as_ref().map(look)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;
    use crate::{Abort, Misuse, PublicParameters, Session, checks, step};

    #[test]
    fn what_is_bound_goes_with_its_session_and_serves_no_other() {
        let parameters = PublicParameters::new("bound tests");
        let ends = run(2, &parameters, |session| {
            let (mut one, two) = (session.bind(1), session.strand()?.bind(2));
            assert_eq!(one.take(&session, step!("take"))?, 1);
            one.put(&session, 3);
            assert_eq!((one.peek(|x| *x), two.peek(|x| *x)), (Some(3), Some(2)));
            // another strand ends the session
            let end = session.strand()?.misuse(step!("end"), Misuse::NoResult);
            assert_eq!((one.peek(|x| *x), two.peek(|x| *x)), (None, None));
            assert!(matches!(one.take(&session, step!("take")), Err(Abort::Misuse { .. })));
            one.put(&session, 4);
            assert_eq!((one.peek(|x| *x), session.bind(5).peek(|x| *x)), (None, None));
            Err::<(), _>(end)
        });
        assert!(ends.iter().all(Result::is_err));
        let bound = run(2, &parameters, |session| Ok(session.bind(7)));
        let of_first = std::sync::Mutex::new(bound);
        let ends = run(2, &parameters, |session| {
            let mut of_first = of_first.lock().unwrap();
            let bound = of_first[session.me().index()].as_mut().unwrap();
            assert!(matches!(bound.take(&session, step!("take")), Err(Abort::Misuse { .. })));
            assert_eq!(bound.peek(|x| *x), Some(7));
            Ok(())
        });
        // the first party's end may have stopped the other one before it came so far
        assert!(ends.iter().any(Result::is_ok));
    }

    /// Whatever ends a session, here or at a peer, nothing of what is bound to it stays, however much it is.
    #[test]
    fn every_abort_wipes_all_that_is_bound() {
        let failed = |end: Result<(), Abort>| end.expect_err("the session goes on");
        let why = || "a disk is full".into();
        type Way<'w> = &'w (dyn Fn(&Session) -> Abort + Sync);
        let ways: [Way<'_>; 4] = [
            &|session| session.misuse(step!("end"), Misuse::NoResult),
            &|session| failed(session.require(checks::M0_3, step!("end"), false, None)),
            &|session| failed(session.well_formed(step!("end"), session.peers()[0], 1, false)),
            &|session| session.fail(Abort::Unfit { step: step!("end"), why: why() }),
        ];
        for (number, way) in ways.into_iter().enumerate() {
            let begun = std::sync::Barrier::new(2);
            let left = run(2, &PublicParameters::new("bound tests"), |mut session| {
                begun.wait();
                let bound: Vec<_> = (0..300).map(|value| session.bind(value)).collect();
                let (me, peer) = (session.me().index(), session.peers()[0]);
                // one ends it, the other learns of it
                let end = if me == 0 {
                    way(&session)
                } else {
                    failed(session.recv(step!("never"), peer, &mut [0]))
                };
                assert_eq!(session.cause(), Some(end));
                Ok(bound.iter().filter(|bound| bound.peek(|_| ()).is_some()).count())
            });
            assert_eq!(left.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [0, 0], "{number}");
        }
    }

    #[test]
    fn what_is_to_be_done_at_an_abort_is_done_once_and_at_no_other_end() {
        let done = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let note = |number: usize| {
            let done = std::sync::Arc::clone(&done);
            move |why: &Abort| done.lock().unwrap().push((number, why.clone()))
        };
        let ends = run(1, &PublicParameters::new("at end tests"), |session| {
            drop(session.at_end(note(1)));
            let _kept = session.strand()?.at_end(note(2));
            let end = session.misuse(step!("end"), Misuse::NoResult);
            let _again = session.misuse(step!("end"), Misuse::NoResult);
            let _late = session.at_end(note(3));
            Err::<(), _>(end)
        });
        let Err(why) = &ends[0] else { unreachable!() };
        assert_eq!(*done.lock().unwrap(), [(2, why.clone()), (3, why.clone())]);
        done.lock().unwrap().clear();
        let ends = run(1, &PublicParameters::new("at end tests"), |session| {
            let _kept = session.at_end(note(1));
            Ok(())
        });
        assert!(ends[0].is_ok() && done.lock().unwrap().is_empty());
    }

    #[test]
    fn what_happens_once_a_session_happens_in_one_strand() {
        for end in run(2, &PublicParameters::new("once tests"), |session| {
            let other = session.strand()?;
            Ok([session.first("one"), other.first("one"), other.first("two"), session.first("two")])
        }) {
            assert_eq!(end.unwrap(), [true, false, true, false]);
        }
    }

    /// Nobody else learns that a session ends before what is to be done at its end is done: this party still
    /// sends then.
    #[test]
    fn peers_learn_of_an_abort_after_what_is_done_at_it() {
        let begun = std::sync::Barrier::new(2);
        let sent = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let ends = run(2, &PublicParameters::new("at end tests"), |mut session| {
            let (peer, mut other, tell) = (session.peers()[0], session.strand()?, sent.clone());
            begun.wait();
            if session.me().index() == 1 {
                return session.recv(step!("never"), peer, &mut [0]);
            }
            let _kept =
                session.at_end(move |_| tell.lock().unwrap().push(other.send(step!("s"), peer, &[1], 0)));
            Err(session.misuse(step!("end"), Misuse::NoResult))
        });
        assert!(ends.iter().all(Result::is_err));
        assert_eq!(*sent.lock().unwrap(), [Ok(())]);
    }
}
