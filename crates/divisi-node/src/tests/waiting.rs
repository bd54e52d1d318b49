//! Servers that do not answer: silent ones, and those that only say that they wait.

use super::harness::{mesh, world};
use crate::error::Failed;
use crate::request::{Reply, ToClient, ToServer};
use crate::wire::{LONGEST, VERSIONS, decode, encode};
use crate::{Client, ClientPool, Error, ErrorKind};
use divisi_net::{Config, Connection, Identity, Interrupt, Listener, PartyId};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(2);
/// Less than the six limits after which a client gives up whatever servers say: a client that ends by then
/// was told of the failure, or saw it.
const IN_TIME: Duration = Duration::from_secs(10);
/// The interval of a server's reports that it waits: shorter than that of real servers, because the time
/// limit of this test is shorter, too.
const BEAT: Duration = Duration::from_millis(100);

/// How a server behaves after it has received a request.
#[derive(Clone, Copy, PartialEq)]
enum ServerConduct {
    /// It sends nothing, as if it were stopped.
    Silent,
    /// It reports again and again that it waits, and never answers.
    Waits,
    /// It closes the connection.
    Leaves,
    /// It reports for this time that it waits, and then blames this party.
    Blames(Duration, u8),
    /// It repeats that another server refuses.
    Repeats,
}

fn say(connection: &mut Connection, message: &ToClient) -> bool {
    let reply = Reply::apart(message.clone());
    connection.send(&encode(&reply, 0).unwrap()).is_ok()
}

fn serve(i: usize, listener: TcpListener, config: Config, identity: Identity, way: ServerConduct) {
    let me = PartyId::from_index(i).unwrap();
    let listener = Listener::open_at(listener, config, me, Arc::new(identity), world()).unwrap();
    let mut connection = listener.next_client(Duration::from_secs(30)).unwrap();
    let (lowest, highest) = VERSIONS;
    say(&mut connection, &ToClient::Welcome { lowest, highest, party: me.number(), challenge: [0; 32] });
    let receive = |c: &mut Connection| c.recv(LONGEST).map(|message| decode::<ToServer>(&message).unwrap());
    receive(&mut connection).unwrap();
    say(&mut connection, &ToClient::Ready);
    if receive(&mut connection).is_err() {
        return; // the client has left
    }
    let begun = Instant::now();
    match way {
        ServerConduct::Silent => while connection.recv_within(LONGEST, 10 * LIMIT).is_ok() {},
        ServerConduct::Leaves => {}
        ServerConduct::Repeats => {
            let failed = Failed::refused(divisi_core::step!("x"), "no");
            say(&mut connection, &ToClient::Failed(Failed { hearsay: true, ..failed }));
        }
        ServerConduct::Waits | ServerConduct::Blames(..) => {
            while say(&mut connection, &ToClient::Waiting) {
                if let ServerConduct::Blames(after, peer) = way
                    && begun.elapsed() >= after
                {
                    let kind = ErrorKind::Abort;
                    let words = format!("party {peer} sent nothing");
                    let failed = Failed::refused(divisi_core::step!("x"), words);
                    say(&mut connection, &ToClient::Failed(Failed { kind, peer, ..failed }));
                }
                std::thread::sleep(BEAT);
            }
        }
    }
}

/// The error with which a client's request ends, and the time after which it ends.
fn asked(ways: [ServerConduct; 3]) -> (Error, Duration) {
    served(ways, |config, identity, _| {
        let mut alice = Client::connect(config, &identity, world()).unwrap();
        let begun = Instant::now();
        let error = alice.key_list().unwrap_err();
        (error, begun.elapsed())
    })
}

/// What a client does with servers that behave so, which count those of them that have ended.
fn served<R>(ways: [ServerConduct; 3], client: impl FnOnce(&Config, Identity, &AtomicUsize) -> R) -> R {
    let (listeners, mut made) = mesh(&["alice"]);
    let text = format!("timeout_seconds = {}\n{}", LIMIT.as_secs_f64(), made.config.to_toml());
    let (config, ended) = (Config::parse(&text).unwrap(), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for (i, (listener, identity)) in listeners.into_iter().zip(made.parties).enumerate() {
            let (config, ended) = (config.clone(), &ended);
            s.spawn(move || {
                serve(i, listener, config, identity, ways[i]);
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        client(&config, made.clients.remove(0), &ended)
    })
}

/// The one server that is silent is named, in time, whatever its number and although the others only wait.
#[test]
fn a_silent_server_is_named_and_no_other() {
    // each with a client of its own, at the same time
    std::thread::scope(|s| {
        for (victim, way) in PartyId::all(3)
            .flat_map(|party| [ServerConduct::Silent, ServerConduct::Leaves].map(|way| (party, way)))
        {
            s.spawn(move || {
                let mut ways = [ServerConduct::Waits; 3];
                ways[victim.index()] = way;
                let (error, lasted) = asked(ways);
                assert_eq!(error.peer, Some(victim), "{error}");
                assert_eq!((error.kind, error.retry), (ErrorKind::Unavailable, true), "{error:?}");
                assert!(lasted < IN_TIME, "{lasted:?}");
            });
        }
    });
}

/// The party that a server blames counts less than a silent connection that the client sees itself, and more
/// than servers that are merely late.
#[test]
fn a_server_that_is_blamed_but_talks_is_not_named_for_a_silent_one() {
    let (error, lasted) =
        asked([ServerConduct::Blames(LIMIT, 2), ServerConduct::Waits, ServerConduct::Silent]);
    assert_eq!(error.peer, Some(PartyId::P3), "{error}");
    assert!(lasted < IN_TIME, "{lasted:?}");
    let (error, _) = asked([ServerConduct::Waits, ServerConduct::Blames(BEAT, 3), ServerConduct::Waits]);
    assert_eq!((error.kind, error.peer), (ErrorKind::Abort, Some(PartyId::P3)), "{error}");
}

/// If the leader never calls the request, or others are served for ever, the client gives up in the end; and
/// nobody knows whether it will be done.
#[test]
fn servers_that_only_wait_are_not_waited_for_without_end() {
    let (error, lasted) = served([ServerConduct::Waits; 3], |config, identity, _| {
        let mut alice = Client::connect(config, &identity, world()).unwrap();
        let begun = Instant::now();
        let error = alice.key_list().unwrap_err();
        assert!(alice.is_lost());
        let lasted = begun.elapsed();
        // one that fails here is another request: nobody asks of it whether it was done
        let key = "k".parse().unwrap();
        let short = alice.encrypt(&key, b"", &mut &b""[..], 5, &mut Vec::new(), &mut |_| {});
        assert_eq!((short.unwrap_err().kind, alice.is_lost()), (ErrorKind::Usage, false));
        (error, lasted)
    });
    assert_eq!((error.kind, error.retry, error.peer), (ErrorKind::Unavailable, true, None), "{error:?}");
    assert!(error.message.contains("try again later"), "{error}");
    assert!((5 * LIMIT..20 * LIMIT).contains(&lasted), "{lasted:?}");
}

/// A request that was sent, and of which no server says how it ended, may have been done: a pool does not
/// send it again.
#[test]
fn what_may_have_been_done_is_not_sent_again() {
    use ServerConduct::{Blames, Leaves, Repeats, Silent, Waits};
    for (ways, is_lost, call) in [
        ([Leaves; 3], true, "run"),
        ([Leaves; 3], true, "within"),
        ([Leaves; 3], true, "until"),
        ([Waits, Silent, Waits], true, "run"),
        ([Blames(Duration::ZERO, 2), Leaves, Waits], false, "run"),
        ([Repeats, Leaves, Leaves], false, "run"),
    ] {
        served(ways, |config, identity, _| {
            let pool = ClientPool::new(config.clone(), Arc::new(identity), world()).unwrap();
            let (mut calls, begun) = (0, Instant::now());
            let (pool, patience) = (pool.with_patience(4 * IN_TIME), 4 * IN_TIME);
            let work = |client: &mut Client| {
                calls += 1;
                let result = client.key_list();
                assert_eq!(client.is_lost(), is_lost);
                result
            };
            let result = match call {
                "run" => pool.run(work),
                "within" => pool.run_within(patience, work),
                _ => pool.run_until(&Interrupt::default(), work),
            };
            // whoever blames another one does not say that it may succeed later
            assert_eq!((result.unwrap_err().retry, calls), (is_lost, 1));
            // nor does it try to: these servers take no other connection
            assert!(begun.elapsed() < 2 * IN_TIME, "{call} {:?}", begun.elapsed());
        });
    }
}

/// A request that did not reach one of the servers, whichever it is, was not done.
#[test]
fn what_one_server_was_not_sent_was_not_done() {
    std::thread::scope(|s| {
        for party in PartyId::all(3) {
            s.spawn(move || {
                served([ServerConduct::Waits; 3], |config, identity, _| {
                    let mut alice = Client::connect(config, &identity, world()).unwrap();
                    alice.leave(party);
                    alice.key_list().unwrap_err();
                    assert!(!alice.is_lost(), "{party}");
                });
            });
        }
    });
}

/// When a server is gone, whichever it is, the two others are left at once: what they say of the request
/// later belongs to no other one, and they need not wait for this client.
#[test]
fn servers_of_a_request_that_failed_are_left() {
    for gone in 0..3 {
        let mut conduct = [ServerConduct::Waits; 3];
        conduct[gone] = ServerConduct::Leaves;
        served(conduct, |config, identity, ended| {
            let mut alice = Client::connect(config, &identity, world()).unwrap();
            alice.key_list().unwrap_err();
            let begun = Instant::now();
            while ended.load(Ordering::SeqCst) < 3 {
                assert!(begun.elapsed() < IN_TIME, "they still wait for a client that is there");
                std::thread::sleep(BEAT / 10);
            }
            drop(alice);
        });
    }
}
