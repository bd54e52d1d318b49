//! Secrets that belong to a session, and end with it: whoever keeps them between two calls, an abort in any
//! strand wipes them at once.

use super::{Session, SessionId};
use crate::{Abort, Step};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What a session made and serves in no other, until it is used or the session ends. What is in it must wipe
/// itself when dropped.
pub struct Bound<T> {
    session: SessionId,
    value: Arc<Mutex<Option<T>>>,
}

/// Something that can be wiped from afar.
trait Forget: Send + Sync {
    fn forget(&self);
}

impl<T: Send> Forget for Mutex<Option<T>> {
    fn forget(&self) {
        *locked(self) = None;
    }
}

/// What is bound to a session, as far as it is still there.
#[derive(Default)]
pub(super) struct All(Mutex<Vec<Weak<dyn Forget>>>);

impl All {
    /// Wipe everything.
    pub(super) fn forget(&self) {
        let all = std::mem::take(&mut *locked(&self.0));
        all.iter().filter_map(Weak::upgrade).for_each(|one| one.forget());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Keep something until the session ends. Of one that has ended nothing is kept.
    #[must_use]
    pub fn bind<T: Send + 'static>(&self, value: T) -> Bound<T> {
        let value = Arc::new(Mutex::new(Some(value)));
        let all = &self.shared.bound;
        let mut known = locked(&all.0);
        known.retain(|one| one.strong_count() > 0);
        known.push(Arc::downgrade(&value) as Weak<dyn Forget>);
        drop(known);
        // an end that came before this was known did not reach it
        if self.cause().is_some() {
            all.forget();
        }
        Bound { session: self.id(), value }
    }
}

impl<T: Send + 'static> Bound<T> {
    /// Take it out, in any strand of its session.
    ///
    /// # Errors
    /// [`Abort::Misuse`] in another session, and when it is not there any more.
    pub fn take(&mut self, session: &Session, step: Step) -> Result<T, Abort> {
        if self.session != session.id() {
            return Err(session.misuse(step, "what another session made"));
        }
        let value = locked(&self.value).take();
        value.ok_or_else(|| session.misuse(step, "what went with its session"))
    }

    /// Put it back, unless the session has ended.
    pub fn put(&mut self, session: &Session, value: T) {
        *locked(&self.value) = Some(value);
        if session.cause().is_some() {
            locked(&self.value).take();
        }
    }

    /// Look at it, if it is there.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        locked(&self.value).as_ref().map(look)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;
    use crate::{Abort, Parameters, step};

    #[test]
    fn what_is_bound_goes_with_its_session_and_serves_no_other() {
        let parameters = Parameters::new("bound tests");
        let ends = run(2, &parameters, |session| {
            let (mut one, two) = (session.bind(1), session.strand()?.bind(2));
            assert_eq!(one.take(&session, step!("take"))?, 1);
            one.put(&session, 3);
            assert_eq!((one.peek(|x| *x), two.peek(|x| *x)), (Some(3), Some(2)));
            // another strand ends the session
            let end = session.strand()?.misuse(step!("end"), "a test");
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
        // the other may not have come so far
        assert!(ends.iter().any(Result::is_ok));
    }

    #[test]
    fn what_happens_once_a_session_happens_in_one_strand() {
        for end in run(2, &Parameters::new("once tests"), |session| {
            let other = session.strand()?;
            Ok([session.first("one"), other.first("one"), other.first("two"), session.first("two")])
        }) {
            assert_eq!(end.unwrap(), [true, false, true, false]);
        }
    }
}
