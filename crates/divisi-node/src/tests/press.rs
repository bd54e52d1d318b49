//! Clients and servers that deviate again and again, beside an honest client that asks for one block at a
//! time: it is served in time, nothing grows, and the log names whom it can. Each attack for a moment; the
//! long runs (`--ignored`, on an idle machine) measure.

use super::attacks::{item, parts, short};
use super::harness::{BUSY, ServersHarness, TIMEOUT, encrypt, text, world};
use super::own_process::{bounded_memory, in_own_process, resident};
use super::rogue::Rogue;
use crate::request::{Item, ToServer};
use crate::wire::{Blob, encode};
use crate::{CHUNK, Client, KeyName, Limits};
use divisi_net::PartyId;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq)]
enum Run {
    Short,
    Long,
}

/// An attack continues until this is over.
struct Attack {
    over: AtomicBool,
    done: AtomicUsize,
}

impl Attack {
    fn on(&self) -> bool {
        !self.over.load(Ordering::SeqCst)
    }

    fn did(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// The 99th percentile of how long blocks of this client take, at least `n` of them and for at least so long.
fn p99(client: &mut Client, key: &KeyName, n: usize, least: Duration) -> Duration {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < n || start.elapsed() < least {
        let begun = Instant::now();
        encrypt(client, key, b"", &[7; 16]).unwrap();
        times.push(begun.elapsed());
        assert!(begun.elapsed() < BUSY, "{:?}", begun.elapsed());
    }
    times.sort_unstable();
    times[(times.len() * 99).div_ceil(100) - 1]
}

/// Carol asks for blocks before an attack and beside it; the attack runs in this many threads, each of which
/// is told its number.
fn beside(
    run: Run,
    harness: &ServersHarness,
    threads: usize,
    attack: impl Fn(&Attack, &KeyName, usize) + Sync,
) {
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &["alicia", "carol"]);
    drop(alice);
    let (n, least) = match run {
        Run::Short => (10, Duration::from_secs(1)),
        Run::Long => (500, Duration::from_secs(20)),
    };
    let mut carol = harness.connect("carol");
    let before = p99(&mut carol, &key, n, Duration::ZERO);
    let memory = resident();
    let state = Attack { over: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let (state, attack, key) = (&state, &attack, &key);
    let during = std::thread::scope(|s| {
        for i in 0..threads {
            s.spawn(move || attack(state, key, i));
        }
        let honest = s.spawn(|| {
            let during = p99(&mut carol, key, n, least);
            // who comes again is served, too
            let mut again = harness.reconnect("carol");
            encrypt(&mut again, key, b"", b"again").unwrap();
            during
        });
        let during = honest.join();
        state.over.store(true, Ordering::SeqCst);
        during
    });
    let during = during.unwrap();
    let done = state.done.load(Ordering::SeqCst);
    println!("p99 {before:?} alone, {during:?} beside what was done {done} times");
    assert!(done > 0, "no attack took place");
    bounded_memory(memory, "an attack");
    if run == Run::Long {
        assert!(during <= (3 * before).max(Duration::from_millis(500)), "{before:?}, then {during:?}");
    }
    harness.assert_unharmed();
}

/// Bytes that never end while the attack lasts.
struct Endless<'a>(&'a Attack);

impl Read for Endless<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.0.on() {
            return Err(io::Error::other("over"));
        }
        self.0.did();
        out.fill(7);
        Ok(out.len())
    }
}

/// Two clients, each with all the connections that it may have, and on each a message without end.
fn endless(run: Run) {
    let harness = ServersHarness::new();
    beside(run, &harness, 64, |attack, key, i| {
        let name = ["alice", "alicia"][i % 2];
        let mut client = harness.reconnect(name);
        let length = Limits::default().text_bytes;
        // ends by the input's error, or by a time limit
        while attack.on() {
            client.encrypt(key, b"", &mut Endless(attack), length, &mut io::sink(), &mut |_| {}).unwrap_err();
            if attack.on() {
                client = harness.reconnect(name);
            }
        }
    });
}

/// Requests that some servers know of and others do not, short and long ones.
fn partial(run: Run) {
    let harness = ServersHarness::new();
    beside(run, &harness, 4, |attack, key, i| {
        let servers: &[usize] = [&[0][..], &[1, 2], &[2], &[0, 1]][i % 4];
        while attack.on() {
            let mut rogues: Vec<Rogue> = (0..3).map(|_| Rogue::connect(&harness, "alicia")).collect();
            for (at, rogue) in rogues.iter_mut().enumerate() {
                let asked = match at {
                    0 => item(key, 1 << 20),
                    1 => Item::KeyList { after: None },
                    _ => short(key, 0),
                };
                for server in servers {
                    rogue.say(*server, &ToServer::Request { number: 1, item: asked.clone() });
                    if at == 2 {
                        rogue.say(*server, &ToServer::Finish { number: 1 });
                    }
                }
                attack.did();
            }
            // on a busy machine a server may look later
            let until = Instant::now() + Duration::from_millis(1400);
            let latest = until + BUSY;
            let unseen = || !harness.logged("has not sent party") && Instant::now() < latest;
            while unseen() || (attack.on() && Instant::now() < until) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    });
    // before its time was over
    assert!(
        harness.logged("client alicia: ") && harness.logged("has not sent party"),
        "{:?}",
        harness.log.lock().unwrap()
    );
}

/// Two different requests under one number, again and again.
fn different(run: Run) {
    let harness = ServersHarness::patient(|_| {});
    beside(run, &harness, 3, |attack, key, _| {
        let mut rogue = Rogue::connect(&harness, "alicia");
        for number in 1.. {
            if !attack.on() {
                break;
            }
            let answers = rogue.exchange(|i| {
                let length = if i == 1 { 20 } else { 21 };
                ToServer::Request { number, item: item(key, length) }
            });
            assert!(answers.iter().all(Option::is_some));
            attack.did();
        }
    });
    assert!(harness.logged("client alicia: "), "{:?}", harness.log.lock().unwrap());
}

/// A client that sends all that it may, and reads nothing.
fn deaf(run: Run) {
    let harness = ServersHarness::new();
    let parts = parts(&text(CHUNK)).map(Blob);
    beside(run, &harness, 4, |attack, key, _| {
        while attack.on() {
            let mut rogue = Rogue::connect(&harness, "alicia");
            (0..3).for_each(|i| rogue.say(i, &ToServer::Request { number: 1, item: item(key, 1 << 30) }));
            for index in 0.. {
                let sent = (0..3).all(|i| {
                    let message = ToServer::Data { number: 1, index, body: parts[i].clone() };
                    rogue.connections[i].send(&encode(&message, message.body()).unwrap()).is_ok()
                });
                if !sent || !attack.on() {
                    break;
                }
                attack.did();
            }
        }
    });
}

/// A client that reads no answers at all is disconnected, and named.
#[test]
fn a_client_that_reads_nothing_is_named() {
    let harness = ServersHarness::new();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &["alicia"]);
    let mut rogue = Rogue::connect(&harness, "alicia");
    // each is refused at once, with a sentence of some hundred bytes
    let too_long = short(&key, 1 << 60);
    let begun = Instant::now();
    for number in 1.. {
        let message = ToServer::Request { number, item: too_long.clone() };
        if rogue.connections[0].send(&encode(&message, message.body()).unwrap()).is_err() {
            break;
        }
        assert!(begun.elapsed() < 8 * BUSY, "the server takes requests for ever");
    }
    harness.await_logged(1, "client alicia has read no answers of party 1 for 3.0 s");
    encrypt(&mut alice, &key, b"", b"text").unwrap();
}

/// The first server never serves carol when it leads.
fn passed_over(run: Run) {
    let harness = ServersHarness::patient(|options| options.passes_over = Some((PartyId::P1, "carol")));
    beside(run, &harness, 2, |attack, key, i| {
        let mut client = harness.connect(["alice", "alicia"][i]);
        while attack.on() {
            encrypt(&mut client, key, b"", b"theirs").unwrap();
            attack.did();
        }
    });
    if run == Run::Long {
        assert!(harness.logged("party 1 has passed over client carol"), "{:?}", harness.log.lock().unwrap());
    }
}

macro_rules! attacks {
    ($($short:ident $long:ident: $attack:expr;)*) => {
        $(
            #[test]
            fn $short() {
                in_own_process(concat!("tests::press::", stringify!($short)), || $attack(Run::Short));
            }

            #[test]
            #[ignore = "half a minute of an idle machine"]
            fn $long() {
                $attack(Run::Long);
            }
        )*
    };
}

attacks! {
    sixty_four_requests_without_end_starve_nobody sixty_four_requests_without_end_for_long: endless;
    requests_to_some_servers_starve_nobody requests_to_some_servers_for_long: partial;
    different_requests_starve_nobody different_requests_for_long: different;
    clients_that_read_nothing_starve_nobody clients_that_read_nothing_for_long: deaf;
    a_leader_that_passes_over_delays_nobody a_leader_that_passes_over_for_long: passed_over;
}

/// Refused handshakes are counted in the log once in a while, by what was wrong with them.
#[test]
fn refused_handshakes_are_told_once_in_a_while() {
    let harness = ServersHarness::patient(|options| options.minute = Some(Duration::from_millis(300)));
    // what came before the three found together is told before
    harness.connect("alice").key_list().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let config = &harness.config;
    for party in PartyId::all(3) {
        let stranger = &harness.stranger;
        assert!(divisi_net::Connection::dial(config, party, stranger, &world(), TIMEOUT).is_err());
    }
    let of_strangers = "handshakes refused in the last minute: 0 gave way to newer ones, 0 were too slow, 1 \
                        showed an unknown identity";
    harness.await_logged(3, of_strangers);
    // each of the three has told it once
    assert_eq!(harness.count_logged(of_strangers), 3);
    // nothing is told where there is nothing
    let before = harness.count_logged("handshakes refused");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(harness.count_logged("handshakes refused"), before);
}
