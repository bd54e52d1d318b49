//! How often each leader has passed over each client. A corrupt leader can keep a client waiting in each
//! round that it leads; the two others serve the client, and their logs name leader and client.

use divisi_core::PartyId;
use std::collections::{BTreeMap, BTreeSet};

/// If a leader leaves out a client with a waiting request in this many of the rounds that it leads, one after
/// the other, it is no accident. A few such rounds can be due to messages that have not reached the leader
/// yet.
pub(super) const SUSPICIOUS: u32 = 32;

/// How many rounds in succession each leader has passed over each client.
#[derive(Default)]
pub(super) struct Leads(BTreeMap<(u8, String), u32>);

impl Leads {
    /// Count a round of this leader, in which it offered steps of some of the connected clients and passed
    /// over others. Returns those of the latter for which that is suspicious now.
    pub fn count(
        &mut self,
        leader: PartyId,
        connected: &BTreeSet<&str>,
        offered: &BTreeSet<&str>,
        passed: BTreeSet<&str>,
    ) -> Vec<String> {
        let number = leader.number();
        self.0.retain(|(party, client), _| {
            connected.contains(client.as_str()) && (*party != number || !offered.contains(client.as_str()))
        });
        let mut named = Vec::new();
        for client in passed {
            let count = self.0.entry((number, client.to_owned())).or_default();
            *count = count.saturating_add(1);
            if *count == SUSPICIOUS {
                named.push(client.to_owned());
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rounds of a leader without a break count, for each client; another leader's, and those before the
    /// client connected again or was offered something, do not.
    #[test]
    fn a_leader_that_passes_a_client_over_is_told_once() {
        let [none, a, both] =
            [&[][..], &["a"], &["a", "b"]].map(|of| of.iter().copied().collect::<BTreeSet<&str>>());
        let (one, other) = (PartyId::P1, PartyId::P2);
        // what happens in the middle, and whether the count goes on
        for (leader, connected, offered, goes_on) in [
            (one, &both, &none, true),
            (other, &both, &a, true),
            (other, &both, &none, true),
            (one, &both, &a, false),
            (one, &none, &none, false),
            (other, &none, &none, false),
        ] {
            let mut leads = Leads::default();
            let half = SUSPICIOUS / 2;
            for _ in 0..half {
                assert!(leads.count(one, &both, &none, a.clone()).is_empty());
            }
            assert!(leads.count(leader, connected, offered, none.clone()).is_empty());
            let left = if goes_on { SUSPICIOUS - half } else { SUSPICIOUS };
            for round in 1..2 * SUSPICIOUS {
                let told = leads.count(one, &both, &none, a.clone());
                assert_eq!(told.len(), usize::from(round == left), "{leader} {goes_on} {round}");
            }
        }
    }
}
