//! Sessions whose randomness is known: two with the same seed have the same keys, masks and coins.
#![allow(clippy::disallowed_methods)] // randomness of a test or a measurement

use divisi_core::{Abort, Blocks, Bytes, Convert, PartyId, Prg, PublicParameters, settle};
use divisi_field::Gf128;
use divisi_net::{Machine, World};
use divisi_rep3::adversary::adaptive::engine;
use divisi_rep3::adversary::harness::{MessageDirection, Recording, TrioHarness, party};
use divisi_rep3::{Block, Byte, Rep3, Trio};
use std::cell::RefCell;
use std::sync::Arc;
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
}

impl Seen {
    pub fn of(harness: &TrioHarness) -> Seen {
        Seen { recordings: [1, 2, 3].map(|p| harness.recording(party(p))) }
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
