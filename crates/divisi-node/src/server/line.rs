//! One client's connection at a server: the thread that talks with it.
//!
//! Adversary: any client. What it sends is bounded in length and decoded whole or not at all; it has one message under way at
//! a time, so that it can neither fill memory nor hold up anybody but itself. Numbers of requests count up from 1 [1.11].

use super::desk::{Desk, Line};
use crate::admit::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{ITEMS, ToClient, ToServer, connection_id};
use crate::wire::{LONGEST, VERSIONS, decode, encode};
use divisi_core::{PartyId, Step, step};
use divisi_net::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zeroize::Zeroizing;

const BEGIN: Step = step!("begin");
const TURN: Step = step!("turn");

/// How long a client may say nothing between its requests.
const IDLE: Duration = Duration::from_secs(300);
/// How often a client that waits hears that it is not forgotten, unless its time limit is short.
const REASSURE: Duration = Duration::from_secs(1);

/// Serve a client until it goes, or the server stops.
pub(crate) fn attend(desk: &Arc<Desk>, mut connection: Connection, me: PartyId, who: Who, stop: &AtomicBool) {
    let mut challenge = [0; 32];
    desk.world.entropy(&mut challenge);
    let (lowest, highest) = VERSIONS;
    let welcome = ToClient::Welcome { lowest, highest, party: me.number(), challenge };
    let begun = say(&mut connection, &welcome).and_then(|()| {
        let within = connection.timeout();
        hear(&mut connection, within)
    });
    let Some(ToServer::Begin { version, challenges }) = begun else { return };
    if challenges[me.index()] != challenge || !(lowest..=highest).contains(&version) {
        let message = "the connection did not begin with this server's challenge: connect again";
        say(&mut connection, &ToClient::Failed(Failed::refused(BEGIN, message)));
        return;
    }
    let Some(line) = desk.enter(who, connection_id(&challenges)) else { return };
    if say(&mut connection, &ToClient::Ready).is_some() {
        talk(desk, &mut connection, &line, stop);
    }
    desk.leave(&line);
}

/// Message and answer by turns; ends when something is amiss.
fn talk(desk: &Desk, connection: &mut Connection, line: &Line, stop: &AtomicBool) -> Option<()> {
    let mut last = 0;
    let reassure = REASSURE.min(connection.timeout() / 4);
    loop {
        let message = hear(connection, IDLE)?;
        let fault = match &message {
            ToServer::Begin { .. } => Some("the connection has begun already"),
            ToServer::Request { number, .. } if *number != last + 1 => {
                Some("requests are numbered from 1 in each connection, and no number comes twice")
            }
            ToServer::Request { items, .. } if items.is_empty() || items.len() > ITEMS => {
                Some("a request has 1 to 64 items")
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return say(connection, &ToClient::Failed(Failed::refused(TURN, fault))).and(None);
        }
        if let ToServer::Request { number, .. } = &message {
            last = *number;
        }
        desk.post(line, message, || Failed::refused(TURN, "what was sent belongs to no request"));
        let answer = loop {
            if let Some(answer) = line.await_answer(reassure, &*desk.world) {
                break answer;
            }
            if stop.load(Ordering::SeqCst) {
                let message = "the server stops: try again when it is back";
                let failed = Failed { retry: true, ..Failed::refused(TURN, message) };
                let failed = Failed { kind: ErrorKind::Unavailable, ..failed };
                return say(connection, &ToClient::Failed(failed)).and(None);
            }
            say(connection, &ToClient::Waiting)?;
        };
        say(connection, &answer)?;
    }
}

fn say(connection: &mut Connection, message: &ToClient) -> Option<()> {
    connection.send(&encode(message, message.body())?).ok()
}

fn hear(connection: &mut Connection, within: Duration) -> Option<ToServer> {
    let bytes = Zeroizing::new(connection.recv_within(LONGEST, within).ok()?);
    decode(&bytes)
}
