//! A mutant for each check: with the check in place a named attack is stopped, without it the same attack
//! succeeds.

use crate::Check;

/// Demand that the attack fails against the protocol, and succeeds against the mutant. `attack` returns true
/// if a wrong output was accepted, something leaked, or an honest party did what the check forbids.
///
/// # Panics
/// If the attack succeeds against the protocol, or fails against the mutant.
pub fn kills(check: Check, attack: impl Fn(Option<Check>) -> bool) {
    assert!(!attack(None), "{check}: the attack succeeds against the protocol");
    assert!(attack(Some(check)), "{check}: the mutant survives");
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
