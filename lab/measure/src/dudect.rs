//! `dudect`: whether the running time of a kernel differs between a fixed secret input and random ones.
//!
//! After Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE 2017): inputs of two
//! classes in random order, the first always the same, the second random; both are made ahead and lie side by
//! side in memory, so that what happens before the clock starts is the same. Welch's t-test
//! ([`crate::welch`]) compares the timings of both classes. The command is meant for the kernel whose
//! instructions memcheck does not know; `DIVISI_KERNEL` chooses another.
//!
//! Two fixed inputs are tried. One without structure must not be distinguishable from others at all. All
//! zeros, the input that early exits and short products show best, may differ by less than a tick of the
//! clock: the current that a processor draws, and with it its clock, depends on how many bits it switches,
//! which no choice of instructions changes (docs/measuring.md).

use crate::lattices;
use crate::noise::NoiseSource;
use crate::subjects::{self, KernelEntry};
use crate::welch::{self, Apart};
use crate::{Failure, machine};
use divisi_field::kernel;

/// How much is measured, and what is accepted.
pub struct Tier {
    samples: usize,
    limit: f64,
}

/// Enough to see that planted leaks are seen: the kernels are not looked at.
pub const SMOKE: Tier = Tier { samples: 20_000, limit: 0.0 };
/// Enough for a look: some seconds.
pub const SHORT: Tier = Tier { samples: 100_000, limit: 10.0 };
/// Enough samples for a result that can be relied on.
pub const LONG: Tier = Tier { samples: 1_000_000, limit: 5.0 };

/// |t| of a planted leak must exceed this; otherwise the clock of this machine is too coarse.
const PLANTED: f64 = 50.0;
/// A difference of fewer ticks than this between all zeros and random inputs is accepted, even if |t| exceeds
/// the limit.
const ZEROS_TICKS: f64 = 1.0;
/// Inputs that are made ahead at a time.
const BATCH: usize = 64;

/// Fail if a kernel's time depends on its input, or if that of a planted leak does not.
pub fn check(tier: &Tier) -> Result<(), Failure> {
    let kernel = kernel::select().map_err(|e| Failure::Unable(e.to_string()))?;
    println!("kernel {kernel}, {} samples of each fixed input and of random ones together", tier.samples);
    println!("{:>12} {:>12} {:>12}", "|t|", "|t| of zeros", "ticks");
    let mut blind = Vec::new();
    for leak in subjects::LEAKS {
        let [fixed, zeros] = timed(leak, tier.samples);
        if fixed.t <= PLANTED || zeros.t <= PLANTED || zeros.ticks < ZEROS_TICKS {
            blind.push(leak.name);
        }
    }
    let mut found = Vec::new();
    let looked_at = tier.limit > 0.0;
    let kernels: Vec<&KernelEntry> =
        subjects::ALL.iter().chain(lattices::ALL).filter(|_| looked_at).collect();
    for entry in &kernels {
        let [fixed, zeros] = timed(entry, tier.samples);
        if fixed.t >= tier.limit || (zeros.t >= tier.limit && zeros.ticks >= ZEROS_TICKS) {
            found.push(entry.name);
        }
    }
    if !blind.is_empty() {
        let what = "was not seen, so the other results mean nothing";
        return Err(Failure::Broken(format!("{} {what}", blind.join(", "))));
    }
    if !found.is_empty() {
        return Err(Failure::Broken(format!("time depends on the input: {}", found.join(", "))));
    }
    println!(
        "both planted leaks seen, and {} kernels not told apart (|t| below {})",
        kernels.len(),
        tier.limit
    );
    Ok(())
}

/// Measure one kernel: the differences in time between a fixed input without structure and random ones, and
/// between zeros and random ones.
fn timed(entry: &KernelEntry, samples: usize) -> [Apart; 2] {
    let words = (entry.make)().words();
    let mut fixed = vec![0; words];
    NoiseSource::new(words as u64).fill(&mut fixed);
    let found = [fixed, vec![0; words]].map(|fixed| against(entry, &fixed, samples));
    let [fixed, zeros] = &found;
    println!("{:>12.2} {:>12.2} {:>12.2}  {}", fixed.t, zeros.t, zeros.ticks, entry.name);
    found
}

fn against(entry: &KernelEntry, fixed: &[u64], samples: usize) -> Apart {
    let mut subject = (entry.make)();
    let mut noise = NoiseSource::new(samples as u64);
    let mut inputs = vec![0; fixed.len() * BATCH];
    let mut classes = [false; BATCH];
    let mut timings = Vec::with_capacity(samples + BATCH);
    // the first timings, with cold caches, are dropped
    let mut warm = 2 * BATCH;
    while timings.len() < samples {
        let order = noise.next();
        for (i, (class, input)) in classes.iter_mut().zip(inputs.chunks_exact_mut(fixed.len())).enumerate() {
            *class = order >> i & 1 == 1;
            noise.fill(input);
            // without a branch: both classes are made in the same time, by the same instructions
            let random = u64::from(*class).wrapping_neg();
            input.iter_mut().zip(fixed).for_each(|(word, fixed)| *word = *word & random | fixed & !random);
        }
        for (class, input) in classes.iter().zip(inputs.chunks_exact(fixed.len())) {
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
