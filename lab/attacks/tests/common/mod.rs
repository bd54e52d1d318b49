//! What the attacks of several engines share: randomness that a test knows, and messages that never come.
#![allow(clippy::disallowed_methods)] // randomness of a test or a measurement
#![allow(dead_code)] // no test uses all of it

use divisi_core::testing::{Harness, LIMIT, MessageDirection, Recording, many};
use divisi_core::{Abort, Check, PartyId, Prg, PublicParameters, Step};
use divisi_net::{Machine, World};
use divisi_rep3::adversary::compare::{chi_square, chi_square_limit};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One byte of the randomness that a party draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Byte {
    pub party: usize,
    /// Which of its draws.
    pub draw: usize,
    pub byte: usize,
}

/// A world whose randomness depends only on the party and on the number of its draw, except for one byte that
/// a test may change.
#[derive(Default)]
pub struct SeededWorld {
    pub other: Option<Byte>,
    /// How many bytes each party drew, draw by draw.
    pub draws: Mutex<BTreeMap<usize, Vec<usize>>>,
}

thread_local! {
    static PARTY: Cell<Option<usize>> = const { Cell::new(None) };
}

/// From now on this thread draws as this party.
pub fn draw_as(party: PartyId) {
    PARTY.set(Some(party.index()));
}

impl World for SeededWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        let Some(party) = PARTY.get() else {
            return Prg::new(&[0xff; 16]).fill(out);
        };
        let mut draws = self.draws.lock().unwrap();
        let draws = draws.entry(party).or_default();
        let mut seed = [0; 16];
        seed[0] = party as u8;
        seed[8..].copy_from_slice(&(draws.len() as u64).to_le_bytes());
        Prg::new(&seed).fill(out);
        if let Some(other) = self.other.filter(|other| (other.party, other.draw) == (party, draws.len())) {
            out[other.byte] ^= 0x10;
        }
        draws.push(out.len());
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// The result of a run in this world, and the lengths of all draws of each party.
pub fn known<R>(
    n: usize,
    parameters: &PublicParameters,
    other: Option<Byte>,
    f: impl FnOnce(Harness) -> R,
) -> (R, Vec<Vec<usize>>) {
    // links are made for all; this thread may have been a party's before
    PARTY.set(None);
    let world = Arc::new(SeededWorld { other, ..SeededWorld::default() });
    let harness = Harness::in_world(n, parameters, world.clone()).waiting(Duration::from_secs(20));
    let result = f(harness);
    let draws = world.draws.lock().unwrap();
    (result, (0..n).map(|party| draws.get(&party).cloned().unwrap_or_default()).collect())
}

/// One byte of each eight that a party drew, from a draw on.
pub fn bytes_of(draws: &[usize], party: usize, from: usize) -> Vec<Byte> {
    let each = |(draw, len): (usize, &usize)| {
        (0..*len).step_by(8).map(move |word| Byte { party, draw, byte: word + (draw + word / 8) % 8 })
    };
    draws.iter().enumerate().skip(from).flat_map(each).collect()
}

/// Withholds message `n`, counted from 0, of a step. The flag becomes true when that message is sent.
fn withhold(harness: &Harness, from: PartyId, to: PartyId, step: &'static str, n: usize) -> Arc<AtomicBool> {
    let (id, mut count) = (Step::new(step).id, 0);
    let withheld = Arc::new(AtomicBool::new(false));
    let here = withheld.clone();
    harness.hand(from, to, move |frame| {
        count += usize::from(frame.step == id);
        if frame.step != id || count != n + 1 {
            return vec![frame];
        }
        here.store(true, Ordering::Relaxed);
        vec![]
    });
    withheld
}

/// The step of a message that P_1 withholds from P_2, and which of the step's messages it is; the step that
/// P_2 must not send then, and how many of its messages P_2 may have sent before.
pub type Order = (&'static str, usize, &'static str, usize);

/// Asserts that what must follow a message does not leave without it.
pub fn keeps_order<R: Debug>(
    what: &str,
    (held, nth, step, most): Order,
    harness: Harness,
    play: impl FnOnce(Harness) -> Vec<Result<R, Abort>>,
) {
    let harness = harness.waiting(LIMIT);
    let recording = harness.recording(PartyId::P2);
    let withheld = withhold(&harness, PartyId::P1, PartyId::P2, held, nth);
    let ends = play(harness);
    assert!(withheld.load(Ordering::Relaxed) && ends[1].is_err(), "{what} {held} {nth}: {ends:?}");
    assert!(told(&recording, step) <= most, "{what}: {step} leaves without {held} {nth}");
}

/// Asserts that a change of each of these bytes changes what a run shows.
pub fn all_count<S: PartialEq + Sync>(as_it_is: &S, bytes: &[Byte], run: impl Fn(Option<Byte>) -> S + Sync) {
    assert!(*as_it_is == run(None), "known randomness gives one run");
    let counts = many(bytes.len(), 3, |i| run(Some(bytes[i])) != *as_it_is);
    let idle: Vec<_> = bytes.iter().zip(counts).filter(|(_, counts)| !counts).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

/// P_1 opens something else to one party, the `nth` time from 1 on, and says that its own view is what that
/// party says of its view.
pub fn reflect(harness: &Harness, victim: PartyId, view: &'static str, open: &'static str, nth: usize) {
    let [view, open] = [view, open].map(|step| Step::new(step).id);
    // what the victim says of its view, to be said back to it: the corrupt party waits for it
    let received = Arc::new(Mutex::new(Vec::<Vec<u8>>::new()));
    let said = received.clone();
    harness.hand(victim, PartyId::P1, move |frame| {
        if frame.step == view {
            said.lock().unwrap().push(frame.body.clone());
        }
        vec![frame]
    });
    let (mut views, mut openings) = (0, 0);
    harness.hand(PartyId::P1, victim, move |mut frame| {
        if frame.step == open {
            openings += 1;
            frame.body[0] ^= u8::from(openings == nth);
        }
        if frame.step == view {
            views += 1;
            // at once when it comes: who believes it goes on before another party can stop it
            let until = Instant::now() + Duration::from_millis(200);
            let theirs = loop {
                let theirs = received.lock().unwrap().get(views - 1).cloned();
                if theirs.is_some() || Instant::now() > until {
                    break theirs;
                }
                std::thread::yield_now();
            };
            frame.body = theirs.unwrap_or(frame.body);
        }
        vec![frame]
    });
}

/// How many messages of a step a party sent.
pub fn told(recording: &Recording, step: &'static str) -> usize {
    recording.of(MessageDirection::Out, step).len()
}

/// All that a party sent, in order.
pub fn all_sent(recording: &Recording) -> Vec<Vec<u8>> {
    let sent = recording.read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
    sent.map(|seen| seen.frame.body).collect()
}

/// Whether a party ended the session by this check, and named this one.
pub fn named<R>(end: &Result<R, Abort>, by: Check, whom: PartyId) -> bool {
    matches!(end, Err(Abort::CheckFailed { check, culprit: Some(p), .. }) if *check == by && *p == whom)
}

/// All parties ended with an abort, and one of them because of misuse: who refuses first ends the session for
/// the others.
pub fn is_misuse<R: Debug>(what: &str, ends: &[Result<R, Abort>]) {
    assert!(ends.iter().all(Result::is_err), "{what}: {ends:?}");
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{what}: {ends:?}");
}

/// Whether no value occurs twice.
pub fn all_differ<T: Ord>(mut values: Vec<T>) -> bool {
    values.sort_unstable();
    values.windows(2).all(|two| two[0] != two[1])
}

/// Both components of each value are uniform at each party, and so is what they are components of; lanes and
/// values are independent of one another. What is given is the components, for each party and value.
pub fn are_fresh(held: &[Vec<[Vec<u8>; 2]>]) {
    let uniform = |what: &str, values: &mut dyn Iterator<Item = u8>| {
        let mut counts = [0; 256];
        values.for_each(|value| counts[usize::from(value)] += 1);
        assert!(chi_square(&counts) < chi_square_limit(255.0), "{what}");
    };
    for (p, values) in held.iter().enumerate() {
        for (i, [first, second]) in values.iter().enumerate() {
            let what = format!("value {i} at party {}", p + 1);
            uniform(&what, &mut first.iter().copied());
            uniform(&what, &mut second.iter().copied());
            uniform(&what, &mut first.iter().zip(second).map(|(x, y)| x ^ y));
        }
    }
    let value = |i: usize, l: usize| held.iter().fold(0, |sum, values| sum ^ values[i][0][l]);
    let lanes = held[0][0][0].len();
    for i in 0..held[0].len() {
        uniform("a value", &mut (0..lanes).map(|l| value(i, l)));
        uniform("neighbours", &mut (1..lanes).map(|l| value(i, l) ^ value(i, l - 1)));
        let next = (i + 1) % held[0].len();
        uniform("two values", &mut (0..lanes).map(|l| value(i, l) ^ value(next, l)));
    }
}

/// The word at a place of a message.
pub fn word(body: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(body[at..at + 16].try_into().unwrap())
}

/// The coin of a step that these links give.
pub fn coin_of(links: &[Vec<u8>], step: &'static str) -> [u8; 16] {
    let mut coin = [0_u8; 16];
    for link in links {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
        hasher.update(link).update(&Step::new(step).id.to_le_bytes());
        let mut share = [0; 16];
        hasher.finalize_xof().fill(&mut share);
        coin.iter_mut().zip(share).for_each(|(x, y)| *x ^= y);
    }
    coin
}

/// The rank of rows of bits.
pub fn rank(mut rows: Vec<Vec<u128>>) -> usize {
    let width = rows.first().map_or(0, |row| 128 * row.len());
    let mut rank = 0;
    for bit in 0..width {
        let has = |row: &Vec<u128>| row[bit / 128] >> (bit % 128) & 1 == 1;
        let Some(at) = rows.iter().position(has) else { continue };
        let pivot = rows.swap_remove(at);
        rank += 1;
        for row in rows.iter_mut().filter(|row| has(row)) {
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x ^= p);
        }
    }
    rank
}
