//! What a server says of itself to a client that asks how it is, outside of requests.

use divisi_core::PartyId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a server is, by its own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it has joined the other two, and the three serve requests.
    pub joined: bool,
    /// If it has not: whom it misses, as far as it knows. The server with which it fell out counts as missing
    /// until the next attempt to join says more.
    pub missing: Vec<PartyId>,
    /// If they are joined and yet serve nothing: whose store of keys is empty while another server has keys.
    pub lost: Vec<PartyId>,
    /// Since when `joined` is so, in whole seconds.
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
    /// The numbers of the parties whose store is lost.
    pub lost: Vec<u8>,
    pub seconds: u64,
    pub waiting: u64,
}

impl ConditionReport {
    /// What server `of` reports; `None` if no honest server reports this.
    pub fn of(self, of: PartyId) -> Option<Condition> {
        let ConditionReport { joined, missing, lost, seconds, waiting } = self;
        let (missing, lost) = (servers(&missing)?, servers(&lost)?);
        // nobody misses itself, and only those that miss nobody compare their stores
        let reasons = [&missing, &lost].into_iter().filter(|parties| !parties.is_empty()).count();
        let fits = !missing.contains(&of) && reasons <= usize::from(!joined);
        fits.then(|| Condition { joined, missing, lost, since: Duration::from_secs(seconds), waiting })
    }
}

/// The servers with these numbers; `None` unless each is one of the three, once and in order.
fn servers(numbers: &[u8]) -> Option<Vec<PartyId>> {
    let ascends = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    let server = |number: &u8| PartyId::all(3).find(|party| party.number() == *number);
    numbers.iter().map(server).collect::<Option<Vec<_>>>().filter(|_| ascends)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server misses others, each once and in order, and nobody once it has joined them.
    #[test]
    fn a_report_that_no_honest_server_makes_is_none() {
        let of = |joined, missing: &[u8]| {
            let (missing, lost) = (missing.to_vec(), Vec::new());
            ConditionReport { joined, missing, lost, seconds: 3, waiting: 4 }.of(PartyId::P2)
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
        // a store is lost only where the servers are joined and serve nothing, a server's own one included
        let lost = |joined, missing: &[u8], lost: &[u8]| {
            let (missing, lost) = (missing.to_vec(), lost.to_vec());
            ConditionReport { joined, missing, lost, seconds: 3, waiting: 4 }.of(PartyId::P2)
        };
        assert_eq!(lost(false, &[], &[2, 3]).unwrap().lost, [PartyId::P2, PartyId::P3]);
        for (joined, missing, numbers) in
            [(true, &[][..], &[2][..]), (false, &[1], &[2]), (false, &[], &[3, 2]), (false, &[], &[4])]
        {
            assert_eq!(lost(joined, missing, numbers), None, "{numbers:?}");
        }
    }
}
