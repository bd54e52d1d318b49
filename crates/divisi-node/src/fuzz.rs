//! Fuzz targets for the decoders of messages between clients and servers, and of operators' orders.

use crate::operator::{Answer, Asking, Deed, Order, OrderState};
use crate::request::tests::{client_messages, server_messages};
use crate::request::{Item, KeyEntry, Reply, ToClient, ToServer};
use crate::wire::{decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Run a decoder on random bytes that begin as these messages.
fn run<M: Serialize>(
    name: &str,
    messages: impl IntoIterator<Item = M>,
    judge: fn(&[u8]) -> Result<bool, String>,
) {
    let seeds = messages.into_iter().filter_map(|message| encode(&message, 0)).map(|bytes| bytes.to_vec());
    let (crate_dir, seeds) = (env!("CARGO_MANIFEST_DIR"), seeds.collect::<Vec<_>>());
    divisi_fuzz::golden(name, crate_dir, &seeds);
    divisi_fuzz::run(name, crate_dir, &seeds, judge);
}

/// Whether these bytes are a message to a server. If so, it is examined as a server does before it admits
/// anything, and must be the same after it was encoded and decoded again.
fn request(bytes: &[u8]) -> Result<bool, String> {
    let Some(message) = decode::<ToServer>(bytes) else { return Ok(false) };
    if let ToServer::Request { item, .. } = &message
        && item.is_well_formed()
    {
        let _ = (item.is_short(), item.key(), item.summary());
        if let Item::Hash { asked, .. } | Item::Mac { asked, .. } = item {
            let _ = asked.settings();
        }
        if let Item::Mode(asked) = item {
            let _ = (asked.misfit(), asked.verb());
        }
    }
    let again = encode(&message, bytes.len()).ok_or("a message that cannot be written")?;
    match decode::<ToServer>(&again) {
        Some(same) if same == message => Ok(true),
        _ => Err("another message when read again".into()),
    }
}

/// Whether these bytes are an answer to a client. If so, they are encoded and decoded again, which must give
/// the same answer.
fn answer(bytes: &[u8]) -> Result<bool, String> {
    let Some(reply) = decode::<Reply>(bytes) else { return Ok(false) };
    if let ToClient::Keys { keys, .. } = &reply.what {
        let _ = keys.iter().all(KeyEntry::is_well_formed);
    }
    if let ToClient::Condition(report) = &reply.what {
        let _ = report.clone().of(divisi_core::PartyId::P1);
    }
    let again = encode(&reply, bytes.len()).ok_or("an answer that cannot be written")?;
    if decode::<Reply>(&again).as_ref() == Some(&reply) { Ok(true) } else { Err("another answer".into()) }
}

/// Orders about a key, as they go from server to server.
fn some_orders() -> Vec<Order> {
    let key: divisi_store::KeyName = "k1".parse().unwrap();
    let to = ["bob".to_owned(), "alice".to_owned(), "carol".to_owned()].to_vec();
    vec![Order::chown(key.clone(), to), Order { key, deed: Deed::Destroy }]
}

/// Whether these bytes are an order of another server. If so, it is examined as a server does before it
/// compares the order, and must be the same after it was encoded and decoded again.
fn order(bytes: &[u8]) -> Result<bool, String> {
    let Some(order) = decode::<Order>(bytes) else { return Ok(false) };
    let _ = (order.is_well_formed(), order.digest(), order.to_string());
    let again = encode(&order, 0).ok_or("an order that cannot be written")?;
    if decode::<Order>(&again).as_ref() == Some(&order) { Ok(true) } else { Err("another order".into()) }
}

/// Whether these bytes are a message on the socket of a server's operator. If so, its encoding must be the
/// same after it was decoded again.
fn said<M: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<bool, String> {
    let Some(said) = decode::<M>(bytes) else { return Ok(false) };
    let once = encode(&said, bytes.len()).ok_or("what cannot be written")?;
    let twice = decode::<M>(&once).and_then(|said| encode(&said, bytes.len()));
    if twice.is_some_and(|twice| *twice == *once) { Ok(true) } else { Err("another one".into()) }
}

#[test]
fn random_orders() {
    run("orders", some_orders(), order);
    let asking = some_orders().into_iter().map(|order| Asking { party: 2, fingerprint: [7; 32], order });
    run("operators", asking, said::<Asking>);
}

#[test]
fn random_answers_to_operators() {
    let states = [
        OrderState::Asked { waiting: vec![1, 3], differs: vec![3] },
        OrderState::Done,
        OrderState::Failed("the files differ".into()),
    ];
    let answers = states.map(Answer::State).into_iter().chain([Answer::Refused("no such key".into())]);
    run("answers-to-operators", answers, said::<Answer>);
}

// messages of every kind: those of the test of golden bytes

#[test]
fn random_requests() {
    run("requests", client_messages().into_iter().map(|(message, _)| message), request);
}

#[test]
fn random_answers() {
    let replies = server_messages().into_iter().map(|(what, _)| Reply { number: 1, nth: 0, what });
    run("answers", replies, answer);
}
