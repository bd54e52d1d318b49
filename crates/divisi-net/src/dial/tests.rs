//! Greetings that a corrupt party might send, at a real listener.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::hello::Role;
use crate::world::{Ahead, Machine, lock};
use crate::{Config, Listener, Peer};
use std::net::TcpListener;

mod seats;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(20);

struct TestMesh {
    config: Config,
    listener: Listener,
    parties: Vec<Identity>,
    client: Identity,
    world: Arc<dyn World>,
}

fn test_mesh() -> TestMesh {
    test_mesh_in(Arc::new(Machine))
}

fn test_mesh_in(world: Arc<dyn World>) -> TestMesh {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let first = listener.local_addr().unwrap().to_string();
    let hosts = [first, "127.0.0.1:1".into(), "127.0.0.1:2".into()];
    let mut made = Config::create(3, &hosts, &["alice".into()], &Machine).unwrap();
    let own = Arc::new(made.parties.remove(0));
    let me = PartyId::new(1).unwrap();
    let listener = Listener::open_at(listener, made.config.clone(), me, own, world.clone()).unwrap();
    TestMesh { config: made.config, listener, parties: made.parties, client: made.clients.remove(0), world }
}

impl TestMesh {
    fn hello(&self, role: Role, me: u8) -> Hello {
        Hello::new(role, me, 1, self.config.digest(), &Machine)
    }

    fn greet(&self, identity: &Identity, hello: &Hello) -> Result<(Wire, Hello), Trouble> {
        let until = Machine.now() + LONG;
        let mut wire =
            dial(&self.config, self.listener.me(), identity, &self.world, until, &Interrupt::default())?;
        let answer = greet(&mut wire, hello, identity, until)?;
        Ok((wire, answer))
    }
}

/// The answer to a greeting names this greeting, both parties, and nothing else.
#[test]
fn an_answer_belongs_to_its_greeting() {
    let p = test_mesh();
    let (identity, until) = (&p.parties[0], Machine.now() + LONG);
    let changes: [fn(&mut Hello); 5] = [
        |_| {},
        |answer| answer.me = 3,
        |answer| answer.to = 3,
        |answer| answer.echo = [0; 16],
        |answer| answer.echo[15] ^= 1,
    ];
    for (at, change) in changes.iter().enumerate() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = port.local_addr().unwrap();
        std::thread::scope(|s| {
            s.spawn(|| {
                let begun = tls::acceptor(&p.client, Box::new(|_| true), &p.world).unwrap();
                let socket = port.accept().unwrap().0;
                let world = p.world.clone();
                let mut wire = Wire::establish(socket, begun, world, until, LONG, until).unwrap();
                let hello = receive(&mut wire, until).unwrap().unwrap();
                let echo = hello.nonce;
                let mut answer = Hello { me: 1, to: 2, echo, ..p.hello(Role::Party, 1) };
                change(&mut answer);
                wire.write_all(&answer.encode(), until).unwrap();
                // until the other end has read it
                let _ = wire.read_exact(&mut [0], until);
            });
            let begun = tls::dialler(identity, Box::new(|_| true), &p.world).unwrap();
            let socket = TcpStream::connect(address).unwrap();
            let mut wire = Wire::establish(socket, begun, p.world.clone(), until, LONG, until).unwrap();
            let answer = greet(&mut wire, &p.hello(Role::Party, 2), identity, until);
            assert_eq!(answer.is_ok(), at == 0, "{at}: {answer:?}");
            wire.close();
        });
    }
}

/// Each handshake that fails is counted by its reason.
#[test]
fn broken_handshakes_are_no_slow_ones() {
    let p = test_mesh();
    for _ in 0..3 {
        let mut socket = TcpStream::connect(p.listener.address()).unwrap();
        std::io::Write::write_all(&mut socket, &[7; 300]).unwrap();
    }
    let (until, mut broken) = (Machine.now() + LONG, 0);
    while broken < 3 && Machine.now() < until {
        let refused = p.listener.take_refused();
        assert_eq!(refused.slow, 0);
        broken += refused.broken;
        std::thread::yield_now();
    }
    assert_eq!(broken, 3);
}

#[test]
fn nobody_speaks_for_another() {
    let p = test_mesh();
    let [second, third] = &p.parties[..] else { return assert_eq!(p.parties.len(), 2) };
    let cases = [
        (second, p.hello(Role::Party, 3)),
        (third, p.hello(Role::Party, 2)),
        (second, p.hello(Role::Party, 1)),
        (second, p.hello(Role::Party, 0)),
        (second, p.hello(Role::Client, 0)),
        (&p.client, p.hello(Role::Party, 2)),
        (&p.client, p.hello(Role::Party, 0)),
    ];
    for (identity, hello) in cases {
        let start = Machine.now();
        let trouble = p.greet(identity, &hello).err().unwrap();
        assert_eq!(trouble, Trouble::Refused { own: identity.fingerprint() });
        assert!(start.elapsed() < LONG / 2);
        // it is named for the log, once
        let named = p.listener.take_strangers();
        assert!(named.len() == 1 && named[0].contains(&identity.fingerprint().to_string()), "{named:?}");
        assert!(p.listener.take_strangers().is_empty());
    }
    let elsewhere = Hello { to: 2, ..p.hello(Role::Party, 2) };
    assert_eq!(p.greet(second, &elsewhere).err(), Some(Trouble::NotIt));
    let future = Hello { versions: (4, 9), ..p.hello(Role::Party, 2) };
    assert_eq!(p.greet(second, &future).err(), Some(Trouble::Version { ours: (2, 3), theirs: (2, 3) }));
    p.greet(&p.client, &p.hello(Role::Client, 0)).unwrap();
    let served = p.listener.next_client(LONG).unwrap();
    assert_eq!(served.peer(), &Peer::Client("alice".into()));
    // nor is anybody else taken for the party that is dialled, however often it is tried
    let (me, fresh) = (p.listener.me(), crate::Pin::Key(Identity::generate(&Machine).public()));
    let other = p.config.add_party(me, None, fresh).unwrap();
    for _ in 0..3 {
        let until = Machine.now() + LONG;
        let trouble = dial(&other, me, second, &p.world, until, &Interrupt::default()).err();
        let (pinned, presented) = (fresh.fingerprint(), p.config.parties()[0].pin.fingerprint());
        assert_eq!(trouble, Some(Trouble::WrongIdentity { pinned, presented }));
    }
}

/// The bytes that a dialling end sends first.
fn first_words(p: &TestMesh) -> Vec<u8> {
    let mut begun = tls::dialler(&p.client, Box::new(|_| true), &p.world).unwrap();
    let mut bytes = Vec::new();
    begun.tls.write_tls(&mut bytes).unwrap();
    bytes
}

/// As many as the system allows: the sockets of both ends are open in this process.
fn allow_sockets() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: most.maximum, ..most }).unwrap();
}

/// Clients and parties get in while more handshakes are half open than there are places; these end by
/// themselves, counted.
#[test]
fn handshakes_that_stop_half_way_shut_nobody_out() {
    allow_sockets();
    let p = test_mesh();
    let words = first_words(&p);
    let flood: Vec<TcpStream> = (0..400)
        .map(|_| {
            let mut socket = TcpStream::connect(p.listener.address()).unwrap();
            std::io::Write::write_all(&mut socket, &words).unwrap();
            socket
        })
        .collect();
    let until = Machine.now() + Duration::from_secs(20);
    for (identity, role, me) in [(&p.client, Role::Client, 0), (&p.parties[0], Role::Check, 2)] {
        let mut wire =
            dial(&p.config, p.listener.me(), identity, &p.world, until, &Interrupt::default()).unwrap();
        greet(&mut wire, &p.hello(role, me), identity, until).unwrap();
    }
    // A slow machine lets some run out of time before the places are full, so only the sum is fixed.
    let mut ended = 0;
    while ended < flood.len() as u64 && Machine.now() < until {
        let refused = p.listener.take_refused();
        ended += refused.displaced + refused.slow;
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ended, flood.len() as u64);
    drop(flood);
}

/// A client that finds no room is told so, and not that all is well.
#[test]
fn so_many_clients_wait_to_be_served() {
    allow_sockets();
    let p = test_mesh();
    let mut waiting = Vec::new();
    let refused = (0..300).find_map(|_| {
        let greeted = p.greet(&p.client, &p.hello(Role::Client, 0));
        greeted.map(|(wire, _)| waiting.push(wire)).err().or_else(|| {
            // one that was just welcomed may not count yet
            let until = Machine.now() + LONG;
            while p.listener.clients() < waiting.len() {
                assert!(Machine.now() < until);
                std::thread::yield_now();
            }
            None
        })
    });
    assert_eq!((refused, waiting.len()), (Some(Trouble::Busy), 256));
    p.listener.next_client(LONG).unwrap();
    p.greet(&p.client, &p.hello(Role::Client, 0)).unwrap();
}

/// Whoever receives the server's first words has a second and a half to answer, and no more.
#[test]
fn an_answer_to_the_first_words_comes_soon_or_never() {
    let p = test_mesh();
    let words = first_words(&p);
    let mut socket = TcpStream::connect(p.listener.address()).unwrap();
    // the listener waits for a peer that is slow before its first message
    std::thread::sleep(Duration::from_secs(2));
    let start = Machine.now();
    std::io::Write::write_all(&mut socket, &words).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (mut bytes, mut answer) = ([0; 4096], 0);
    while let Ok(n @ 1..) = std::io::Read::read(&mut socket, &mut bytes) {
        answer += n;
    }
    let lasted = start.elapsed();
    assert!(answer > 100, "no answer: {answer} bytes");
    assert!((Duration::from_millis(1400)..Duration::from_millis(4000)).contains(&lasted), "{lasted:?}");
    let (until, mut slow) = (Machine.now() + Duration::from_secs(10), 0);
    while slow == 0 && Machine.now() < until {
        slow = p.listener.take_refused().slow;
    }
    assert_eq!(slow, 1);
}

/// A party has a place of its own before it ever connected, if the configuration gives its address; if it
/// gives a host name, from the moment when the name is resolved.
#[test]
fn the_configuration_says_where_parties_come_from() {
    let p = test_mesh();
    let loopback = p.listener.address().ip();
    assert!(p.listener.expects(loopback));
    assert!(!p.listener.expects([192, 0, 2, 7].into()));
    // where parties are no more, nobody has a place
    let moved = p.config.parties().iter().try_fold(p.config.clone(), |config, party| {
        let address = format!("192.0.2.{}:7000", party.id.number());
        config.add_party(party.id, Some(&address), party.pin)
    });
    let moved = moved.unwrap();
    p.listener.reload(moved.clone()).unwrap();
    assert!(!p.listener.expects(loopback) && p.listener.expects([192, 0, 2, 2].into()));
    // a party is known by where it came from, until the parties are others
    p.greet(&p.parties[0], &p.hello(Role::Check, 2)).unwrap();
    p.listener.reload(moved.clone()).unwrap();
    assert!(p.listener.expects(loopback));
    let fresh = crate::Pin::Key(Identity::generate(&Machine).public());
    for _ in 0..2 {
        p.listener.reload(moved.add_party(PartyId::P1, None, fresh).unwrap()).unwrap_err();
        assert!(p.listener.expects(loopback));
    }
    p.listener.reload(moved.add_party(PartyId::P3, None, fresh).unwrap()).unwrap();
    assert!(!p.listener.expects(loopback) && p.listener.expects([192, 0, 2, 2].into()));
    // a name stands for all its addresses
    let place = "localhost:7000";
    p.listener.reload(moved.add_party(PartyId::P3, Some(place), fresh).unwrap()).unwrap();
    let until = Machine.now() + LONG;
    for address in place.to_socket_addrs().into_iter().flatten() {
        while !p.listener.expects(address.ip()) {
            assert!(Machine.now() < until, "{address}");
            std::thread::yield_now();
        }
    }
}

/// A machine on which no name is resolved in time.
struct Slow;

impl World for Slow {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        Machine.entropy(out);
    }

    fn spawn(&self, _: String, work: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
        // the work is kept and never run
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(30));
            drop(work);
        });
        Ok(())
    }
}

#[test]
fn a_name_that_resolves_slowly_has_the_limit_of_connecting() {
    let world: Arc<dyn World> = Arc::new(Slow);
    let start = Machine.now();
    let found =
        resolve("slow.example:7002", &world, start + Duration::from_millis(300), &Interrupt::default());
    assert_eq!(found, Err("its host name was not resolved in time".into()));
    let lasted = start.elapsed();
    assert!((Duration::from_millis(300)..Duration::from_secs(10)).contains(&lasted), "{lasted:?}");
}

/// Of the addresses of a name the first that answers is taken, whichever it is.
#[test]
fn a_name_is_reached_at_any_of_its_addresses() {
    let world: Arc<dyn World> = Arc::new(Machine);
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let (there, until) = (port.local_addr().unwrap(), Machine.now() + LONG);
    // nobody answers at the first port of this machine
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
    for places in [vec![there, nobody], vec![nobody, there], vec![nobody, nobody, there]] {
        let socket = connect_to_any(places, &world, until, &Interrupt::default()).unwrap();
        assert_eq!(socket.peer_addr().unwrap(), there);
    }
    assert!(connect_to_any(vec![nobody, nobody], &world, until, &Interrupt::default()).is_err());
}

/// Whoever is asked now and then whether to wait, and says yes, gets what it waits for.
#[test]
fn who_is_asked_and_wants_to_wait_gets_the_answer() {
    let (tell, told) = channel();
    // what it waits for comes when it is asked, which is not at once
    let asked = Interrupt::new(move || tell.send(7).is_err());
    assert!(!asked.is_due_at(Machine.now()));
    assert_eq!(awaited(&told, LONG, &Machine, &asked), Some(7));
}

/// A client that stops anywhere in a message is given up after the time limit.
#[test]
fn a_message_that_stops_half_way_is_given_up() {
    let p = test_mesh();
    let message = [&10_u32.to_le_bytes()[..], &[7; 9]].concat();
    for sent in [1, 4, 5, 13] {
        let (mut wire, _) = p.greet(&p.client, &p.hello(Role::Client, 0)).unwrap();
        let mut served = p.listener.next_client(LONG).unwrap();
        served.set_timeout(Duration::from_millis(100));
        let (mut duplex, _bell) = crate::Duplex::new(served).unwrap();
        wire.write_all(&message[..sent], Machine.now() + LONG).unwrap();
        let waited = duplex.wait(Some(100), Machine.now() + LONG);
        let limit = Duration::from_millis(100);
        assert!(matches!(waited, Err(crate::ConnectionError::Timeout(_, named)) if named == limit), "{sent}");
    }
}

/// While this end does not listen, the time of a message that has begun does not pass.
#[test]
fn who_does_not_listen_gives_nobody_up() {
    let clock = Arc::new(Ahead::default());
    let p = test_mesh_in(clock.clone());
    let message = [&10_u32.to_le_bytes()[..], &[7; 10]].concat();
    let (mut wire, _) = p.greet(&p.client, &p.hello(Role::Client, 0)).unwrap();
    let mut served = p.listener.next_client(LONG).unwrap();
    served.set_timeout(LONG);
    let (mut duplex, _bell) = crate::Duplex::new(served).unwrap();
    wire.write_all(&message[..5], Machine.now() + LONG).unwrap();
    let soon = || p.world.now() + Duration::from_millis(50);
    assert!(matches!(duplex.wait(Some(100), soon()), Ok(crate::WaitOutcome::Nothing)));
    *lock(&clock.0) = 2 * LONG;
    assert!(matches!(duplex.wait(None, soon()), Ok(crate::WaitOutcome::Nothing)));
    wire.write_all(&message[5..], p.world.now() + LONG).unwrap();
    assert!(matches!(duplex.wait(Some(100), p.world.now() + LONG), Ok(crate::WaitOutcome::Message(_))));
}
