//! What randomness is for. Every draw names its purpose: of what a party draws alone
//! ([`Session::entropy`](crate::Session::entropy)), of what two share ([`Session::prg`](crate::Session::prg),
//! [`Session::key`](crate::Session::key)), of the stream of a key ([`Prg::of`](crate::Prg::of)) and of a
//! digest that is expanded ([`Expands::expand`]). A crate registers those of its protocols with
//! [`purposes!`](crate::purposes!). Nothing that is drawn depends on its purpose, except that streams and
//! keys of a pair are derived from its name. Tests record draws by it, and judge all of one purpose alike,
//! without knowing the protocol (`testing::nets::draws`).

use crate::Check;
use std::fmt;

/// Who knows what is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "judges must not overlook a new one")]
pub enum KnownTo {
    /// One party, until it tells others.
    One,
    /// Two parties, which draw the same.
    Pair,
    /// All parties, once it is drawn: a coin, and what is derived from coins and public values.
    All,
    /// Everybody: it depends on nothing that was drawn.
    Anyone,
}

/// How what is drawn is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "judges must not overlook a new one")]
pub enum Distribution {
    /// Uniform, in elements of so many bits, the first one lowest. Elements of less than 8 bits are packed.
    Bits(u32),
    /// Uniform in elements of 128 bits, except for the lowest bit, which is public.
    OddOrEven,
    /// Uniform below this number, in words of 64 bits.
    Below(u64),
    /// Uniform in {-1, 0, 1}, in signed words of 64 bits.
    Ternary,
    /// Around zero with this variance in thousandths, in signed words of 64 bits.
    Centred(u64),
}

/// A purpose of draws. There is one value of it for each, a constant of its crate's `purposes`.
pub struct DrawPurpose {
    name: &'static str,
    known_to: KnownTo,
    check: Option<Check>,
    distribution: Distribution,
}

impl DrawPurpose {
    /// The purpose with this name. Only [`purposes!`](crate::purposes!) calls this: elsewhere a purpose is
    /// named by its constant.
    #[must_use]
    pub const fn new(
        name: &'static str,
        known_to: KnownTo,
        check: Option<Check>,
        distribution: Distribution,
    ) -> DrawPurpose {
        DrawPurpose { name, known_to, check, distribution }
    }

    /// The purpose of draws that only a test makes.
    #[cfg(feature = "testing")]
    #[must_use]
    pub const fn of_test(name: &'static str) -> DrawPurpose {
        DrawPurpose::new(name, KnownTo::Pair, None, Distribution::Bits(8))
    }

    /// Its name. No other purpose has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Who knows what is drawn.
    #[must_use]
    pub const fn known_to(&self) -> KnownTo {
        self.known_to
    }

    /// The check that needs the draws, if it is one.
    #[must_use]
    pub const fn check(&self) -> Option<Check> {
        self.check
    }

    /// How what is drawn is distributed.
    #[must_use]
    pub const fn distribution(&self) -> Distribution {
        self.distribution
    }
}

impl fmt::Debug for DrawPurpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Register the purposes of a crate: a constant for each with its documentation, and `ALL` of them in order.
/// Behind the name stand who knows what is drawn, the check that needs it if there is one, and the
/// distribution.
///
/// ```
/// mod checks {
///     divisi_core::checks! {
///         /// Sums of both parties are equal.
///         X1 = "X1",
///     }
/// }
/// mod purposes {
///     divisi_core::purposes! {
///         /// The mask of a number.
///         MASK = "example mask", One, Bits(64);
///         /// What the sums are multiplied by.
///         FACTOR = "example factor", All [crate::checks::X1], Bits(128);
///     }
/// }
/// # fn main() {
/// assert_eq!(purposes::MASK.name(), "example mask");
/// assert_eq!(purposes::FACTOR.check(), Some(checks::X1));
/// assert_eq!(purposes::ALL.len(), 2);
/// # }
/// ```
#[macro_export]
macro_rules! purposes {
    ($(
        $(#[$doc:meta])* $id:ident = $name:literal, $known_to:ident $([$check:expr])?,
        $distribution:ident $(($number:expr))?;
    )*) => {
        $(
            $(#[$doc])*
            pub const $id: &$crate::DrawPurpose = {
                static PURPOSE: $crate::DrawPurpose = $crate::DrawPurpose::new(
                    $name,
                    $crate::KnownTo::$known_to,
                    $crate::purposes!(@check $($check)?),
                    $crate::Distribution::$distribution $(($number))?,
                );
                &PURPOSE
            };
        )*

        /// The purposes that are registered here, in order.
        pub const ALL: &[&$crate::DrawPurpose] = &[$($id,)*];
    };
    (@check) => { None };
    (@check $check:expr) => { Some($check) };
}
