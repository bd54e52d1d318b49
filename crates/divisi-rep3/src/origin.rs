//! The origin of a value: the engine that made it, and the computation whose debt it belongs to. An engine
//! takes no value of another engine, and no value leaves before its debt is settled.
//!
//! A value is a share and no more; the products that it depends on stand in the ledger of the engine that
//! made it. In another engine it would leave its debt behind. So each value carries the strand and the
//! security of its engine, and the number of computations that had been closed there when it was made: the
//! products that it depends on belong to the next computation, or to earlier ones.
//!
//! - *Into an engine* go values made there, and inputs of its strand from before the engine began
//!   ([`crate::Trio::input`]); and values of another strand of the session, with the same security, that were
//!   settled there and owe nothing any more.
//! - *Out of an engine*, opened, answered or stored, go settled values.
//!
//! Everything else is a misuse, which ends the session.

use divisi_core::Security;
use std::sync::atomic::{AtomicU64, Ordering};

/// A strand, and the security of the engine on it, if there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineId(u64);

/// The bits of an id that are its security.
const LEVEL: u64 = 3;

impl EngineId {
    /// No engine, on no strand.
    pub(crate) const NONE: EngineId = EngineId(0);

    /// A fresh id: no other strand of this process has it, and there is no engine on the strand yet.
    pub(crate) fn new() -> EngineId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        EngineId(NEXT.fetch_add(1, Ordering::Relaxed) << LEVEL.count_ones())
    }

    /// The id of this strand with an engine of that security, or with none.
    pub(crate) fn under(self, security: Option<Security>) -> EngineId {
        let level = match security {
            None => 0,
            Some(Security::SemiHonest) => 1,
            Some(Security::Malicious) => 2,
        };
        EngineId(self.0 & !LEVEL | level)
    }

    /// Whether its engine is semi-honest: then it records no products.
    pub(crate) fn is_semi_honest(self) -> bool {
        self.0 & LEVEL == 1
    }

    pub(crate) fn strand(self) -> u64 {
        self.0 >> LEVEL.count_ones()
    }

    /// Whether both are under engines of one security, or both under none.
    pub(crate) fn is_as_secure_as(self, other: EngineId) -> bool {
        self.0 & LEVEL == other.0 & LEVEL
    }

    /// The engine of a value that is made of values of both. `None` unless both belong to one strand and one
    /// engine, where a value from before the engine began counts as its own.
    pub(crate) fn and(self, other: EngineId) -> Option<EngineId> {
        let without = |engine_id: EngineId| engine_id.under(None);
        let fits = self == other || without(self) == other || self == without(other);
        fits.then_some(EngineId(self.0 | other.0))
    }

    /// Like [`EngineId::and`], but [`EngineId::NONE`] if they do not go together.
    pub(crate) fn merged(self, other: EngineId) -> EngineId {
        self.and(other).unwrap_or(EngineId::NONE)
    }
}

/// Where and when a value was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) engine_id: EngineId,
    /// How many computations had been closed in that strand when it was made.
    pub(crate) closed: u64,
}

impl Origin {
    /// The origin of planes that are not a value yet: no engine accepts them.
    pub(crate) const NONE: Origin = Origin { engine_id: EngineId::NONE, closed: 0 };

    /// The origin of a value that is made of values of both; `None` if they do not go together.
    pub(crate) fn and(self, other: Origin) -> Option<Origin> {
        let engine_id = self.engine_id.and(other.engine_id)?;
        Some(Origin { engine_id, closed: self.closed.max(other.closed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_together_in_one_strand_under_one_engine() {
        let (one, two) = (EngineId::new(), EngineId::new());
        let [malicious, curious] =
            [Security::Malicious, Security::SemiHonest].map(|security| one.under(Some(security)));
        assert!(malicious.and(malicious) == Some(malicious) && one.and(malicious) == Some(malicious));
        assert!(malicious.and(one) == Some(malicious) && curious.and(one) == Some(curious));
        assert!(malicious.and(curious).is_none() && two.and(one).is_none());
        assert!(two.and(malicious).is_none() && EngineId::NONE.and(one).is_none());
        assert!(malicious.under(None) == one && malicious.strand() == one.strand());
        assert!(curious.is_semi_honest() && !malicious.is_semi_honest() && !one.is_semi_honest());
        assert!(malicious.merged(curious) == EngineId::NONE);
    }
}
