//! Disks that are full or fail at one server, as its clients see it; and what one server does not admit.

use super::harness::{BUSY, ServersHarness, encrypt, eventually, fails};
use crate::{Admit, ErrorKind, Grant, Lists, What, Who};
use divisi_net::PartyId;
use divisi_store::{Disk, MachineDisk};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const FULL: u8 = 1;
const BROKEN: u8 = 2;
/// The next new file is written, and then none.
const ONE_MORE: u8 = 3;
const NO_NEW: u8 = 4;

/// A disk that is full or broken when it is told to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestDisk(Arc<AtomicU8>);

impl TestDisk {
    fn is(&self, state: u8) -> bool {
        self.0.load(Ordering::SeqCst) == state
    }

    fn becomes(&self, state: u8) {
        self.0.store(state, Ordering::SeqCst);
    }
}

impl Disk for TestDisk {
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.is(BROKEN) {
            return Err(io::Error::other("the test breaks it"));
        }
        if path.extension().is_some_and(|end| end == "new") {
            if self.is(NO_NEW) {
                return Err(io::Error::other("the test writes no new file"));
            }
            let _ = self.0.compare_exchange(ONE_MORE, NO_NEW, Ordering::SeqCst, Ordering::SeqCst);
        }
        let have = std::fs::metadata(path).map_or(0, |meta| meta.len());
        if self.is(FULL) && bytes.len() as u64 > have {
            return Err(io::ErrorKind::StorageFull.into());
        }
        MachineDisk.write(path, bytes)
    }
}

fn harness() -> (ServersHarness, TestDisk) {
    let disk = TestDisk::default();
    (ServersHarness::patient(|options| options.disk = Some((PartyId::P2, disk.clone()))), disk)
}

/// The client learns whose disk is full; keys are destroyed all the same, and made again when there is room.
#[test]
fn a_full_disk_is_told_to_the_client_with_its_party() {
    let (harness, disk) = harness();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    disk.becomes(FULL);
    let new = alice.new_key("other".parse().unwrap(), crate::KeyType::Aes128, false, vec![]);
    let error = fails(alice.key_new(&new), "the disk of party 2 is full");
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(harness.logged("key other at "), "{:?}", harness.log.lock().unwrap());
    alice.key_destroy(&key).unwrap();
    disk.becomes(0);
    eventually(BUSY, || harness.connect("alice").key_new(&new));
    harness.assert_unharmed();
}

/// If one server cannot destroy its part of a key, the client learns which servers have destroyed theirs and
/// which has not. The command, given again when that server can, succeeds.
#[test]
fn who_has_destroyed_a_key_and_who_has_not_is_told() {
    let (harness, disk) = harness();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    disk.becomes(BROKEN);
    let error = alice.key_destroy(&key).unwrap_err();
    let expected = "key k is destroyed at party 1 and party 3, and not at party 2";
    assert!(error.message.contains(expected), "{error}");
    assert!(error.message.ends_with(": give the command again"), "{error}");
    assert!(error.retry);
    encrypt(&mut alice, &key, b"", b"text").unwrap_err();
    disk.becomes(0);
    eventually(BUSY, || harness.connect("alice").key_destroy(&key));
    harness.assert_unharmed();
}

/// A change of a key's clients that one server cannot write is made nowhere. If one cannot put in force what
/// all have written, the owner learns it, and the command, given again, succeeds; meanwhile nobody uses the
/// key under two lists.
#[test]
fn clients_change_at_all_servers_or_at_none() {
    let (harness, disk) = harness();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    disk.becomes(BROKEN);
    let error = alice.key_serve(&key, "bob", true).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("party 2"), "{error}");
    let served = |harness: &ServersHarness| encrypt(&mut harness.connect("bob"), &key, b"", b"x");
    fails(served(&harness), "does not serve client bob");
    // nothing was left of it at the two others
    disk.becomes(0);
    assert!(alice.key_list().unwrap()[0].key.clients.is_empty());
    encrypt(&mut alice, &key, b"", b"x").unwrap();

    disk.becomes(ONE_MORE);
    let error = fails(alice.key_serve(&key, "bob", true), "the clients of key k are not changed at party 2");
    assert!(error.retry && error.message.ends_with(": give the command again"), "{error}");
    fails(served(&harness), "does not serve client bob");
    fails(encrypt(&mut alice, &key, b"", b"x"), "give the last `key grant` or `key revoke` again");
    disk.becomes(0);
    assert_eq!(harness.connect("alice").key_serve(&key, "bob", true).unwrap().clients, ["bob"]);
    assert!(harness.logged("an interrupted change of the clients of key k is in force"));
    served(&harness).unwrap();
    harness.assert_unharmed();
}

/// A policy that refuses bob everything that needs no key.
struct Strict;

impl Admit for Strict {
    fn admit(&self, who: &Who, what: &What<'_>) -> Result<Grant, divisi_core::Refusal> {
        if who.name == "bob" && matches!(what, What::Hash | What::List) {
            let reason = format!("client {} may not do this here", who.name);
            return Err(divisi_core::Refusal { step: divisi_core::step!("strict"), reason });
        }
        Lists.admit(who, what)
    }
}

/// Hashes and lists are admitted as all else is.
#[test]
fn hashes_and_lists_ask_the_policy() {
    let harness = ServersHarness::patient(|options| options.admit = Arc::new(Strict));
    let sha = divisi_symmetric::algorithm::Settings::new("sha256".parse().unwrap());
    for (name, served) in [("alice", true), ("bob", false)] {
        let mut client = harness.connect(name);
        let hash = client.hash(&sha, &mut &b"abc"[..], 3, &mut |_| {}).map(drop);
        let list = client.key_list().map(drop);
        for result in [hash, list] {
            let told = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(result.is_ok(), served, "{name}: {told}");
            assert!(served || told.contains("client bob may not do this here"), "{told}");
        }
    }
}
