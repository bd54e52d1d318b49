//! What the server that leads a round says is next: steps to offer, one-hot vectors to make, or nothing.

use super::desk::Offer;
use super::dispatch::House;
use super::plan::Budget;
use divisi_core::{Abort, PartyId, Step, step};
use divisi_net::Fault;
use std::collections::HashSet;
use std::time::Duration;

const CALL: Step = step!("call");
const OFFERS: Step = step!("offers");

/// `kind | number of offers | digest of the list of clients`
const HEAD: usize = 19;
/// `connection | number | step`
const OFFER: usize = 48;
/// The most offers of a round: what is announced beyond that is malformed.
const MOST: usize = Budget::ROUND.short + Budget::ROUND.single + Budget::ROUND.long;

/// How long a server that is to stop waits for the next step of what is under way.
const ENDING: Duration = Duration::from_millis(10);

/// What is next.
pub(super) enum Call {
    Nothing,
    /// Nobody asks for anything: make one-hot vectors for those who will.
    Restock,
    Offers(Vec<Offer>),
}

/// Say or hear what is next; that vectors are to be made if nobody asked for anything for so long. A server
/// that is to stop does not wait for requests.
pub(super) fn next(
    house: &mut House<'_>,
    leader: PartyId,
    quiet: Duration,
    stopping: bool,
) -> Result<Call, Abort> {
    if leader == house.node.me { lead(house, quiet, stopping) } else { follow(house, leader) }
}

fn lead(house: &mut House<'_>, quiet: Duration, stopping: bool) -> Result<Call, Abort> {
    let counter = &house.node.counter;
    let lacks = house.rep.lacks_vectors();
    let wait = match (stopping, lacks) {
        (true, _) => ENDING,
        (_, true) => house.node.beat.min(quiet),
        _ => house.node.beat,
    };
    let offers = counter.plan(Budget::ROUND, counter.world.now() + wait);
    let call = match (offers.is_empty(), lacks && !stopping) {
        (false, _) => Call::Offers(offers),
        (_, true) => Call::Restock,
        _ => Call::Nothing,
    };
    let mut body = Vec::new();
    let kind = match &call {
        Call::Nothing => 0,
        Call::Restock => 2,
        Call::Offers(offers) => {
            for Offer { connection, number, step } in offers {
                body.extend(connection);
                body.extend(number.to_le_bytes());
                body.extend(step.to_le_bytes());
            }
            1
        }
    };
    let mut head = [0; HEAD];
    head[0] = kind;
    head[1..3].copy_from_slice(&((body.len() / OFFER) as u16).to_le_bytes());
    head[3..].copy_from_slice(&house.node.clients());
    let session = house.rep.trio().session();
    for peer in session.peers() {
        session.send(CALL, peer, &head, 0)?;
        if !body.is_empty() {
            session.send(OFFERS, peer, &body, 0)?;
        }
    }
    house.rep.trio().absorb("call", &[kind]);
    Ok(call)
}

fn follow(house: &mut House<'_>, leader: PartyId) -> Result<Call, Abort> {
    let mut head = [0; HEAD];
    house.rep.trio().session().recv(CALL, leader, &mut head)?;
    house.node.compare_clients(leader, &head[3..]);
    // whoever calls two servers for different things makes their views differ, and offers are compared before
    // they are done
    house.rep.trio().absorb("call", &head[..1]);
    let count = usize::from(u16::from_le_bytes([head[1], head[2]]));
    match head[0] {
        0 if count == 0 => return Ok(Call::Nothing),
        2 if count == 0 => return Ok(Call::Restock),
        1 if (1..=MOST).contains(&count) => {}
        _ => {
            let fault = Fault::Malformed { peer: leader, step: CALL, want: HEAD, got: HEAD };
            return Err(house.rep.trio().session().fail(fault.into()));
        }
    }
    let mut body = vec![0; count * OFFER];
    house.rep.trio().session().recv(OFFERS, leader, &mut body)?;
    let offers = body.as_chunks::<OFFER>().0.iter().map(|offer| {
        let (mut connection, mut number, mut step) = ([0; 32], [0; 8], [0; 8]);
        connection.copy_from_slice(&offer[..32]);
        number.copy_from_slice(&offer[32..40]);
        step.copy_from_slice(&offer[40..]);
        Offer { connection, number: u64::from_le_bytes(number), step: u64::from_le_bytes(step) }
    });
    let offers: Vec<Offer> = offers.collect();
    let requests: HashSet<_> = offers.iter().map(|offer| (offer.connection, offer.number)).collect();
    if requests.len() < offers.len() {
        // one step of a request is done once
        let fault = Fault::Malformed { peer: leader, step: OFFERS, want: requests.len(), got: offers.len() };
        return Err(house.rep.trio().session().fail(fault.into()));
    }
    Ok(Call::Offers(offers))
}
