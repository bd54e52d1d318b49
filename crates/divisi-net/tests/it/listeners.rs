//! Identities, joining, clients and the check of links.

use crate::parties::*;
use divisi_net::{
    ConnectionError, Emulation, Identity, Listener, Machine, Mesh, Options, Peer, Pin, Trouble, check, step,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// A limit that passes.
const SHORT: Duration = Duration::from_millis(700);
/// A limit that does not pass, even on a busy machine.
const LONG: Duration = Duration::from_secs(20);

pub fn exchange(m: &Mesh, session: u32) {
    let c = m.open(session, 0).unwrap();
    for to in m.peers() {
        c.send(to, step!("x"), 1, &[m.me().number()]).unwrap();
    }
    for from in m.peers() {
        assert_eq!(receive(&c, from, step!("x"), 1).unwrap(), [from.number()]);
    }
}

#[test]
fn parties_join_in_any_order_and_again() {
    let site = site(3, &[]);
    for order in [[0, 300, 600], [600, 0, 300], [300, 600, 0]] {
        let meshes = std::thread::scope(|s| {
            let join = |i: usize| {
                let site = &site;
                s.spawn(move || {
                    std::thread::sleep(Duration::from_millis(order[i]));
                    let listener = site.listener(i);
                    (Mesh::join(&listener, Duration::from_secs(20)).unwrap(), listener)
                })
            };
            let threads: Vec<_> = (0..3).map(join).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        std::thread::scope(|s| {
            for (m, _) in &meshes {
                s.spawn(|| exchange(m, 1));
            }
        });
    }
}

#[test]
fn a_mesh_is_joined_again_after_a_party_died() {
    let site = site(3, &[]);
    let listeners = site.listeners();
    let options = Options::default();
    let mut meshes = join_all(&listeners, &options);
    for dying in 0..3_usize {
        meshes.remove(dying).reset();
        let (noticed, tried) = &(Barrier::new(2), Barrier::new(3));
        // The others notice, and all dial again, the dead one late, over listeners that stayed open.
        let again = std::thread::scope(|s| {
            let threads: Vec<_> = listeners
                .iter()
                .enumerate()
                .map(|(i, listener)| {
                    let old = (i != dying).then(|| meshes.remove(0));
                    s.spawn(move || {
                        if let Some(old) = old {
                            let c = old.open(1, 0);
                            if let Ok(c) = c {
                                let fault = receive(&c, old.me().next(3), step!("x"), 1).unwrap_err();
                                assert_eq!(fault.peer().map(|p| p.index()), Some(dying), "{fault}");
                            }
                            noticed.wait();
                            old.reset();
                            // A first try that is given up leaves half-open connections behind.
                            assert!(Mesh::join(listener, Duration::from_millis(200)).is_err());
                        }
                        tried.wait();
                        Mesh::join(listener, Duration::from_secs(20)).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        run(&again, |m| exchange(m, 1));
        meshes = again;
    }
}

/// A party that does not listen yet is called until it does.
#[test]
fn a_join_waits_for_who_comes_later() {
    let mut site = site(2, &[]);
    let (second, place) = (site.listener(1), site.listeners[0].local_addr().unwrap());
    abandon(site.listeners.remove(0));
    std::thread::scope(|s| {
        let joins = s.spawn(|| Mesh::join(&second, LONG).map(drop));
        std::thread::sleep(Duration::from_millis(250));
        assert!(!joins.is_finished());
        let until = Instant::now() + LONG;
        let first = loop {
            match TcpListener::bind(place) {
                Ok(port) => break port,
                Err(e) => assert!(Instant::now() < until, "{e}"),
            }
        };
        site.listeners.insert(0, first);
        let first = site.listener(0);
        let _mesh = Mesh::join(&first, LONG).unwrap();
        joins.join().unwrap().unwrap();
    });
}

/// Closes a port so that no other test gets it within a minute: a connection of it that its own side ended
/// first waits there (`TIME_WAIT`), and only who asks for this very port gets it.
fn abandon(listener: TcpListener) {
    let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    drop(listener.accept().unwrap());
    drop(caller);
}

#[test]
fn who_is_missing_is_named() {
    let mut site = site(3, &[]);
    let (d1, d2) = (site.listener(0), site.listener(1));
    let gone = site.config.parties()[2].address.clone();
    abandon(site.listeners.pop().unwrap());
    let errors = std::thread::scope(|s| {
        let threads = [&d1, &d2].map(|d| s.spawn(|| Mesh::join(d, SHORT).err().unwrap()));
        threads.map(|t| t.join().unwrap())
    });
    for e in &errors {
        let third = e.missing.iter().find(|(party, _)| *party == p(3)).unwrap();
        assert_eq!(third.1, Trouble::Absent, "{e}");
        assert!(e.to_string().contains("party 3 did not connect in time"), "{e}");
    }
    // And a party whose lower peers are not there says where it looked.
    let lonely = check(&site.config, &site.identities[0], &world(), LONG).unwrap();
    assert!(matches!(&lonely[1].result, Err(Trouble::Unreachable { address, .. }) if *address == gone));
}

#[test]
fn a_wrong_identity_is_refused_at_once_with_both_fingerprints() {
    let site = site(3, &["alice"]);
    let d1 = site.listener(0);
    let joining = std::thread::spawn(move || Mesh::join(&d1, Duration::from_secs(2)).err().unwrap());
    // Party 1's pin for party 2 is not what this party 2 has.
    let other = Arc::new(Identity::generate(&Machine));
    let forged = site.config.add_party(p(2), None, Pin::Key(other.public())).unwrap();
    let d2 = site.listener_with(1, &forged, &other);
    // who does not answer holds up a check
    let _third = site.listener(2);
    let start = Instant::now();
    let e = Mesh::join(&d2, Duration::from_secs(5)).err().unwrap();
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(e.missing, [(p(1), Trouble::Refused { own: other.fingerprint() })]);
    // Seen from outside: the pinned and the presented one.
    let pinned = site.config.parties()[1].pin.fingerprint();
    let report = &check(&site.config, &site.identities[0], &world(), LONG).unwrap()[0];
    assert_eq!(report.result, Err(Trouble::WrongIdentity { pinned, presented: other.fingerprint() }));
    let text = report.to_string();
    assert!(text.contains(&pinned.to_string()) && text.contains(&other.fingerprint().to_string()), "{text}");
    let e = joining.join().unwrap();
    assert!(e.refused.iter().any(|r| r.contains(&other.fingerprint().to_string())), "{e}");
}

/// A peer that was turned away before an attempt to join began is named when the attempt ends, and not again.
#[test]
fn a_refusal_before_an_attempt_is_told_once() {
    let site = site(2, &[]);
    let (d1, other) = (site.listener(0), Arc::new(Identity::generate(&Machine)));
    let forged = site.config.add_party(p(2), None, Pin::Key(other.public())).unwrap();
    let d2 = site.listener_with(1, &forged, &other);
    assert!(Mesh::join(&d2, Duration::from_secs(5)).is_err());
    let named =
        |e: &divisi_net::JoinError| e.refused.iter().any(|r| r.contains(&other.fingerprint().to_string()));
    let first = Mesh::join(&d1, SHORT).err().unwrap();
    assert!(named(&first), "{first}");
    let second = Mesh::join(&d1, SHORT).err().unwrap();
    assert!(!named(&second), "{second}");
}

#[test]
fn another_partys_identity_oneself_and_clients_are_no_party() {
    let site = site(3, &["alice"]);
    let d1 = site.listener(0);
    let config = &site.config;
    // Opening a listener with another party's key, a client's, or an unknown one.
    for wrong in [&site.identities[1], &site.clients[0], &Arc::new(Identity::generate(&Machine))] {
        let l = TcpListener::bind("127.0.0.1:0").unwrap();
        let e = Listener::open_at(l, config.clone(), p(3), wrong.clone(), world()).err().unwrap().to_string();
        assert!(e.contains(&wrong.fingerprint().to_string()), "{e}");
        assert!(e.contains(&config.parties()[2].pin.fingerprint().to_string()), "{e}");
    }
    // A party that reaches itself: party 3 finds its own identity behind party 1's address.
    let swapped = config.add_party(p(1), Some(&config.parties()[2].address), config.parties()[0].pin);
    assert!(swapped.unwrap_err().to_string().contains("same address"));
    let own = site.listener(2);
    // who does not answer holds up a check
    let second = site.listener(1);
    let moved = config
        .add_party(p(3), Some("127.0.0.1:1"), config.parties()[2].pin)
        .and_then(|c| c.add_party(p(1), Some(&config.parties()[2].address), config.parties()[0].pin))
        .unwrap();
    let reports = check(&moved, &site.identities[2], &world(), LONG).unwrap();
    let mine = site.identities[2].fingerprint();
    assert!(matches!(reports[0].result, Err(Trouble::WrongIdentity { presented, .. }) if presented == mine));
    drop((own, second));
    // A party that calls itself is told that it does
    let e = site.dial(&site.identities[0], LONG).err().unwrap();
    assert!(matches!(e, ConnectionError::Trouble(..)), "{e}");
    let until = Instant::now() + LONG;
    let turned_away = loop {
        let away = d1.take_strangers();
        if !away.is_empty() || Instant::now() > until {
            break away;
        }
    };
    assert!(turned_away[0].contains("own identity"), "{turned_away:?}");
    // A client's key dials as a client, but a party's does not.
    site.dial(&site.clients[0], LONG).unwrap();
    let e = site.dial(&site.identities[1], LONG).err().unwrap();
    let refused = Trouble::Refused { own: site.identities[1].fingerprint() };
    assert_eq!(e, ConnectionError::Trouble(Peer::Party(p(1)), refused));
    let unknown = Identity::generate(&Machine);
    let start = Instant::now();
    let e = site.dial(&unknown, Duration::from_secs(5)).err().unwrap();
    assert!(start.elapsed() < Duration::from_secs(4));
    assert!(e.to_string().contains(&unknown.fingerprint().to_string()), "{e}");
    assert!(d1.next_client(LONG).is_some());
    assert!(d1.next_client(Duration::from_millis(100)).is_none());
}

#[test]
fn configurations_and_emulations_must_agree() {
    let site = site(2, &[]);
    let other =
        site.config.add_party(p(3), Some("host:1"), Pin::Key(Identity::generate(&Machine).public())).unwrap();
    let d1 = site.listener(0);
    let d2 = site.listener_with(1, &other, &site.identities[1]);
    let [e1, e2] = std::thread::scope(|s| {
        let threads = [&d1, &d2].map(|d| s.spawn(|| Mesh::join(d, Duration::from_secs(2)).err().unwrap()));
        threads.map(|t| t.join().unwrap())
    });
    let (a, b) = (site.config.digest().parties, other.digest().parties);
    assert_eq!(e1.missing, [(p(2), Trouble::Digest { ours: a, theirs: b })]);
    assert_eq!(e2.missing, [(p(1), Trouble::Digest { ours: b, theirs: a })]);
    let report = &check(&other, &site.identities[1], &world(), LONG).unwrap()[0];
    assert!(!report.result.as_ref().unwrap().same_parties);
    assert!(report.trouble().unwrap().contains("other parties"));
    d2.reload(site.config.clone()).unwrap();
    let plain = Options::default();
    let emulated = Options { emulation: Emulation::new(Some(5.0), None), ..Options::default() };
    let [e1, e2] = std::thread::scope(|s| {
        let threads = [(&d1, &plain), (&d2, &emulated)]
            .map(|(d, o)| s.spawn(move || Mesh::join_with(d, Duration::from_secs(2), o).err().unwrap()));
        threads.map(|t| t.join().unwrap())
    });
    assert_eq!(
        [&e1.missing[..], &e2.missing[..]],
        [[(p(2), Trouble::Emulation)], [(p(1), Trouble::Emulation)]]
    );
    run(&join_all(&[d1, d2], &emulated), |m| exchange(m, 1));
}

#[test]
fn an_address_of_another_machine_is_refused_unless_another_one_is_named() {
    let made =
        divisi_net::Config::create(2, &["192.0.2.1:4701".into(), "192.0.2.2:4701".into()], &[], &Machine)
            .unwrap();
    let mut identities = made.parties.into_iter().map(Arc::new);
    let identity = identities.next().unwrap();
    let e = Listener::open(made.config.clone(), p(1), identity.clone(), world()).err().unwrap().to_string();
    assert!(e.contains("192.0.2.1:4701") && e.contains("--listen"), "{e}");
    let listener = Listener::open_on("127.0.0.1:0", made.config, p(1), identity, world()).unwrap();
    assert!(listener.address().ip().is_loopback());
}

#[test]
fn clients_are_served_within_lengths_and_limits() {
    let site = site(2, &["alice", "bob"]);
    let listener = site.listener(0);
    let mut alice = site.dial(&site.clients[0], LONG).unwrap();
    let mut served = listener.next_client(LONG).unwrap();
    assert_eq!(served.peer(), &Peer::Client("alice".into()));
    assert_eq!(alice.peer(), &Peer::Party(p(1)));
    assert_eq!(alice.binding(), served.binding());
    for len in [0, 1, 65_536, 1_000_000] {
        let body = pattern(p(1), p(2), len);
        std::thread::scope(|s| {
            s.spawn(|| alice.send(&body).unwrap());
            assert!(served.recv(len).unwrap() == body);
        });
        served.send(&[len as u8]).unwrap();
        assert_eq!(alice.recv(1).unwrap(), [len as u8]);
    }
    alice.set_timeout(Duration::from_millis(50));
    assert!(matches!(alice.recv(1), Err(ConnectionError::Timeout(..))));
    alice.send(&[0; 11]).unwrap();
    let e = served.recv(10).unwrap_err();
    assert_eq!(e, ConnectionError::TooLong { peer: Peer::Client("alice".into()), len: 11, max: 10 });
    let longest = 1 << 30;
    let e = alice.send(&vec![0; longest + 1]).unwrap_err();
    assert_eq!(e, ConnectionError::TooLong { peer: Peer::Party(p(1)), len: longest + 1, max: longest });
    alice.close();
    let bob = site.dial(&site.clients[1], LONG).unwrap();
    let mut served = listener.next_client(LONG).unwrap();
    assert_eq!(served.peer(), &Peer::Client("bob".into()));
    assert_ne!(bob.binding(), &[0; 32]);
    drop(bob);
    assert!(matches!(served.recv(10), Err(ConnectionError::Closed(_))));
}

/// A client of two meshes greets each by its own configuration.
#[test]
fn a_client_of_two_meshes_is_served_by_both() {
    for _ in 0..2 {
        let site = site(2, &["alice"]);
        let listener = site.listener(0);
        let alice = site.dial(&site.clients[0], LONG).unwrap();
        assert_eq!(alice.peer(), &Peer::Party(p(1)));
        assert!(listener.next_client(LONG).is_some());
        assert_eq!(check(&site.config, &site.identities[1], &world(), LONG).unwrap()[0].trouble(), None);
    }
}

/// What is bound to a connection is bound to no other one, of the same client or of another.
#[test]
fn no_two_connections_have_one_binding() {
    let site = site(2, &["alice", "bob"]);
    let (listener, mut seen) = (site.listener(0), std::collections::HashSet::new());
    for client in [0, 0, 1, 0] {
        let dialled = site.dial(&site.clients[client], LONG).unwrap();
        let served = listener.next_client(LONG).unwrap();
        assert!(dialled.binding() == served.binding() && seen.insert(*dialled.binding()), "{client}");
    }
}

/// A connection is quiet until something comes that was not received, or until the other end closes it.
#[test]
fn a_connection_is_quiet_until_something_comes() {
    let site = site(2, &["alice"]);
    let listener = site.listener(0);
    for speaks in [true, false] {
        let mut alice = site.dial(&site.clients[0], LONG).unwrap();
        let mut served = listener.next_client(LONG).unwrap();
        served.send(&[1, 2]).unwrap();
        assert_eq!(alice.recv(2).unwrap(), [1, 2]);
        assert!(alice.is_quiet() && alice.is_quiet());
        // looking takes nothing away
        alice.send(&[3]).unwrap();
        assert_eq!(served.recv(1).unwrap(), [3]);
        if speaks {
            served.send(&[4]).unwrap();
        } else {
            drop(served);
        }
        let until = Instant::now() + Duration::from_secs(10);
        while alice.is_quiet() {
            assert!(Instant::now() < until, "{speaks}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_knock_of_garbage_harms_nobody() {
    let site = site(2, &["alice"]);
    let listeners = site.listeners();
    let mut silent = Vec::new();
    for i in 0..40_u8 {
        let mut socket = TcpStream::connect(listeners[0].address()).unwrap();
        if i % 2 == 0 {
            socket.write_all(&[i; 300]).unwrap();
            let mut rest = Vec::new();
            let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = socket.read_to_end(&mut rest);
        } else {
            silent.push(socket);
        }
    }
    run(&join_all(&listeners, &Options::default()), |m| exchange(m, 1));
    site.dial(&site.clients[0], LONG).unwrap();
}

#[test]
fn a_taken_port_is_told() {
    let site = site(2, &[]);
    let e = Listener::open(site.config.clone(), p(1), site.identities[0].clone(), world()).err().unwrap();
    assert!(e.to_string().contains("is taken"), "{e}");
}

#[test]
fn two_hundred_that_say_nothing_do_not_shut_a_client_out() {
    let site = site(2, &["alice"]);
    let listener = site.listener(0);
    let silent: Vec<_> = (0..200_u8)
        .map(|i| {
            // Until the listening port's queue is full.
            let socket = TcpStream::connect_timeout(&listener.address(), Duration::from_millis(100)).ok()?;
            // A record that is never whole is no more than silence.
            (i % 2 == 0).then(|| (&socket).write_all(&[22, 3, 1, 0, 200, 1])).transpose().ok()?;
            Some(socket)
        })
        .collect();
    assert!(silent.iter().flatten().count() > 100);
    let start = Instant::now();
    let mut alice = site.dial(&site.clients[0], Duration::from_secs(10)).unwrap();
    let mut served = listener.next_client(LONG).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(served.identity(), site.clients[0].fingerprint());
    assert_eq!(alice.identity(), site.identities[0].fingerprint());
    alice.send(&[1]).unwrap();
    assert_eq!(served.recv(1).unwrap(), [1]);
    drop(silent);
}
