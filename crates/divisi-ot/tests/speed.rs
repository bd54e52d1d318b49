//! What a set-up and its bits take, among parties in one process: `cargo test --release -p divisi-ot --test speed -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::Parameters;
use divisi_core::testing::run;
use divisi_ot::{Base, Config, Setup};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What the calling thread has computed so far.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[test]
#[ignore = "a measurement"]
fn setup_and_bits() {
    let count = 80_000;
    for n in [2, 3] {
        for base in [Base::Both, Base::Half] {
            for k in [2, 4, 8] {
                let config = Config { k, base, ..Config::default() };
                let mut best = [Duration::MAX; 4];
                for _ in 0..7 {
                    let times = run(n, &config.describe(Parameters::new("ot speed")), |mut session| {
                        let (begin, used) = (Instant::now(), cpu());
                        let mut setup = Setup::new(&mut session, config)?;
                        let set_up = [begin.elapsed(), cpu() - used];
                        let (begin, used) = (Instant::now(), cpu());
                        setup.authenticated_bits(&mut session, count)?;
                        Ok([set_up[0], set_up[1], begin.elapsed(), cpu() - used])
                    });
                    for (i, best) in best.iter_mut().enumerate() {
                        *best = (*best).min(times.iter().map(|t| t.as_ref().unwrap()[i]).max().unwrap());
                    }
                }
                let each = best[3].as_nanos() as f64 / (count * (n - 1)) as f64;
                println!(
                    "n = {n}, {base:?}, k = {k}: set-up {:.1?}, CPU {:.1?}; {count} bits {:.1?}, CPU {:.1?}, {each:.1} ns a bit and peer",
                    best[0], best[1], best[2], best[3]
                );
            }
        }
    }
}
