//! Whether the three servers serve, as a program in front of them must know it at any moment.
//!
//! A thread for each server asks it four times a second how it is, over a connection of its own. That costs
//! no round of the three, and no request waits for it: whoever wants to know reads what the last answers
//! were. A server that is killed closes its connection, which is seen with the next question at the latest.
//!
//! Adversary: one malicious server. It can make the three look as if they did not serve, as it can make them
//! not serve; who is named is a hint for the operators.

use super::{ServerConnection, of_three};
use crate::error::{Error, ErrorKind, parties};
use crate::request::Condition;
use divisi_core::{PartyId, Step, step};
use divisi_net::{Config, Identity, World};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const HEALTH: Step = step!("health");

/// The pause between two questions to a server.
const EVERY: Duration = Duration::from_millis(250);
/// How long a server may take to answer, or to accept a connection.
const LIMIT: Duration = Duration::from_millis(700);

/// Watches the three servers, until it is dropped.
pub struct HealthWatch {
    watch: Arc<Watch>,
}

/// What the threads share.
#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    last: HealthReport,
    is_over: bool,
}

/// What the servers answered last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HealthReport {
    servers: [Option<Result<Condition, Error>>; 3],
}

impl HealthWatch {
    /// Begin to watch the servers as the client with this `identity`, over one connection to each.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the configuration is not one of three parties; [`ErrorKind::Unavailable`] if
    /// no thread can be started.
    pub fn start(
        config: &Config,
        identity: &Arc<Identity>,
        world: &Arc<dyn World>,
    ) -> Result<HealthWatch, Error> {
        of_three(config)?;
        // if a thread cannot be started, those before it end with this
        let health = HealthWatch { watch: Arc::default() };
        for party in PartyId::all(3) {
            let (watch, config) = (health.watch.clone(), config.clone());
            let (identity, world_of_thread) = (identity.clone(), world.clone());
            let work = move || watch.follow(&config, party, &identity, &world_of_thread);
            world.spawn(format!("health of {party}"), Box::new(work)).map_err(|e| {
                let message = format!("no thread can be started ({e}): free some memory");
                Error { retry: true, ..Error::new(ErrorKind::Unavailable, HEALTH, message) }
            })?;
        }
        Ok(health)
    }

    /// What the servers answered last; it does not wait.
    #[must_use]
    pub fn report(&self) -> HealthReport {
        self.watch.lock().last.clone()
    }
}

impl Drop for HealthWatch {
    fn drop(&mut self) {
        self.watch.lock().is_over = true;
        self.watch.ended.notify_all();
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watch one server until the end.
    fn follow(&self, config: &Config, party: PartyId, identity: &Identity, world: &Arc<dyn World>) {
        let mut connection = None;
        loop {
            let answer = ask(&mut connection, config, party, identity, world);
            let mut state = self.lock();
            if let Some(place) = state.last.servers.get_mut(party.index()) {
                *place = Some(answer);
            }
            let waited = self.ended.wait_timeout_while(state, EVERY, |state| !state.is_over);
            if waited.unwrap_or_else(PoisonError::into_inner).0.is_over {
                return;
            }
        }
    }
}

/// Ask a server how it is, over a new connection if the old one was closed: a server may close one for
/// reasons of its own.
fn ask(
    connection: &mut Option<ServerConnection>,
    config: &Config,
    party: PartyId,
    identity: &Identity,
    world: &Arc<dyn World>,
) -> Result<Condition, Error> {
    let begun = world.now();
    if let Some(open) = connection {
        match open.status() {
            // it is silent, and would be so again
            Err(error) if world.now().saturating_duration_since(begun) >= LIMIT => return Err(error),
            // over a connection that failed once nothing is asked any more
            Err(_) => {}
            condition => return condition,
        }
    }
    connection.insert(ServerConnection::connect(config, party, identity, world.clone(), LIMIT)?).status()
}

impl HealthReport {
    /// What this server answered last: how it is, or why there is no answer; `None` before the first.
    #[must_use]
    pub fn of(&self, party: PartyId) -> Option<&Result<Condition, Error>> {
        self.servers.get(party.index())?.as_ref()
    }

    /// Whether all three have been asked: of each it is known how it is, or why there is no answer.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.servers.iter().all(Option::is_some)
    }

    /// Whether all three answer, and each says that it has joined the others and serves with them.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        self.conditions().filter(|(_, condition)| condition.joined).count() == 3
    }

    /// The servers to blame if the three do not serve: those that do not answer; if all answer, those that
    /// others miss or whose store is lost; if there is none, those that have not joined the others. Empty if
    /// they serve.
    #[must_use]
    pub fn missing(&self) -> Vec<PartyId> {
        let apart = || self.conditions().filter(|(_, condition)| !condition.joined);
        let silent: Vec<_> = self.silent().collect();
        let missed = |party: &PartyId| apart().any(|(_, condition)| condition.missing.contains(party));
        let missed = PartyId::all(3).filter(|party| missed(party) || self.is_lost(*party)).collect();
        [silent, missed, apart().map(|(party, _)| party).collect()]
            .into_iter()
            .find(|parties| !parties.is_empty())
            .unwrap_or_default()
    }

    /// What is wrong, as one sentence; `None` if the three serve.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let missing = self.missing();
        let named = parties(missing.iter().copied());
        if missing.is_empty() {
            None
        } else if self.silent().next().is_some() {
            Some(format!("no answer from {named}: check that it runs"))
        } else if missing.iter().all(|party| self.is_lost(*party)) {
            Some(lost(&named))
        } else {
            Some(format!("the servers have not joined each other, because of {named}: its log says more"))
        }
    }

    /// Why this server is among the [`HealthReport::missing`], as a sentence.
    #[must_use]
    pub fn reason(&self, party: PartyId) -> String {
        match self.of(party) {
            None => format!("{party} has not been asked yet"),
            Some(Err(e)) if e.kind == ErrorKind::Unavailable => {
                format!("no answer from {party}: check that it runs")
            }
            Some(Err(e)) => e.message.clone(),
            Some(Ok(_)) if self.is_lost(party) => lost(&party.to_string()),
            Some(Ok(_)) => format!("{party} has not joined the others: its log says more"),
        }
    }

    /// Whether a server says that the store of this one is lost.
    fn is_lost(&self, party: PartyId) -> bool {
        self.conditions().any(|(_, condition)| !condition.joined && condition.lost.contains(&party))
    }

    fn conditions(&self) -> impl Iterator<Item = (PartyId, &Condition)> {
        PartyId::all(3).zip(&self.servers).filter_map(|(party, place)| match place {
            Some(Ok(condition)) => Some((party, condition)),
            _ => None,
        })
    }

    fn silent(&self) -> impl Iterator<Item = PartyId> {
        PartyId::all(3).filter(move |party| !matches!(self.of(*party), Some(Ok(_))))
    }
}

/// The sentence about a server whose store is lost.
fn lost(named: &str) -> String {
    format!("nothing is served while the store of keys of {named} is empty: its log says what to do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ServersHarness;
    use divisi_net::Machine;

    const P1: PartyId = PartyId::P1;
    const P2: PartyId = PartyId::P2;
    const P3: PartyId = PartyId::P3;

    /// An answer of a server that has joined the others, or that misses these.
    fn is(joined: bool, missing: &[PartyId]) -> Option<Result<Condition, Error>> {
        let (missing, lost, since) = (missing.to_vec(), Vec::new(), Duration::ZERO);
        Some(Ok(Condition { joined, missing, lost, since, waiting: 0 }))
    }

    /// A server that was started again answers the first question: the old connection is not its last word.
    #[test]
    fn a_closed_connection_is_made_anew_at_once() {
        let mut harness = ServersHarness::new();
        let (config, alice) = (harness.config.clone(), harness.identity("alice").clone());
        let mut connection = None;
        let mut ask = || super::ask(&mut connection, &config, P1, &alice, &(Arc::new(Machine) as _));
        ask().unwrap();
        harness.stop(0);
        harness.start(0, None);
        ask().unwrap();
    }

    /// Servers that are joined, and whose store is empty while another one has keys is told by all three.
    #[test]
    fn who_lost_its_store_is_named() {
        let is = || {
            let (missing, lost, since) = (Vec::new(), vec![P3], Duration::ZERO);
            Some(Ok(Condition { joined: false, missing, lost, since, waiting: 0 }))
        };
        let report = HealthReport { servers: [is(), is(), is()] };
        assert!(!report.is_serving());
        assert_eq!(report.missing(), [P3]);
        let words = "the store of keys of party 3 is empty";
        assert!(report.trouble().unwrap().contains(words), "{:?}", report.trouble());
        assert!(report.reason(P3).contains(words) && !report.reason(P1).contains(words));
    }

    /// Who does not answer is named first, then whom others miss, then who has not joined.
    #[test]
    fn who_is_missing_is_named() {
        let joined = || is(true, &[]);
        let gone = || Some(Err(Error::new(ErrorKind::Unavailable, HEALTH, "gone")));
        let cases: [([Option<Result<Condition, Error>>; 3], &[PartyId]); 8] = [
            ([joined(), joined(), joined()], &[]),
            ([joined(), gone(), joined()], &[P2]),
            ([is(false, &[P2]), gone(), is(false, &[P1, P2])], &[P2]),
            ([gone(), gone(), is(false, &[P1, P2])], &[P1, P2]),
            ([joined(), None, joined()], &[P2]),
            ([is(false, &[P3]), joined(), joined()], &[P3]),
            ([is(false, &[P3]), is(false, &[]), is(false, &[P1])], &[P1, P3]),
            ([joined(), is(false, &[]), joined()], &[P2]),
        ];
        for (servers, missing) in cases {
            let report = HealthReport { servers };
            assert_eq!(report.missing(), missing, "{report:?}");
            assert_eq!(report.is_serving(), missing.is_empty(), "{report:?}");
            let trouble = report.trouble().unwrap_or_default();
            assert_eq!(trouble.is_empty(), missing.is_empty());
            assert!(missing.iter().all(|party| trouble.contains(&party.to_string())), "{trouble}");
        }
        assert_eq!(HealthReport::default().missing(), [P1, P2, P3]);
        let refused = Some(Err(Error::new(ErrorKind::Refused, HEALTH, "the client is not known")));
        let report = HealthReport { servers: [gone(), refused, is(false, &[P1])] };
        let reasons = [P1, P2, P3].map(|party| report.reason(party));
        let [silent, apart] =
            ["no answer from party 1: check that it", "party 3 has not joined the others: its"];
        assert!(reasons[0].starts_with(silent) && reasons[2].starts_with(apart), "{reasons:?}");
        assert_eq!(reasons[1], "the client is not known");
        assert_eq!(HealthReport::default().reason(P2), "party 2 has not been asked yet");
        let asked = |unasked: Option<usize>| {
            let mut servers = [joined(), gone(), is(false, &[P1])];
            unasked.into_iter().for_each(|i| servers[i] = None);
            HealthReport { servers }.is_complete()
        };
        assert!(asked(None) && (0..3).all(|i| !asked(Some(i))));
    }
}
