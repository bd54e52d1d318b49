//! Which clients a key serves, as its owner changes them.

use super::harness::{ServersHarness, encrypt, fails, with_alice, with_key};
use crate::{Client, ErrorKind, KeyName};
use divisi_net::tamper::Tap;
use divisi_net::{Frame, Mesh, PartyId, Step};
use std::sync::{Arc, OnceLock};

/// A change holds at the next request, also on connections that are there already, and after a restart. Only
/// the owner makes it; a key serves its owner to the last.
#[test]
fn the_owner_changes_whom_a_key_serves() {
    let (mut harness, mut alice, key) = with_key(&["carol"]);
    let [mut alicia, mut carol] = ["alicia", "carol"].map(|name| harness.connect(name));
    fails(encrypt(&mut alicia, &key, b"", b"x"), "does not serve client alicia");

    let granted = alice.key_serve(&key, "alicia", true).unwrap();
    assert_eq!(granted.clients, ["carol", "alicia"]);
    // messages sent ahead for a refused request may have cost the connection
    alicia = harness.connect("alicia");
    encrypt(&mut alicia, &key, b"", b"x").unwrap();
    encrypt(&mut carol, &key, b"", b"x").unwrap();
    // the same again: its answer was lost
    assert_eq!(alice.key_serve(&key, "alicia", true).unwrap(), granted);
    assert_eq!(alice.key_serve(&key, "alice", true).unwrap(), granted);

    assert_eq!(alice.key_serve(&key, "carol", false).unwrap().clients, ["alicia"]);
    fails(encrypt(&mut carol, &key, b"", b"x"), "does not serve client carol");
    encrypt(&mut alicia, &key, b"", b"x").unwrap();

    for (who, client, serves, says) in [
        ("alicia", "carol", true, "client alicia did not make key k"),
        ("alicia", "alicia", false, "client alicia did not make key k"),
        ("carol", "carol", true, "client carol did not make key k"),
        ("alice", "carol", false, "key k does not serve client carol: see `key list`"),
        ("alice", "alice", false, "a key serves its owner to the last"),
        ("alice", "alison", true, "client alison is not in the configuration"),
        ("alice", "da ve", true, "is no name of a client"),
    ] {
        let error = harness.connect(who).key_serve(&key, client, serves).unwrap_err();
        assert!(error.message.contains(says), "{who} {client}: {error}");
        let usage = client.contains(' ');
        assert_eq!(error.kind, if usage { ErrorKind::Usage } else { ErrorKind::Refused });
    }
    let none: KeyName = "none".parse().unwrap();
    fails(alice.key_serve(&none, "alicia", true), "there is no key none");
    assert!(harness.logged("key k now serves client alicia, by its owner alice"));

    let list = |client: &mut Client| client.key_list().unwrap().remove(0);
    drop((alice, alicia, carol));
    harness.restart();
    let mut alice = harness.served_again("alice");
    let listed = list(&mut alice);
    assert_eq!((listed.key.clients, listed.differs), (vec!["alicia".to_owned()], vec![]));
    assert_eq!(alice.key_serve(&key, "alicia", false).unwrap().clients, [""; 0]);
    alice.key_destroy(&key).unwrap();
    fails(alice.key_serve(&key, "alicia", true), "key k was destroyed");
}

/// Whatever a crash leaves of a change: the next session puts it in force if all three have written it, and
/// drops it if one has not. Each key is what one crash leaves: what each server has of a change that takes
/// alicia off and puts carol on.
#[test]
fn a_change_that_a_crash_interrupted_is_made_everywhere_or_nowhere() {
    const OLD: u8 = 0;
    const WRITTEN: u8 = 1;
    const IN_FORCE: u8 = 2;
    let (mut harness, mut alice) = with_alice();
    let crashes = [
        ([WRITTEN, OLD, OLD], false),
        ([OLD, WRITTEN, WRITTEN], false),
        ([WRITTEN, WRITTEN, WRITTEN], true),
        ([WRITTEN, IN_FORCE, WRITTEN], true),
        ([IN_FORCE, WRITTEN, IN_FORCE], true),
    ];
    let name = |at: usize| -> KeyName { format!("k{at}").parse().unwrap() };
    for at in 0..crashes.len() {
        harness.key(&mut alice, name(at).as_str(), false, &["alicia"]);
    }
    drop(alice);
    harness.stop_all();
    for i in 0..3 {
        let store = harness.store(i);
        for (at, (states, _)) in crashes.iter().enumerate() {
            let (name, carol) = (name(at), ["carol".to_owned()]);
            let id = store.load(&name).unwrap().unwrap().info.id;
            if states[i] != OLD {
                store.prepare_clients(&name, &id, Some(&carol)).unwrap();
            }
            if states[i] == IN_FORCE {
                store.activate_clients(&name, &id).unwrap();
            }
        }
    }
    (0..3).for_each(|i| harness.start(i, None));
    let mut alice = harness.served_again("alice");
    for (listed, (states, changed)) in alice.key_list().unwrap().into_iter().zip(crashes) {
        assert!(listed.differs.is_empty(), "{states:?}");
        let (name, serves) = (listed.key.name, if changed { "carol" } else { "alicia" });
        assert_eq!(listed.key.clients, [serves], "{states:?}");
        let mut served = harness.connect(serves);
        encrypt(&mut served, &name, b"", b"x").unwrap();
        let mut other = harness.connect(if changed { "alicia" } else { "carol" });
        encrypt(&mut other, &name, b"", b"x").unwrap_err();
    }
    assert!(harness.logged("an interrupted change of the clients of key k2 is in force"));
    assert!(
        harness.logged("an interrupted change of the clients of key k1 was not finished, and is dropped")
    );
    // and nothing is left of them
    for i in 0..3 {
        let store = harness.store(i);
        assert!(store.changing().is_empty());
    }
}

/// A server that tells one of the others alone that it cannot read a key ends the session before anybody
/// completes or drops a change of it, also after another change that was completed.
#[test]
fn a_change_that_servers_see_differently_stays_as_it_is() {
    let honest = Arc::new(OnceLock::new());
    let hand = move |mesh: &Mesh| {
        if mesh.me() == PartyId::P3 {
            let honest = honest.clone();
            let lie = move |mut frame: Frame| {
                let entries = Step::new("divisi_node::agree/status").id;
                if frame.step == entries && frame.body.len() == 64 {
                    let first = honest.get_or_init(|| frame.body.clone());
                    if frame.body != *first {
                        frame.body.fill(0);
                    }
                }
                vec![frame]
            };
            Tap::new(mesh).intercept(PartyId::P1, Box::new(lie)).unwrap();
        }
    };
    let hand: Arc<dyn Fn(&Mesh) + Send + Sync> = Arc::new(hand);
    let mut harness = ServersHarness::with(|options| options.hand = Some(hand.clone()));
    let mut alice = harness.connect("alice");
    let names = ["k0", "k1"].map(|name| harness.key(&mut alice, name, false, &[]));
    drop(alice);
    harness.stop_all();
    let id = |name| harness.store(0).load(name).unwrap().unwrap().info.id;
    let ids = names.each_ref().map(id);
    for i in 0..3 {
        let write = |(name, id)| harness.store(i).prepare_clients(name, id, Some(&["carol".to_owned()]));
        names.iter().zip(&ids).for_each(|change| write(change).unwrap());
    }
    (0..3).for_each(|i| harness.start(i, None));
    harness.await_logged(4, "session ended");
    let left = harness.store(0).changing();
    assert!(left.len() == 1 && ids.contains(&left[0]));
    assert_eq!(harness.store(1).changing(), left);
}
