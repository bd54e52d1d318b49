//! Whether this server has joined the others and serves with them, for clients that ask how it is.

use crate::request::ConditionReport;
use divisi_core::PartyId;
use std::time::Instant;

/// Whether the three serve, and since when.
pub(super) struct Presence {
    serves: bool,
    missing: Vec<PartyId>,
    /// The joined servers whose store is lost, so that nothing is served.
    lost: Vec<PartyId>,
    since: Instant,
}

impl Presence {
    /// That of a server that has not tried to join the others yet.
    pub fn new(now: Instant) -> Presence {
        Presence { serves: false, missing: Vec::new(), lost: Vec::new(), since: now }
    }

    /// The others have been joined, and these servers' stores are lost.
    pub fn joined(&mut self, lost: Vec<PartyId>, now: Instant) {
        self.turn(lost.is_empty(), now);
        self.missing.clear();
        self.lost = lost;
    }

    /// The others are not joined, or not any more, because these are missing.
    pub fn apart(&mut self, missing: impl IntoIterator<Item = PartyId>, now: Instant) {
        self.turn(false, now);
        self.missing = missing.into_iter().collect();
        self.missing.sort_unstable();
        self.missing.dedup();
        self.lost.clear();
    }

    fn turn(&mut self, serves: bool, now: Instant) {
        if serves != self.serves {
            (self.serves, self.since) = (serves, now);
        }
    }

    /// What a client is told. A server that stops serves nobody any more.
    pub fn report(&self, stopping: bool, waiting: usize, now: Instant) -> ConditionReport {
        ConditionReport {
            joined: self.serves && !stopping,
            missing: self.missing.iter().map(|party| party.number()).collect(),
            lost: self.lost.iter().map(|party| party.number()).collect(),
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
        presence.apart([PartyId::P3, PartyId::P1, PartyId::P3], at(4));
        assert_eq!(is(&presence, 5), (false, vec![1, 3], 5));
        presence.joined(Vec::new(), at(6));
        assert_eq!(is(&presence, 8), (true, vec![], 2));
        assert!(!presence.report(true, 0, at(8)).joined, "it stops");
        presence.apart(Some(PartyId::P3), at(9));
        presence.apart([PartyId::P1, PartyId::P3], at(12));
        assert_eq!(is(&presence, 13), (false, vec![1, 3], 4));
    }

    /// Servers that are joined while a store is lost serve nothing, and so do not say that they do.
    #[test]
    fn a_lost_store_is_no_service() {
        let start = Instant::now();
        let later = start + Duration::from_secs(3);
        let mut presence = Presence::new(start);
        presence.joined(vec![PartyId::P3], later);
        let report = presence.report(false, 0, later);
        assert_eq!((report.joined, report.missing, report.lost, report.seconds), (false, vec![], vec![3], 3));
        presence.apart([PartyId::P2], later);
        let report = presence.report(false, 0, later);
        assert_eq!((report.joined, report.missing, report.lost), (false, vec![2], vec![]));
        presence.joined(Vec::new(), later);
        let report = presence.report(false, 0, later);
        assert_eq!((report.joined, report.lost, report.seconds), (true, vec![], 0));
    }
}
