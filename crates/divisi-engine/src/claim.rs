//! What an engine claims to withstand: the rows of SECURITY.md's first table.

/// The security that an engine claims, with one kind of adversary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityClaim {
    /// The engine, and the kind of adversary where the engine has more than one.
    pub engine: &'static str,
    /// The possible numbers of parties.
    pub parties: String,
    /// The statistical security: how probable it is that a lie passes, or a value leaks.
    pub statistical: String,
    /// The computational security, and the model where it stands on lattices.
    pub computational: String,
}

impl SecurityClaim {
    /// A claim about this number of parties.
    #[must_use]
    pub fn new(engine: &'static str, parties: &std::ops::RangeInclusive<usize>) -> SecurityClaim {
        let parties = match (parties.start(), parties.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        };
        SecurityClaim { engine, parties, statistical: String::new(), computational: String::new() }
    }

    /// The same claim with this statistical security.
    #[must_use]
    pub fn statistical(self, bits: impl Into<String>) -> SecurityClaim {
        SecurityClaim { statistical: bits.into(), ..self }
    }

    /// The same claim with this computational security.
    #[must_use]
    pub fn computational(self, bits: impl Into<String>) -> SecurityClaim {
        SecurityClaim { computational: bits.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_parties_are_one_or_a_range() {
        assert_eq!([2..=2, 2..=8].map(|parties| SecurityClaim::new("e", &parties).parties), ["2", "2 to 8"]);
    }
}
