//! The coordinating process of a benchmark: it starts the parties, gives each its inputs, opens barriers, and
//! checks every output.

use super::expected::Expected;
use super::inputs::{self, Answered};
use super::message::{Costs, Order, Said};
use super::{BenchOptions, BenchReport, OnStart, ROLE, median};
use crate::calibrate::Calibration;
use crate::cleanup::Cleanup;
use crate::engine::{
    self, BenchSchedule, Clock, Engine, EngineSettings, JobSpec, Measured, Own, Phase, Prepared, Rows, Took,
    members,
};
use crate::failure::Failure;
use crate::local::{PartyProgram, PrivateDir, Processes};
use crate::party::{Links, MARGIN, begin, connect};
use divisi_net::{Machine, PartyId, World};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Run a benchmark.
///
/// # Errors
/// [`Failure`] if an option makes no sense, a party fails, or an output is wrong.
pub fn run(
    options: &BenchOptions,
    program: &PartyProgram,
    calibration: Calibration,
    cleanup: &Cleanup,
    on_start: OnStart<'_>,
) -> Result<BenchReport, Failure> {
    options.check()?;
    let (engine, settings) = (options.engine()?, options.settings());
    let job = &options.job;
    let prepared = engine::prepare(engine, job, &settings)?;
    let schedule = prepared.bench_schedule(options.warmup);
    let n = prepared.parties();
    let folder = PrivateDir::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, n, cleanup)?;
    for party in PartyId::all(n) {
        if let Some(number) = processes.process_id(party) {
            on_start(party, number);
        }
    }
    let links = Links {
        timeout: options.timeout,
        rtt_ms: options.rtt_ms,
        rate_mbit: options.rate_mbit,
        permits: true,
    };
    begin(&mut processes, &folder, "bench/listen", engine, &settings, job, links)?;
    let within = options.timeout + MARGIN;
    let seconds: Vec<f64> = processes.reports("bench/connect", within.max(connect(n)) + MARGIN)?;
    let connect_seconds = seconds.into_iter().fold(0.0, f64::max);
    let clocks = engine.phases(&settings);
    let mut parties = Parties {
        job,
        prepared: &*prepared,
        processes: &mut processes,
        within,
        clocks,
        sessions: 0,
        answered: Answered::default(),
    };
    let (times, costs) = parties.repetitions(schedule, job.count(), options)?;
    let answered = parties.answered;
    processes.close(options.timeout)?;
    folder.close()?;
    let mut measured = Measured {
        about: job.about(),
        count: options.count(),
        unit: job.unit(),
        connect_seconds,
        ..measured(settings, clocks, times, &costs, calibration)
    };
    measured.facts.extend(prepared.facts());
    measured.facts.extend(answered.facts(job));
    reached(engine, &measured)?;
    let (json, page) = (engine.report(&measured), engine.page(&measured));
    Ok(BenchReport { options: options.clone(), measured, json, page })
}

/// Check that the verifications reached the statistical security that was asked for, if there was something
/// to verify.
fn reached(engine: &dyn Engine, measured: &Measured) -> Result<(), Failure> {
    let verified = if engine.profile().verifies_online {
        measured.phase("online").bits > 0
    } else {
        measured.verification_error_bits.is_some()
    };
    let asked = engine.statistical_bits(&measured.settings).filter(|_| verified);
    enough(asked, measured.verification_error_bits)
}

fn enough(asked: Option<u32>, reached: Option<f64>) -> Result<(), Failure> {
    let reached = reached.unwrap_or(0.0);
    match asked {
        Some(asked) if reached < f64::from(asked) => Err(Failure::mismatch(format!(
            "a verification reached {reached:.1} bits instead of {asked}: report this"
        ))),
        _ => Ok(()),
    }
}

/// A session that has a key.
struct Running {
    key: Vec<u8>,
    setup: Vec<Took>,
}

struct Parties<'p> {
    job: &'p JobSpec,
    prepared: &'p dyn Prepared,
    processes: &'p mut Processes,
    within: Duration,
    clocks: &'static [Clock],
    sessions: u32,
    answered: Answered,
}

/// The times of each repetition that counts, phase by phase, and the costs of the last one for each party.
type Repetitions = (Vec<Vec<Took>>, Vec<Costs>);

impl Parties<'_> {
    /// Run the warm-up repetitions, then those that count. Each repetition has a session of its own, or all
    /// share one.
    fn repetitions(
        &mut self,
        schedule: BenchSchedule,
        count: usize,
        options: &BenchOptions,
    ) -> Result<Repetitions, Failure> {
        let (before, of) = schedule.warmup;
        let (mut times, mut costs) = (Vec::with_capacity(options.reps), Vec::new());
        let mut running: Option<Running> = None;
        for number in 0..before.saturating_add(options.reps) {
            let count = if number < before { of } else { count };
            let session = match running.take().filter(|_| schedule.one_session) {
                Some(session) => session,
                None => {
                    if number > 0 {
                        self.processes.order_all(&Order::End)?;
                    }
                    self.begin(count)?
                }
            };
            let (took, cost) = self.repetition(&session, count, schedule.batch)?;
            if number >= before {
                times.push(took);
                costs = cost;
            }
            running = Some(session);
        }
        self.processes.order_all(&Order::End)?;
        Ok((times, costs))
    }

    /// Send each party the order and then its input, and open each barrier when all have reached it, until
    /// all have finished. Returns the times of each phase at its slowest party.
    fn step(&mut self, step: &str, order: &Order, owns: &[Own]) -> Result<Vec<Took>, Failure> {
        for (party, own) in PartyId::all(owns.len()).zip(owns) {
            self.processes.order(party, order)?;
            self.processes.bytes(party, own)?;
        }
        let mut step = step.to_owned();
        loop {
            let said: Vec<Said> = self.processes.reports(&step, self.within)?;
            let mut through = Vec::with_capacity(said.len());
            for said in said {
                match said {
                    Said::Here(next) => step = format!("bench/{next}"),
                    Said::Done(took) => through.push(took),
                }
            }
            if through.is_empty() {
                self.processes.order_all(&Order::Go)?;
            } else if through.len() == owns.len() {
                return Ok(slowest(self.clocks, &through));
            } else {
                let error = "some parties have ended a phase that others begin: report this";
                return Err(Failure::mismatch(error).at(step));
            }
        }
    }

    /// Begin the next session, with a key of its own, for repetitions of this many instances.
    fn begin(&mut self, count: usize) -> Result<Running, Failure> {
        let mut key = vec![0; self.job.key_bytes()];
        Machine.entropy(&mut key);
        self.sessions = self
            .sessions
            .checked_add(1)
            .ok_or_else(|| Failure::usage("--warmup and --reps are too large: give smaller numbers"))?;
        let order = Order::Begin { session: self.sessions, count: count as u64 };
        let owns = self.prepared.deal_key(&key);
        Ok(Running { setup: self.step("bench/setup", &order, &owns)?, key })
    }

    fn repetition(
        &mut self,
        session: &Running,
        count: usize,
        batch: usize,
    ) -> Result<(Vec<Took>, Vec<Costs>), Failure> {
        let (mut times, mut left) = (session.setup.clone(), count);
        self.answered = Answered::default();
        while left > 0 {
            let now = left.min(batch.max(1));
            left -= now;
            let inputs = inputs::rows(self.job, now, self.answered)?;
            let owns = self.prepared.deal(&inputs);
            let took = self.step("bench/inputs", &Order::Batch { count: now as u64 }, &owns)?;
            drop(owns);
            times.iter_mut().zip(took).for_each(|(sum, took)| sum.add(took));
            self.check_outputs(&session.key, &inputs)?;
        }
        self.processes.order_all(&Order::Counts)?;
        Ok((times, self.processes.reports("bench/counts", self.within)?))
    }

    /// Put all outputs of a batch together, and compare them with the expected ones.
    fn check_outputs(&mut self, key: &[u8], inputs: &Rows) -> Result<(), Failure> {
        const STEP: &str = "bench/outputs";
        let count = inputs.count();
        self.processes.order_all(&Order::Outputs)?;
        let outputs = self.processes.frames(STEP, self.within)?;
        let outputs = outputs.into_iter().map(Own::new).collect();
        let outputs =
            self.prepared.collect(count, outputs).map_err(|differ| Failure::from(differ).at(STEP))?;
        let outputs = self.job.outputs(outputs, count);
        if let Some(wrong) = Expected::new(self.job, key)?.wrong(inputs, &outputs)? {
            let unit = self.job.unit();
            let error = format!("the output of {unit} {wrong} is wrong, so the results mean nothing");
            return Err(Failure::mismatch(error).at(STEP));
        }
        self.answered.count(self.job, &outputs);
        Ok(())
    }
}

/// The times of each phase, which are those of its slowest party; zero for a phase that no party reports.
fn slowest(clocks: &[Clock], through: &[Vec<(String, Took)>]) -> Vec<Took> {
    let of = |phase: &str| {
        let all = through.iter().flatten().filter(|(name, _)| name == phase);
        all.fold(Took::default(), |most, (_, took)| most.max(*took))
    };
    clocks.iter().map(|clock| of(clock.name)).collect()
}

/// Put the repetitions together: medians of times; maxima over the parties of traffic, rounds, memory and
/// checks; minima of bits of security; kernel and facts of the first party.
fn measured(
    settings: EngineSettings,
    clocks: &'static [Clock],
    times: Vec<Vec<Took>>,
    costs: &[Costs],
    calibration: Calibration,
) -> Measured {
    let of = |cost: &Costs, names: &[&str]| {
        let all = names.iter().map(|name| cost.phases.get(*name).copied().unwrap_or_default());
        all.fold((0, 0, 0), |sum: (u64, u64, u32), of| (sum.0 + of.0, sum.1 + of.1, sum.2 + of.2))
    };
    let phase = |(place, clock): (usize, &Clock)| {
        let middle = |figure: fn(&Took) -> f64| {
            median(times.iter().filter_map(|took| took.get(place)).map(figure).collect())
        };
        let phase = Phase {
            seconds: middle(|took| took.seconds),
            cpu_seconds: middle(|took| took.cpu_seconds),
            bits: costs.iter().map(|cost| of(cost, clock.meter).0).max().unwrap_or(0),
            bytes: costs.iter().map(|cost| of(cost, clock.meter).1).max().unwrap_or(0),
            rounds: costs.iter().map(|cost| of(cost, clock.meter).2).max().unwrap_or(0),
        };
        (clock.name, phase)
    };
    let phases = clocks.iter().enumerate().map(phase).collect();
    let bytes = |cost: &Costs| clocks.iter().map(|clock| of(cost, clock.meter).1).collect();
    let mut checks = BTreeMap::new();
    for (id, n) in costs.iter().flat_map(|cost| &cost.checks) {
        let most = checks.entry(id.clone()).or_insert(0);
        *most = (*most).max(*n);
    }
    let least = |figure: fn(&Costs) -> Option<f64>| costs.iter().filter_map(figure).reduce(f64::min);
    let said: Map<String, Value> = costs
        .first()
        .and_then(|cost| serde_json::from_str(&cost.facts).ok())
        .map(members)
        .unwrap_or_default();
    Measured {
        settings,
        about: Map::new(),
        count: 0,
        unit: "",
        facts: said,
        parties: costs.len(),
        reps: times.len(),
        connect_seconds: 0.0,
        clocks,
        phases,
        bytes_by_party: costs.iter().map(bytes).collect(),
        repetitions: times,
        peak_rss_bytes: costs.iter().filter_map(|cost| cost.peak_rss_bytes).max(),
        verification_error_bits: least(|cost| cost.verification_error_bits),
        computational_bits: least(|cost| cost.computational_bits),
        checks,
        kernel: costs.first().map(|cost| cost.kernel.clone()).unwrap_or_default(),
        calibration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_bits_than_were_asked_for_are_a_failure() {
        assert!(enough(Some(57), Some(57.0)).is_ok() && enough(None, None).is_ok());
        assert!(enough(Some(58), Some(57.9)).is_err() && enough(Some(1), None).is_err());
    }

    fn took(seconds: f64, cpu_seconds: f64) -> Took {
        Took { seconds, cpu_seconds }
    }

    /// Figures of rep3 at three parties of whom each has the largest of something, in repetitions of which
    /// the second is the slowest; the parties' verifications have this many bits.
    fn of_parties(bits: [f64; 3]) -> Measured {
        let of = |party: u64| {
            let most = |other: u64| if party == other { 9 } else { party };
            let phases = [("online".to_owned(), (most(0), 10 * most(1), most(2) as u32))];
            Costs {
                phases: phases.into(),
                checks: [("A7".to_owned(), most(1))].into(),
                verification_error_bits: Some(bits[party as usize]),
                computational_bits: Some(100.0 + most(0) as f64),
                peak_rss_bytes: Some(most(2)),
                ..Costs::default()
            }
        };
        let options = BenchOptions::default();
        let clocks = options.engine().unwrap().phases(&options.settings());
        let times = [2.0, 7.0, 3.0].map(|seconds| vec![took(seconds, 10.0 - seconds); clocks.len()]);
        let calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };
        measured(options.settings(), clocks, times.into(), &[0, 1, 2].map(of), calibration)
    }

    /// A report has the largest costs of all parties, their least security, and the median of times.
    #[test]
    fn no_party_hides_behind_another() {
        let of = of_parties([61.0, 60.0, 62.0]);
        let online = of.phase("online");
        assert_eq!((online.bits, online.bytes, online.rounds), (9, 90, 9));
        assert_eq!((online.seconds, online.cpu_seconds), (3.0, 7.0));
        assert_eq!((of.checks["A7"], of.peak_rss_bytes), (9, Some(9)));
        assert_eq!((of.verification_error_bits, of.computational_bits), (Some(60.0), Some(101.0)));
        assert_eq!((of.parties, of.reps), (3, 3));
        let through = [[1.0, 4.0], [3.0, 2.0]].map(|[a, b]| vec![("a".to_owned(), took(a, b))]);
        let clocks = ["a", "b"].map(|name| Clock::apart(name, &[]));
        let slowest = slowest(&clocks, &through);
        assert_eq!(
            slowest.iter().map(|t| (t.seconds, t.cpu_seconds)).collect::<Vec<_>>(),
            [(3.0, 4.0), (0.0, 0.0)]
        );
    }

    /// The bits of security that the report promises are those of the party that reached fewest.
    #[test]
    fn a_party_that_verifies_too_little_ends_a_benchmark() {
        let engine = engine::by_default();
        let asked = f64::from(engine.statistical_bits(&EngineSettings::default()).unwrap());
        let reached = |bits| reached(engine, &of_parties(bits));
        assert!(reached([asked; 3]).is_ok());
        assert!(reached([asked, asked, asked - 0.1]).is_err());
    }
}
