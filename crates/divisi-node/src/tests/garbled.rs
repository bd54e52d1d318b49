//! Hashes and MACs that two of the servers garble and the third evaluates.

use super::digest::{clear, import, mac, settings};
use super::harness::{BUSY, ServersHarness, eventually, text, world};
use crate::request::PIECE;
use crate::{Client, ErrorKind, KeyType, RoundsChoice};
use divisi_fuzz::repetitions;
use divisi_symmetric::algorithm::Settings;
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::time::Duration;

const GARBLED: &str = "hashes, MACs and modes of chained blocks run in constant rounds";

#[test]
fn digests_and_tags_are_those_of_the_standards() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    for (name, length) in
        [("sha256", 0), ("sha256", 55), ("sha512", repetitions(300, 700)), ("sha3-256", 40), ("shake128", 9)]
    {
        let settings = settings(name);
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{name} {length}");
    }
    assert!(harness.logged(GARBLED));
    let mut keys = HashMap::new();
    let tags = [
        (KeyType::HmacSha256, &[32, PIECE + 100][..]),
        (KeyType::Kmac128, &[10][..]),
        (KeyType::CmacAes128, &[33][..]),
        (KeyType::GmacAes128, &[20][..]),
    ];
    for (kind, length) in tags.into_iter().flat_map(|(kind, all)| all.iter().map(move |n| (kind, *n))) {
        let settings = settings(kind.name());
        let (name, key) = keys.entry(kind.name()).or_insert_with(|| import(&mut alice, kind)).clone();
        let message = text(length);
        let made = mac(&mut alice, &name, &settings, &message).unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
        let mut verify = |tag: &[u8]| {
            let message = &mut Cursor::new(&message);
            alice.mac_verify(&name, &settings, made.nonce, tag, message, length as u64, &mut |_| {})
        };
        assert_eq!(verify(&made.tag).unwrap(), made.key, "{kind}");
        // of a message of several pieces the right tag alone by default: short ones have wrong tags, too
        if length < PIECE || repetitions(false, true) {
            let mut wrong = made.tag.to_vec();
            wrong[0] ^= 1;
            assert_eq!(verify(&wrong).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
        }
    }
    assert!(!harness.logged("session ended"));
}

/// While nobody asks for anything, the servers garble what the next request like the last will take.
#[test]
fn calls_are_garbled_while_nobody_asks() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let settings = settings("sha256");
    for length in [5, 5, 5, 9, 5] {
        harness.log.lock().unwrap().clear();
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{length}");
        eventually(Duration::from_secs(10), || {
            let log = harness.log.lock().unwrap();
            let all = log.iter().filter(|line| line.contains("made ahead are in stock")).count();
            if all >= 3 { Ok(()) } else { Err("nothing is in stock") }
        });
    }
    assert!(!harness.logged("session ended"));
}

/// Wait until each server has logged once more that it keeps what it made ahead.
fn stocked(harness: &ServersHarness, before: usize) {
    eventually(Duration::from_secs(10), || {
        if kept(harness) >= before + 3 { Ok(()) } else { Err("nothing is in stock") }
    });
}

/// How often servers said that they keep something.
fn kept(harness: &ServersHarness) -> usize {
    let log = harness.log.lock().unwrap();
    log.iter().filter(|line| line.contains("made ahead are in stock")).count()
}

/// Calls that are garbled for a key serve that key and its settings only: other keys and other settings come
/// in between, and keys are destroyed.
#[test]
fn calls_are_garbled_for_keys() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let kmac = |text: &str| Settings { customization: text.as_bytes().to_vec(), ..settings("kmac128") };
    let uses = [
        (KeyType::HmacSha256, settings("hmac-sha256")),
        (KeyType::Kmac128, kmac("")),
        (KeyType::Kmac128, kmac("other")),
        (KeyType::CmacAes128, settings("cmac-aes128")),
        (KeyType::HmacSha256, Settings { output_bytes: 16, ..settings("hmac-sha256") }),
    ];
    let mut keys = HashMap::new();
    for lengths in [&[10, 10, 10, 16][..], &[10, 10]] {
        for (kind, settings) in &uses {
            let (name, key) = keys.entry(kind.name()).or_insert_with(|| import(&mut alice, *kind)).clone();
            for length in lengths {
                let (before, message) = (kept(&harness), text(*length));
                let made = mac(&mut alice, &name, settings, &message).unwrap();
                assert_eq!(*made.tag, clear(settings, &key, [0; 12], &message), "{kind} {length}");
                stocked(&harness, before);
            }
        }
    }
    // the key is destroyed and another one made, for which nothing of the first is used
    let (name, _) = keys.remove("hmac-sha256").unwrap();
    alice.key_destroy(&name).unwrap();
    assert!(harness.logged("is wiped from the memory"));
    let (name, key) = {
        let new = alice.new_key("another".parse().unwrap(), KeyType::HmacSha256, false, vec![]);
        let bytes: Vec<u8> = (100..132).collect();
        alice.key_import(&new, &bytes).unwrap();
        (new.name, bytes)
    };
    for _ in 0..3 {
        let (before, settings) = (kept(&harness), settings("hmac-sha256"));
        let made = mac(&mut alice, &name, &settings, b"0123456789").unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, [0; 12], b"0123456789"));
        stocked(&harness, before);
    }
    assert!(!harness.logged("session ended"));
}

/// Reads a message, and does something in its middle.
struct Between<'m, F: FnMut()> {
    message: Cursor<&'m [u8]>,
    at: u64,
    spring: Option<F>,
}

impl<F: FnMut()> Read for Between<'_, F> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.message.position() >= self.at
            && let Some(mut spring) = self.spring.take()
        {
            spring();
        }
        self.message.read(out)
    }
}

/// While a long message is under way its key is prepared again, with other shares; each tag is nevertheless
/// right.
#[test]
fn a_key_made_ready_anew_does_not_disturb_what_is_under_way() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let (mut alice, mut other) = (harness.connect("alice"), harness.connect("alice"));
    let (name, key) = import(&mut alice, KeyType::CmacAes128);
    let full = settings("cmac-aes128");
    let half = Settings { output_bytes: 8, ..full.clone() };
    // it is read to its end when its first piece is done
    let (long, short) = (text(6 * PIECE + 100), text(100));
    let spring = || {
        for settings in [&half, &full, &full] {
            let made = mac(&mut other, &name, settings, &short).unwrap();
            assert_eq!(*made.tag, clear(settings, &key, [0; 12], &short));
        }
    };
    let mut input = Between { message: Cursor::new(&long), at: 6 * PIECE as u64, spring: Some(spring) };
    let made = alice.mac(&name, &full, &mut input, long.len() as u64, &mut |_| {}).unwrap();
    assert_eq!(*made.tag, clear(&full, &key, [0; 12], &long));
    assert!(input.spring.is_none() && !harness.logged("session ended"));
}

/// The leader of a round proposes how it runs, and the others follow: requests are served even if servers
/// propose different ways.
#[test]
fn servers_may_propose_different_things() {
    let mut harness = ServersHarness::patient(|_| {});
    harness.stop(1);
    harness.options.rounds = RoundsChoice::Constant;
    harness.start(1, None);
    let settings = settings("sha256");
    // the servers find together again
    let mut alice = eventually(4 * BUSY, || {
        let mut alice = Client::connect(&harness.config, harness.identity("alice"), world())?;
        alice.hash(&settings, &mut Cursor::new(b""), 0, &mut |_| {}).map(|_| alice)
    });
    let ended = || harness.log.lock().unwrap().iter().filter(|line| line.contains("session ended")).count();
    let before = ended();
    for length in 0..12 {
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{length}");
    }
    assert_eq!(ended(), before);
}
