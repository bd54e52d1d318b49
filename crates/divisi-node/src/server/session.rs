//! The thread that computes: it joins the other two servers, and does round after round with them. Round by
//! round one of the three proposes what to do next, and they do what all three have received.
//!
//! A round: the leader, which is another server each round, offers steps of requests. All three compare what
//! they have of each. They do the steps on which they agree, first the short messages (those with one key
//! size and one way to compute S-boxes in one computation), then the other steps one by one. A step of which
//! one server lacks a message waits; a step that one server refuses, or on which they differ, is refused
//! without effect on the rest of the round. No server waits for a client.
//!
//! Adversary: one malicious server. As leader it can pass requests over, but it leads only every third round;
//! it can offer steps that nobody asked for, or refuse steps. The servers do a step only if all three
//! received the same request from the client itself. It can propose preprocessing (one-hot vectors, garbled
//! calls), of which the others make what their own history of requests calls for.

mod candidates;

use super::admission::{accept, into_use};
use super::agreement::{
    Candidate, Proposal, RoundTrips, agree_offers, compare_stores, follow, lead, within_budget,
};
use super::execution::{
    InProgress, Ready, StepRun, ended, forget_ended, resume, run_order, run_short, run_step,
};
use super::in_force::MeshInForce;
use super::node::Node;
use super::open::Server;
use super::operator_socket::start;
use super::options::ServerError;
use super::scheduling::{KeyStatus, Kind, Offer, kind, runs_programs};
use crate::error::{ErrorKind, Failed};
use crate::operator::Order;
use crate::request::ConnectionId;
use candidates::candidate;
use divisi_core::{Abort, PartyId, PublicParameters, Session, Step};
use divisi_net::{Mesh, Options, Permits};
use divisi_rep3::{Protocol, Rep3, Rounds, Security, Trio};
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

const JOIN: Step = Step::new("divisi_node::server/join");

/// The duration of one attempt to join the other servers. Clients that wait during it get an answer after it.
const ATTEMPT: Duration = Duration::from_secs(3);
/// The shortest time between the beginnings of two attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// The shortest and the longest pause after a session that ended by an abort.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How long a session must have lasted for the pause to be short again.
const STEADY: Duration = Duration::from_secs(10);
/// The number of the one session of each mesh.
const SESSION: u32 = 1;
/// How long a server waits for messages that a client sent to all three servers at once and that have reached
/// the leader.
const ARRIVAL: Duration = Duration::from_millis(2);
/// After this many rounds without short messages, long steps need no longer be cut small.
const CALM: u32 = 64;
/// How many bytes of hashes and MACs are garbled ahead, once some ran in constant rounds.
const PREPROCESSED: usize = 16 << 20;
/// How long nobody must have asked for anything before something is made ahead.
const IDLE: Duration = Duration::from_millis(20);

impl Server {
    /// Serve until stopped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn run(&self) -> Result<(), ServerError> {
        let node = &*self.node;
        let world = node.world.clone();
        let (ended, end) = channel();
        let socket = self.operator_socket.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (closed, close) = channel();
        let attended = socket.map(|socket| (socket, closed));
        let inside = self.node.clone();
        let accepting =
            world.spawn(format!("clients of {}", node.me), Box::new(move || accept(&inside, &ended)));
        accepting.map_err(|e| ServerError(format!("no thread can be started ({e}): free some memory")))?;
        if let Some((socket, over)) = attended {
            start(&self.node, socket, over);
        }
        let mut pause = PAUSE.0;
        let mut reported = String::new();
        while !node.stop.load(Ordering::SeqCst) {
            let permits = node.options.threads.map_or_else(Permits::unlimited, Permits::new);
            let options = Options { timeout: node.timeout(), permits, ..Options::default() };
            let begun = world.now();
            // what is joined belongs to the parties of now, and ends when these change
            let parties = node.mesh();
            let wait = match Mesh::join_with(&node.listener, ATTEMPT.min(node.config().connect()), &options) {
                Ok(mesh) => {
                    reported.clear();
                    let joined = world.now();
                    match self.session(mesh, &parties) {
                        Err(Ended { abort, compared }) => {
                            node.log(&format!("session ended: {abort}"));
                            let failed = Failed::abort(node.me, &abort, compared);
                            let ended = format!("its last session ended: {abort}");
                            node.report_missing(PartyId::new(failed.peer), ended);
                            node.fail_all(&failed);
                        }
                        Ok(()) => self.parties_changed(),
                    }
                    let steady = world.now().saturating_duration_since(joined) >= STEADY;
                    pause = if steady { PAUSE.0 } else { (pause * 2).min(PAUSE.1) };
                    pause
                }
                Err(e) => {
                    let message = e.to_string();
                    if message != reported {
                        node.log(&format!("not joined: {message}"));
                        node.report_missing(e.missing.iter().map(|(party, _)| *party), message.clone());
                        reported.clone_from(&message);
                    }
                    node.fail_all(&Failed {
                        kind: ErrorKind::Unavailable,
                        retry: true,
                        peer: e.peer().map_or(0, PartyId::number),
                        ..Failed::refused(JOIN, format!("{} has not joined the others: {message}", node.me))
                    });
                    // attempts must overlap those of the others, but not follow each other without end
                    let lasted = world.now().saturating_duration_since(begun);
                    AGAIN.saturating_sub(lasted).max(PAUSE.0)
                }
            };
            // waits as long as the accepting thread lives
            if end.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        node.stop.store(true, Ordering::SeqCst);
        node.schedule(|schedule, now| schedule.close(now));
        node.ended.store(true, Ordering::SeqCst);
        node.tick();
        // the clients' threads send their last messages, and the operator's removes its socket
        let until = world.now() + Duration::from_secs(2);
        let _ = end.recv_timeout(Duration::from_secs(2));
        let _ = close.recv_timeout(until.saturating_duration_since(world.now()));
        Ok(())
    }

    fn session(&self, mesh: Mesh, parties: &MeshInForce) -> Result<(), Ended> {
        #[cfg(test)]
        self.node.options.hand.iter().for_each(|hand| hand(&mesh));
        let mesh = Arc::new(mesh);
        let permit = mesh.permits().enter();
        let result = serve(&self.node, &mesh, parties);
        drop(permit);
        result
    }
}

/// How a session ended.
struct Ended {
    abort: Abort,
    /// Whether the parties had compared their views before, and found them equal.
    compared: bool,
}

/// Serve until the session ends, or the server stops.
///
/// It also ends when the parties in force are not `parties` any more: these were in force before the mesh was
/// joined.
fn serve(node: &Node, mesh: &Arc<Mesh>, parties: &MeshInForce) -> Result<(), Ended> {
    if !node.has_parties(parties) {
        return Ok(());
    }
    *node.joined.lock().unwrap_or_else(PoisonError::into_inner) = parties.digest;
    let parameters = PublicParameters::new("rep3 server")
        .with("security", Security::Malicious.name().as_bytes())
        .with("mesh", &parties.digest)
        .with("parties", &parties.parties)
        .with("stores", &[2]);
    // nothing was said before that could differ
    let early = |abort| Ended { abort, compared: true };
    let mut session = Session::start(mesh, SESSION, &parameters).map_err(early)?;
    compare_stores(node, &mut session).map_err(early)?;
    let mut rep = Rep3::new(Trio::new(session).map_err(early)?, Protocol::Gf4Circuit, Security::Malicious);
    rep.stock_calls(PREPROCESSED);
    let mut state = ServerState {
        node,
        rep,
        ready: Ready::default(),
        in_progress: InProgress::new(),
        since_short: CALM,
        trips: RoundTrips::default(),
        rounds: Rounds::OfLevels,
        counted: HashSet::new(),
    };
    node.operators(|orders, _| orders.rejoined());
    let others = parties.identities.iter().filter(|(party, _)| *party != node.me).copied();
    node.report_joined(others.collect(), node.stores().trouble());
    node.log("joined the other servers");
    let goes_on = || {
        // it may have changed since the last round
        mesh.set_timeout(node.timeout());
        node.has_parties(parties)
    };
    let end = resume(node, &mut state.rep).and_then(|()| rounds(&mut state, &goes_on));
    end.map_err(|abort| Ended { abort, compared: state.rep.trio().is_compared() })
}

/// Round after round, until the server is to stop, or the session does not go on with these parties.
fn rounds(state: &mut ServerState<'_>, goes_on: &dyn Fn() -> bool) -> Result<(), Abort> {
    let node = state.node;
    let mut quiet = IDLE;
    let mut stopping: Option<Instant> = None;
    let now = || node.world.now();
    for leader in PartyId::all(3).collect::<Vec<_>>().into_iter().cycle() {
        if !goes_on() {
            break;
        }
        if node.stop.load(Ordering::SeqCst) {
            let since = *stopping.get_or_insert_with(|| {
                node.report(|schedule, now| schedule.drain(now));
                now()
            });
            let over = now().saturating_duration_since(since) >= node.options.ending;
            if over || !node.schedule(|schedule, _| schedule.is_busy()) {
                break;
            }
        }
        let proposal = state.proposal(leader, quiet, stopping.is_some())?;
        state.heed(leader, &proposal);
        match proposal {
            // give the memory of the last long request back to the system
            Proposal::Nothing => state.rep.release(),
            Proposal::Restock => {
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
            Proposal::Offers(offers, how) => {
                if how != state.rounds {
                    node.log(match how {
                        Rounds::Constant => "hashes, MACs and modes of chained blocks run in constant rounds",
                        _ => "hashes, MACs and modes of chained blocks run level by level",
                    });
                }
                state.rounds = how;
                state.round(leader, &offers)?;
            }
            Proposal::Order(order) => state.order(leader, &order)?,
        }
        node.tick();
        // also requests that ended without a round: by a time limit, with their client, with their key
        state.forget_ended();
    }
    Ok(())
}

/// A session's state, besides the engine: the same at all three servers, except for requests that ended at
/// one of them only.
struct ServerState<'a> {
    node: &'a Node,
    rep: Rep3,
    ready: Ready,
    in_progress: InProgress,
    /// Rounds since the last one with short messages: the same at all three servers, because all three did
    /// those.
    since_short: u32,
    /// The round trips that this server measured as leader.
    trips: RoundTrips,
    /// How the programs of this round run: proposed by the leader, agreed by all.
    rounds: Rounds,
    /// The requests whose use of a key is already counted.
    counted: HashSet<(ConnectionId, u64)>,
}

/// What is known of a key, without a look at the disk.
fn known(node: &Node, ready: &Ready, name: &KeyName) -> KeyStatus {
    let size = node.keys.kind(name).and_then(|kind| KeySize::from_bytes(kind.bytes()));
    KeyStatus { size, is_ready: ready.has_name(name) }
}

impl ServerState<'_> {
    /// Determine what is next: the leader sends it, the others receive it.
    fn proposal(&mut self, leader: PartyId, quiet: Duration, stopping: bool) -> Result<Proposal, Abort> {
        let (node, ready) = (self.node, &self.ready);
        if leader != node.me {
            return follow(node, &mut self.rep, leader);
        }
        lead(node, &mut self.rep, &self.trips, |name| known(node, ready, name), quiet, stopping)
    }

    /// Carry out an order of the operators that the leader proposed.
    fn order(&mut self, leader: PartyId, order: &Order) -> Result<(), Abort> {
        let in_progress = &mut self.in_progress;
        let mut forget = |node: &Node| forget_ended(node, in_progress);
        run_order(self.node, &mut self.rep, &mut self.ready, leader, order, &mut forget)
    }

    /// Note which clients another server passes over when it leads.
    fn heed(&self, leader: PartyId, proposal: &Proposal) {
        let node = self.node;
        let offers: &[Offer] = match proposal {
            _ if leader == node.me => return,
            Proposal::Order(_) => return,
            Proposal::Offers(offers, _) => &offers[..],
            Proposal::Nothing | Proposal::Restock => &[],
        };
        node.schedule(|schedule, _| schedule.led(leader, offers, &|key| known(node, &self.ready, key)));
    }

    /// Do the steps among these offers for which all three servers have the messages.
    fn round(&mut self, leader: PartyId, offers: &[Offer]) -> Result<(), Abort> {
        let node = self.node;
        if leader != node.me {
            node.await_offers(offers, node.world.now() + ARRIVAL);
        }
        let (in_progress, counted) = (&self.in_progress, &mut self.counted);
        let mine = offers.iter().map(|offer| {
            let work = in_progress.get(&(offer.connection, offer.number));
            candidate(node, offer, counted, |data| work.map_or(Ok(()), |work| work.admits(data)))
        });
        let mine = mine.collect();
        let asked = node.world.now();
        let (agreed, refused) = agree_offers(node, &mut self.rep, self.rounds, offers, mine)?;
        if leader == node.me {
            // nobody answers before receiving what this server sent, so that this is a round trip
            let took = node.world.now().saturating_duration_since(asked);
            self.trips.note(took);
        }
        // and nothing else before the end of the round: what all agreed on is done, also if its client left
        refused.iter().for_each(|offer| _ = self.in_progress.remove(&(offer.connection, offer.number)));
        let agreed = within_budget(node, leader, agreed, |id| self.ready.has(id));
        let of = |wanted| move |candidate: &Candidate| kind(&candidate.taken.item) == wanted;
        let (short, others): (Vec<_>, Vec<_>) = agreed.into_iter().partition(of(Kind::Short));
        // a key that is destroyed in this round is not loaded for another request after that
        let (single, long): (Vec<_>, Vec<_>) = others.into_iter().partition(of(Kind::Single));
        self.since_short = if short.is_empty() { self.since_short.saturating_add(1) } else { 0 };
        if !short.is_empty() {
            run_short(node, &mut self.rep, &mut self.ready, short)?;
        }
        for candidate in long.into_iter().chain(single) {
            self.step(candidate)?;
        }
        self.forget_ended();
        Ok(())
    }

    /// Forget the requests that are over, and wipe what they held.
    fn forget_ended(&mut self) {
        forget_ended(self.node, &mut self.in_progress);
        let counted = &mut self.counted;
        self.node.schedule(|schedule, _| counted.retain(|(id, number)| schedule.has(id, *number)));
    }

    /// Do a step by itself.
    fn step(&mut self, candidate: Candidate) -> Result<(), Abort> {
        let node = self.node;
        // while this server waits for another one, the client's time does not pass
        let begun = node.world.thread_time();
        let Candidate { offer, request, taken, data, found, .. } = candidate;
        let loaded = found.map(|found| into_use(node, found));
        let who = &taken.who;
        let small_steps = self.since_short < CALM;
        let (rep, ready) = (&mut self.rep, &mut self.ready);
        rep.use_account([who.name.clone()].into());
        if runs_programs(&taken.item) {
            // a garbled call is named by the request and step that the three compared
            rep.use_handles(&[&request[..], &offer.step.to_le_bytes()].concat());
            rep.use_rounds(self.rounds);
        }
        let mut run = StepRun { node, rep, ready, who, offer, request, small_steps };
        let result = run_step(&mut run, &mut self.in_progress, &taken.item, &data, loaded.as_ref());
        self.rep.use_rounds(Rounds::OfLevels);
        self.rep.use_key(None);
        let took = node.world.thread_time().saturating_sub(begun);
        ended(node, &offer, result, took)
    }

    /// Make something for later requests like those before. The clients that asked for those pay for it: who
    /// uses what was made ahead has used less of the processor's time when it asked.
    fn restock(&mut self) -> Result<(), Abort> {
        let node = self.node;
        let begun = node.world.thread_time();
        let accounts = self.rep.restock()?;
        let took = node.world.thread_time().saturating_sub(begun);
        let each = took / u32::try_from(accounts.len().max(1)).unwrap_or(u32::MAX);
        node.schedule(|schedule, now| {
            accounts.iter().for_each(|clients| schedule.preprocessed(clients, each, now));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
