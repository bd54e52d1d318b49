//! What a set-up and its bits take, among parties in one process: `cargo test --release -p divisi-ot --test speed -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::Parameters;
use divisi_ot::testing::run;
use divisi_ot::{Base, Config, Setup};
use std::time::{Duration, Instant};

#[test]
#[ignore = "a measurement"]
fn setup_and_bits() {
    let count = 80_000;
    for n in [2, 3] {
        for base in [Base::Both, Base::Half] {
            for k in [2, 4, 8] {
                let config = Config { k, base, ..Config::default() };
                let mut best = [Duration::MAX; 2];
                for _ in 0..7 {
                    let times = run(n, &config.describe(Parameters::new("ot speed")), |mut session| {
                        let begin = Instant::now();
                        let mut setup = Setup::new(&mut session, config)?;
                        let set_up = begin.elapsed();
                        let begin = Instant::now();
                        setup.authenticated_bits(&mut session, count)?;
                        Ok([set_up, begin.elapsed()])
                    });
                    for i in 0..2 {
                        best[i] = best[i].min(times.iter().map(|t| t.as_ref().unwrap()[i]).max().unwrap());
                    }
                }
                let each = best[1].as_nanos() as f64 / (count * (n - 1)) as f64;
                println!(
                    "n = {n}, {base:?}, k = {k}: set-up {:?}, {count} bits {:?}, {each:.1} ns a bit and peer",
                    best[0], best[1]
                );
            }
        }
    }
}
