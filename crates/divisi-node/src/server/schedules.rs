//! A simulation of three servers' schedules and many clients, with events in an order that a seed decides:
//! messages arrive at each server in its own time, clients leave at some servers or fall silent, servers
//! drain and restart, keys are destroyed, clients use up what they may have in an hour, one server lies.
//!
//! Invariants of every honest server: each message of a request that is done has one answer, in order; a
//! request that is not done is answered by one failure; nothing is answered twice; no answer lies unsent
//! because nobody was woken for it; no step is done by one server and not by the others; and when no more
//! events happen, nobody waits. Where nobody lies, a client whose request stands at all three is served after
//! this many rounds, whoever else asks.

mod clients;
mod rounds;

use super::allowances::Limits;
use super::scheduling::{Schedule, Shape};
use crate::admit::Who;
use crate::error::Failed;
use crate::request::{Reply, ToClient, ToServer, UNANSWERED};
use crate::wire::decode;
use clients::{Client, Dice, Side, item, messages};
use divisi_core::{PartyId, step};
use divisi_fuzz::repetitions;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

const SHAPE: Shape = Shape { chunk: 4, piece: 4 };
const TIMEOUT: Duration = Duration::from_secs(10);
/// Names of clients; each may have several connections.
const NAMES: u64 = 7;
/// For this many rounds a client may wait while others are served: each of the others has a turn at each
/// leader, and requests that failed somewhere count as turns, too.
const PATIENCE: u32 = 8 * NAMES as u32;

struct World {
    dice: Dice,
    now: Instant,
    servers: [Schedule; 3],
    /// The connections whose threads each server has woken.
    woken: [BTreeSet<[u8; 32]>; 3],
    clients: Vec<Client>,
    round: usize,
    liar: Option<usize>,
    /// The steps that the honest servers did.
    done: u64,
    limits: Limits,
    draining: [bool; 3],
    /// In how many rounds in succession each client was not served though it could have been; `longest` is
    /// the most.
    passed: HashMap<String, u32>,
    longest: u32,
    /// Whether `passed` is counted.
    watched: bool,
    /// How many messages a server has taken for a request in progress.
    taken: HashMap<(usize, [u8; 32], u64), u64>,
}

fn schedule(i: usize, limits: &Limits) -> Schedule {
    Schedule::new(PartyId::from_index(i).unwrap(), SHAPE, limits.clone().into(), TIMEOUT)
}

impl World {
    fn new(seed: u64, most: u64) -> World {
        let mut dice = Dice(blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof());
        let liar = if dice.one_in(3) { Some(dice.below(3) as usize) } else { None };
        let mut limits = Limits { waiting: 2 + dice.below(8) as usize, ..Limits::default() };
        if dice.one_in(5) {
            limits = Limits { bytes_an_hour: 60_000, seconds_an_hour: 3, ..limits };
        }
        let mut world = World {
            now: Instant::now(),
            servers: [0, 1, 2].map(|i| schedule(i, &limits)),
            woken: Default::default(),
            limits,
            draining: [false; 3],
            passed: HashMap::new(),
            longest: 0,
            watched: liar.is_none() && seed.is_multiple_of(4),
            clients: Vec::new(),
            round: 0,
            liar,
            done: 0,
            taken: HashMap::new(),
            dice,
        };
        for i in 0..=world.dice.below(most) {
            let mut id = [0; 32];
            id[..8].copy_from_slice(&i.to_le_bytes());
            let name = format!("c{}", i % NAMES);
            let sides = Default::default();
            let (silent, drips) = (world.dice.one_in(10), world.dice.one_in(5));
            let mut client = Client { id, lengths: Vec::new(), name, sides, silent, drips };
            for number in 1..=1 + world.dice.below(4) {
                let item = item(&mut world.dice);
                let mut all = messages(number, &item);
                client.lengths.push(all.len());
                if client.silent && number > 1 {
                    all.truncate(1 + world.dice.below(3) as usize);
                }
                client.sides.iter_mut().for_each(|side| side.queue.extend(all.iter().cloned()));
                if client.silent && number > 1 {
                    break;
                }
            }
            world.clients.push(client);
        }
        (0..world.clients.len()).for_each(|c| (0..3).for_each(|i| world.enter(c, i)));
        world
    }

    fn honest(&self, i: usize) -> bool {
        self.liar != Some(i)
    }

    fn enter(&mut self, c: usize, i: usize) {
        let client = &mut self.clients[c];
        let who = Who { name: client.name.clone(), fingerprint: [0; 32] };
        client.sides[i].here = self.servers[i].enter(who, client.id);
        assert!(client.sides[i].here);
    }

    /// A client's next message reaches a server.
    fn deliver(&mut self, c: usize, i: usize) {
        let client = &mut self.clients[c];
        let side = &mut client.sides[i];
        if !side.here || side.unanswered >= UNANSWERED || !self.servers[i].may_receive(&client.id) {
            return;
        }
        if let Some(message) = side.queue.pop_front() {
            side.unanswered += 1;
            side.said.push_back(message.number().unwrap());
            self.servers[i].receive(&client.id, message, 100, self.now).unwrap();
        }
    }

    /// A client receives what a server has for it.
    fn answers(&mut self, c: usize, i: usize) {
        let honest = self.honest(i);
        let client = &mut self.clients[c];
        let (side, schedule) = (&mut client.sides[i], &mut self.servers[i]);
        self.woken[i].extend(schedule.take_woken());
        let woken = self.woken[i].remove(&client.id);
        while let Some(answer) = schedule.next_answer(&client.id) {
            assert!(woken, "an answer for which nobody was woken");
            let Reply { number, nth, what } = decode(&answer).unwrap();
            match what {
                ToClient::Accepted => {
                    let said = side.said.pop_front();
                    let n = side.answered.filter(|(last, _)| *last == number).map_or(0, |(_, n)| n);
                    assert!(!honest || said == Some(number), "answered {number}, said {said:?}");
                    assert!(!honest || nth == n as u64, "answer {nth} where {n} is due");
                    side.answered = Some((number, n + 1));
                    side.unanswered -= 1;
                }
                ToClient::Failed(_) => {
                    // the next request, with all its messages, sent and still to be sent
                    let complete =
                        |number: u64, n: usize| client.lengths.get(number as usize - 1) == Some(&n);
                    let under_way = side.answered.filter(|(number, n)| !complete(*number, *n));
                    let failed = under_way.map(|(number, _)| number).or(side.said.front().copied());
                    side.answered = None;
                    assert!(!honest || failed == Some(number), "a failure of {number}, not of {failed:?}");
                    side.said.retain(|number| Some(*number) != failed);
                    side.unanswered = side.said.len();
                    side.queue.retain(|message| {
                        message.number() != failed || matches!(message, ToServer::Request { .. })
                    });
                }
                other => panic!("{other:?}"),
            }
        }
        schedule.sent(&client.id);
    }

    fn leave(&mut self, c: usize, i: usize) {
        let client = &mut self.clients[c];
        if std::mem::take(&mut client.sides[i].here) {
            self.servers[i].leave(&client.id, self.now);
            client.sides[i] = Side::default();
        }
    }

    /// A server is restarted: it has lost its clients, and the others will lose theirs soon; the others'
    /// session ends.
    fn restart(&mut self, i: usize) {
        self.servers[i] = schedule(i, &self.limits);
        self.draining[i] = false;
        for client in &mut self.clients {
            client.sides[i] = Side::default();
        }
        let failed = Failed::refused(step!("aborted"), "the session ended");
        self.servers.iter_mut().for_each(|schedule| schedule.fail_all(&failed, self.now));
    }

    /// A server that is told to stop begins no further requests, and is then restarted.
    fn drain(&mut self, i: usize) {
        if std::mem::replace(&mut self.draining[i], true) {
            self.servers[i].close(self.now);
            assert!(!self.servers[i].is_busy());
            (0..self.clients.len()).for_each(|c| self.answers(c, i));
            self.restart(i);
        } else {
            self.servers[i].drain(self.now);
        }
    }

    /// A key is destroyed: all three end what uses it.
    fn destroy(&mut self) {
        let name = "k".parse().unwrap();
        self.servers.iter_mut().for_each(|schedule| schedule.key_is_gone(&name, "was destroyed", self.now));
    }

    fn event(&mut self) {
        let (c, i) = (self.dice.below(self.clients.len() as u64) as usize, self.dice.below(3) as usize);
        match self.dice.below(100) {
            0..55 if self.clients[c].drips && !self.dice.one_in(4) => {}
            0..55 => (0..1 + self.dice.below(3)).for_each(|_| self.deliver(c, i)),
            55..70 => self.answers(c, i),
            70..93 => self.play(),
            93..97 => self.pass(),
            97 if self.dice.one_in(3) => self.leave(c, i),
            98 if self.dice.one_in(20) => self.restart(i),
            98 if self.dice.one_in(10) => self.drain(i),
            99 if self.dice.one_in(10) => self.destroy(),
            _ => {}
        }
    }

    /// Time passes.
    fn pass(&mut self) {
        let time = [1, 20, 300, 2500][self.dice.below(4) as usize];
        self.now += Duration::from_millis(time);
        self.servers.iter_mut().for_each(|schedule| schedule.tick(self.now));
    }

    /// No more events happen, except that clients send their remaining messages: in the end nobody waits.
    fn settle(&mut self) {
        for _ in 0..400 {
            let mut quiet = true;
            for c in 0..self.clients.len() {
                for i in 0..3 {
                    // most clients have been served long before the last one is
                    let side = &self.clients[c].sides[i];
                    if side.queue.is_empty() && side.said.is_empty() {
                        continue;
                    }
                    self.deliver(c, i);
                    self.answers(c, i);
                    let side = &self.clients[c].sides[i];
                    quiet &= side.queue.is_empty() || !side.here;
                }
            }
            quiet &= (0..3).all(|i| !self.servers[i].is_busy() || !self.honest(i));
            if quiet {
                break;
            }
            self.play();
            self.now += Duration::from_millis(700);
            self.servers.iter_mut().for_each(|schedule| schedule.tick(self.now));
        }
        for i in (0..3).filter(|i| self.honest(*i)) {
            assert!(!self.servers[i].is_busy(), "somebody waits at {i}");
            for client in &self.clients {
                let side = &client.sides[i];
                assert!(
                    side.said.is_empty() && (side.queue.is_empty() || !side.here),
                    "unanswered: {:?}",
                    side.said
                );
            }
        }
    }
}

/// Worlds of these seeds, in as many threads as the machine runs at once.
fn schedules(seeds: std::ops::Range<u64>, most: u64, each: u64) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let play = |seed: u64| {
        let mut world = World::new(seed, most);
        (0..100 + each * world.clients.len() as u64).for_each(|_| world.event());
        world.settle();
        (world.done, world.longest)
    };
    let all = |first: u64| {
        let (mut done, mut longest) = (0, 0);
        for seed in (seeds.start + first..seeds.end).step_by(threads as usize) {
            // the number is what reproduces it
            let (steps, rounds) = std::panic::catch_unwind(|| play(seed))
                .unwrap_or_else(|_| panic!("seed {seed} of {most} clients"));
            (done, longest) = (done + steps, longest.max(rounds));
        }
        (done, longest)
    };
    let parts: Vec<(u64, u32)> = std::thread::scope(|s| {
        let parts: Vec<_> = (0..threads)
            .map(|first| {
                s.spawn({
                    let all = &all;
                    move || all(first)
                })
            })
            .collect();
        parts.into_iter().map(|part| part.join().expect("a schedule failed")).collect()
    });
    let done: u64 = parts.iter().map(|(done, _)| done).sum();
    let longest = parts.iter().map(|(_, longest)| *longest).max().unwrap_or(0);
    println!("{done} steps done; whoever could be served stood for {longest} rounds at most");
    // honest requests do get through
    assert!(done > (seeds.end - seeds.start) * 3, "{done}");
}

/// The outcome of a world depends on its seed alone, and is the same each time.
#[test]
fn a_seed_reproduces() {
    let of = |seed| {
        let mut world = World::new(seed, 50);
        (0..600).for_each(|_| world.event());
        world.settle();
        let log: Vec<_> = world.servers.iter_mut().map(|schedule| schedule.take_log()).collect();
        (world.done, world.longest, world.round, log)
    };
    (0..20).for_each(|seed| assert_eq!(of(seed), of(seed), "{seed}"));
}

#[test]
fn thousands_of_schedules() {
    schedules(0..repetitions(2_000, 20_000), 50, 5);
}

#[test]
#[ignore = "an hour"]
fn a_million_schedules() {
    schedules(1_000_000..2_000_000, 50, 5);
}
