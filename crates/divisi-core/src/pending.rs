//! Values that owe a verification, and values that passed it.
//!
//! An engine returns a [`Pending`]: the value with its [`Debt`]. Only [`settle`] turns it into a
//! [`Verified`], by letting the engine discharge the debt; and only a `Verified` can be opened, sent to a
//! client or stored \[M0.7, A13\]. The value of a `Pending` cannot be read: a caller that continues to
//! compute with it gives its debt back to the engine.

use crate::Abort;

/// What a value owes before it may leave: products to verify, openings to compare.
///
/// A debt names the type that discharges it, so that nothing else can declare it paid; only an engine can
/// make one.
pub trait Debt {
    /// The engine that can discharge the debt.
    type Payer;

    /// Add another debt to this one.
    fn take_over(&mut self, other: Self);

    /// Return the debt to the engine, which continues to compute with the value.
    fn hand_over(self, payer: &mut Self::Payer);

    /// Verify everything that is owed.
    ///
    /// # Errors
    /// The abort that ends the session if the verification fails.
    fn pay(self, payer: &mut Self::Payer) -> Result<(), Abort>;

    /// End the payer's session: a debt could not be paid, whatever the reason, and is gone. [`settle`] calls
    /// this, so that no failure in the middle of a verification leaves a session that continues.
    #[must_use]
    fn fail(payer: &mut Self::Payer, abort: Abort) -> Abort;
}

/// A value with its debt.
#[must_use = "a pending value is worth nothing until it is settled"]
pub struct Pending<T, D: Debt> {
    value: T,
    debt: D,
}

impl<T, D: Debt> Pending<T, D> {
    /// A value that owes `debt`. For engines.
    pub fn owing(value: T, debt: D) -> Self {
        Pending { value, debt }
    }

    /// The value, to continue computing with it in an engine that takes over its debt.
    pub fn resume(self, engine: &mut D::Payer) -> T {
        self.debt.hand_over(engine);
        self.value
    }

    /// Several values with the sum of their debts, to be settled by one verification; `None` if there are
    /// none.
    pub fn join(many: impl IntoIterator<Item = Self>) -> Option<Pending<Vec<T>, D>> {
        let mut many = many.into_iter();
        let first = many.next()?;
        let (mut values, mut debt) = (vec![first.value], first.debt);
        for next in many {
            values.push(next.value);
            debt.take_over(next.debt);
        }
        Some(Pending { value: values, debt })
    }
}

/// A value all of whose debts were discharged.
#[derive(Clone)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    /// The value: it is still a share, and only its engine can open it.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The value itself, to continue computing with it: results owe their own verification.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<A, B> Verified<(A, B)> {
    /// Two values that were verified together.
    pub fn split(self) -> (Verified<A>, Verified<B>) {
        (Verified(self.0.0), Verified(self.0.1))
    }
}

impl<T> Verified<Vec<T>> {
    /// Several values that were verified together.
    pub fn each(self) -> Vec<Verified<T>> {
        self.0.into_iter().map(Verified).collect()
    }

    /// Those of several values that were verified together which have these positions, in this order.
    /// Positions after the last value are left out.
    pub fn select(&self, places: &[usize]) -> Verified<Vec<T>>
    where
        T: Clone,
    {
        Verified(places.iter().filter_map(|place| self.0.get(*place)).cloned().collect())
    }
}

impl<T> Verified<Option<T>> {
    /// The verified value, or `None` if it is absent. Whether it is absent is public.
    pub fn transpose(self) -> Option<Verified<T>> {
        self.0.map(Verified)
    }
}

/// Verify what a value owes, and return the value that may leave. After any failure the session is over,
/// because the debt is gone: a second attempt would find nothing to verify.
///
/// # Errors
/// The abort that ends the session if the verification fails.
pub fn settle<T, D: Debt>(engine: &mut D::Payer, pending: Pending<T, D>) -> Result<Verified<T>, Abort> {
    let paid = pending.debt.pay(engine);
    paid.map_err(|abort| D::fail(engine, abort))?;
    Ok(Verified(pending.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;
    use crate::{PublicParameters, Session, step};

    /// A debt that fails without a word to its session.
    struct Fails;

    impl Debt for Fails {
        type Payer = Session;

        fn take_over(&mut self, Fails: Self) {}

        fn hand_over(self, _: &mut Session) {}

        fn pay(self, _: &mut Session) -> Result<(), Abort> {
            Err(Abort::Unfit { step: step!("pay"), why: "a disk is full".into() })
        }

        fn fail(payer: &mut Session, abort: Abort) -> Abort {
            payer.fail(abort)
        }
    }

    /// A verification that fails in its middle ends the session, whatever failed.
    #[test]
    fn a_debt_that_is_not_paid_ends_the_session() {
        let ends = run(1, &PublicParameters::new("pending tests"), |mut session| {
            let failed = settle(&mut session, Pending::owing((), Fails)).map(Verified::into_inner);
            assert_eq!(session.cause(), failed.clone().err());
            failed
        });
        assert!(matches!(ends[0], Err(Abort::Unfit { .. })), "{ends:?}");
    }

    #[test]
    fn what_is_selected_stays_verified() {
        let all = Verified(vec![10, 11, 12]);
        assert_eq!(all.select(&[2, 0, 3, 2]).into_inner(), [12, 10, 12]);
        assert_eq!(all.each().into_iter().map(Verified::into_inner).collect::<Vec<_>>(), [10, 11, 12]);
    }

    #[test]
    fn what_may_be_absent_stays_verified() {
        assert_eq!(Verified(Some(7)).transpose().map(Verified::into_inner), Some(7));
        assert!(Verified(None::<u8>).transpose().is_none());
    }
}
