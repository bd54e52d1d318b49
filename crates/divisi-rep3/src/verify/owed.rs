//! The one loop that verifies everything owed: how many passes it takes, all products of one kind at once,
//! and the error that is left.
//!
//! Only this loop reports to the meter, and only passes that were completed: the meter reports the error of
//! what was executed.

use crate::checks;
use crate::passes::Passes;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::Abort;
use divisi_field::Field;
use std::ops::Add;

/// The probability with which something that was executed misses a lie.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "an error that is not reported to the meter is lost"]
pub(crate) struct Missed(f64);

impl Missed {
    /// The probability for values that were not checked at all: every lie is missed.
    const ALL: Missed = Missed(1.0);

    /// The probability that a uniform element of the field is one of `elements` elements, at which a lie is
    /// missed.
    pub(super) fn at<F: Field>(elements: usize) -> Missed {
        Missed(elements as f64 * (-(F::BITS as f64)).exp2())
    }

    /// The probability that two passes with independent coins both miss a lie.
    fn by_both(self, other: Missed) -> Missed {
        Missed(self.0 * other.0)
    }
}

/// A bound on the probability that one of two steps of a pass misses a lie.
impl Add for Missed {
    type Output = Missed;

    fn add(self, other: Missed) -> Missed {
        Missed(self.0 + other.0)
    }
}

/// Owed products of one kind, many of which are verified in one pass.
pub(super) trait Owed: Sized {
    /// The number of passes to make, if the caller asked for `asked`.
    fn passes(asked: Passes) -> usize;

    /// One pass over all of these, from a coin of its own to CheckTriple, and the error of the steps that
    /// were taken.
    fn pass(trio: &mut Trio, fixed: &Fixed, all: &[Self]) -> Result<Missed, Abort>;
}

/// Verify all that is owed of one kind: one verdict for all \[A21\].
pub(super) fn verify<O: Owed>(trio: &mut Trio, fixed: &Fixed, all: &[O]) -> Result<(), Abort> {
    if all.is_empty() {
        return Ok(());
    }
    let mut missed = Missed::ALL;
    for _ in 0..O::passes(trio.passes) {
        missed = missed.by_both(O::pass(trio, fixed, all)?);
        trio.session.observe(checks::A11); // [A11]
    }
    trio.session.meter().verification_error(missed.0);
    Ok(())
}
