//! One session of the three servers. Round by round one of them proposes what to do next, and they do what
//! all three have received.
//!
//! A round: the leader, which is another server each round, offers steps of requests ([`super::plan`]). All
//! three compare what they have of each: the public part among all \[A25\], each secret component between its
//! holders \[A24\], stored keys likewise \[A26\]. They do the steps on which they agree, first the short
//! texts (those with one key size and one way to compute S-boxes in one computation), then the other steps
//! one by one. A step of which one server lacks a message waits; a step that one server refuses, or on which
//! they differ, is refused without effect on the rest of the round. No server waits for a client.
//!
//! Adversary: one malicious server. As leader it can pass requests over, but it leads only every third round;
//! it can offer steps that nobody asked for, or refuse steps. The servers do a step only if all three
//! received the same request from the client itself. It can propose preprocessing (one-hot vectors, garbled
//! calls), of which the others make what their own history of requests calls for.

mod compare;

use super::Node;
use super::in_force::MeshInForce;
use super::intake::{After, Offer};
use super::plan::{Budget, RoundPlan};
use super::ready::Ready;
use super::script::{Kind, cost, kind, runs_programs};
use super::state::{Candidate, ServerState};
use super::trips::RoundTrips;
use super::turn::Turn;
use super::work::{Under, step};
use super::{call, clients, orders, shorts, stores, work};
use crate::error::Stop;
use compare::Missing;
use divisi_core::{Abort, PartyId, PublicParameters, Session, Step};
use divisi_net::Mesh;
use divisi_rep3::{Protocol, Rep3, Rounds, Security, Trio};
use divisi_symmetric::aes::KeySize;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

const LOAD: Step = Step::new("divisi_node::server::dispatch/load");
const REQUEST: Step = Step::new("divisi_node::server::dispatch/request");

/// The number of the one session of each mesh.
const SESSION: u32 = 1;
/// How long a server waits for messages that a client sent to all three servers at once and that have reached
/// the leader.
const ARRIVAL: Duration = Duration::from_millis(2);
/// After this many rounds without short texts, long steps need no longer be cut small.
const CALM: u32 = 64;
/// How many bytes of hashes and MACs are garbled ahead, once some ran in constant rounds.
const AHEAD: usize = 16 << 20;
/// How long nobody must have asked for anything before something is made ahead.
const IDLE: Duration = Duration::from_millis(20);

/// How a session ended.
pub(crate) struct Ended {
    pub abort: Abort,
    /// Whether the parties had compared their views before, and found them equal.
    pub compared: bool,
}

/// Serve until the session ends, or the server stops.
///
/// It also ends when the parties in force are not `parties` any more: these were in force before the mesh was
/// joined.
pub(crate) fn serve(node: &Node, mesh: &Arc<Mesh>, parties: &MeshInForce) -> Result<(), Ended> {
    if !node.has_parties(parties) {
        return Ok(());
    }
    *node.joined.lock().unwrap_or_else(PoisonError::into_inner) = parties.digest;
    let parameters = PublicParameters::new("rep3 server")
        .with("security", Security::Malicious.name().as_bytes())
        .with("mesh", &parties.digest)
        .with("parties", &parties.parties)
        .with("stores", &[1]);
    // nothing was said before that could differ
    let early = |abort| Ended { abort, compared: true };
    let mut session = Session::start(mesh, SESSION, &parameters).map_err(early)?;
    stores::compare(node, &mut session).map_err(early)?;
    let mut rep = Rep3::new(Trio::new(session).map_err(early)?, Protocol::Gf4Circuit, Security::Malicious);
    rep.stock_calls(AHEAD);
    let mut state = ServerState {
        node,
        rep,
        ready: Ready::default(),
        under: Under::new(),
        since_short: CALM,
        trips: RoundTrips::default(),
        rounds: Rounds::OfLevels,
        counted: HashSet::new(),
    };
    node.operators(|orders, _| orders.rejoined());
    let others = parties.identities.iter().filter(|(party, _)| *party != node.me).copied();
    node.tell_status(others.collect(), node.trouble_of_stores());
    node.log("joined the other servers");
    let goes_on = || {
        // it may have changed since the last round
        mesh.set_timeout(node.timeout());
        node.has_parties(parties)
    };
    let end = clients::resume(node, &mut state.rep).and_then(|()| rounds(&mut state, &goes_on));
    end.map_err(|abort| Ended { abort, compared: state.rep.trio().is_compared() })
}

/// Round after round, until the server is to stop, or the session does not go on with these parties.
fn rounds(state: &mut ServerState<'_>, goes_on: &dyn Fn() -> bool) -> Result<(), Abort> {
    let node = state.node;
    let mut quiet = IDLE;
    let mut stopping: Option<Instant> = None;
    let now = || node.shared.world.now();
    for leader in PartyId::all(3).collect::<Vec<_>>().into_iter().cycle() {
        if !goes_on() {
            break;
        }
        if node.stop.load(Ordering::SeqCst) {
            let since = *stopping.get_or_insert_with(|| {
                node.shared.tell(|intake, now| intake.drain(now));
                now()
            });
            let over = now().saturating_duration_since(since) >= node.options.ending;
            if over || !node.shared.with(|intake, _| intake.is_busy()) {
                break;
            }
        }
        let call = call::next(state, leader, quiet, stopping.is_some())?;
        state.heed(leader, &call);
        match call {
            // give the memory of the last long request back to the system
            call::Call::Nothing => state.rep.release(),
            call::Call::Restock => {
                let (lacked, begun) = (state.rep.lacks_stock(), now());
                state.restock()?;
                // on slow links this takes longer, and clients that come meanwhile wait: demand a silence of
                // the same length before the next time
                quiet = IDLE.max(now().saturating_duration_since(begun));
                if lacked && !state.rep.lacks_stock() {
                    let mebibytes = state.rep.stocked_bytes() as f64 / f64::from(1 << 20);
                    node.log(&format!("{mebibytes:.1} MiB made ahead are in stock"));
                }
            }
            call::Call::Offers(offers, how) => {
                if how != state.rounds {
                    node.log(match how {
                        Rounds::Constant => "hashes, MACs and modes of chained blocks run in constant rounds",
                        _ => "hashes, MACs and modes of chained blocks run level by level",
                    });
                }
                state.rounds = how;
                state.round(leader, &offers)?;
            }
            call::Call::Order(order) => orders::run(state, leader, &order)?,
        }
        node.tick();
        // also requests that ended without a round: by a time limit, with their client, with their key
        state.forget_ended();
    }
    Ok(())
}

impl ServerState<'_> {
    /// Note which clients another server passes over when it leads.
    fn heed(&self, leader: PartyId, call: &call::Call) {
        let offers: &[Offer] = match call {
            _ if leader == self.node.me => return,
            call::Call::Order(_) => return,
            call::Call::Offers(offers, _) => &offers[..],
            call::Call::Nothing | call::Call::Restock => &[],
        };
        self.node.shared.with(|intake, _| intake.led(leader, offers, &|key| self.known(key)));
    }

    /// Do the steps among these offers for which all three servers have the messages.
    fn round(&mut self, leader: PartyId, offers: &[Offer]) -> Result<(), Abort> {
        let shared = &self.node.shared;
        if leader != self.node.me {
            shared.await_offers(offers, shared.world.now() + ARRIVAL);
        }
        let mine: Vec<Result<Candidate, Missing>> =
            offers.iter().map(|offer| self.candidate(offer)).collect();
        let asked = shared.world.now();
        let agreed = self.agree(offers, mine)?;
        if leader == self.node.me {
            // nobody answers before receiving what this server sent, so that this is a round trip
            let took = shared.world.now().saturating_duration_since(asked);
            self.trips.note(took);
        }
        let agreed = self.within_budget(leader, agreed);
        let of = |wanted| move |candidate: &Candidate| kind(&candidate.taken.item) == wanted;
        let (short, others): (Vec<_>, Vec<_>) = agreed.into_iter().partition(of(Kind::Short));
        // a key that is destroyed in this round is not loaded for another request after that
        let (single, long): (Vec<_>, Vec<_>) = others.into_iter().partition(of(Kind::Single));
        self.since_short = if short.is_empty() { self.since_short.saturating_add(1) } else { 0 };
        if !short.is_empty() {
            shorts::run(self, short)?;
        }
        for candidate in long.into_iter().chain(single) {
            self.step(candidate)?;
        }
        self.forget_ended();
        Ok(())
    }

    /// Forget the requests that are over, and wipe what they held.
    fn forget_ended(&mut self) {
        work::forget_ended(self.node, &mut self.under);
        let counted = &mut self.counted;
        self.node.shared.with(|intake, _| counted.retain(|(id, number)| intake.has(id, *number)));
    }

    /// Of the requests that all three servers have, take those that fit into a round, whatever the leader
    /// offered. The others go back and wait.
    fn within_budget(&mut self, leader: PartyId, agreed: Vec<Candidate>) -> Vec<Candidate> {
        let mut left = RoundPlan::new(Budget::ROUND);
        let mut kept = Vec::with_capacity(agreed.len());
        for candidate in agreed {
            let item = &candidate.taken.item;
            let info = candidate.found.as_ref().map(|found| found.info());
            let makes = info.map(|info| info.id).filter(|id| !self.ready.has(id));
            let size = info.and_then(|info| KeySize::from_bytes(info.kind.bytes()));
            if left.take(kind(item), cost(item, size), makes) {
                kept.push(candidate);
            } else {
                let messages = candidate.taken.messages;
                let offer = &candidate.offer;
                self.node.shared.with(|intake, now| intake.put_back(offer, messages, leader, now));
            }
        }
        kept
    }

    /// Do a step by itself.
    fn step(&mut self, candidate: Candidate) -> Result<(), Abort> {
        let node = self.node;
        // while this server waits for another one, the client's time does not pass
        let begun = node.shared.world.thread_time();
        let Candidate { offer, request, taken, given, found, .. } = candidate;
        let loaded = found.map(|found| found.agreed(node));
        let who = &taken.who;
        let brisk = self.since_short < CALM;
        let (rep, ready) = (&mut self.rep, &mut self.ready);
        rep.use_account([who.name.clone()].into());
        if runs_programs(&taken.item) {
            // a garbled call is named by the request and step that the three compared
            rep.use_handles(&[&request[..], &offer.step.to_le_bytes()].concat());
            rep.use_rounds(self.rounds);
        }
        let mut turn = Turn { node, rep, ready, who, offer, request, brisk };
        let result = step(&mut turn, &mut self.under, &taken.item, &given, loaded.as_ref());
        self.rep.use_rounds(Rounds::OfLevels);
        self.rep.use_key(None);
        let took = node.shared.world.thread_time().saturating_sub(begun);
        self.ended(&offer, result, took)
    }

    /// Make something for later requests like those before. The clients that asked for those pay for it: who
    /// uses what was made ahead has used less of the processor's time when it asked.
    pub(super) fn restock(&mut self) -> Result<(), Abort> {
        let shared = &self.node.shared;
        let begun = shared.world.thread_time();
        let accounts = self.rep.restock()?;
        let took = shared.world.thread_time().saturating_sub(begun);
        let each = took / u32::try_from(accounts.len().max(1)).unwrap_or(u32::MAX);
        shared.with(|intake, now| accounts.iter().for_each(|clients| intake.made_ahead(clients, each, now)));
        Ok(())
    }

    /// Note how a step ended, and how much of the processor's time it took here.
    pub(super) fn ended(
        &mut self,
        offer: &Offer,
        result: Result<After, Stop>,
        took: Duration,
    ) -> Result<(), Abort> {
        let shared = &self.node.shared;
        match result {
            Ok(after) => shared.with(|intake, now| intake.ran(offer, after, took, now)),
            Err(Stop::Refused(failed)) => {
                shared.with(|intake, now| intake.charge(offer, took, now));
                self.under.remove(&(offer.connection, offer.number));
                shared.fail(&offer.connection, offer.number, failed);
            }
            Err(Stop::Abort(abort)) => return Err(abort),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
