//! A world whose randomness comes from a seed, so that a run can be repeated.

use crate::{PartyId, Prg};
use divisi_net::{Machine, World};
use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The randomness of the party whose thread this is.
    static OWN: RefCell<Option<Prg>> = const { RefCell::new(None) };
}

/// Randomness from a seed: a stream for each party's own thread. Another thread, such as one of a strand, has
/// a stream by the order in which such threads draw for the first time.
pub struct KnownWorld {
    seed: u64,
    others: AtomicU64,
}

impl KnownWorld {
    /// The world of this seed.
    #[must_use]
    pub fn new(seed: u64) -> KnownWorld {
        KnownWorld { seed, others: AtomicU64::new(256) }
    }

    /// From now on the calling thread is that of this party, in the world of this seed.
    pub fn enter(seed: u64, party: PartyId) {
        let stream = stream(seed, u64::from(party.number()));
        OWN.with(|own| *own.borrow_mut() = Some(stream));
    }
}

fn stream(seed: u64, of: u64) -> Prg {
    Prg::new(&(u128::from(seed) << 64 | u128::from(of)).to_le_bytes())
}

impl World for KnownWorld {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }

    fn entropy(&self, out: &mut [u8]) {
        OWN.with(|own| {
            let other = || stream(self.seed, self.others.fetch_add(1, Ordering::Relaxed));
            own.borrow_mut().get_or_insert_with(other).fill(out);
        });
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}
