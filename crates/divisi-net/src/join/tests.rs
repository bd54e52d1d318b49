//! What a party that joins makes of the connections that it has.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::wire::tests::{ends, mute};
use crate::{Identity, Machine, World, tls};
use std::net::TcpListener;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(20);

/// The listener of party 2 of three. The first one is at the port that is returned, with this identity, and
/// the last one nowhere.
fn party() -> (Listener, TcpListener, Identity) {
    let [own, other] = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let place = |port: &TcpListener| port.local_addr().unwrap().to_string();
    let hosts = [place(&other), place(&own), "127.0.0.1:1".into()];
    let mut made = Config::create(3, &hosts, &[], &Machine).unwrap();
    let identity = Arc::new(made.parties.remove(1));
    let listener = Listener::open_at(own, made.config, PartyId::P2, identity, Arc::new(Machine)).unwrap();
    (listener, other, made.parties.remove(0))
}

/// Seats of these parties, and whether each is ready, with the other ends of their connections.
fn seats(of: &[(PartyId, bool)]) -> (BTreeMap<PartyId, Seat>, Vec<Wire>) {
    let seated = of.iter().map(|(peer, ready)| {
        let (wire, far) = ends();
        ((*peer, Seat { wire, told: false, ready: *ready, broken: false }), far)
    });
    seated.unzip()
}

/// When the time is over, each party that is not ready is named, by what it did: it was called or came and
/// says nothing, or it never came.
#[test]
fn who_is_not_ready_is_missing() {
    use Trouble::{Absent, Silent};
    let (listener, ..) = party();
    let [first, last] = [PartyId::P1, PartyId::P3];
    for (seated, expected) in [
        (vec![], vec![(first, Silent), (last, Absent)]),
        (vec![(last, false)], vec![(first, Silent), (last, Silent)]),
        (vec![(first, true), (last, false)], vec![(last, Silent)]),
        (vec![(last, true)], vec![(first, Silent)]),
    ] {
        let (mut seats, _far) = seats(&seated);
        let ends = gather(listener.shared(), &[first, last], &mut seats, Machine.now());
        assert_eq!(ends.map_err(|e| e.missing), Err(expected), "{seated:?}");
    }
}

/// What does not pass ends an attempt at once, unless the party has its seat: then it was another connection.
#[test]
fn who_is_seated_is_missing_no_more() {
    let (listener, ..) = party();
    let [first, last] = [PartyId::P1, PartyId::P3];
    let until = Machine.now() + LONG;
    listener.shared().state().troubles.insert(last, Trouble::NotIt);
    let (mut seats, _far) = seats(&[(first, false), (last, false)]);
    assert_eq!(gather(listener.shared(), &[first, last], &mut seats, until), Ok(true));
    seats.remove(&last);
    let ends = gather(listener.shared(), &[first, last], &mut seats, until);
    assert_eq!(ends.map_err(|e| e.missing), Err(vec![(last, Trouble::NotIt)]));
}

/// Of a party that calls, what was wrong before an attempt is told if it comes no more; of one that is
/// called, only what the attempt finds itself.
#[test]
fn troubles_of_before_are_those_of_callers() {
    let (listener, ..) = party();
    for peer in [PartyId::P1, PartyId::P3] {
        listener.shared().state().troubles.insert(peer, Trouble::Busy);
    }
    let missing: BTreeMap<_, _> =
        Mesh::join(&listener, Duration::ZERO).err().unwrap().missing.into_iter().collect();
    assert_eq!(missing.get(&PartyId::P3), Some(&Trouble::Busy));
    assert!(missing.get(&PartyId::P1).is_some_and(|trouble| *trouble != Trouble::Busy), "{missing:?}");
}

/// A party that is ready may begin at once: what it says next is left to its link, while others are not
/// ready.
#[test]
fn what_a_ready_party_says_next_is_for_its_link() {
    let (mut seats, mut far) = seats(&[(PartyId::P1, false), (PartyId::P3, false)]);
    let until = Machine.now() + LONG;
    far[0].write_all(&[READY, 7], until).unwrap();
    for _ in 0..3 {
        assert!(!settle(&mut seats, until));
    }
    far[1].write_all(&[READY, 8], until).unwrap();
    while !settle(&mut seats, until) {
        assert!(seats.values().all(|seat| !seat.broken) && Machine.now() < until);
    }
    for (seat, next) in seats.values_mut().zip([7, 8]) {
        let mut word = [0];
        assert_eq!((seat.wire.read_exact(&mut word, until), word), (Ok(()), [next]));
    }
    // nor does it say twice that it is ready
    for (seat, far) in seats.values_mut().zip(&mut far) {
        seat.wire.write_all(&[9], until).unwrap();
        let mut words = [0; 2];
        assert_eq!((far.read_exact(&mut words, until), words), (Ok(()), [READY, 9]));
    }
}

/// Who cannot be told that this party is ready has no seat, whatever it says.
#[test]
fn who_cannot_be_told_has_no_seat() {
    let (mut seats, mut far) = seats(&[(PartyId::P1, false)]);
    let until = Machine.now() + LONG;
    mute(&seats[&PartyId::P1].wire);
    far[0].write_all(&[READY], until).unwrap();
    for _ in 0..2 {
        assert!(!settle(&mut seats, until));
    }
    // also if it said so before
    seats.values_mut().for_each(|seat| seat.ready = true);
    assert!(!settle(&mut seats, until));
}

/// An attempt to join that is over confirms no answer: whoever answered would take its connection for one
/// that stays.
#[test]
fn an_attempt_that_is_over_confirms_nothing() {
    let (listener, port, identity) = party();
    let (shared, until) = (listener.shared(), Machine.now() + LONG);
    for over in [false, true] {
        let attempt = Attempt { number: 7, emulated: false };
        shared.state().joining = Some(attempt);
        std::thread::scope(|s| {
            let answers = s.spawn(|| {
                let begun = tls::acceptor(&identity, Box::new(|_| true), &shared.world).unwrap();
                let (socket, world) = (port.accept().unwrap().0, shared.world.clone());
                let mut wire = Wire::establish(socket, begun, world, until, LONG, until).unwrap();
                let hello = crate::dial::receive(&mut wire, until).unwrap().unwrap();
                let mut answer = Hello::new(Role::Party, 1, 2, shared.config().digest(), &Machine);
                answer.echo = hello.nonce;
                if over {
                    shared.state().joining = None;
                }
                wire.write_all(&answer.encode(), until).unwrap();
                let mut word = [0; 16];
                wire.read_exact(&mut word, until).map(|()| word == answer.nonce)
            });
            let reached = reach(shared, &shared.config(), PartyId::P1, attempt, until);
            assert_eq!(reached.map(drop), if over { Err(Trouble::Closed) } else { Ok(()) });
            assert_eq!(answers.join().unwrap(), if over { Err(Broken::Closed) } else { Ok(true) });
        });
    }
}
