//! Disks that are full or fail at one server, as its clients see it; and what one server does not admit.

use super::digest::mac;
use super::harness::{BUSY, ServersHarness, decrypt, encrypt, eventually, fails};
use crate::{Admit, Client, Error, ErrorKind, Grant, KeyType, Lists, What, Who};
use divisi_net::PartyId;
use divisi_store::{Disk, MachineDisk};
use divisi_symmetric::algorithm::Settings;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

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
    // what cannot be counted is not done
    fails(encrypt(&mut alice, &key, b"", b"x"), "the disk of party 2 is full");
    let new = alice.new_key("other".parse().unwrap(), crate::KeyType::Aes128, false, vec![]);
    let error = fails(alice.key_new(&new), "the disk of party 2 is full");
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(harness.logged("key other at "), "{:?}", harness.log.lock().unwrap());
    alice.key_destroy(&key).unwrap();
    disk.becomes(0);
    eventually(BUSY, || harness.connect("alice").key_new(&new));
    harness.assert_unharmed();
}

/// The client is told of a key when all three have made it active, and not before; the same request, given
/// again, finishes it.
#[test]
fn a_key_is_told_when_all_three_have_made_it() {
    let (harness, disk) = harness();
    let mut alice = harness.connect("alice");
    let new = alice.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
    disk.becomes(ONE_MORE);
    fails(alice.key_new(&new), "the file of key k at party 2");
    disk.becomes(0);
    let key = harness.connect("alice").key_new(&new).unwrap().name;
    encrypt(&mut harness.connect("alice"), &key, b"", b"x").unwrap();
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
    let error = alice.key_serve(&key, "alicia", true).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains("party 2"), "{error}");
    let served = |harness: &ServersHarness| encrypt(&mut harness.connect("alicia"), &key, b"", b"x");
    fails(served(&harness), "does not serve client alicia");
    // nothing was left of it at the two others
    disk.becomes(0);
    assert!(alice.key_list().unwrap()[0].key.clients.is_empty());
    encrypt(&mut alice, &key, b"", b"x").unwrap();

    disk.becomes(ONE_MORE);
    let error =
        fails(alice.key_serve(&key, "alicia", true), "the clients of key k are not changed at party 2");
    assert!(error.retry && error.message.ends_with(": give the command again"), "{error}");
    fails(served(&harness), "does not serve client alicia");
    fails(encrypt(&mut alice, &key, b"", b"x"), "give the last `key grant` or `key revoke` again");
    disk.becomes(0);
    assert_eq!(harness.connect("alice").key_serve(&key, "alicia", true).unwrap().clients, ["alicia"]);
    assert!(harness.logged("an interrupted change of the clients of key k is in force"));
    served(&harness).unwrap();
    harness.assert_unharmed();
}

/// A policy that refuses one kind of request.
#[derive(Default)]
struct Without(Mutex<Option<&'static str>>);

impl Without {
    fn kind(what: &What<'_>) -> &'static str {
        match what {
            What::Make => "make",
            What::List => "list",
            What::Hash => "hash",
            What::See(_) => "see",
            What::Encrypt(_) => "encrypt",
            What::Decrypt(_) => "decrypt",
            What::Mac(_) => "mac",
            What::Export(_) => "export",
            What::Destroy(_) => "destroy",
            What::Serve(_) => "serve",
        }
    }
}

impl Admit for Without {
    fn admit(&self, who: &Who, what: &What<'_>) -> Result<Grant, divisi_core::Refusal> {
        if *self.0.lock().unwrap() == Some(Without::kind(what)) {
            let reason = format!("client {} may not do this here", who.name);
            return Err(divisi_core::Refusal { step: divisi_core::step!("without"), reason });
        }
        Lists.admit(who, what)
    }
}

/// Each kind of request is admitted by the policy: what it refuses is not done, and is done when it does not.
#[test]
fn every_kind_of_request_asks_the_policy() {
    let policy = Arc::new(Without::default());
    let harness = ServersHarness::patient(|options| options.admit = policy.clone());
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", true, &[]);
    let tags = alice.new_key("m".parse().unwrap(), KeyType::CmacAes128, false, vec![]);
    let tags = alice.key_new(&tags).unwrap().name;
    let sealed = encrypt(&mut alice, &key, b"", b"x").unwrap();
    let [sha, cmac] = ["sha256", "cmac-aes128"].map(|name| Settings::new(name.parse().unwrap()));
    type Asks<'a> = &'a dyn Fn(&mut Client) -> Result<(), Error>;
    let all: [(&str, Asks<'_>); 9] = [
        ("make", &|c| {
            let new = c.new_key("n".parse().unwrap(), KeyType::Aes128, false, vec![]);
            c.key_new(&new).map(drop)
        }),
        ("list", &|c| c.key_list().map(drop)),
        ("hash", &|c| c.hash(&sha, &mut &b"abc"[..], 3, &mut |_| {}).map(drop)),
        ("encrypt", &|c| encrypt(c, &key, b"", b"y").map(drop)),
        ("decrypt", &|c| decrypt(c, &key, b"", &sealed).1.map_or(Ok(()), Err)),
        ("mac", &|c| mac(c, &tags, &cmac, b"z").map(drop)),
        ("export", &|c| c.key_export(&key).map(drop)),
        ("serve", &|c| c.key_serve(&key, "alicia", true).map(drop)),
        ("destroy", &|c| c.key_destroy(&key)),
    ];
    let only = |kind: Option<&'static str>| *policy.0.lock().unwrap() = kind;
    for (kind, ask) in all {
        only(Some(kind));
        fails(ask(&mut alice), "client alice may not do this here");
        only(Some("see"));
        assert!(alice.key_list().unwrap().is_empty());
        only(None);
        // nothing was done
        assert_eq!(alice.key_list().unwrap().len(), if kind == "make" { 2 } else { 3 });
        ask(&mut alice).unwrap();
    }
}
