//! Which client may do what with which key, and what happens to files.

use super::digest::{hash_is_right, settings};
use super::harness::{
    BUSY, ServersHarness, decrypt, encrypt, eventually, fails, flipped, text, with_alice, with_key,
};
use crate::request::PIECE;
use crate::{Client, ErrorKind, KeyState, KeyType, NewKey};
use divisi_net::{Machine, PartyId, World};
use divisi_store::KeyInfo;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

#[test]
fn a_key_serves_its_maker_and_those_it_names_and_is_exported_by_its_maker_alone() {
    let (harness, mut alice) = with_alice();
    let key = harness.key(&mut alice, "k", true, &["alicia"]);
    let kept = harness.key(&mut alice, "kept", false, &["alicia"]);
    let mut alicia = harness.connect("alicia");
    let file = encrypt(&mut alicia, &key, b"", b"from alicia").unwrap();
    assert_eq!(decrypt(&mut alice, &key, b"", &file).0, b"from alicia");

    let mut carol = harness.connect("carol");
    for error in [
        encrypt(&mut carol, &key, b"", b"x").unwrap_err(),
        decrypt(&mut carol, &key, b"", &file).1.unwrap(),
        carol.key_export(&key).unwrap_err(),
        carol.key_destroy(&key).unwrap_err(),
        alicia.key_export(&key).unwrap_err(),
        alicia.key_destroy(&key).unwrap_err(),
        alice.key_export(&kept).unwrap_err(),
    ] {
        assert_eq!((error.kind, error.retry), (ErrorKind::Refused, false));
        assert_eq!(error.peer, None, "all three refuse, each by itself: {error}");
    }
    fails(alice.key_export(&kept), "not made exportable");
    fails(encrypt(&mut carol, &key, b"", b"x"), "does not serve client carol");
    assert!(carol.key_list().unwrap().is_empty());
    assert_eq!(alicia.key_list().unwrap().len(), 2);
    assert_eq!(alice.key_export(&key).unwrap().len(), 16);
    assert!(harness.logged("key k leaves for client alice"));
}

/// A key that nobody knows is drawn anew each time, to its last byte, and has no part twice: as it is,
/// inverted, or in the other order of bytes.
#[test]
fn no_byte_of_a_fresh_key_is_left_out() {
    let (_harness, mut alice) = with_alice();
    let mut drawn = |name: &str, kind, bytes| {
        let new = alice.new_key(name.parse().unwrap(), kind, true, vec![]);
        alice.key_new(&NewKey { bytes, ..new.clone() }).unwrap();
        alice.key_export(&new.name).unwrap()
    };
    let mut keys: Vec<_> = (0..6).map(|i| drawn(&format!("k{i}"), KeyType::Aes256, 32)).collect();
    let first = &keys[0];
    assert!((0..32).all(|byte| keys.iter().any(|key| key[byte] != first[byte])), "a byte that stays");
    keys.extend((0..2).map(|i| drawn(&format!("l{i}"), KeyType::HmacSha256, 200)));
    let mut seen = BTreeSet::from([[0; 7]]);
    for part in keys.iter().flat_map(|key| key.windows(7)) {
        let part = <[u8; 7]>::try_from(part).unwrap();
        let reversed = std::array::from_fn(|i| part[6 - i]);
        assert!(!seen.contains(&part.map(|byte| !byte)) && !seen.contains(&reversed));
        assert!(seen.insert(part), "a part that came before, or was not drawn");
    }
}

/// A client's inputs are under masks that are drawn anew to their ends, for each piece and each component.
#[test]
fn what_a_client_splits_is_under_fresh_masks() {
    let (_harness, mut alice) = with_alice();
    let mut seen = BTreeSet::from([[0; 8]]);
    for (nth, bytes) in [1 << 17, 40, 1 << 17, 4096, 4096, 40].into_iter().enumerate() {
        if nth == 3 {
            // behind many answers to one request
            hash_is_right(&mut alice, &settings("sha256"), &text(5 * PIECE + 1));
        }
        for body in alice.split(&vec![0; bytes]) {
            // the second component is the first one of the next server
            assert!(body.0[..bytes].as_chunks::<8>().0.iter().all(|part| seen.insert(*part)), "{bytes}");
        }
    }
}

#[test]
fn a_client_that_no_server_knows_is_refused() {
    let harness = ServersHarness::patient(|_| {});
    let error = Client::connect(&harness.config, &harness.stranger, super::harness::world()).err().unwrap();
    assert_eq!((error.kind, error.retry), (ErrorKind::Refused, false));
    assert!(error.message.contains("add it"), "{error}");
}

/// An identity that is refused is named in the log, at most ten times a minute.
#[test]
fn refused_identities_are_named() {
    let harness = ServersHarness::patient(|_| {});
    let (first, world) = (harness.config.parties()[0].id, super::harness::world());
    for _ in 0..12 {
        divisi_net::Connection::dial(&harness.config, first, &harness.stranger, &world, BUSY).err().unwrap();
    }
    let named = || {
        let words = format!("showed the unknown identity {}", harness.stranger.fingerprint());
        let log = harness.log.lock().unwrap();
        log.iter()
            .filter(|line| line.contains("identity refused: 127.0.0.1:") && line.contains(&words))
            .count()
    };
    eventually(BUSY, || if named() >= 10 { Ok(()) } else { Err(format!("{} are named", named())) });
    // clients that come later are served after the names, and are no reason for more of them
    for _ in 0..2 {
        harness.connect("alice");
        assert_eq!(named(), 10);
        divisi_net::Connection::dial(&harness.config, first, &harness.stranger, &world, BUSY).err().unwrap();
    }
}

/// A client that is taken out of the configuration is refused from its next request on, one that is put in is
/// served.
#[test]
fn the_list_of_clients_can_change_while_servers_run() {
    let harness = ServersHarness::patient(|_| {});
    let (mut alice, mut alicia) = (harness.connect("alice"), harness.connect("alicia"));
    let key = harness.key(&mut alice, "k", false, &["alicia"]);
    encrypt(&mut alicia, &key, b"", b"x").unwrap();
    let text = harness.config.to_toml();
    let blocks: Vec<&str> = text.split("[[client]]").collect();
    let without: Vec<&str> = blocks.iter().copied().filter(|b| !b.contains("\"alicia\"")).collect();
    let without = divisi_net::Config::parse(&without.join("[[client]]")).unwrap();
    // one server is enough
    harness.reload(1, without.clone());
    let error = encrypt(&mut alicia, &key, b"", b"x").unwrap_err();
    assert!(error.message.starts_with("party 2 says: client alicia is not in the configuration"), "{error}");
    let error = harness.try_connect("alicia").err().unwrap();
    assert_eq!(error.kind, ErrorKind::Refused);
    encrypt(&mut alice, &key, b"", b"x").unwrap();
    harness.reload(1, harness.config.clone());
    encrypt(&mut harness.connect("alicia"), &key, b"", b"x").unwrap();
}

#[test]
fn names_are_taken_once_and_free_again_when_destroyed() {
    let (harness, mut alice) = with_alice();
    let new = alice.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
    let first = alice.key_new(&new).unwrap();
    assert_eq!((first.generation, first.state), (1, KeyState::Active));
    // the same request again finds the same key; another request does not get the name
    assert_eq!(alice.key_new(&new).unwrap(), first);
    let again = alice.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
    let error = fails(alice.key_new(&again), "there is a key k already");
    assert_eq!(error.kind, ErrorKind::Refused);

    let file = encrypt(&mut alice, &first.name, b"", b"x").unwrap();
    let used = alice.last_key().unwrap();
    assert_eq!((used.id, used.maker.as_str()), (first.id, "alice"));
    alice.key_destroy(&first.name).unwrap();
    for party in 1..=3 {
        assert!(harness.logged(&format!("key k is wiped from the memory of party {party}")));
    }
    // a key that was never used was in no memory
    let unused = alice.new_key("unused".parse().unwrap(), KeyType::Aes128, false, vec![]);
    alice.key_new(&unused).unwrap();
    alice.key_destroy(&unused.name).unwrap();
    assert!(!harness.logged("key unused is wiped"));
    let error = decrypt(&mut alice, &first.name, b"", &file).1.unwrap();
    assert!(error.message.contains("was destroyed"), "{error}");
    fails(alice.key_destroy(&first.name), "no server has a key k");
    // nor did the last encryption use one, as a message or as a stream
    encrypt(&mut alice, &first.name, b"", b"x").unwrap_err();
    assert_eq!(alice.last_key(), None);
    let other = harness.key(&mut alice, "other", false, &[]);
    encrypt(&mut alice, &other, b"", b"x").unwrap();
    assert!(alice.last_key().is_some());
    alice.encrypt_stream(&first.name, b"", &mut &b"x"[..], &mut Vec::new(), &mut |_| {}).unwrap_err();
    assert_eq!(alice.last_key(), None);
    assert_eq!(alice.key_list().unwrap()[0].key.state, KeyState::Destroyed);

    let second = alice.key_new(&again).unwrap();
    assert_eq!(second.generation, 2);
    assert_ne!(second.id, first.id);
    assert_eq!(decrypt(&mut alice, &first.name, b"", &file).1.unwrap().kind, ErrorKind::Mismatch);

    fails(encrypt(&mut alice, &"none".parse().unwrap(), b"", b"x"), "there is no key none");
    // messages sent ahead for the refused request may have cost the connection
    let mut alice = harness.connect("alice");
    let unknown = alice.new_key("u".parse().unwrap(), KeyType::Aes128, false, vec!["alison".into()]);
    fails(alice.key_new(&unknown), "client alison is not in the configuration");
}

/// A request finds the key that it made if all of it is the same, and the same client asks: not with another
/// type, another length or another name of the request, and not for a client that the key serves.
#[test]
fn a_request_for_a_key_is_the_same_if_all_of_it_is() {
    let (harness, mut alice) = with_alice();
    let new = alice.new_key("k".parse().unwrap(), KeyType::HmacSha256, false, vec!["alicia".into()]);
    let made = alice.key_new(&new).unwrap();
    let mut others = vec![NewKey { bytes: 33, ..new.clone() }];
    let takes = |kind: &&KeyType| **kind != new.kind && kind.lengths().contains(&32);
    others.extend(KeyType::ALL.iter().filter(takes).map(|kind| NewKey { kind: *kind, ..new.clone() }));
    others.extend((0..16).map(|at| {
        let mut other = new.clone();
        other.request[at] ^= 1;
        other
    }));
    assert!(others.len() > 20);
    for other in others {
        fails(alice.key_new(&other), "there is a key k already");
    }
    fails(harness.connect("alicia").key_new(&new), "there is a key k already");
    assert_eq!(alice.key_new(&new).unwrap(), made);
}

/// All three servers have the same time of a key, whatever their clocks say, and keep it.
#[test]
fn the_time_of_a_key_is_the_middle_of_the_clocks() {
    let clocks = Arc::new(Mutex::new([0; 3]));
    let mut harness = ServersHarness::patient(|options| options.clocks = Some(clocks.clone()));
    let mut alice = harness.connect("alice");
    let cases = [
        ([110, 90, 100], Some(100)),
        ([u64::MAX, 90, 110], Some(110)),
        ([110, 0, 90], Some(90)),
        ([0, 110, 0], None),
    ];
    for (at, (times, made)) in cases.into_iter().enumerate() {
        let new = alice.new_key(format!("k{at}").parse().unwrap(), KeyType::Aes128, false, vec![]);
        *clocks.lock().unwrap() = times;
        let key = alice.key_new(&new).unwrap();
        assert_eq!(key.made, made, "{times:?}");
        // the same request, later
        *clocks.lock().unwrap() = [1000; 3];
        assert_eq!(alice.key_new(&new).unwrap(), key);
        encrypt(&mut alice, &key.name, b"", b"x").unwrap();
    }
    let imported = alice.new_key("imported".parse().unwrap(), KeyType::Aes128, false, vec![]);
    assert_eq!(alice.key_import(&imported, &[1; 16]).unwrap().made, Some(1000));
    drop(alice);
    harness.restart();
    let listed = harness.served_again("alice").key_list().unwrap();
    let made: Vec<Option<u64>> = listed.iter().map(|listed| listed.key.made).collect();
    assert_eq!(made, [Some(1000), Some(100), Some(110), Some(90), None]);
    assert!(listed.iter().all(|listed| listed.differs.is_empty()));
}

/// And without a test's clocks it is the machine's.
#[test]
fn a_key_has_the_time_at_which_it_was_made() {
    let before = Machine.unix_time().as_secs();
    let (_harness, mut alice, key) = with_key(&[]);
    let made = alice.key_named(&key).unwrap().unwrap().key.made.unwrap();
    assert!((before..=Machine.unix_time().as_secs()).contains(&made), "{made}");
}

#[test]
fn a_list_of_many_keys_is_whole_and_shows_where_servers_differ() {
    let (harness, mut alice) = with_alice();
    for i in 0..crate::request::PAGE + 3 {
        harness.key(&mut alice, &format!("k{i:03}"), false, &[]);
    }
    fs::remove_file(harness.key_file(1, "k007")).unwrap();
    let list = alice.key_list().unwrap();
    assert_eq!(list.len(), crate::request::PAGE + 3);
    for listed in list {
        let differs: Vec<u8> = listed.differs.iter().map(|p| p.number()).collect();
        assert_eq!(differs, if listed.key.name.as_str() == "k007" { vec![2] } else { vec![] });
    }
    // one of them is asked for by one request, wherever it stands
    let before = alice.requests();
    for (name, differs) in [("k034", vec![]), ("k007", vec![2]), ("k000", vec![])] {
        let listed = alice.key_named(&name.parse().unwrap()).unwrap().unwrap();
        assert_eq!(listed.key.name.as_str(), name);
        assert_eq!(listed.differs.iter().map(|p| p.number()).collect::<Vec<u8>>(), differs);
    }
    assert_eq!(alice.key_named(&"k0071".parse().unwrap()).unwrap(), None);
    assert_eq!(alice.requests(), before + 4);
    fails(encrypt(&mut alice, &"k007".parse().unwrap(), b"", b"x"), "there is no key k007 at party 2");
    // what is left of such a key can be destroyed
    alice.key_destroy(&"k007".parse().unwrap()).unwrap();
}

/// Files that are damaged, readable by others, old, or another key's: refused and named, and nothing else is
/// harmed \[A26\].
#[test]
fn files_that_do_not_belong_together_are_refused_and_named() {
    let (harness, mut alice, key) = with_key(&[]);
    let other = harness.key(&mut alice, "other", false, &[]);
    let file = encrypt(&mut alice, &key, b"", b"text").unwrap();
    let path = harness.key_file(1, "k");
    let good = fs::read(&path).unwrap();

    fs::write(&path, flipped(&good, 60)).unwrap();
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    // the client learns whose file it is, its operator what is wrong with it
    assert!(error.message.contains("the file of key k at party 2 is damaged or cannot be used"), "{error}");
    assert!(!error.message.contains("keys/"), "{error}");
    assert!(harness.logged("k.key is damaged"));
    assert!(error.message.starts_with("party 2 says"), "{error}");
    assert_eq!(error.peer, Some(PartyId::P2));
    encrypt(&mut alice, &other, b"", b"x").unwrap();

    fs::write(&path, &good).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    assert!(!error.message.contains("chmod") && harness.logged("chmod 600"), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();

    // another party's file
    fs::copy(harness.key_file(2, "k"), &path).unwrap();
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    assert!(error.message.contains("key k at party 2") && harness.logged("belongs to party 3"), "{error}");

    // whole, of this party and name, but with other components: only the comparison can tell
    let store =
        divisi_store::StoredKeys::open_on(Box::new(divisi_store::MachineDisk), &harness.data(1).join("keys"));
    let store = store.unwrap();
    fs::write(&path, &good).unwrap();
    for change in [0usize, 1] {
        let mut mixed = store.load(&key).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        let secret = mixed.secret.as_mut().unwrap();
        [&mut secret.first, &mut secret.second][change][3] ^= 1;
        store.prepare(&mut mixed).unwrap();
        let error = fails(encrypt(&mut alice, &key, b"", b"x"), "files of key k do not belong together");
        assert!(error.step.ends_with("load"), "{error:?}");
        fs::write(&path, &good).unwrap();
    }
    // another generation, another time
    for change in [|info: &mut KeyInfo| info.generation = 7, |info: &mut KeyInfo| info.made = Some(7)] {
        fs::write(&path, &good).unwrap();
        let mut old = store.load(&key).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        change(&mut old.info);
        store.prepare(&mut old).unwrap();
        fails(encrypt(&mut alice, &key, b"", b"x"), "files of key k do not belong together");
    }

    fs::write(&path, &good).unwrap();
    assert_eq!(decrypt(&mut alice, &key, b"", &file).0, b"text");
}

#[test]
fn a_key_that_all_have_prepared_is_finished_by_its_use_and_one_that_some_lack_gives_way() {
    let (harness, mut alice, key) = with_key(&[]);
    // as if servers 2 and 3 had died before the last step
    for i in [1, 2] {
        let store = harness.store(i);
        let mut file = store.load(&key).unwrap().unwrap();
        fs::remove_file(harness.key_file(i, "k")).unwrap();
        store.prepare(&mut file).unwrap();
    }
    let states = |alice: &mut Client| alice.key_list().unwrap()[0].differs.len();
    // two agree, and the first one is the odd one
    assert_eq!(states(&mut alice), 1);
    encrypt(&mut alice, &key, b"", b"x").unwrap();
    assert_eq!(states(&mut alice), 0);

    // as if servers 1 and 3 had died before they wrote anything
    let new = alice.new_key("half".parse().unwrap(), KeyType::Aes128, false, vec![]);
    let made = alice.key_new(&new).unwrap();
    let store = harness.store(1);
    let mut file = store.load(&made.name).unwrap().unwrap();
    for i in 0..3 {
        fs::remove_file(harness.key_file(i, "half")).unwrap();
    }
    store.prepare(&mut file).unwrap();
    fails(encrypt(&mut alice, &made.name, b"", b"x"), "there is no key half at party 1");
    let again = alice.key_new(&new).unwrap();
    assert_ne!(again.id, made.id);
    encrypt(&mut alice, &again.name, b"", b"x").unwrap();
}

#[test]
fn a_key_is_used_no_more_often_than_gcm_allows() {
    let (harness, mut alice, key) = with_key(&[]);
    let store = harness.store(2);
    store.reserve(&key, divisi_store::USES).unwrap();
    let error = fails(encrypt(&mut alice, &key, b"", b"x"), "2^32");
    assert!(error.message.starts_with("party 3 says"), "{error}");
}

#[test]
fn no_iv_occurs_twice_whatever_restarts() {
    let (mut harness, _, key) = with_key(&[]);
    let mut seen = HashSet::new();
    for round in 0..3 {
        if round > 0 {
            harness.restart();
        }
        let mut alice = harness.served_again("alice");
        for _ in 0..5 {
            let file = encrypt(&mut alice, &key, b"", b"the same text").unwrap();
            assert!(seen.insert(file[..12].to_vec()), "an IV came twice");
            // not even the same ciphertext
            assert!(seen.insert(file[12..].to_vec()));
        }
    }
}
