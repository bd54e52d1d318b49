//! One client's connection at a server, and the thread that serves it.
//!
//! Adversary: any client. The server bounds the length of each message, and decodes it whole or not at all. A
//! client may send ahead of its answers, but the server reads only a bounded number of unanswered messages,
//! so that the client can neither fill memory nor delay others; nor does the server compute more answers for
//! a client than the client takes. Numbers of requests count up from 1 [1.11]. A client that asks how the
//! server is ([`ToServer::Status`]) is answered here, by what the server knows; one that asks and does not
//! read is not listened to until it has read.

use super::slots::ConnectionSlot;
use crate::admit::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{IDLE, Reply, ToClient, ToServer, connection_id};
use crate::server::node::Node;
use crate::wire::{LONGEST, VERSIONS, decode, encode, is_foreign};
use divisi_core::Step;
use divisi_net::{Connection, ConnectionError, Duplex, WaitOutcome};
use std::sync::atomic::Ordering;
use std::time::Duration;
use zeroize::Zeroizing;

const BEGIN: Step = Step::new("divisi_node::server::connection/begin");
const TURN: Step = Step::new("divisi_node::server::connection/turn");

/// How often a client that waits learns that it is not forgotten, unless its time limit is short.
const REASSURE: Duration = Duration::from_secs(1);
/// How many answers about itself a server has on the way to a client that still sends.
const REPORTS: u32 = 8;

/// Serve a client until it goes, the server has ended, its slot is given to another client, or it is not in
/// the configuration any more.
pub(crate) fn attend(node: &Node, mut connection: Connection, who: Who, slot: &ConnectionSlot) {
    let me = node.me;
    let mut challenge = [0; 32];
    node.world.entropy(&mut challenge);
    let (lowest, highest) = VERSIONS;
    let welcome = ToClient::Welcome { lowest, highest, party: me.number(), challenge };
    let begun = say(&mut connection, welcome).and_then(|()| receive(&mut connection));
    let Some(ToServer::Begin { version, challenges }) = begun else { return };
    let wrong = if is_foreign(version) {
        format!(
            "this server speaks versions {lowest} to {highest} of the protocol, and the client chose {version}: use \
             releases that have one in common"
        )
    } else if challenges[me.index()] != challenge {
        "the connection did not begin with this server's challenge: connect again".into()
    } else {
        String::new()
    };
    if !wrong.is_empty() {
        say(&mut connection, ToClient::Failed(Failed::refused(BEGIN, wrong)));
        return;
    }
    let id = connection_id(&challenges);
    let Ok((mut duplex, bell)) = Duplex::new(connection) else { return };
    if !node.enter(who.clone(), id, bell) {
        return;
    }
    if queue(&mut duplex, ToClient::Ready).is_some() {
        talk(node, &mut duplex, &id, &who, slot);
    }
    node.leave(&id);
    duplex.close();
}

/// Receive and answer; ends when something is amiss.
fn talk(node: &Node, duplex: &mut Duplex, id: &[u8; 32], who: &Who, slot: &ConnectionSlot) -> Option<()> {
    let reassure = REASSURE.min(duplex.timeout() / 4);
    let mut last_word = node.world.now();
    let mut last_received = last_word;
    let mut reports = 0;
    loop {
        let now = node.world.now();
        let (answers, owes, accepts) = node.schedule(|schedule, _| {
            let answers: Vec<_> = std::iter::from_fn(|| schedule.next_answer(id)).collect();
            (answers, schedule.owes(id), schedule.may_receive(id))
        });
        for answer in &answers {
            duplex.queue(answer).ok()?;
            (last_word, last_received) = (now, now);
        }
        if owes && duplex.is_sent() && now.saturating_duration_since(last_word) >= reassure {
            queue(duplex, ToClient::Waiting)?;
            last_word = now;
        }
        let idle = !owes && answers.is_empty() && duplex.is_sent();
        // `owes`, not `idle`: a connection whose answers are still on their way to a slow client has no
        // request either
        let leaves = slot.leaves((!owes).then_some(last_received));
        if idle {
            let over = [
                (node.ended.load(Ordering::SeqCst), "the server is stopping: try again when it is back"),
                (leaves, "this connection gave way to another client's: try again on a new one"),
            ];
            if let Some((_, message)) = over.iter().find(|(is_so, _)| *is_so) {
                let failed = Failed { retry: true, ..Failed::refused(TURN, *message) };
                return queue(duplex, ToClient::Failed(Failed { kind: ErrorKind::Unavailable, ..failed }));
            }
            if let Err(failed) = node.knows(who) {
                return queue(duplex, ToClient::Failed(failed));
            }
            if now.saturating_duration_since(last_received) >= IDLE {
                return None;
            }
        }
        if duplex.is_sent() {
            reports = 0;
        }
        match duplex.wait((accepts && reports < REPORTS).then_some(LONGEST), now + reassure) {
            Err(e) => {
                if matches!(e, ConnectionError::Timeout(..)) && !duplex.is_sent() {
                    let limit = duplex.timeout();
                    node.schedule(|schedule, _| schedule.is_deaf(id, limit));
                }
                return None;
            }
            Ok(WaitOutcome::Message(bytes)) => {
                last_received = node.world.now();
                let message = decode::<ToServer>(&bytes)?;
                if message == ToServer::Status {
                    if let Err(failed) = node.knows(who) {
                        return queue(duplex, ToClient::Failed(failed));
                    }
                    reports += 1;
                    queue(duplex, ToClient::Condition(node.condition()))?;
                    continue;
                }
                if let Err(fault) =
                    node.report(|schedule, now| schedule.receive(id, message, bytes.len(), now))
                {
                    return queue(duplex, ToClient::Failed(fault));
                }
            }
            Ok(WaitOutcome::Woken | WaitOutcome::Nothing) => {}
        }
        if duplex.is_sent() && node.schedule(|schedule, _| schedule.sent(id)) {
            node.wake();
        }
    }
}

/// Queue a message that belongs to no request.
fn queue(duplex: &mut Duplex, what: ToClient) -> Option<()> {
    let body = what.body();
    duplex.queue(&encode(&Reply::apart(what), body)?).ok()
}

fn say(connection: &mut Connection, what: ToClient) -> Option<()> {
    let body = what.body();
    connection.send(&encode(&Reply::apart(what), body)?).ok()
}

fn receive(connection: &mut Connection) -> Option<ToServer> {
    let bytes = Zeroizing::new(connection.recv(LONGEST).ok()?);
    decode(&bytes)
}
