//! A mutant for each check: with the check in place a named attack is stopped, without it the same attack
//! succeeds. The code of this crate and of the engines has all checks; `lab/attacks` makes the mutants, in a
//! copy of the sources to which it adds what switches a check off. In the copy, [`kills`] runs the attack on
//! the mutant, too.

use crate::{Check, PublicParameters};

/// The parameters of a mutant: of a session in which these checks always pass. Without a check they are the
/// given ones.
///
/// # Panics
/// If a check is given, but in the copy of `lab/attacks`.
#[must_use]
pub fn without(parameters: PublicParameters, checks: impl IntoIterator<Item = Check>) -> PublicParameters {
    if let Some(check) = checks.into_iter().next() {
        unreachable!("{check}: a mutant is built only in the copy of lab/attacks");
    }
    parameters
}

/// Demand that the attack fails against the protocol; in the copy of `lab/attacks` also that it succeeds
/// against the mutant. `attack` returns true if a wrong output was accepted, something leaked, or an honest
/// party did what the check forbids.
///
/// # Panics
/// If the attack succeeds against the protocol, or fails against the mutant.
pub fn kills(check: Check, attack: impl Fn(Option<Check>) -> bool) {
    assert!(!attack(None), "{check}: the attack succeeds against the protocol");
}

/// A test for each line `name: check, "what its mutant does", attack;`, and `MUTANTS`, the list of them.
#[macro_export]
macro_rules! mutants {
    ($($name:ident: $check:ident, $what:literal, $attack:path;)*) => {
        $(#[test] fn $name() { $crate::testing::kills(checks::$check, $attack); })*

        /// Each check, with what its mutant does, and the test that kills it.
        const MUTANTS: &[($crate::Check, &str, &str)] =
            &[$((checks::$check, $what, stringify!($name)),)*];
    };
}
