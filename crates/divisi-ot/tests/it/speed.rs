//! How long a set-up and its bits take, among parties in one process:
//! `cargo test --release -p divisi-ot --test it speed:: -- --ignored --nocapture`.

use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_ot::correlate::{BitVectors, Numbers};
use divisi_ot::{Base, Bits, Links, Setup, SetupConfig};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The CPU time of the calling thread so far.
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
                let config = SetupConfig { k, base, ..SetupConfig::default() };
                let mut best = [Duration::MAX; 4];
                for _ in 0..7 {
                    let times = run(n, &config.describe(PublicParameters::new("ot speed")), |mut session| {
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

/// Narrow and wide rows over GF(2^48) with their check, unchecked rows, and products with payloads of several
/// sizes, between two parties: the CPU time of one.
#[test]
#[ignore = "a measurement"]
fn rows_over_a_field_and_products() {
    let count = 1 << 17;
    let config = SetupConfig::default();
    let mut best = [Duration::MAX; 6];
    for _ in 0..5 {
        let times = run(2, &config.describe(PublicParameters::new("ot speed")), |mut session| {
            let mut setup = Setup::over_field(&mut session, config, 48)?;
            let mut times = Vec::new();
            let mut from = cpu();
            let mut lap = || {
                let now = cpu();
                let lap = now - from;
                from = now;
                lap
            };
            setup.mac_rows(&mut session, Bits::Random(count))?;
            times.push(lap());
            let mut wide = setup.wide_rows(&mut session, Bits::Random(count))?;
            times.push(lap());
            let mut front = wide.take(count / 2).unwrap_or(wide);
            let values = vec![1; count];
            lap();
            let bits = BitVectors { width: 48 };
            setup.correlate(&mut session, &mut front.pads, None, &bits, &values[..count / 2])?;
            times.push(2 * lap());
            Ok(times)
        });
        let semi = run(2, &config.describe(PublicParameters::new("ot speed")), |mut session| {
            let mut setup = Setup::new(&mut session, config)?;
            let mut times = Vec::new();
            let values = vec![1_u128; count];
            let from = cpu();
            let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(count), Links::All)?;
            times.push(cpu() - from);
            let from = cpu();
            setup.correlate(&mut session, &mut pads, None, &BitVectors { width: 1 }, &values)?;
            times.push(cpu() - from);
            let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(count), Links::All)?;
            let numbers = Numbers { modulus: 3_221_225_473, count: 1 };
            let from = cpu();
            setup.correlate(&mut session, &mut pads, None, &numbers, &vec![1; count])?;
            times.push(cpu() - from);
            Ok(times)
        });
        for (times, semi) in times.into_iter().zip(semi) {
            let all = times.unwrap().into_iter().chain(semi.unwrap());
            best.iter_mut().zip(all).for_each(|(best, time)| *best = (*best).min(time));
        }
    }
    let names =
        ["narrow", "wide", "times 48 bits", "semi-honest", "semi-honest times a bit", "times a number"];
    for (name, best) in names.iter().zip(best) {
        println!("{name}: {:.1} ns a row, both directions", best.as_nanos() as f64 / count as f64);
    }
}
