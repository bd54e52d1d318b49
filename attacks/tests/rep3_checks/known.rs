//! Sessions whose randomness is known: two with the same seed have the same keys, masks and coins.

use divisi_core::{Abort, Blocks, Bytes, Convert, PartyId, Prg, PublicParameters, Step, settle};
use divisi_field::{Field, Gf64, Gf128};
use divisi_net::{Machine, World};
use divisi_rep3::adversary::Deviate;
use divisi_rep3::adversary::adaptive::engine;
use divisi_rep3::adversary::harness::{MessageDirection, Recording, TrioHarness, party};
use divisi_rep3::{Block, Byte, Rep3, Trio};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

thread_local! {
    static SEEDED: RefCell<Option<Prg>> = const { RefCell::new(None) };
    /// The generator of the next draw, if it is another one.
    static FIRST: RefCell<Option<Prg>> = const { RefCell::new(None) };
}

/// The machine, except that a thread with a seed draws its randomness from it.
pub struct SeededWorld;

impl World for SeededWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        if let Some(mut first) = FIRST.take() {
            return first.fill(out);
        }
        SEEDED.with_borrow_mut(|seeded| match seeded {
            Some(seeded) => seeded.fill(out),
            None => Machine.entropy(out),
        });
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
        Machine.spawn(name, work)
    }
}

fn seeded(with: u8, of: u8) -> Option<Prg> {
    let mut key = [with; 16];
    key[0] = of;
    Some(Prg::new(&key))
}

/// From now on this thread's randomness is that of a seed.
pub fn seed(with: u8, of: u8) {
    SEEDED.set(seeded(with, of));
}

/// Only the next draw of this thread is that of another seed.
pub fn seed_first(with: u8, of: u8) {
    FIRST.set(seeded(with, of));
}

/// From now on this thread's randomness is the machine's.
pub fn unseed() {
    SEEDED.set(None);
}

/// A harness whose links have known secrets.
pub fn harness(with: u8) -> TrioHarness {
    seed(with, 0);
    let harness = TrioHarness::in_world(&PublicParameters::new("known"), Arc::new(SeededWorld)).patient();
    unseed();
    harness
}

/// Run `f` at three parties with known randomness.
pub fn act<R: Send>(
    harness: TrioHarness,
    with: u8,
    f: impl Fn(Trio) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let parameters = [(); 3].map(|()| PublicParameters::new("known"));
    harness.act_each(&parameters, |me| seed(with, me.number()), f)
}

/// What is seen of a run.
pub struct Seen {
    /// By party.
    pub recordings: [Recording; 3],
    /// What the corrupt party noted.
    pub notes: Arc<Mutex<Notes>>,
}

/// What a corrupt party notes.
#[derive(Default)]
pub struct Notes {
    /// The coins, in order.
    coins: Vec<[u8; 16]>,
    /// For each share that it sent, the step, and how many coins there had been.
    before: Vec<(&'static str, usize)>,
}

impl Seen {
    pub fn of(harness: &TrioHarness) -> Seen {
        Seen { recordings: [1, 2, 3].map(|p| harness.recording(party(p))), notes: Arc::default() }
    }

    /// What was opened at this step for the `nth` time: the sum of what each party sent to its next.
    pub fn opened(&self, step: &'static str, nth: usize) -> Option<Vec<u8>> {
        let mut sum: Option<Vec<u8>> = None;
        for (p, recording) in PartyId::all(3).zip(&self.recordings) {
            let body = recording.bodies(MessageDirection::Out, p.next(3), step).into_iter().nth(nth)?;
            sum = Some(match sum {
                Some(sum) => sum.iter().zip(&body).map(|(x, y)| x ^ y).collect(),
                None => body,
            });
        }
        sum
    }

    /// The same, as one element of GF(2^128).
    pub fn opened_128(&self, step: &'static str, nth: usize) -> Option<Gf128> {
        Some(Gf128(u128::from_le_bytes(self.opened(step, nth)?.try_into().ok()?)))
    }

    /// The same, as one element of GF(2^64).
    pub fn opened_64(&self, step: &'static str, nth: usize) -> Option<Gf64> {
        Some(Gf64(u64::from_le_bytes(self.opened(step, nth)?.try_into().ok()?)))
    }

    pub fn coins(&self) -> Vec<[u8; 16]> {
        self.notes.lock().unwrap().coins.clone()
    }

    /// How many coins were known before each message of this step.
    pub fn coins_before(&self, step: &str) -> Vec<usize> {
        let notes = self.notes.lock().unwrap();
        notes.before.iter().filter(|(name, _)| *name == step).map(|(_, coins)| *coins).collect()
    }
}

/// A corrupt party that tells these lies, and notes every coin.
pub struct Liar<F> {
    pub notes: Arc<Mutex<Notes>>,
    pub lies: F,
}

impl<F: FnMut(&str, &mut [u8]) + Send> Deviate for Liar<F> {
    fn reshare(&mut self, step: Step, share: &mut [u8]) {
        let mut notes = self.notes.lock().unwrap();
        let coins = notes.coins.len();
        notes.before.push((step.name, coins));
        (self.lies)(step.name, share);
    }

    fn coin(&mut self, coin: [u8; 16]) {
        self.notes.lock().unwrap().coins.push(coin);
    }
}

/// The words that a coin expands to: AES in counter mode under the coin.
pub fn words(coin: [u8; 16], n: usize) -> Vec<Gf64> {
    let mut bytes = vec![0; 8 * n];
    Prg::new(&coin).fill(&mut bytes);
    bytes.chunks_exact(8).map(|word| Gf64(u64::from_le_bytes(word.try_into().unwrap()))).collect()
}

/// The elements of GF(2^128) that a coin expands to.
pub fn blocks(coin: [u8; 16], n: usize) -> Vec<Gf128> {
    let mut bytes = vec![0; 16 * n];
    Prg::new(&coin).fill(&mut bytes);
    bytes.chunks_exact(16).map(|block| Gf128(u128::from_le_bytes(block.try_into().unwrap()))).collect()
}

/// The factor by which levels with these coins multiply an error in the claim, over GF(2^64).
pub fn through_levels(coins: &[[u8; 16]]) -> Gf64 {
    let point = |coin: &[u8; 16]| Gf64(u64::from_le_bytes(coin[..8].try_into().unwrap()));
    coins.iter().map(point).fold(Gf64::ONE, |product, r| product * (Gf64::ONE + r))
}

/// The weight of corner `e` at the point that a coin expands to.
pub fn corner(coin: [u8; 16], variables: usize, e: usize) -> Gf64 {
    let weight = |(v, r): (usize, &Gf64)| if e >> v & 1 == 1 { *r } else { Gf64::ONE + *r };
    words(coin, variables).iter().enumerate().map(weight).fold(Gf64::ONE, |product, w| product * w)
}

/// Which of these sum to zero: some of any 65 do.
pub fn dependent(words: &[Gf64]) -> Vec<usize> {
    let mut basis = [(0_u64, 0_u128); 64];
    for (i, word) in words.iter().enumerate().take(65) {
        let (mut word, mut set) = (word.0, 1_u128 << i);
        while word != 0 {
            let known = &mut basis[word.ilog2() as usize];
            if known.0 == 0 {
                *known = (word, set);
                break;
            }
            (word, set) = (word ^ known.0, set ^ known.1);
        }
        if word == 0 {
            return (0..=i).filter(|i| set >> i & 1 == 1).collect();
        }
    }
    panic!("65 words of 64 bits are independent")
}

/// Public values as blocks.
pub fn public_blocks(e: &mut Rep3, values: &[u128]) -> Result<Block, Abort> {
    let zero: [Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; values.len()]));
    let mut blocks = e.convert(zero)?;
    e.add_public_block(&mut blocks, values)?;
    Ok(blocks)
}

/// The first random elements of sessions with this seed, which nobody knows: they are opened here in a
/// session that draws nothing before.
pub fn first_random(with: u8, n: usize) -> Vec<Gf128> {
    let opened = act(harness(with), with, |trio| {
        let mut e = engine(trio);
        let random = e.random_blocks(n);
        let bytes: [Byte; 16] = e.convert(random)?;
        let pending = e.close_linear(bytes.to_vec())?;
        let verified = settle(&mut e, pending)?;
        e.trio().open(&verified)
    });
    let columns = opened.into_iter().next().unwrap().unwrap();
    (0..n).map(|l| Gf128::from_ghash(std::array::from_fn(|i| columns[i][l]))).collect()
}
