//! What a server says of itself to a client that asks how it is, outside of requests.

use divisi_core::PartyId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a server is, by its own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it has joined the other two, so that the three serve requests.
    pub joined: bool,
    /// If it has not: whom it misses, as far as it knows. The server with which it fell out counts as missing
    /// until the next attempt to join says more.
    pub missing: Vec<PartyId>,
    /// Since when it has or has not joined them, in whole seconds.
    pub since: Duration,
    /// How many requests of all clients wait for their first step.
    pub waiting: u64,
}

/// The same on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConditionReport {
    pub joined: bool,
    /// The numbers of the missing parties.
    pub missing: Vec<u8>,
    pub seconds: u64,
    pub waiting: u64,
}

impl ConditionReport {
    /// What server `of` reports; `None` if no honest server reports this.
    pub fn of(self, of: PartyId) -> Option<Condition> {
        let ConditionReport { joined, missing, seconds, waiting } = self;
        let others = |party: &PartyId| PartyId::all(3).any(|other| other == *party) && *party != of;
        let ascends = missing.windows(2).all(|pair| pair[0] < pair[1]);
        let missing: Option<Vec<_>> =
            missing.into_iter().map(|number| PartyId::new(number).filter(others)).collect();
        let missing = missing.filter(|missing| ascends && (!joined || missing.is_empty()))?;
        Some(Condition { joined, missing, since: Duration::from_secs(seconds), waiting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server misses others, each once and in order, and nobody once it has joined them.
    #[test]
    fn a_report_that_no_honest_server_makes_is_none() {
        let of = |joined, missing: &[u8]| {
            let report = ConditionReport { joined, missing: missing.to_vec(), seconds: 3, waiting: 4 };
            report.of(PartyId::P2)
        };
        let good: [(bool, &[u8]); 5] =
            [(true, &[]), (false, &[]), (false, &[1]), (false, &[3]), (false, &[1, 3])];
        for (joined, missing) in good {
            let condition = of(joined, missing).unwrap();
            assert_eq!((condition.joined, condition.since.as_secs(), condition.waiting), (joined, 3, 4));
            assert_eq!(condition.missing.iter().map(|party| party.number()).collect::<Vec<_>>(), missing);
        }
        let bad: [(bool, &[u8]); 7] = [
            (true, &[1]),
            (false, &[0]),
            (false, &[2]),
            (false, &[4]),
            (false, &[3, 1]),
            (false, &[1, 1]),
            (false, &[1, 2, 3]),
        ];
        for (joined, missing) in bad {
            assert_eq!(of(joined, missing), None, "{missing:?}");
        }
    }
}
