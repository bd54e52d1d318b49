//! The checks that a session may execute, by their ids. Each crate registers those of its protocols with
//! [`checks!`](crate::checks!); SECURITY.md says where the code, the tests and the mutant of each check are
//! listed.

use std::fmt;

/// A check by its id. The [`crate::Meter`] counts how often it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Check {
    id: &'static str,
}

impl Check {
    /// The check with this id, as the tables of checks write it. Only [`checks!`](crate::checks!) calls this:
    /// elsewhere a check is named by its constant.
    #[must_use]
    pub const fn new(id: &'static str) -> Check {
        Check { id }
    }

    /// The id as the tables of checks write it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.id
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Register the checks of a crate: a constant for each with its documentation, and `ALL` of them in order.
///
/// ```
/// mod checks {
///     divisi_core::checks! {
///         /// Sums of both parties are equal.
///         X1 = "X1",
///     }
/// }
/// assert_eq!(checks::X1.id(), "X1");
/// assert_eq!(checks::ALL, [checks::X1]);
/// ```
#[macro_export]
macro_rules! checks {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        $($(#[$doc])* pub const $id: $crate::Check = $crate::Check::new($name);)*

        /// The checks that are registered here, in order.
        pub const ALL: &[$crate::Check] = &[$($id,)*];
    };
}
