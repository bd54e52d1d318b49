//! The phases that a benchmark reports.

/// What a phase counts as, in the rates of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhaseKind {
    /// In no rate: a set-up that is made once.
    Apart,
    /// In the total rate: preprocessing, before the inputs are there.
    Ahead,
    /// In both rates.
    Online,
}

/// A phase that a benchmark reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The name of the phase.
    pub name: &'static str,
    /// The phases of the session's meter that belong to it.
    pub meter: &'static [&'static str],
    /// What it counts as.
    pub kind: PhaseKind,
}

impl Clock {
    /// A phase that counts in no rate.
    #[must_use]
    pub const fn apart(name: &'static str, meter: &'static [&'static str]) -> Clock {
        Clock { name, meter, kind: PhaseKind::Apart }
    }

    /// A phase that counts in the total rate alone.
    #[must_use]
    pub const fn ahead(name: &'static str, meter: &'static [&'static str]) -> Clock {
        Clock { name, meter, kind: PhaseKind::Ahead }
    }

    /// A phase that counts in both rates.
    #[must_use]
    pub const fn online(name: &'static str, meter: &'static [&'static str]) -> Clock {
        Clock { name, meter, kind: PhaseKind::Online }
    }
}
