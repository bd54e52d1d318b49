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
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_core::{Check, PublicParameters, local, step};

    /// All counts of a phase are added up.
    #[test]
    fn counts_of_phases_are_added_up() {
        let phase = |bits, bytes, rounds| PhaseCounts { bits, bytes, rounds };
        let mut sum = PhaseCounts::default();
        [phase(1, 20, 300), phase(4, 50, 600)].iter().for_each(|phase| add(&mut sum, phase));
        assert_eq!((sum.bits, sum.bytes, sum.rounds), (5, 70, 900));
    }

    /// What was counted before the first batch is that of the set-up, whatever its phases were.
    #[test]
    fn a_set_up_has_all_phases_before_it() {
        let sums = |counts: &Counts| {
            counts.phases.values().fold(PhaseCounts::default(), |mut sum, phase| {
                add(&mut sum, phase);
                sum
            })
        };
        let ends = local::run(2, &PublicParameters::new("counts"), |mut session| {
            for (phase, bytes) in [("early", 10), ("middle", 200), ("z late", 3000)] {
                session.phase(phase);
                for peer in session.peers() {
                    session.send(step!("counted"), peer, &vec![1; bytes], 8 * bytes as u64)?;
                    session.recv(step!("counted"), peer, &mut vec![0; bytes])?;
                }
            }
            let before = sums(&session.meter().read());
            let after = SetupCounts::take(session.meter(), "setup").with(session.meter());
            Ok((before, sums(&after), after.phases.len()))
        });
        for (before, after, phases) in ends.unwrap() {
            assert!(before.bits >= 8 * 3210 && phases == 1);
            assert_eq!((after.bits, after.bytes, after.rounds), (before.bits, before.bytes, before.rounds));
        }
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

    /// A check counts as often as both executed it together, whichever of them did.
    #[test]
    fn checks_are_those_of_both() {
        const CHECKS: [Check; 3] = [Check::new("X1"), Check::new("X2"), Check::new("X3")];
        let ends = local::run(2, &PublicParameters::new("checks"), |session| {
            let [early, both, late] = CHECKS;
            [(early, 3), (both, 40)].into_iter().for_each(|(check, n)| session.observe_each(check, n));
            let setup = SetupCounts::take(session.meter(), "setup");
            let repetition = |n: u64| {
                [(late, n), (both, 5 * n)].into_iter().for_each(|(check, n)| session.observe_each(check, n));
                setup.with(session.meter()).checks
            };
            Ok([1, 2].map(repetition))
        });
        for [first, second] in ends.unwrap() {
            let of = |checks: &std::collections::BTreeMap<Check, u64>| CHECKS.map(|check| checks[&check]);
            assert_eq!((of(&first), of(&second)), ([3, 45, 1], [3, 50, 2]));
        }
    }
}
