//! How servers are, as a client learns it outside of requests.

use super::harness::{BUSY, ServersHarness, encrypt, eventually, with_key, world};
use super::rogue::Rogue;
use crate::request::{Item, ToClient, ToServer, UNANSWERED};
use crate::{Client, Condition, Error, ErrorKind, ServerConnection};
use divisi_net::PartyId;
use std::net::TcpListener;
use std::time::Duration;

fn of_all(client: &mut Client) -> Vec<Condition> {
    client.status(BUSY).into_iter().map(|(_, condition)| condition.unwrap()).collect()
}

/// How one server is, on a connection of its own.
pub(super) fn of_one(harness: &ServersHarness, party: PartyId) -> Result<Condition, Error> {
    ServerConnection::connect(&harness.config, party, harness.identity("alice"), world(), BUSY)?.status()
}

/// Wait until these servers say this of themselves.
fn until(harness: &ServersHarness, parties: &[PartyId], joined: bool, missing: &[PartyId]) {
    for party in parties {
        eventually(4 * BUSY, || match of_one(harness, *party).map_err(|e| e.to_string())? {
            condition if (condition.joined, &condition.missing[..]) == (joined, missing) => Ok(()),
            condition => Err(format!("{party}: {condition:?}")),
        });
    }
}

/// Servers that have joined each other say so, and since when; it is no request, and requests go on after it.
#[test]
fn servers_say_since_when_they_have_joined() {
    let (harness, mut alice, key) = with_key(&[]);
    let before = alice.requests();
    for condition in of_all(&mut alice) {
        assert!(condition.joined && condition.missing.is_empty() && condition.waiting == 0, "{condition:?}");
    }
    harness.pass(Duration::from_secs(7));
    for (condition, party) in of_all(&mut alice).into_iter().zip(PartyId::all(3)) {
        assert!(condition.since >= Duration::from_secs(7), "{condition:?}");
        assert_eq!(of_one(&harness, party).unwrap().joined, condition.joined);
    }
    assert_eq!(alice.requests(), before);
    encrypt(&mut alice, &key, b"", b"x").unwrap();
    assert_eq!(alice.requests(), before + 1);
    harness.assert_unharmed();
}

/// While a server is missing the others answer, without a session, and name it.
#[test]
fn who_is_missing_is_named() {
    let mut harness = ServersHarness::new();
    let mut alice = harness.connect("alice");
    harness.stop(1);
    for (party, condition) in alice.status(BUSY) {
        match condition {
            Ok(condition) => assert!(party != PartyId::P2, "{condition:?}"),
            Err(e) => {
                assert_eq!((party, e.kind, e.retry), (PartyId::P2, ErrorKind::Unavailable, true), "{e}");
            }
        }
    }
    until(&harness, &[PartyId::P1, PartyId::P3], false, &[PartyId::P2]);
    harness.stop(2);
    until(&harness, &[PartyId::P1], false, &[PartyId::P2, PartyId::P3]);
    (1..3).for_each(|i| harness.start(i, None));
    until(&harness, &[PartyId::P1, PartyId::P2, PartyId::P3], true, &[]);
}

/// Whoever asks again and again before it reads gets every answer, and is served afterwards.
#[test]
fn whoever_asks_often_gets_every_answer() {
    let (harness, _, _) = with_key(&[]);
    let mut rogue = Rogue::connect(&harness, "alice");
    (0..1000).for_each(|_| rogue.say(0, &ToServer::Status));
    for _ in 0..1000 {
        assert!(matches!(rogue.receive(0), Some(ToClient::Condition(_))));
    }
    let answers = rogue.exchange(|_| ToServer::Request { number: 1, item: Item::KeyList { after: None } });
    assert!(answers.iter().all(|answer| matches!(answer, Some(ToClient::Keys { .. }))), "{answers:?}");
    harness.assert_unharmed();
}

/// Whoever asks again and again and reads nothing is not heard any more when some answers wait, whether or
/// not it has a request under way: what it has asked then is answered as things are when it is heard.
#[test]
fn who_reads_no_answer_is_not_heard() {
    let (mut harness, alice, _) = with_key(&[]);
    drop(alice);
    // where the system takes few bytes ahead, a few thousand answers are too many
    harness.stop(0);
    let address = harness.config.parties()[0].address.clone();
    let listener = eventually(4 * BUSY, || TcpListener::bind(&address));
    rustix::net::sockopt::set_socket_send_buffer_size(&listener, 4096).unwrap();
    harness.start(0, Some(listener));
    drop(harness.served_again("alice"));
    for asks in [false, true] {
        let (mut rogue, ahead) = (Rogue::connect(&harness, "alice"), Duration::from_secs(7));
        if asks {
            // the two others never hear of it
            rogue.say(0, &ToServer::Request { number: 1, item: Item::KeyList { after: None } });
        }
        let before = of_one(&harness, PartyId::P1).unwrap().since;
        let ask = |rogue: &mut Rogue| (0..6000).for_each(|_| rogue.say(0, &ToServer::Status));
        ask(&mut rogue);
        // while another one gets as many answers, all that is heard of the first one is heard
        let mut other = Rogue::connect(&harness, "alice");
        ask(&mut other);
        (0..6000).for_each(|_| drop(other.receive(0).unwrap()));
        harness.pass(ahead);
        let is_later = |answer| match answer {
            Some(ToClient::Condition(report)) => Duration::from_secs(report.seconds) >= before + ahead,
            // on a slow machine the request has been given up
            Some(ToClient::Failed(_)) => false,
            other => panic!("{other:?}"),
        };
        let later = (0..6000).position(|_| is_later(rogue.receive(0)));
        assert!(later.is_some(), "{asks}");
    }
}

/// A client that is far ahead of its answers is not heard, whatever it says, until it has got one.
#[test]
fn who_is_far_ahead_is_not_heard() {
    let harness = ServersHarness::new();
    let mut rogue = Rogue::connect(&harness, "alice");
    // the two others never hear of these
    for number in 1..=UNANSWERED as u64 + 2 {
        rogue.say(0, &ToServer::Request { number, item: Item::KeyList { after: None } });
    }
    rogue.say(0, &ToServer::Status);
    assert!(matches!(rogue.receive(0), Some(ToClient::Failed(_))));
}

/// A client that is taken out of the configuration learns nothing more, and has no connection any more,
/// although it asks nothing.
#[test]
fn who_is_no_client_any_more_learns_nothing() {
    let (harness, mut alice, _) = with_key(&[]);
    let mut silent = Rogue::connect(&harness, "alice");
    let text = harness.config.to_toml();
    let blocks: Vec<&str> = text.split("[[client]]").filter(|block| !block.contains("\"alice\"")).collect();
    harness.reload(0, divisi_net::Config::parse(&blocks.join("[[client]]")).unwrap());
    let (party, condition) = alice.status(BUSY).remove(0);
    assert_eq!((party, condition.unwrap_err().kind), (PartyId::P1, ErrorKind::Refused));
    let told = silent.receive(0);
    assert!(matches!(&told, Some(ToClient::Failed(failed)) if failed.kind == ErrorKind::Refused), "{told:?}");
}
