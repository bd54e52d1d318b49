//! Servers whose stores of keys are not the same.

use super::harness::{BUSY, ServersHarness, encrypt, eventually, with_key, world};
use super::status::of_one;
use crate::{Error, ErrorKind, KeyName};
use divisi_net::{PartyId, check};
use std::fs;

/// The error of a request, once the servers have joined.
fn refusal(harness: &ServersHarness, key: &KeyName) -> Error {
    eventually(4 * BUSY, || {
        match harness.try_connect("alice").and_then(|mut alice| encrypt(&mut alice, key, b"", b"x")) {
            Err(e) if !e.retry => Ok(e),
            other => Err(format!("{other:?}")),
        }
    })
}

fn out_of_step(harness: &ServersHarness) -> Vec<String> {
    let reports = check(&harness.config, harness.identity("alice"), &world(), BUSY).unwrap();
    reports.iter().map(|report| report.out_of_step(&harness.config).unwrap_or_default()).collect()
}

/// A server that lost its store serves nothing until its operator says that the store is new, and what it
/// refuses then names the way out.
#[test]
fn a_server_that_lost_its_store_says_so() {
    let (mut harness, _, key) = with_key(&[]);
    assert_eq!(out_of_step(&harness), ["", "", ""]);
    harness.stop(2);
    fs::rename(harness.data(2), harness.data(9)).unwrap();
    harness.start(2, None);
    let error = refusal(&harness, &key);
    assert_eq!((error.kind, error.peer), (ErrorKind::Unavailable, Some(PartyId::P3)), "{error}");
    assert!(error.message.contains("party 3 is empty") && error.message.contains("--new-store"), "{error}");
    // all three say what is wrong, to their operators and to those who ask
    harness.await_logged(3, "the store of keys of party 3 is empty while another server has keys");
    harness.await_logged(
        1,
        "do not have the same active keys: party 1 has 1, party 2 has 1 (the same), party 3 has 0",
    );
    harness
        .await_logged(1, "do not have the same active keys: party 1 has 1 (others), party 2 has 1 (others)");
    for (i, why) in out_of_step(&harness).iter().enumerate() {
        let others = ["party 3", "party 3", "party 1 and party 2"][i];
        assert!(why.contains(&format!("same keys as {others}")) && why.contains("--new-store"), "{why}");
    }
    // and to programs that ask whether requests are served
    for party in PartyId::all(3) {
        let condition = of_one(&harness, party).unwrap();
        assert_eq!((condition.joined, &condition.missing[..]), (false, &[][..]), "{party}: {condition:?}");
        assert_eq!(condition.lost, [PartyId::P3], "{party}");
    }

    // with a word of its operator it serves with an empty store
    harness.stop(2);
    harness.options.new_store = true;
    harness.start(2, None);
    let error = refusal(&harness, &key);
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
    let words = "whose store does not have the keys of party 1 and party 2: its operator has to restore";
    assert!(error.message.contains(words), "{error}");
    let other = harness.key(&mut harness.connect("alice"), "other", false, &[]);
    encrypt(&mut harness.connect("alice"), &other, b"", b"x").unwrap();
    let conditions = PartyId::all(3).map(|party| of_one(&harness, party).unwrap());
    assert!(conditions.into_iter().all(|condition| condition.joined && condition.lost.is_empty()));
    assert!(harness.data(2).join("new-store").exists());
}
