//! Joining: the parties' listeners become a mesh, in any order of starting.
//!
//! A party dials those with lower numbers and is dialled by the others. The acceptor answers a greeting when
//! it joins, and the dialler confirms the answer: a connection that an earlier attempt left half open cannot
//! do that. A party that has all its connections says so on each, and the mesh is complete when all have said
//! so; a connection that breaks earlier is made again.

use crate::config::Config;
use crate::dial::{dial, greet};
use crate::fabric::{Fabric, Link, Out};
use crate::hello::{Hello, Role};
use crate::interrupt::Interrupt;
use crate::link::TlsLink;
use crate::listener::{ANSWER, Attempt, Listener, Shared};
use crate::mesh::Mesh;
use crate::options::Options;
use crate::push;
use crate::trouble::Trouble;
use crate::wire::{Broken, Wire};
use crate::world::later;
use crate::{PartyId, Step, step};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait before dialling again.
const AGAIN: Duration = Duration::from_millis(100);
/// How long to listen on one connection for its readiness before looking at the next.
const LISTEN: Duration = Duration::from_millis(10);
/// What a party says when it has all its connections.
const READY: u8 = b'r';

/// Why no mesh was made: the missing parties, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinError {
    /// Each party that is missing.
    pub missing: Vec<(PartyId, Trouble)>,
    /// Other peers that connected and were refused since the last attempt to join ended: a peer that came
    /// before this one began may have given up.
    pub refused: Vec<String>,
}

impl JoinError {
    /// The first party that is missing.
    pub fn peer(&self) -> Option<PartyId> {
        self.missing.first().map(|(p, _)| *p)
    }

    /// The step of the join.
    pub fn step(&self) -> Step {
        step!("join")
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the mesh is not complete: ")?;
        for (i, (party, trouble)) in self.missing.iter().enumerate() {
            write!(f, "{}{party} {trouble}", if i > 0 { "; " } else { "" })?;
        }
        for who in &self.refused {
            write!(f, "; turned away: {who}")?;
        }
        Ok(())
    }
}

impl std::error::Error for JoinError {}

/// A connection on its way into the mesh.
struct Seat {
    wire: Wire,
    told: bool,
    ready: bool,
    broken: bool,
}

/// Ends the attempt when the join ends, however it does.
struct Ended<'d>(&'d Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.joining = None;
        state.arrived.clear();
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Mesh {
    /// Joins the other parties of the listener's configuration, with its time limits. May be called again
    /// after the mesh has failed.
    pub fn join(listener: &Listener, within: Duration) -> Result<Self, JoinError> {
        let timeout = listener.config().timeout();
        Self::join_with(listener, within, &Options { timeout, ..Options::default() })
    }

    /// Like [`Self::join`], with all options given by the caller.
    pub fn join_with(listener: &Listener, within: Duration, options: &Options) -> Result<Self, JoinError> {
        let shared = listener.shared();
        let config = shared.config();
        let until = later(shared.world.now(), within);
        let attempt = {
            let mut state = shared.state();
            state.attempts += 1;
            let attempt = Attempt { number: state.attempts, emulated: options.emulation.is_some() };
            state.joining = Some(attempt);
            state.arrived.clear();
            let earlier = std::mem::take(&mut state.troubles);
            state.earlier.extend(earlier.into_iter().filter(|(peer, _)| *peer > shared.me));
            attempt
        };
        shared.changed.notify_all();
        let ended = Ended(shared);
        let peers: Vec<PartyId> =
            config.parties().iter().map(|p| p.id).filter(|id| *id != shared.me).collect();
        for peer in peers.iter().filter(|p| **p < shared.me) {
            call(shared, &config, *peer, attempt, until);
        }
        let mut seats: BTreeMap<PartyId, Seat> = BTreeMap::new();
        while !gather(shared, &peers, &mut seats, until)? || !settle(&mut seats, until) {
            for peer in &peers {
                if seats.get(peer).is_some_and(|seat| seat.broken) {
                    seats.remove(peer);
                    if *peer < shared.me {
                        call(shared, &config, *peer, attempt, until);
                    }
                }
            }
        }
        shared.state().refusals.clear();
        drop(ended);
        build(shared, peers.len() + 1, options, seats)
    }
}

/// Takes in the connections that have come; true when there is one for each peer.
fn gather(
    shared: &Shared,
    peers: &[PartyId],
    seats: &mut BTreeMap<PartyId, Seat>,
    until: Instant,
) -> Result<bool, JoinError> {
    let mut state = shared.state();
    for (peer, wire) in std::mem::take(&mut state.arrived) {
        seats.insert(peer, Seat { wire, told: false, ready: false, broken: false });
    }
    let now = shared.world.now();
    let hopeless = state.troubles.iter().any(|(p, t)| !t.is_passing() && !seats.contains_key(p));
    if hopeless || now >= until || shared.is_closed() {
        let silent = |p: &&PartyId| !seats.get(*p).is_some_and(|seat| seat.ready);
        let why = |p: &PartyId| match state.troubles.get(p).or_else(|| state.earlier.get(p)) {
            Some(trouble) => trouble.clone(),
            None if seats.contains_key(p) || *p < shared.me => Trouble::Silent,
            None => Trouble::Absent,
        };
        let mut missing: Vec<_> = peers.iter().filter(silent).map(|p| (*p, why(p))).collect();
        if hopeless {
            missing.retain(|(_, trouble)| !trouble.is_passing());
        }
        return Err(JoinError { missing, refused: std::mem::take(&mut state.refusals).into() });
    }
    let full = seats.len() == peers.len();
    if !full {
        let nap = until.saturating_duration_since(now).min(AGAIN);
        drop(shared.changed.wait_timeout(state, nap).unwrap_or_else(PoisonError::into_inner));
    }
    Ok(full)
}

/// Says on each connection that this party has all its connections, and learns which peers have theirs; true
/// when all do.
fn settle(seats: &mut BTreeMap<PartyId, Seat>, until: Instant) -> bool {
    for seat in seats.values_mut().filter(|seat| !seat.told) {
        let limit = until.min(seat.wire.now() + ANSWER);
        seat.told = true;
        seat.broken = seat.wire.write_all(&[READY], limit).is_err();
    }
    for seat in seats.values_mut().filter(|seat| !seat.ready && !seat.broken) {
        let mut word = [0];
        match seat.wire.read_exact(&mut word, seat.wire.now() + LISTEN) {
            Ok(()) if word == [READY] => seat.ready = true,
            Err(Broken::Timeout) => {}
            _ => seat.broken = true,
        }
    }
    seats.values().all(|seat| seat.ready && !seat.broken)
}

/// Dials a party until it has answered or the attempt is over, in a thread of its own.
fn call(shared: &Arc<Shared>, config: &Arc<Config>, peer: PartyId, attempt: Attempt, until: Instant) {
    let (inside, config) = (shared.clone(), config.clone());
    let work = move || {
        while inside.is_current(attempt.number) {
            let result = reach(&inside, &config, peer, attempt, until);
            let mut state = inside.state();
            if state.joining.is_none_or(|a| a.number != attempt.number) {
                return;
            }
            let done = match result {
                Ok(wire) => {
                    state.troubles.remove(&peer);
                    state.arrived.insert(peer, wire);
                    true
                }
                Err(trouble) => {
                    let passing = trouble.is_passing();
                    state.troubles.insert(peer, trouble);
                    !passing
                }
            };
            inside.changed.notify_all();
            if done {
                return;
            }
            let again = inside.world.now() + AGAIN;
            loop {
                let nap = again.saturating_duration_since(inside.world.now());
                if nap.is_zero() || inside.is_closed() {
                    break;
                }
                state = inside.changed.wait_timeout(state, nap).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    };
    if let Err(e) = shared.world.spawn(format!("dial {peer}"), Box::new(work)) {
        let trouble = Trouble::Unreachable { address: "this machine".into(), error: e.to_string() };
        shared.state().troubles.insert(peer, trouble);
    }
}

/// One call: connects, greets, and confirms the answer.
fn reach(
    shared: &Shared,
    config: &Config,
    peer: PartyId,
    attempt: Attempt,
    until: Instant,
) -> Result<Wire, Trouble> {
    let mut wire = dial(config, peer, &shared.identity, &shared.world, until, &Interrupt::default())?;
    let mut hello =
        Hello::new(Role::Party, shared.me.number(), peer.number(), config.digest(), &*shared.world);
    hello.emulated = attempt.emulated;
    let answer = greet(&mut wire, &hello, &shared.identity, until)?;
    if !shared.is_current(attempt.number) {
        return Err(Trouble::Closed);
    }
    wire.write_all(&answer.nonce, shared.world.now() + ANSWER).map_err(|_| Trouble::Closed)?;
    Ok(wire)
}

/// Makes links of the connections.
fn build(
    shared: &Shared,
    n: usize,
    options: &Options,
    mut seats: BTreeMap<PartyId, Seat>,
) -> Result<Mesh, JoinError> {
    let (me, world) = (shared.me, &shared.world);
    let stamped = options.emulation.is_some();
    let failed = |peer: PartyId, what: String| JoinError {
        missing: vec![(peer, Trouble::NotDivisi { what })],
        refused: Vec::new(),
    };
    let mut links = Vec::with_capacity(n);
    for peer in PartyId::all(n) {
        let Some(seat) = seats.remove(&peer) else {
            links.push(None);
            continue;
        };
        // Bound to who dialled and who answered.
        let roles = [me.max(peer).number(), me.min(peer).number()];
        let secret =
            seat.wire.secret(&[&b"link"[..], &roles].concat()).map_err(|e| failed(peer, format!("{e:?}")))?;
        let (socket, tls) = seat.wire.into_parts();
        let link =
            TlsLink::new(socket, tls, stamped, options.buffer).map_err(|e| failed(peer, e.to_string()))?;
        links.push(Some(Link::new(peer, options, Out::Tls(Box::new(link)), secret)));
    }
    let fabric = Arc::new(Fabric::new(me, world.clone(), options, links));
    for (peer, link) in fabric.links() {
        if let Out::Tls(tls) = &link.out {
            tls.begin(&fabric, peer);
        }
    }
    let (pump, inside) = (fabric.pump.clone(), Arc::downgrade(&fabric));
    world
        .spawn(format!("pump of {me}"), Box::new(move || push::run(&pump, &inside)))
        .map_err(|e| failed(me, e.to_string()))?;
    Ok(Mesh::from_fabric(fabric))
}

#[cfg(test)]
mod tests;
