//! Unkind clients and strangers over sockets, each beside an honest client that asks for one block at a time.
//!
//! The short runs ask that every honest request is served; the long ones (`--ignored`, on an idle machine)
//! that 99 of 100 take at most three times what they take without the attack, or half a second. In both no
//! server keeps more than [`GROWTH`].

use super::harness::{ServersHarness, until};
use super::memory::{block, connect_as, held};
use divisi_core::PartyId;
use divisi_net::{Config, Connection, Identity, Machine, World};
use divisi_node::{Client, ErrorKind, KeyName};
use divisi_symmetric::algorithm::Settings;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a server may keep during an attack beyond what it had before, in bytes: 32 connections of one client
/// with two chunks each, the handshakes under way, the programs of hashes, and what the allocator holds.
const GROWTH: usize = 96 << 20;

/// How long an attack may take until it begins.
const BEGINS: Duration = Duration::from_secs(30);

/// How much of an attack there is.
#[derive(Clone, Copy)]
enum Run {
    Short,
    Long,
}

impl Run {
    /// The honest client's requests before and beside the attack, and how long the latter continue at least.
    fn requests(self) -> (usize, Duration) {
        match self {
            Run::Short => (30, Duration::from_millis(700)),
            Run::Long => (500, Duration::from_secs(20)),
        }
    }

    fn of(self, short: usize, long: usize) -> usize {
        match self {
            Run::Short => short,
            Run::Long => long,
        }
    }
}

/// What those who attack see of the servers.
struct Site<'a> {
    harness: &'a ServersHarness,
    key: KeyName,
    over: AtomicBool,
    /// How often the attack did what it does.
    done: AtomicUsize,
}

impl Site<'_> {
    fn on(&self) -> bool {
        !self.over.load(Ordering::SeqCst)
    }

    fn did(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits, but no longer than the attack is to last.
    fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while self.on() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5).min(time));
        }
    }

    fn ben(&self) -> Client {
        connect_as(self.harness, "ben").unwrap()
    }

    fn config(&self) -> Config {
        Config::load(&self.harness.path("mesh/mesh.toml")).unwrap()
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.config().parties().iter().map(|party| party.address.parse().unwrap()).collect()
    }
}

/// Latencies of one block each, and the 99th percentile of them.
fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[(times.len() * 99).div_ceil(100) - 1]
}

/// Send requests, at least `requests` of them, for at least the time `least`, and until the attack has begun.
fn honest(
    anna: &mut Client,
    key: &KeyName,
    (requests, least): (usize, Duration),
    has_begun: impl Fn() -> bool,
) -> Duration {
    let start = Instant::now();
    let mut times = Vec::new();
    let waits = |lasted: Duration| lasted < least || lasted < BEGINS && !has_begun();
    while times.len() < requests || waits(start.elapsed()) {
        let begun = Instant::now();
        block(anna, key);
        times.push(begun.elapsed());
    }
    p99(times)
}

/// An honest client before the attack and beside it. `attack` runs in so many threads until the site says
/// that it is over.
fn beside(run: Run, threads: usize, attack: impl Fn(&Site<'_>) + Sync) -> ServersHarness {
    let mut harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128 --clients ben");
    let key: KeyName = "k".parse().unwrap();
    let mut anna = connect_as(&harness, "anna").unwrap();
    let (requests, least) = run.requests();
    let before = honest(&mut anna, &key, (requests, Duration::ZERO), || true);
    let memory = held(&mut harness);

    let site = Site { harness: &harness, key, over: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let (site, attack) = (&site, &attack);
    let (during, done) = std::thread::scope(|s| {
        (0..threads).for_each(|_| drop(s.spawn(move || attack(site))));
        let honest = s.spawn(|| {
            let has_begun = || site.done.load(Ordering::SeqCst) > 0;
            let during = honest(&mut anna, &site.key, (requests, least), has_begun);
            // a new connection is made beside the attack too
            let mut again = connect_as(site.harness, "anna").unwrap();
            block(&mut again, &site.key);
            during
        });
        let during = honest.join();
        site.over.store(true, Ordering::SeqCst);
        (during, site.done.load(Ordering::SeqCst))
    });
    let during = during.unwrap();
    println!("99 of 100 in {before:?} alone, in {during:?} beside the attack, which was done {done} times");
    assert!(done > 0, "no attack took place");
    if matches!(run, Run::Long) {
        assert!(during <= (3 * before).max(Duration::from_millis(500)), "{before:?}, then {during:?}");
    }
    for (before, after) in memory.iter().zip(held(&mut harness)) {
        assert!(after.0 <= before.0 + GROWTH, "{before:?} bytes and descriptors, then {after:?}");
    }
    harness
}

/// Check that the log of some server has a line with this text, which names the client.
fn named(harness: &ServersHarness, text: &str) {
    until(&format!("a line with {text:?}"), Duration::from_secs(20), || is_named(harness, text));
}

fn is_named(harness: &ServersHarness, text: &str) -> bool {
    (1..=3).any(|party| harness.log(party).iter().any(|line| line.contains(text)))
}

/// What the log says of a request of the client who attacks.
const BEN: &str = "client ben: ";

/// Bytes that never end while the attack lasts, of a client that takes this long for each read.
struct Endless<'a>(&'a Site<'a>, Duration);

impl Read for Endless<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.0.on() {
            return Err(io::Error::other("over"));
        }
        self.0.pause(self.1);
        self.0.did();
        out.fill(7);
        Ok(out.len())
    }
}

/// Takes nothing of what the servers answer while the attack lasts.
struct Deaf<'a>(&'a Site<'a>);

impl Write for Deaf<'_> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.0.did();
        self.0.pause(Duration::from_secs(3600));
        Err(io::Error::other("over"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A text as long as one may be.
const LONG: u64 = (1 << 36) - 32;

fn endless(site: &Site<'_>, pause: Duration) {
    let mut ben = site.ben();
    // ends by the input's error, or by a word of the servers about a connection that was too slow
    ben.encrypt(&site.key, b"", &mut Endless(site, pause), LONG, &mut io::sink(), &mut |_| {}).unwrap_err();
}

fn requests_without_end(run: Run) {
    let harness = beside(run, run.of(4, 16), |site| endless(site, Duration::ZERO));
    named(&harness, BEN);
}

fn drips(run: Run) {
    let next = AtomicUsize::new(0);
    let harness = beside(run, 6, |site| {
        let pause = [10, 100, 190][next.fetch_add(1, Ordering::SeqCst) % 3];
        endless(site, Duration::from_millis(pause));
    });
    named(&harness, BEN);
}

fn answers_that_nobody_reads(run: Run) {
    let harness = beside(run, run.of(4, 16), |site| {
        let mut ben = site.ben();
        let mut input = Endless(site, Duration::ZERO);
        ben.encrypt(&site.key, b"", &mut input, LONG, &mut Deaf(site), &mut |_| {}).unwrap_err();
    });
    named(&harness, BEN);
}

/// The command of a client that is stopped and continues in turn, in the middle of its file.
fn stopped_by_turns(run: Run) {
    use super::harness::{random, signal};
    use rustix::process::Signal;
    let harness = beside(run, run.of(1, 3), |site| {
        let name = format!("long-{:?}", std::thread::current().id());
        std::fs::write(site.harness.path(&name), random(8 << 20)).unwrap();
        // on a busy machine it goes on until a request of it has arrived
        let (begun, mut alone) = (Instant::now(), Duration::from_millis(100));
        while site.on() || !is_named(site.harness, BEN) && begun.elapsed() < BEGINS {
            let args = ["encrypt", "--key", "k", "--in", &name];
            let mut child = site.harness.command_of("ben", &args).spawn().unwrap();
            let mut out = child.stdout.take().unwrap();
            let out = std::thread::spawn(move || io::copy(&mut out, &mut io::sink()).unwrap());
            std::thread::sleep(alone);
            alone *= 2;
            while site.on() && child.try_wait().unwrap().is_none() {
                signal(&child, Signal::STOP);
                site.did();
                site.pause(Duration::from_millis(190));
                signal(&child, Signal::CONT);
                site.pause(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
            out.join().unwrap();
        }
    });
    named(&harness, BEN);
}

fn messages_by_many(run: Run) {
    let harness = beside(run, run.of(3, 12), |site| {
        let (mut ben, sha) = (site.ben(), Settings::new("sha256".parse().unwrap()));
        while site.on() {
            site.did();
            ben.hash(&sha, &mut io::repeat(1).take(4096), 4096, &mut |_| {}).unwrap();
        }
    });
    named(&harness, BEN);
}

fn connections_that_idle(run: Run) {
    // A client has 32 connections with a server: the others are told to try again, or closed.
    let harness = beside(run, 1, |site| {
        let config = site.config();
        let ben = Identity::load(&site.harness.path("mesh/client-ben.key")).unwrap();
        let world: Arc<dyn World> = Arc::new(Machine);
        let mut kept = Vec::new();
        for i in 0..run.of(60, 500) {
            if !site.on() {
                break;
            }
            let party = PartyId::from_index(i % 3).unwrap();
            kept.push(Connection::dial(&config, party, &ben, &world, Duration::from_secs(5)));
            site.did();
        }
        while site.on() {
            site.pause(Duration::from_millis(50));
        }
    });
    if matches!(run, Run::Long) {
        named(&harness, "client ben was turned away: too many connections are open");
    }
}

/// Begin this many handshakes a second at the first `servers` servers: some are complete, with an unknown
/// identity, and more stop after a few bytes.
fn handshakes(run: Run, a_second: u64, servers: usize) {
    let harness = beside(run, 1, |site| {
        let (config, addresses) = (site.config(), site.addresses());
        let world: Arc<dyn World> = Arc::new(Machine);
        let stranger = Identity::generate(&Machine);
        let (config, world, stranger) = (&config, &world, &stranger);
        std::thread::scope(|s| {
            let mut kept = std::collections::VecDeque::new();
            for i in 0.. {
                if !site.on() {
                    break;
                }
                let party = i % servers;
                if i % 8 == 0 {
                    s.spawn(move || {
                        let party = PartyId::from_index(party).unwrap();
                        Connection::dial(config, party, stranger, world, Duration::from_secs(2)).err();
                    });
                } else if let Ok(mut socket) =
                    TcpStream::connect_timeout(&addresses[party], Duration::from_millis(200))
                {
                    let _ = socket.write_all(&[22, 3, 1, 0, 200, 1]);
                    kept.push_back(socket);
                }
                if kept.len() > 400 {
                    kept.pop_front();
                }
                site.did();
                site.pause(Duration::from_micros(1_000_000 / a_second));
            }
        });
    });
    drop(harness);
}

/// A server is killed and started again while strangers knock: it joins the others in time.
fn a_restart_among_strangers(run: Run) {
    let mut harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    let config = Config::load(&harness.path("mesh/mesh.toml")).unwrap();
    let addresses: Vec<SocketAddr> =
        config.parties().iter().map(|party| party.address.parse().unwrap()).collect();
    let over = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut kept = std::collections::VecDeque::new();
            while !over.load(Ordering::SeqCst) {
                for address in &addresses {
                    if let Ok(socket) = TcpStream::connect_timeout(address, Duration::from_millis(100)) {
                        kept.push_back(socket);
                    }
                }
                while kept.len() > 600 {
                    kept.pop_front();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for party in (1..=3).take(run.of(1, 3)) {
                harness.server(party).kill().unwrap();
                harness.server(party).wait().unwrap();
                harness.start(party);
                harness.wait_for(party, "joined the other servers", 1);
                harness.does("anna", "key list");
            }
        }));
        over.store(true, Ordering::SeqCst);
        result.unwrap();
    });
}

fn keys_by_one_client(run: Run) {
    let refused = AtomicBool::new(false);
    let harness = beside(run, 1, |site| {
        let mut ben = site.ben();
        for i in 0..run.of(100, 10_000) {
            if !site.on() {
                break;
            }
            let name: KeyName = format!("many-{i}").parse().unwrap();
            let new = ben.new_key(name, "aes-128".parse().unwrap(), false, Vec::new());
            match ben.key_new(&new) {
                Ok(_) => site.did(),
                Err(e) => {
                    // a client may have a thousand by default
                    assert!(e.kind == ErrorKind::Refused && i >= 1000, "{e}");
                    refused.store(true, Ordering::SeqCst);
                    break;
                }
            }
        }
    });
    println!("refused at the limit: {}", refused.into_inner());
    named(&harness, BEN);
}

macro_rules! attacks {
    ($($short:ident $long:ident: $attack:expr;)*) => {
        $(
            #[test]
            fn $short() {
                $attack(Run::Short);
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
    requests_without_end_starve_nobody requests_without_end_for_long: requests_without_end;
    drips_starve_nobody drips_for_long: drips;
    answers_that_nobody_reads_starve_nobody answers_that_nobody_reads_for_long:
        answers_that_nobody_reads;
    a_client_stopped_by_turns_starves_nobody a_client_stopped_by_turns_for_long: stopped_by_turns;
    hashes_by_many_starve_nobody hashes_by_many_for_long: messages_by_many;
    idle_connections_starve_nobody idle_connections_for_long: connections_that_idle;
    twenty_handshakes_a_second_starve_nobody twenty_handshakes_a_second_for_long:
        |run| handshakes(run, 20, 1);
    two_hundred_handshakes_a_second_starve_nobody two_hundred_handshakes_a_second_for_long:
        |run| handshakes(run, 200, 3);
    a_server_joins_again_among_strangers each_server_joins_again_among_strangers: a_restart_among_strangers;
    many_keys_starve_nobody many_keys_for_long: keys_by_one_client;
}
