//! Clients that deviate: each ends its own request and nobody else's.

use super::digest::{mac, verify};
use super::harness::{BUSY, ServersHarness, TIMEOUT, encrypt, flipped, text, with_alice, world};
use super::rogue::Rogue;
use crate::request::{FunctionRequest, Item, SboxChoice, Tag, ToClient, ToServer};
use crate::wire::{Blob, LONGEST, VERSIONS};
use crate::{CHUNK, ErrorKind, KeyName, KeyType};
use divisi_rep3::deal;
use divisi_symmetric::algorithm::Settings;
use std::time::Instant;

/// So much associated data that a message is not short: each step is answered by itself.
const LONG: usize = 17_000;

pub(super) fn item(key: &KeyName, length: u64) -> Item {
    Item::Encrypt { key: key.clone(), aad: Blob(vec![0; LONG]), length, way: SboxChoice::DEFAULT }
}

/// The same without associated data.
pub(super) fn short(key: &KeyName, length: u64) -> Item {
    Item::Encrypt { key: key.clone(), aad: Blob(vec![]), length, way: SboxChoice::DEFAULT }
}

/// The part of each server of some text, as it goes into a message.
pub(super) fn parts(text: &[u8]) -> [Vec<u8>; 3] {
    deal::split(text, |out| world().entropy(out)).map(|part| [&part.first[..], &part.second].concat())
}

/// Check that all these servers refuse at this step, for a reason with these words. A server that has not yet
/// received the wrong message knows only the request, and that another server refused it; not all can be in
/// that state.
pub(super) fn refused(answers: &[Option<ToClient>], words: &str, step: &str) {
    let mut told = 0;
    for answer in answers {
        let Some(ToClient::Failed(failed)) = answer else { panic!("answered: {answer:?}") };
        assert_eq!(failed.kind, ErrorKind::Refused);
        assert!([step, "request"].iter().any(|step| failed.step.ends_with(step)), "{}", failed.step);
        let tells = failed.message.contains(words);
        let refused = failed.step.ends_with("request") && failed.message.contains("refused this input");
        assert!(tells || refused, "{}", failed.message);
        told += usize::from(tells);
    }
    assert!(told > 0, "all three only learned of it: {answers:?}");
}

/// The servers continue as if nothing had been.
pub(super) fn unharmed(harness: &ServersHarness, key: &KeyName) {
    let mut alice = harness.connect("alice");
    encrypt(&mut alice, key, b"", b"text").unwrap();
    harness.assert_unharmed();
}

/// Servers among which nobody is meant to be late, with a key.
pub(super) fn harness() -> (ServersHarness, KeyName) {
    keyed(ServersHarness::patient(|_| {}))
}

/// Servers that wait for nobody long, with a key.
fn hurried() -> (ServersHarness, KeyName) {
    keyed(ServersHarness::new())
}

fn keyed(harness: ServersHarness) -> (ServersHarness, KeyName) {
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    (harness, key)
}

/// A24: parts that are no sharing of anything, in each of the six places where a component can be wrong.
#[test]
fn inconsistent_parts_are_refused_before_they_are_used() {
    let (harness, key) = harness();
    let mut rogue = Rogue::connect(&harness, "alice");
    for place in 0..6u64 {
        let number = place + 1;
        let begun = rogue.exchange(|_| ToServer::Request { number, item: item(&key, 20) });
        assert!(begun.iter().all(|a| matches!(a, Some(ToClient::Sealing { .. }))), "{begun:?}");
        let parts = parts(&text(20));
        let answers = rogue.exchange(|i| {
            let mut body = parts[i].clone();
            if i as u64 == place / 2 {
                body[if place % 2 == 0 { 3 } else { 23 }] ^= 1;
            }
            ToServer::Data { number, index: 0, body: Blob(body) }
        });
        refused(&answers, "client alice gave the servers shares that do not match", "plaintext");
    }
    unharmed(&harness, &key);
}

/// A25: different requests under one number.
#[test]
fn a_client_that_tells_the_servers_different_things_is_refused() {
    let (harness, key) = harness();
    let mut rogue = Rogue::connect(&harness, "alice");
    let words = "client alice told the servers different things";
    let answers =
        rogue.exchange(|i| ToServer::Request { number: 1, item: item(&key, if i == 1 { 9 } else { 8 }) });
    refused(&answers, words, "request");
    let way = SboxChoice::DEFAULT;
    let bound = |aad: u8| Item::Encrypt { key: key.clone(), aad: Blob(vec![aad; LONG]), length: 8, way };
    let answers = rogue.exchange(|i| ToServer::Request { number: 2, item: bound(i as u8 / 2) });
    refused(&answers, words, "request");
    // different ciphertexts, in the first reading
    let (aad, iv, tag) = (Blob(vec![0; LONG]), [0; 12], [0; 16]);
    let decrypt = Item::Decrypt { key: key.clone(), aad, length: 4, iv, tag, way };
    let answers = rogue.exchange(|_| ToServer::Request { number: 3, item: decrypt.clone() });
    assert!(answers.iter().all(|a| *a == Some(ToClient::Accepted)), "{answers:?}");
    let answers =
        rogue.exchange(|i| ToServer::Data { number: 3, index: 0, body: Blob(vec![u8::from(i == 2); 4]) });
    refused(&answers, words, "ciphertext.first");
    unharmed(&harness, &key);
}

/// The ciphertext that is decrypted is the one that was verified, chunk by chunk: another one in the second
/// sending is refused, in whichever chunk and bit it differs, and so is one in another place.
#[test]
fn the_second_reading_must_be_the_first() {
    let (harness, key) = harness();
    let (aad, length) = (vec![0; LONG], 3 * CHUNK + 32);
    let file = encrypt(&mut harness.connect("alice"), &key, &aad, &text(length)).unwrap();
    let mut rogue = Rogue::connect(&harness, "alice");
    let (iv, tag) = (file[..12].try_into().unwrap(), file[12 + length..].try_into().unwrap());
    let (aad, way) = (Blob(aad), SboxChoice::DEFAULT);
    let item = Item::Decrypt { key: key.clone(), aad, length: length as u64, iv, tag, way };
    let right: Vec<Vec<u8>> = file[12..12 + length].chunks(CHUNK).map(<[u8]>::to_vec).collect();
    let [first, second, third, last] = &right[..] else { panic!("four chunks") };
    let wrong = [
        vec![flipped(first, 0)],
        vec![flipped(first, CHUNK - 1)],
        vec![second.clone()],
        vec![first.clone(), flipped(second, CHUNK / 2)],
        vec![first.clone(), first.clone()],
        vec![first.clone(), second.clone(), flipped(third, 0)],
        [&right[..3], &[flipped(last, 31)]].concat(),
    ];
    for (number, wrong) in (1..).zip(wrong) {
        let data = |index: usize, body: &Vec<u8>| ToServer::Data {
            number,
            index: index as u64,
            body: Blob(body.clone()),
        };
        rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
        right.iter().enumerate().for_each(|(at, chunk)| drop(rogue.exchange(|_| data(at, chunk))));
        let answers = rogue.exchange(|_| ToServer::Finish { number });
        assert!(answers.iter().all(|a| *a == Some(ToClient::Valid)), "{answers:?}");
        let (last, before) = wrong.split_last().unwrap();
        for (at, chunk) in before.iter().enumerate() {
            let answers = rogue.exchange(|_| data(at, chunk));
            assert!(answers.iter().all(|a| matches!(a, Some(ToClient::Answer { .. }))), "{number}");
        }
        let answers = rogue.exchange(|_| data(before.len(), last));
        refused(&answers, "changed between its two readings", "ciphertext.second");
    }
    unharmed(&harness, &key);
}

#[test]
fn a_number_that_was_used_or_is_not_due_is_refused() {
    let (harness, key) = harness();
    for second in [1, 3] {
        let mut rogue = Rogue::connect(&harness, "alice");
        let list = |number| ToServer::Request { number, item: Item::KeyList { after: None } };
        let answers = rogue.exchange(|_| list(1));
        assert!(answers.iter().all(|a| matches!(a, Some(ToClient::Keys { .. }))), "{answers:?}");
        let answers = rogue.exchange(|_| list(second));
        refused(&answers, "no number comes twice", "turn");
        // and the connection is closed
        assert!((0..3).all(|i| rogue.receive(i).is_none()));
    }
    unharmed(&harness, &key);
}

/// A connection that begins with other challenges than the server's own is refused, so that a recorded one
/// cannot be replayed.
#[test]
fn a_connection_begins_with_this_servers_own_challenge() {
    let (harness, key) = harness();
    let mut rogue = Rogue::dial(&harness, "alice");
    // all of them but the last bit of each
    let challenges = [0, 1, 2].map(|i| {
        let Some(ToClient::Welcome { mut challenge, .. }) = rogue.receive(i) else { panic!("no welcome") };
        challenge[31] ^= 1;
        challenge
    });
    let answers = rogue.exchange(|_| ToServer::Begin { version: VERSIONS.1, challenges });
    refused(&answers, "did not begin with this server's challenge", "begin");
    unharmed(&harness, &key);
}

/// A client that falls silent, or leaves, in the middle: named, and the next is served.
#[test]
fn a_client_that_stalls_is_named_and_the_next_is_served() {
    let (harness, key) = hurried();
    let begun = Instant::now();
    // to one server only
    let mut half = Rogue::connect(&harness, "alice");
    half.say(0, &ToServer::Request { number: 1, item: Item::KeyList { after: None } });
    // silent after its request
    let mut silent = Rogue::connect(&harness, "alice");
    silent.exchange(|_| ToServer::Request { number: 1, item: item(&key, 20) });
    // gone after its request
    let mut gone = Rogue::connect(&harness, "alice");
    gone.exchange(|_| ToServer::Request { number: 1, item: item(&key, 20) });
    drop(gone);
    unharmed(&harness, &key);
    assert!(begun.elapsed() < 4 * TIMEOUT + BUSY);
    let Some(ToClient::Failed(failed)) = half.receive(0) else { panic!("served") };
    assert!(failed.message.contains("client alice has not sent party"), "{}", failed.message);
    // whoever was silent is told why its request ended
    let answers: Vec<_> = (0..3).map(|i| silent.receive(i)).collect();
    refused(&answers, "client alice has sent party", "plaintext");
}

/// A request that reached only one server ends with a failure of its own, and affects no other request.
#[test]
fn a_request_to_one_server_only_is_given_up() {
    let (harness, key) = hurried();
    let halves = [0, 1, 2].map(|server| {
        let mut half = Rogue::connect(&harness, "alice");
        half.say(server, &ToServer::Request { number: 1, item: Item::KeyList { after: None } });
        (server, half)
    });
    unharmed(&harness, &key);
    for (server, mut half) in halves {
        let Some(ToClient::Failed(failed)) = half.receive(server) else { panic!("served") };
        let told = failed.message.contains("client alice has not sent party");
        assert!(failed.retry && told, "{}", failed.message);
    }
    harness.await_logged(1, "client alice has not sent party");
    unharmed(&harness, &key);
}

/// A client that is slow costs others nothing: they are served while it says nothing in the middle of its
/// request.
#[test]
fn a_slow_client_holds_up_nobody() {
    let (harness, key) = harness();
    let mut slow = Rogue::connect(&harness, "alice");
    slow.exchange(|_| ToServer::Request { number: 1, item: item(&key, 3 * CHUNK as u64) });
    let mut alicia = harness.connect("alicia");
    for index in 0..3 {
        let parts = parts(&text(CHUNK)).map(Blob);
        let answers = slow.exchange(|i| ToServer::Data { number: 1, index, body: parts[i].clone() });
        assert!(answers.iter().all(|a| !matches!(a, Some(ToClient::Failed(_)))), "{answers:?}");
        alicia.key_list().unwrap();
        unharmed(&harness, &key);
    }
    let answers = slow.exchange(|_| ToServer::Finish { number: 1 });
    assert!(answers.iter().all(|a| matches!(a, Some(ToClient::Tag(_)))), "{answers:?}");
}

/// Requests sent ahead are done in order; when a request fails, its further messages are dropped, and no
/// others.
#[test]
fn requests_sent_ahead_are_done_in_order() {
    let (harness, key) = harness();
    let mut rogue = Rogue::connect(&harness, "alice");
    for number in 1..=3 {
        let item = short(&key, 4);
        for (i, mut body) in parts(b"text").into_iter().enumerate() {
            // the second one's parts do not fit together
            body[0] ^= u8::from(number == 2 && i == 0);
            rogue.say(i, &ToServer::Request { number, item: item.clone() });
            rogue.say(i, &ToServer::Data { number, index: 0, body: Blob(body) });
            rogue.say(i, &ToServer::Finish { number });
        }
    }
    let mut receive = || (0..3).map(|i| rogue.receive(i)).collect::<Vec<_>>();
    for number in 1..=3 {
        if number == 2 {
            refused(&receive(), "client alice gave the servers shares that do not match", "plaintext");
            continue;
        }
        assert!(receive().iter().all(|a| matches!(a, Some(ToClient::Sealing { .. }))));
        assert!(receive().iter().all(|a| matches!(a, Some(ToClient::Ciphertext(_) | ToClient::Digest(_)))));
        assert!(receive().iter().all(|a| matches!(a, Some(ToClient::Tag(_)))));
    }
    unharmed(&harness, &key);
}

/// Bytes that are no message, messages out of turn, and far too long ones.
#[test]
fn garbage_harms_nobody_else() {
    let (harness, key) = harness();
    for garbage in [vec![], vec![0], b"DV\x01\x00\xff\xff\xff".to_vec(), text(1000), vec![0xff; LONGEST]] {
        let mut rogue = Rogue::connect(&harness, "alicia");
        for i in 0..3 {
            rogue.connections[i].send(&garbage).unwrap();
            assert!(rogue.receive(i).is_none());
        }
    }
    let mut rogue = Rogue::connect(&harness, "alicia");
    // the server hangs up at the announced length, perhaps before all is sent
    let _ = rogue.connections[0].send(&vec![0; LONGEST + 1]);
    assert!(rogue.receive(0).is_none());

    // far more names than a key can have
    let clients = vec![String::new(); 100_000];
    let new = harness.connect("alicia").new_key("k2".parse().unwrap(), KeyType::Aes128, false, clients);
    let mut rogue = Rogue::connect(&harness, "alicia");
    let answers = rogue.exchange(|_| ToServer::Request { number: 1, item: Item::KeyNew(new.clone()) });
    refused(&answers, "larger than allowed", "turn");
    assert!((0..3).all(|i| rogue.receive(i).is_none()));

    let mut rogue = Rogue::connect(&harness, "alicia");
    let answers = rogue.exchange(|_| ToServer::Finish { number: 0 });
    refused(&answers, "message outside of a request", "turn");

    // something else than what is due, to one server
    let mut rogue = Rogue::connect(&harness, "alice");
    rogue.exchange(|_| ToServer::Request { number: 1, item: item(&key, 20) });
    let answers = rogue.exchange(|i| match i {
        0 => ToServer::Finish { number: 1 },
        _ => ToServer::Data { number: 1, index: 0, body: Blob(vec![0; 40]) },
    });
    refused(&answers[..1], "an unexpected message", "plaintext");
    refused(&answers[1..], "party 1 refused this", "plaintext");
    unharmed(&harness, &key);
}

/// Messages to be hashed and authenticated are refused like those to be encrypted if their parts are wrong
/// (in the first piece, or when products already have to be verified), if their lengths differ, or if servers
/// get different tags. The next request is served as usual.
#[test]
fn messages_are_refused_like_texts() {
    let (harness, mut alice) = with_alice();
    let new = alice.new_key("h".parse().unwrap(), KeyType::HmacSha3_256, false, vec![]);
    let name = alice.key_new(&new).unwrap().name;
    let asked = |algorithm: &str| FunctionRequest::from(&Settings::new(algorithm.parse().unwrap()));
    let hmac = |length: u64, tag: Option<Tag>| Item::Mac {
        key: name.clone(),
        asked: asked("hmac-sha3-256"),
        length,
        tag,
    };
    let mut rogue = Rogue::connect(&harness, "alice");
    let mut number = 0;
    let data = |number: u64, index: u64, length: usize, wrong: Option<usize>| {
        let parts = parts(&text(length));
        move |i: usize| {
            let mut body = parts[i].clone();
            if wrong == Some(i) {
                body[3] ^= 1;
            }
            ToServer::Data { number, index, body: Blob(body) }
        }
    };
    for item in [hmac(5000, None), Item::Hash { asked: asked("sha3-512"), length: 5000 }] {
        for (liar, at) in [(0, 0), (1, 1), (2, 1)] {
            number += 1;
            let begun = rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
            assert!(begun.iter().all(|a| matches!(a, Some(ToClient::Tagging { .. }))), "{begun:?}");
            for (index, length) in [(0, 4096), (1, 904)] {
                let answers = rogue.exchange(data(number, index, length, (index == at).then_some(liar)));
                if index == at {
                    refused(&answers, "shares that do not match", "message");
                    break;
                }
                assert!(answers.iter().all(|a| *a == Some(ToClient::Accepted)), "{answers:?}");
            }
        }
    }
    // a piece of another length than what is due
    number += 1;
    rogue.exchange(|_| ToServer::Request { number, item: hmac(5000, None) });
    refused(&rogue.exchange(data(number, 0, 4095, None)), "an unexpected message", "message");
    // another tag for another server
    number += 1;
    let tag = |i: usize| Tag { nonce: None, tag: Blob(vec![u8::from(i == 1); 32]) };
    let answers = rogue.exchange(|i| ToServer::Request { number, item: hmac(1, Some(tag(i))) });
    refused(&answers, "told the servers different things", "request");
    // what no server does
    let bare = Tag { nonce: None, tag: Blob(vec![0; 16]) };
    for (item, words) in [
        (Item::Hash { asked: asked("sha3-512"), length: crate::MESSAGE + 1 }, "accepts at most"),
        (Item::Hash { asked: asked("kmac128"), length: 1 }, "takes a key"),
        (Item::Mac { key: name.clone(), asked: asked("sha256"), length: 1, tag: None }, "takes no key"),
        (
            Item::Mac { key: name.clone(), asked: asked("kmac128"), length: 1, tag: None },
            "serves one algorithm",
        ),
        (hmac(1, Some(Tag { nonce: None, tag: Blob(vec![0; 31]) })), "another length"),
        (hmac(1, Some(Tag { nonce: Some([0; 12]), tag: Blob(vec![0; 32]) })), "have no nonce"),
        (
            Item::Mac { key: name.clone(), asked: asked("gmac-aes128"), length: 1, tag: Some(bare) },
            "under the nonce that it was made with",
        ),
    ] {
        number += 1;
        let answers = rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
        refused(&answers, words, ""); // each item is refused at a step of its own
    }
    // all is well
    let settings = Settings::new("hmac-sha3-256".parse().unwrap());
    let made = mac(&mut alice, &name, &settings, b"text").unwrap();
    verify(&mut alice, &name, &settings, None, &made.tag, b"text").unwrap();
    harness.assert_unharmed();
}
