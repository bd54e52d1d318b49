//! Whether this server has joined the others, for clients that ask how it is.

use crate::request::ConditionReport;
use divisi_core::PartyId;
use std::time::Instant;

/// Whether the others are there, and since when.
pub(super) struct Presence {
    joined: bool,
    missing: Vec<PartyId>,
    since: Instant,
}

impl Presence {
    /// That of a server that has not tried to join the others yet.
    pub fn new(now: Instant) -> Presence {
        Presence { joined: false, missing: Vec::new(), since: now }
    }

    /// The others have been joined, or are not joined any more because these are missing.
    pub fn note(&mut self, joined: bool, missing: impl IntoIterator<Item = PartyId>, now: Instant) {
        if joined != self.joined {
            (self.joined, self.since) = (joined, now);
        }
        self.missing = missing.into_iter().filter(|_| !joined).collect();
        self.missing.sort_unstable();
        self.missing.dedup();
    }

    /// What a client is told. A server that stops serves nobody any more.
    pub fn report(&self, stopping: bool, waiting: usize, now: Instant) -> ConditionReport {
        ConditionReport {
            joined: self.joined && !stopping,
            missing: self.missing.iter().map(|party| party.number()).collect(),
            seconds: now.saturating_duration_since(self.since).as_secs(),
            waiting: waiting as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The time begins anew when the others are joined and when they are lost, and not when more is known of
    /// who is missing.
    #[test]
    fn the_time_is_that_of_the_last_change() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut presence = Presence::new(start);
        let is = |presence: &Presence, seconds: u64| {
            let report = presence.report(false, 2, at(seconds));
            assert_eq!(report.waiting, 2);
            (report.joined, report.missing, report.seconds)
        };
        assert_eq!(is(&presence, 3), (false, vec![], 3));
        presence.note(false, [PartyId::P3, PartyId::P1, PartyId::P3], at(4));
        assert_eq!(is(&presence, 5), (false, vec![1, 3], 5));
        presence.note(true, [PartyId::P1], at(6));
        assert_eq!(is(&presence, 8), (true, vec![], 2));
        assert!(!presence.report(true, 0, at(8)).joined, "it stops");
        presence.note(false, Some(PartyId::P3), at(9));
        presence.note(false, [PartyId::P1, PartyId::P3], at(12));
        assert_eq!(is(&presence, 13), (false, vec![1, 3], 4));
    }
}
