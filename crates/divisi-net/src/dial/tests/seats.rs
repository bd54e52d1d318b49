//! Who takes part in a join: attempts, connections that wait for one, and the word that ends it.

use super::*;
use crate::Mesh;
use crate::listener::Attempt;

/// What is left of an earlier attempt to join is not taken for the present one.
#[test]
fn each_attempt_to_join_has_a_number_of_its_own() {
    let p = test_mesh();
    let shared = p.listener.shared().clone();
    for number in 1..4 {
        assert!(Mesh::join(&p.listener, Duration::ZERO).is_err());
        assert_eq!(shared.state().attempts, number);
        assert!(!shared.is_current(number));
    }
    shared.state().joining = Some(Attempt { number: 7, emulated: false });
    for _ in 0..2 {
        assert!(shared.is_current(7) && !shared.is_current(8) && !shared.is_current(7 + 256));
    }
    drop(p);
    assert!(!shared.is_current(7));
}

/// A party's connection that waits for a join ends when its identity is not pinned any more, when another
/// party's is another one, and with the listener.
#[test]
fn an_identity_that_is_not_pinned_any_more_seats_nobody() {
    let second = PartyId::new(2).unwrap();
    for changed in [PartyId::new(2), PartyId::new(3), None] {
        let p = test_mesh();
        let until = Machine.now() + Duration::from_secs(20);
        let mut wire =
            dial(&p.config, p.listener.me(), &p.parties[0], &p.world, until, &Interrupt::default()).unwrap();
        wire.write_all(&p.hello(Role::Party, 2).encode(), until).unwrap();
        while p.listener.newest(second).is_none() {
            assert!(Machine.now() < until);
            std::thread::yield_now();
        }
        if let Some(changed) = changed {
            let first = |config: &Config| config.digest().parties[0];
            let fresh = |at: u16| crate::PublicKey::new([at.to_le_bytes(); 16].concat().try_into().unwrap());
            let mut others =
                (0..).map(|at| p.config.add_party(changed, None, crate::Pin::Key(fresh(at))).unwrap());
            // also if its digest begins alike
            p.listener.reload(others.find(|other| first(other) == first(&p.config)).unwrap()).unwrap();
        } else {
            drop(p.listener);
        }
        assert_eq!(receive(&mut wire, until), Err(Broken::Closed));
    }
}

/// Of a party's connections that wait for a join the newest one stays, and that for a minute.
#[test]
fn one_connection_of_a_party_waits_and_not_for_ever() {
    let clock = Arc::new(Ahead::default());
    let p = test_mesh_in(clock.clone());
    let until = Machine.now() + 3 * LONG;
    let second = PartyId::new(2).unwrap();
    let mut waits: Vec<Wire> = Vec::new();
    for number in 0..3 {
        let mut wire =
            dial(&p.config, p.listener.me(), &p.parties[0], &p.world, until, &Interrupt::default()).unwrap();
        wire.write_all(&p.hello(Role::Party, 2).encode(), until).unwrap();
        while p.listener.newest(second) != Some(number) {
            assert!(Machine.now() < until);
            std::thread::yield_now();
        }
        waits.push(wire);
        for gone in waits.iter_mut().rev().skip(1) {
            assert_eq!(receive(gone, until), Err(Broken::Closed));
        }
    }
    *lock(&clock.0) = Duration::from_secs(30);
    p.listener.reload(p.config.clone()).unwrap();
    let last = waits.last_mut().unwrap();
    let soon = p.world.now() + Duration::from_millis(50);
    assert_eq!(receive(last, soon), Err(Broken::Timeout));
    *lock(&clock.0) = Duration::from_secs(61);
    p.listener.reload(p.config.clone()).unwrap();
    assert_eq!(receive(last, p.world.now() + LONG), Err(Broken::Closed));
}

#[test]
fn an_answer_that_is_not_confirmed_seats_nobody() {
    let clock = Arc::new(Ahead::default());
    let p = test_mesh_in(clock.clone());
    let second = &p.parties[0];
    // the join goes on until the clock is set forward
    let within = 3 * LONG;
    std::thread::scope(|s| {
        let join = s.spawn(|| Mesh::join(&p.listener, within).err().unwrap());
        let confirmations: [fn([u8; 16]) -> Vec<u8>; 4] = [
            |_| Vec::new(),
            |_| vec![0; 16],
            |nonce| vec![nonce[0]; 16],
            |nonce| nonce.iter().rev().copied().collect(),
        ];
        for confirmation in confirmations {
            let (mut wire, answer) = p.greet(second, &p.hello(Role::Party, 2)).unwrap();
            assert_ne!(answer.nonce, [0; 16]);
            let (until, confirmation) = (Machine.now() + LONG, confirmation(answer.nonce));
            wire.write_all(&confirmation, until).unwrap();
            if confirmation.is_empty() {
                wire.close();
            } else {
                // The listener says no more: no readiness comes.
                assert_eq!(wire.read_exact(&mut [0], until), Err(Broken::Closed));
            }
        }
        *clock.0.lock().unwrap() += within;
        let missing: Vec<_> = join.join().unwrap().missing;
        let absent = |n| (PartyId::new(n).unwrap(), Trouble::Absent);
        assert_eq!(missing, [absent(2), absent(3)]);
    });
}

/// A mesh is complete when each peer has said so, in the one word that means it.
#[test]
fn only_its_word_makes_a_party_ready() {
    for words in [*b"rx", *b"xr", *b"rr"] {
        let clock = Arc::new(Ahead::default());
        let p = test_mesh_in(clock.clone());
        let (within, until) = (3 * LONG, Machine.now() + LONG);
        std::thread::scope(|s| {
            let join = s.spawn(|| Mesh::join(&p.listener, within).map(drop));
            let mut seated: Vec<Wire> = (2..)
                .zip(&p.parties)
                .map(|(me, identity)| {
                    let (mut wire, answer) = p.greet(identity, &p.hello(Role::Party, me)).unwrap();
                    wire.write_all(&answer.nonce, until).unwrap();
                    wire
                })
                .collect();
            for (wire, word) in seated.iter_mut().zip(words) {
                // the listener has all its connections
                wire.read_exact(&mut [0], until).unwrap();
                wire.write_all(&[word], until).unwrap();
            }
            // who says something else is heard no more
            if let Some(at) = words.iter().position(|word| *word == b'x') {
                assert_eq!(seated[at].read_exact(&mut [0], until), Err(Broken::Closed));
                *clock.0.lock().unwrap() += within;
            }
            assert_eq!(join.join().unwrap().is_ok(), words == *b"rr", "{words:?}");
        });
    }
}
