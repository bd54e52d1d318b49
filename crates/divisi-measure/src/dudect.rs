//! `dudect`: whether the running time of a kernel tells a fixed secret input from random ones.
//!
//! After Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE 2017): inputs of two classes in random order, the
//! first always the same (all zeros, which sees early exits and short products best), the second random; both are made ahead
//! and lie side by side in memory, so that what happens before the clock starts is the same. Then Welch's t-test
//! ([`crate::welch`]). Meant for the kernel whose instructions memcheck does not know; `DIVISI_KERNEL` chooses another.

use crate::noise::Noise;
use crate::subjects::{self, Entry};
use crate::{Failure, machine, welch};
use divisi_field::kernel;

/// How much is measured, and what is accepted.
pub struct Tier {
    samples: usize,
    limit: f64,
}

/// Enough to see that planted leaks are seen: the kernels are not looked at.
pub const SMOKE: Tier = Tier { samples: 5_000, limit: 0.0 };
/// Enough for a look: some seconds.
pub const SHORT: Tier = Tier { samples: 100_000, limit: 10.0 };
/// Enough to believe.
pub const LONG: Tier = Tier { samples: 1_000_000, limit: 5.0 };

/// What a planted leak must exceed, or the clock sees nothing here.
const PLANTED: f64 = 50.0;
/// Inputs that are made ahead at a time.
const BATCH: usize = 64;

/// Fail if a kernel's time depends on its input, or if that of a planted leak does not.
pub fn check(tier: &Tier) -> Result<(), Failure> {
    let kernel = kernel::select().map_err(|e| Failure::Unable(e.to_string()))?;
    println!("kernel {kernel}, {} samples, |t| below {}", tier.samples, tier.limit);
    let mut blind = Vec::new();
    for leak in subjects::LEAKS {
        let t = timed(leak, tier.samples);
        println!("{:>10.2}  {} (must exceed {PLANTED})", t, leak.name);
        if t <= PLANTED {
            blind.push(leak.name);
        }
    }
    let mut found = Vec::new();
    let kernels = if tier.limit > 0.0 { subjects::ALL } else { &[] };
    for entry in kernels {
        let t = timed(entry, tier.samples);
        println!("{t:>10.2}  {}", entry.name);
        if t >= tier.limit {
            found.push(format!("{} (|t| = {t:.2})", entry.name));
        }
    }
    if !blind.is_empty() {
        let what = "was not seen, so that what else was not seen means nothing";
        return Err(Failure::Broken(format!("{} {what}", blind.join(", "))));
    }
    if !found.is_empty() {
        return Err(Failure::Broken(format!("time depends on the input: {}", found.join(", "))));
    }
    println!("{} kernels, none above {}", kernels.len(), tier.limit);
    Ok(())
}

/// |t| of one kernel.
fn timed(entry: &Entry, samples: usize) -> f64 {
    let mut subject = (entry.make)();
    let words = subject.words();
    let mut noise = Noise::new(samples as u64);
    let mut inputs = vec![0; words * BATCH];
    let mut classes = [false; BATCH];
    let mut timings = Vec::with_capacity(samples + BATCH);
    // what is cold at first is measured and forgotten
    let mut warm = 2 * BATCH;
    while timings.len() < samples {
        let order = noise.next();
        for (i, (class, input)) in classes.iter_mut().zip(inputs.chunks_exact_mut(words)).enumerate() {
            *class = order >> i & 1 == 1;
            noise.fill(input);
            let kept = u64::from(*class).wrapping_neg();
            input.iter_mut().for_each(|word| *word &= kept);
        }
        for (class, input) in classes.iter().zip(inputs.chunks_exact(words)) {
            subject.load(input);
            let start = machine::ticks();
            subject.run();
            let ticks = machine::ticks().saturating_sub(start);
            if warm > 0 {
                warm -= 1;
            } else {
                timings.push((*class, ticks));
            }
        }
    }
    welch::largest(&timings)
}
