//! Numbers without structure, the same in every run, and parties that draw them.
#![allow(clippy::disallowed_methods)] // randomness of a test or a measurement

use crate::machine;
use divisi_core::{Abort, PublicParameters, Session, local};
use divisi_net::{Machine, Options, World, memory};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The finaliser of SplitMix64: a bijection whose outputs for 0, 1, 2 and so on pass for random ones.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A sequence of such numbers.
pub struct NoiseSource(u64);

impl NoiseSource {
    /// The sequence of this number.
    pub fn new(seed: u64) -> NoiseSource {
        NoiseSource(mix(seed))
    }

    /// The next one.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// The next ones.
    pub fn fill(&mut self, out: &mut [u64]) {
        out.iter_mut().for_each(|word| *word = self.next());
    }
}

/// The machine, but with the same "randomness" in every run: a run is to cost the same each time. Nothing
/// here is secret, unless memcheck is told so.
#[derive(Default)]
pub struct Same {
    drawn: AtomicU64,
    secret: AtomicBool,
}

impl Same {
    /// What is drawn from now on is secret: a session has begun. What is drawn before that is sent in the
    /// clear, or makes the keys of pairs, which are declared secret.
    pub fn is_secret(&self) {
        self.secret.store(true, Ordering::SeqCst);
    }
}

impl World for Same {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let word = mix(self.drawn.fetch_add(1, Ordering::Relaxed));
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        if self.secret.load(Ordering::SeqCst) {
            machine::poison(out.as_mut_ptr(), out.len());
        }
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// Runs `party` at each of `n` parties that are connected in memory, in this world.
///
/// # Errors
/// If a party aborts, the text of the first abort.
pub fn together<R: Send>(
    n: usize,
    world: &Arc<Same>,
    parameters: &PublicParameters,
    party: impl Fn(Session) -> Result<R, Abort> + Sync,
) -> Result<Vec<R>, String> {
    // under memcheck a run takes long
    let options = Options { timeout: Duration::from_secs(3600), ..Options::default() };
    let meshes = memory::mesh_with(n, &options, Arc::<Same>::clone(world));
    let ends = local::run_over(meshes, |_| parameters.clone(), party);
    ends.into_iter().map(|end| end.map_err(|abort| abort.to_string())).collect()
}
