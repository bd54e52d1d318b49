//! `mesh check`: dials every party and reports every link that does not work.

use crate::PartyId;
use crate::config::{Config, ConfigError};
use crate::dial::{ask, dial, version};
use crate::hello::{Hello, Role, Verdict};
use crate::identity::{Fingerprint, Identity};
use crate::interrupt::Interrupt;
use crate::listener::ANSWER;
use crate::status::{LONGEST, ServerStatus};
use crate::trouble::Trouble;
use crate::wire::Wire;
use crate::world::{World, later, lock};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The difference of clocks beyond which there is a warning, in milliseconds.
const SKEW: i64 = 2_000;

/// The contents of a party's greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The lowest and the highest version that it speaks.
    pub versions: (u16, u16),
    /// Whether its configuration names the same parties with the same identities.
    pub same_parties: bool,
    /// Whether it names the same clients with the same identities.
    pub same_clients: bool,
    /// Its clock minus this one's, in milliseconds.
    pub skew_ms: i64,
    /// One round trip with TLS, without the time to connect.
    pub round_trip: Duration,
    /// What it says of itself, if it is a server.
    pub status: Option<ServerStatus>,
}

/// The state of the link to one party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkReport {
    /// The party.
    pub peer: PartyId,
    /// The address dialled.
    pub address: String,
    /// The fingerprint that the configuration pins for it.
    pub pinned: Fingerprint,
    /// The contents of its greeting, or why there was none.
    pub result: Result<Reached, Trouble>,
}

impl LinkReport {
    /// The reason why the link cannot be part of a mesh, if there is one.
    pub fn trouble(&self) -> Option<String> {
        match &self.result {
            Err(trouble) => Some(trouble.to_string()),
            Ok(reached) if !reached.same_parties => {
                Some("has other parties in its configuration: give all parties the same file".into())
            }
            Ok(_) => None,
        }
    }

    /// Why a server whose link works does not serve requests all the same, or what is not right with it, if
    /// anything is: clauses that follow its name.
    pub fn out_of_step(&self, config: &Config) -> Option<String> {
        let reached = self.result.as_ref().ok()?;
        let status = reached.status.as_ref()?;
        let mut clauses = Vec::new();
        if status.session.is_empty() {
            clauses.push("is in no session with the other servers".to_owned());
        }
        for (party, identity) in &status.session {
            let pinned = config.party(*party).ok().map(|party| party.pin.fingerprint());
            if pinned != Some(*identity) {
                clauses.push(format!(
                    "is in a session with {party} of the identity {identity}, which this configuration does not pin"
                ));
            }
        }
        if !status.stores_differ.is_empty() {
            let others: Vec<String> = status.stores_differ.iter().map(ToString::to_string).collect();
            clauses.push(format!("does not have the same keys as {}: see its log", others.join(" and ")));
        }
        if !status.trouble.is_empty() {
            clauses.push(format!("says: {}", status.trouble));
        }
        (!clauses.is_empty()).then(|| clauses.join("; it "))
    }

    /// Whether its clock is far off, which harms logs but no protocol.
    pub fn is_skewed(&self) -> bool {
        self.result.as_ref().is_ok_and(|r| r.skew_ms.abs() > SKEW)
    }
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.result, self.trouble()) {
            (Ok(r), None) => write!(
                f,
                "{} at {} works: identity {}, round trip {:.1} ms, clock {:+} ms{}",
                self.peer,
                self.address,
                self.pinned,
                r.round_trip.as_secs_f64() * 1e3,
                r.skew_ms,
                if r.same_clients { "" } else { "; it has another list of clients" }
            ),
            (_, Some(trouble)) => write!(f, "{} at {} {trouble}", self.peer, self.address),
            (Err(trouble), None) => write!(f, "{} at {} {trouble}", self.peer, self.address),
        }
    }
}

/// Dials every party but the owner of `identity`, all at the same time, each for at most `within`.
pub fn check(
    config: &Config,
    identity: &Arc<Identity>,
    world: &Arc<dyn World>,
    within: Duration,
) -> Result<Vec<LinkReport>, ConfigError> {
    let own = identity.fingerprint();
    let me = config.party_of(own);
    if me.is_none() && config.client_of(own).is_none() {
        return Err(ConfigError::new(format!(
            "this identity ({own}) is in the configuration neither as a party nor as a client: give the right file, \
             or add it with `mesh add`"
        )));
    }
    let number = me.map_or(0, PartyId::number);
    let reports = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for party in config.parties().iter().filter(|p| Some(p.id) != me) {
            let (reports, world) = (&reports, world);
            let report = move |result| {
                let (peer, address) = (party.id, party.address.clone());
                lock(reports).push(LinkReport { peer, address, pinned: party.pin.fingerprint(), result });
            };
            let work = move || report(reach(config, party.id, number, identity, world, within));
            if let Err(e) = std::thread::Builder::new().spawn_scoped(scope, work) {
                report(Err(Trouble::Unreachable { address: party.address.clone(), error: e.to_string() }));
            }
        }
    });
    let mut reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    reports.sort_by_key(|r| r.peer);
    Ok(reports)
}

fn reach(
    config: &Config,
    to: PartyId,
    me: u8,
    identity: &Identity,
    world: &Arc<dyn World>,
    within: Duration,
) -> Result<Reached, Trouble> {
    let until = later(world.now(), within);
    let mut wire = dial(config, to, identity, world, until, &Interrupt::default())?;
    let own = Hello::new(Role::Check, me, to.number(), config.digest(), &**world);
    let (start, sent) = (world.now(), world.unix_time());
    let answer = ask(&mut wire, &own, identity, until)?;
    let round_trip = world.now().saturating_duration_since(start);
    let status = status(&mut wire, until.min(later(world.now(), ANSWER)));
    wire.close();
    match answer.verdict {
        Verdict::Version => return Err(version(&answer)),
        Verdict::NotMe => return Err(Trouble::NotIt),
        _ if answer.me != to.number() => return Err(Trouble::NotIt),
        _ => {}
    }
    let here = i64::try_from((sent + round_trip / 2).as_millis()).unwrap_or(i64::MAX);
    let there = i64::try_from(answer.unix_ms).unwrap_or(i64::MAX);
    Ok(Reached {
        versions: answer.versions,
        same_parties: answer.digest.parties == own.digest.parties,
        same_clients: answer.digest.clients == own.digest.clients,
        skew_ms: there.saturating_sub(here),
        round_trip,
        status,
    })
}

/// What a server says of itself after its greeting. Others say nothing, and close.
fn status(wire: &mut Wire, until: Instant) -> Option<ServerStatus> {
    let mut length = [0; 2];
    wire.read_exact(&mut length, until).ok()?;
    let length = usize::from(u16::from_le_bytes(length));
    let mut bytes = vec![0; Some(length).filter(|length| *length <= LONGEST)?];
    wire.read_exact(&mut bytes, until).ok()?;
    ServerStatus::decode(&bytes)
}
