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

#[cfg(test)]
mod tests {
    use super::*;

    /// All counts of a phase are added up.
    #[test]
    fn counts_of_phases_are_added_up() {
        let phase = |bits, bytes, rounds| PhaseCounts { bits, bytes, rounds };
        let mut sum = PhaseCounts::default();
        [phase(1, 20, 300), phase(4, 50, 600)].iter().for_each(|phase| add(&mut sum, phase));
        assert_eq!((sum.bits, sum.bytes, sum.rounds), (5, 70, 900));
    }

    /// Values are opened by both together; what fails with the larger probability counts.
    #[test]
    fn a_repetition_has_what_its_set_up_has() {
        let meter = Meter::default();
        meter.opened(5);
        meter.verification_error(0.25);
        meter.computational(128.0);
        let setup = SetupCounts::take(&meter, "setup");
        for more in [3, 1] {
            meter.opened(more);
            meter.verification_error(0.125);
            meter.computational(112.0);
            let all = setup.with(&meter);
            assert_eq!(all.openings, 5 + more);
            assert_eq!((all.verification_error_bits, all.computational_bits), (Some(2.0), Some(112.0)));
        }
    }
}
