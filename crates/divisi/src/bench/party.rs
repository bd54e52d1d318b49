//! One party of a benchmark, in a process of its own, which the coordinating process commands.
//!
//! Adversary: that of the engine. The coordinator is trusted: it knows all inputs and outputs, as dealer and
//! client do in a real run.

use super::message::{Costs, Order, Said};
use crate::engine::{EngineParty, Own, Took, Watch, timed};
use crate::failure::Failure;
use crate::local::{Pipes, peak_rss};
use crate::party::{Joined, be};
use divisi_core::{Abort, Counts, Misuse, Session, Step, step};
use divisi_net::Permits;

const BENCH: Step = step!("bench");
/// The phase in which a session begins.
const SETUP: &str = "setup";

/// Act as a party until the orders end. Failures are reported to the coordinator, not printed.
///
/// # Errors
/// [`Failure`] if a step fails; unless standard input could not be taken over, it has been reported.
pub fn run() -> Result<(), Failure> {
    be(|joined| {
        joined.pipes.report(Ok(joined.seconds))?;
        if joined.emulated {
            precise_waiting();
        }
        // The loop ends with this process, when the coordinator closes its standard input.
        loop {
            match joined.mesh.permits().outside(|| joined.pipes.order())? {
                Order::Begin { session, count } => serve(joined, session, number(count))?,
                _ => return Err(out_of_place()),
            }
        }
    })
}

fn out_of_place() -> Failure {
    Failure::usage("unexpected message from the coordinator: use one version of the program everywhere")
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Ask the system not to round up the ends of waits, which it does to save power: an emulated message would
/// be late by that much.
pub(super) fn precise_waiting() {
    #[cfg(target_os = "linux")]
    {
        // a refusal costs precision and nothing else
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

/// The observer of a benchmark: all parties meet at a barrier of the coordinator before each phase, and the
/// wait is not timed.
struct Clock<'p> {
    pipes: &'p Pipes,
    permits: Permits,
    took: Vec<(String, Took)>,
    /// The failure of the connection with the coordinator, if it failed.
    failed: Option<Failure>,
}

impl Clock<'_> {
    /// Wait for the barrier with this thread's permit free.
    fn barrier(&mut self, next: &str) -> Result<(), Failure> {
        self.pipes.report(Ok(Said::Here(next.to_owned())))?;
        match self.permits.outside(|| self.pipes.order())? {
            Order::Go => Ok(()),
            _ => Err(out_of_place()),
        }
    }

    /// The cause of an abort: a failure of the connection with the coordinator, if there was one, and
    /// otherwise the abort itself.
    fn cause(&mut self, abort: Abort) -> Failure {
        self.failed.take().unwrap_or_else(|| abort.into())
    }

    fn done(&mut self) -> Result<(), Failure> {
        self.pipes.report(Ok(Said::Done(std::mem::take(&mut self.took))))
    }
}

impl Watch for Clock<'_> {
    fn meet(&mut self, next: &'static str) -> Result<(), Abort> {
        self.barrier(next).map_err(|failure| {
            self.failed = Some(failure);
            Abort::Misuse { step: BENCH, what: Misuse::NoResult }
        })
    }

    fn took(&mut self, phase: &'static str, took: Took) {
        add(&mut self.took, phase, took);
    }
}

/// Add the duration of a part of a phase.
fn add(all: &mut Vec<(String, Took)>, phase: &str, took: Took) {
    match all.iter_mut().find(|(name, _)| name == phase) {
        Some((_, sum)) => sum.add(took),
        None => all.push((phase.to_owned(), took)),
    }
}

/// One session: its setup, then repetitions until it is over.
fn serve(joined: &Joined<'_>, session: u32, count: usize) -> Result<(), Failure> {
    let Joined { pipes, prepared, mesh, .. } = *joined;
    let permits = mesh.permits();
    let key = Own::new(pipes.bytes()?);
    let mut clock = Clock { pipes, permits: permits.clone(), took: Vec::new(), failed: None };
    let parameters = prepared.parameters(count);
    let started = timed(&mut clock, SETUP, || {
        let session = Session::start(mesh, session, &parameters)?;
        prepared.start(session, count, &key)
    });
    let mut party = started.map_err(|abort| clock.cause(abort))?;
    clock.done()?;
    loop {
        match permits.outside(|| pipes.order())? {
            Order::Batch { count } => {
                let own = Own::new(pipes.bytes()?);
                let outputs = party.batch(number(count), &own, &mut clock);
                let outputs = outputs.map_err(|abort| clock.cause(abort))?;
                clock.done()?;
                match permits.outside(|| pipes.order())? {
                    Order::Outputs => pipes.raw(&outputs)?,
                    _ => return Err(out_of_place()),
                }
            }
            Order::Counts => pipes.report(Ok(costs(&mut *party)))?,
            Order::End => return Ok(()),
            _ => return Err(out_of_place()),
        }
    }
}

/// The costs of a repetition at this party, the set-up of its session included.
fn costs(party: &mut dyn EngineParty) -> Costs {
    let Counts { phases, checks, verification_error_bits, computational_bits, .. } = party.counts();
    Costs {
        phases: phases.iter().map(|(name, p)| ((*name).to_owned(), (p.bits, p.bytes, p.rounds))).collect(),
        checks: checks.iter().map(|(check, n)| (check.id().to_owned(), *n)).collect(),
        verification_error_bits,
        computational_bits,
        peak_rss_bytes: peak_rss(),
        kernel: divisi_field::kernel::active().name().to_owned(),
        facts: serde_json::Value::Object(party.facts()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_of_a_phase_count() {
        let mut all = Vec::new();
        for (phase, seconds) in [("online", 1.0), ("verification", 4.0), ("online", 2.0)] {
            add(&mut all, phase, Took { seconds, cpu_seconds: 2.0 * seconds });
        }
        let of = all.iter().map(|(name, took)| (&name[..], took.seconds, took.cpu_seconds));
        assert_eq!(of.collect::<Vec<_>>(), [("online", 3.0, 6.0), ("verification", 4.0, 8.0)]);
    }
}
