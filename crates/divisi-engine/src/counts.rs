//! The counts of a session's set-up, which are part of those of each repetition.

use divisi_core::{Counts, Meter, PhaseCounts};

/// The counts of a session before its first batch.
#[derive(Clone, Debug)]
pub struct SetupCounts(Counts);

fn add(sum: &mut PhaseCounts, phase: &PhaseCounts) {
    sum.bits += phase.bits;
    sum.bytes += phase.bytes;
    sum.rounds += phase.rounds;
}

impl SetupCounts {
    /// Take what the meter has counted, all as `phase`, whatever its phase was: also preprocessing for a key
    /// schedule, whose time is that of the set-up. From here on the meter counts one repetition at a time.
    #[must_use]
    pub fn take(meter: &Meter, phase: &'static str) -> SetupCounts {
        let counts = meter.read();
        meter.reset();
        let mut setup = PhaseCounts::default();
        counts.phases.values().for_each(|phase| add(&mut setup, phase));
        SetupCounts(Counts { phases: [(phase, setup)].into(), ..counts })
    }

    /// The counts of a repetition, together with those of the set-up; resets the meter for the next one.
    #[must_use]
    pub fn with(&self, meter: &Meter) -> Counts {
        let repetition = meter.read();
        meter.reset();
        let mut all = self.0.clone();
        for (name, phase) in &repetition.phases {
            add(all.phases.entry(name).or_default(), phase);
        }
        for (check, n) in &repetition.checks {
            *all.checks.entry(*check).or_default() += n;
        }
        let least = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::min);
        all.verification_error_bits = least(all.verification_error_bits, repetition.verification_error_bits);
        all.computational_bits = least(all.computational_bits, repetition.computational_bits);
        all.openings += repetition.openings;
        all
    }
}
