//! What the leader of a round proposes: steps of requests, one-hot vectors to make, an operator's order, or
//! nothing.

use super::trips::RoundTrips;
use crate::operator::Order;
use crate::server::node::Node;
use crate::server::scheduling::{Budget, KeyStatus, Offer};
use crate::wire::{decode, encode};
use divisi_core::{Abort, PartyId, Step};
use divisi_net::Fault;
use divisi_rep3::{Rep3, Rounds, RoundsChoice};
use divisi_store::KeyName;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) const CALL: Step = Step::new("divisi_node::server::call/call");
pub(crate) const OFFERS: Step = Step::new("divisi_node::server::call/offers");

/// `kind | number of offers, or bytes of an order | digest of the list of clients`
const HEAD: usize = 19;
/// `connection | number | step`
const OFFER: usize = 48;
/// The largest length of an encoded order, in bytes.
const ORDER: usize = 8192;
/// The most offers of a round: what is announced beyond that is malformed.
const MOST: usize = Budget::ROUND.short + Budget::ROUND.single + Budget::ROUND.long;

/// Offers whose programs run level by level, and in constant rounds.
const LEVELS: u8 = 1;
const GARBLED: u8 = 4;

/// How long a leader that is to stop waits for the next step of a request in progress.
const ENDING: Duration = Duration::from_millis(10);

/// What is next.
pub(crate) enum Proposal {
    Nothing,
    /// No request waits: make preprocessing for later requests.
    Restock,
    /// Steps of requests, and how their programs run.
    Offers(Vec<Offer>, Rounds),
    /// An order of the leader's operator.
    Order(Order),
}

/// Determine what is next, as the leader, and send it. If no request came for the time `quiet`, it proposes
/// to make preprocessing. A server that is to stop does not wait for requests. `known` says what is known of
/// a key.
pub(crate) fn lead(
    node: &Node,
    rep: &mut Rep3,
    trips: &RoundTrips,
    known: impl Fn(&KeyName) -> KeyStatus,
    quiet: Duration,
    stopping: bool,
) -> Result<Proposal, Abort> {
    let lacks = rep.lacks_stock();
    let wait = match (stopping, lacks) {
        (true, _) => ENDING,
        (_, true) => node.beat().min(quiet),
        _ => node.beat(),
    };
    let asked = || !stopping && node.operators(|orders, _| orders.has_call());
    let stops = || !stopping && node.stop.load(Ordering::SeqCst);
    let offers = node.plan(Budget::ROUND, node.world.now() + wait, known, || asked() || stops());
    #[cfg(test)]
    let offers = node.offered(offers);
    // one that was told to stop meanwhile makes nothing for later
    let stopping = stopping || stops();
    let order = if stopping { None } else { node.operators(|orders, now| orders.next_call(now)) };
    let proposal = match (order, offers.is_empty(), lacks && !stopping) {
        (Some(order), ..) => Proposal::Order(order),
        (_, false, _) => {
            let lanes = node.schedule(|schedule, _| schedule.programs(&offers));
            Proposal::Offers(offers, rounds_of(node.options.rounds, trips, lanes))
        }
        (.., true) => Proposal::Restock,
        _ => Proposal::Nothing,
    };
    let mut body = Vec::new();
    let (kind, count) = match &proposal {
        Proposal::Nothing => (0, 0),
        Proposal::Restock => (2, 0),
        Proposal::Offers(offers, rounds) => {
            offers.iter().for_each(|offer| write(offer, &mut body));
            (if *rounds == Rounds::Constant { GARBLED } else { LEVELS }, offers.len())
        }
        Proposal::Order(order) => {
            body.extend_from_slice(&encode(order, 0).unwrap_or_default());
            (3, body.len())
        }
    };
    let mut head = [0; HEAD];
    head[0] = kind;
    head[1..3].copy_from_slice(&(count as u16).to_le_bytes());
    head[3..].copy_from_slice(&node.clients());
    let session = rep.trio().session();
    for peer in session.peers() {
        session.send(CALL, peer, &head, 0)?;
        if !body.is_empty() {
            session.send(OFFERS, peer, &body, 0)?;
        }
    }
    rep.trio().absorb("call", &[kind]);
    Ok(proposal)
}

/// How the programs of a round run: each of them is a lane.
pub(crate) fn rounds_of(choice: RoundsChoice, trips: &RoundTrips, lanes: usize) -> Rounds {
    choice.proposes(trips.shortest(), u32::try_from(lanes.max(1)).unwrap_or(u32::MAX))
}

/// Append an offer to a message.
fn write(offer: &Offer, body: &mut Vec<u8>) {
    body.extend(offer.connection);
    body.extend(offer.number.to_le_bytes());
    body.extend(offer.step.to_le_bytes());
}

/// Receive from the leader what is next.
pub(crate) fn follow(node: &Node, rep: &mut Rep3, leader: PartyId) -> Result<Proposal, Abort> {
    let mut head = [0; HEAD];
    rep.trio().session().recv(CALL, leader, &mut head)?;
    node.compare_clients(leader, &head[3..]);
    // a leader that tells the two others different things makes their views differ, and offers are compared
    // before they are done
    rep.trio().absorb("call", &head[..1]);
    let malformed = |step, want, got| Fault::Malformed { peer: leader, step, want, got };
    let (count, rounds) = match announced(&head) {
        Some(Announced::Nothing) => return Ok(Proposal::Nothing),
        Some(Announced::Restock) => return Ok(Proposal::Restock),
        Some(Announced::Order(count)) => return order(rep, leader, count).map(Proposal::Order),
        Some(Announced::Offers(count, rounds)) => (count, rounds),
        None => return Err(rep.trio().session().fail(malformed(CALL, HEAD, HEAD).into())),
    };
    let mut body = vec![0; count * OFFER];
    rep.trio().session().recv(OFFERS, leader, &mut body)?;
    let offers = offers(&body)
        .map_err(|different| rep.trio().session().fail(malformed(OFFERS, different, count).into()))?;
    Ok(Proposal::Offers(offers, rounds))
}

/// The message that a head announces.
#[derive(Debug)]
enum Announced {
    Nothing,
    Restock,
    /// This many offers, and how their programs run.
    Offers(usize, Rounds),
    /// An order of this many bytes.
    Order(usize),
}

/// `None` for a head that no honest leader sends.
fn announced(head: &[u8; HEAD]) -> Option<Announced> {
    match (head[0], usize::from(u16::from_le_bytes([head[1], head[2]]))) {
        (0, 0) => Some(Announced::Nothing),
        (2, 0) => Some(Announced::Restock),
        (3, count) if (1..=ORDER).contains(&count) => Some(Announced::Order(count)),
        (LEVELS, count) if (1..=MOST).contains(&count) => Some(Announced::Offers(count, Rounds::OfLevels)),
        (GARBLED, count) if (1..=MOST).contains(&count) => Some(Announced::Offers(count, Rounds::Constant)),
        _ => None,
    }
}

/// The offers of a message. If a request has several offers, of which only one could be done, the error is
/// the number of different requests.
fn offers(body: &[u8]) -> Result<Vec<Offer>, usize> {
    let offers = body.as_chunks::<OFFER>().0.iter().map(|offer| {
        let (mut connection, mut number, mut step) = ([0; 32], [0; 8], [0; 8]);
        connection.copy_from_slice(&offer[..32]);
        number.copy_from_slice(&offer[32..40]);
        step.copy_from_slice(&offer[40..]);
        Offer { connection, number: u64::from_le_bytes(number), step: u64::from_le_bytes(step) }
    });
    let offers: Vec<Offer> = offers.collect();
    let requests: HashSet<_> = offers.iter().map(|offer| (offer.connection, offer.number)).collect();
    if requests.len() < offers.len() { Err(requests.len()) } else { Ok(offers) }
}

/// The order that a leader announced in this many bytes.
fn order(rep: &mut Rep3, leader: PartyId, count: usize) -> Result<Order, Abort> {
    let mut body = vec![0; count];
    let session = rep.trio().session();
    session.recv(OFFERS, leader, &mut body)?;
    decode::<Order>(&body).filter(Order::is_well_formed).ok_or_else(|| {
        let fault = Fault::Malformed { peer: leader, step: OFFERS, want: ORDER, got: count };
        rep.trio().session().fail(fault.into())
    })
}

#[cfg(test)]
mod fuzz;
