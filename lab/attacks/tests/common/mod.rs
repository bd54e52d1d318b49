//! What the attacks of several engines share: randomness that a test knows, and messages that never come.
#![allow(dead_code)] // no test uses all of it

use divisi_core::testing::{Harness, MessageDirection, Recording};
use divisi_core::{Abort, Check, PartyId, Prg, PublicParameters, Step};
use divisi_net::{Machine, World};
use std::cell::Cell;
use std::collections::BTreeMap;
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
pub fn withhold(
    harness: &Harness,
    from: PartyId,
    to: PartyId,
    step: &'static str,
    n: usize,
) -> Arc<AtomicBool> {
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

/// How many messages of a step a party sent.
pub fn told(recording: &Recording, step: &'static str) -> usize {
    recording.of(MessageDirection::Out, step).len()
}

/// Whether a party ended the session by this check, and named this one.
pub fn named<R>(end: &Result<R, Abort>, by: Check, whom: PartyId) -> bool {
    matches!(end, Err(Abort::CheckFailed { check, culprit: Some(p), .. }) if *check == by && *p == whom)
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
