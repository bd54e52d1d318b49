//! Which party to name when a command fails: from what the parties said, and from who ended or fell silent.

use crate::failure::{Failure, Kind};
use divisi_net::PartyId;

/// What went wrong at parties: whose output ended, who said what, and who said nothing when the others did.
#[derive(Default)]
pub(super) struct Wrong {
    pub(super) ended: Vec<PartyId>,
    pub(super) said: Vec<(PartyId, Failure)>,
    pub(super) silent: Vec<PartyId>,
}

impl Wrong {
    pub(super) fn is_something(&self) -> bool {
        !self.ended.is_empty() || !self.said.is_empty()
    }

    /// A party whose link others have lost, and which has neither failed itself nor ended.
    pub(super) fn lost(&self) -> Option<PartyId> {
        let mut lost =
            self.said.iter().filter(|(_, f)| f.retry).filter_map(|(_, f)| f.peer.and_then(PartyId::new));
        lost.find(|party| !self.ended.contains(party) && !self.said.iter().any(|(by, _)| by == party))
    }

    /// The one failure of the command. It is, in this order: that of a process that ended without a report;
    /// that of the only process that runs and is silent, because a healthy one soon reports that a session
    /// ended; a report that names a party which reported nothing; the report of a party that is named; the
    /// first report.
    pub(super) fn failure(self, step: &str, end: impl FnOnce(PartyId) -> (String, String)) -> Failure {
        let reported = |party: PartyId| self.said.iter().any(|(by, _)| *by == party);
        let named = |failure: &Failure| failure.peer.and_then(PartyId::new);
        let noticed = |party: PartyId| {
            self.said.iter().find(|(_, failure)| named(failure) == Some(party)).or(self.said.first())
        };
        let step_of = |said: Option<&(PartyId, Failure)>| {
            said.and_then(|(_, f)| f.step.clone()).unwrap_or_else(|| step.to_owned())
        };
        if let Some(silent) = self.ended.iter().copied().find(|party| !reported(*party)) {
            let (how, said) = end(silent);
            let said = if said.is_empty() { said } else { format!(", saying {said:?}") };
            let at = step_of(noticed(silent));
            let error = format!("the process of {silent} ended at {at} ({how}{said}): run the command again");
            return Failure { retry: true, ..Failure::new(Kind::Abort, error).with_peer(silent).at(at) };
        }
        if let [silent] = self.silent[..] {
            let said = noticed(silent);
            let told =
                said.map(|(by, failure)| format!(" ({by} says: {})", failure.error)).unwrap_or_default();
            let at = step_of(said);
            let error =
                format!("{silent} has said nothing since {at}: check whether its process is stopped{told}");
            return Failure { retry: true, ..Failure::new(Kind::Abort, error).with_peer(silent).at(at) };
        }
        let of_silent =
            self.said.iter().find(|(_, failure)| named(failure).is_some_and(|peer| !reported(peer)));
        let of_named =
            self.said.iter().find(|(by, _)| self.said.iter().any(|(_, other)| named(other) == Some(*by)));
        match of_silent.or(of_named).or(self.said.first()) {
            Some((by, failure)) => Failure {
                error: format!("{by} says: {}", failure.error),
                peer: failure.peer.or(Some(by.number())),
                step: failure.step.clone().or(Some(step.to_owned())),
                ..failure.clone()
            },
            None => Failure::new(Kind::Abort, format!("the parties ended at {step}: run the command again"))
                .at(step),
        }
    }
}
