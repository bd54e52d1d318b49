//! The coordinating process of a benchmark: starts the parties, deals inputs, opens barriers, checks every output.

use super::Work;
use super::measure::meetings;
use super::message::{Costs, Order, Plan, Times};
use super::work::{Told, nonce};
use super::{CONNECT, OnStart, Options, PARTIES, PHASES, Phase, ROLE, Report, median, ordinary};
use crate::calibrate::Calibration;
use crate::circuit::{self, Circuit};
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::local::{Processes, Room, seat};
use aes::Block;
use divisi_net::{Machine, PartyId, World};
use divisi_rep3::deal;
use divisi_rep3::open::Answer;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How much longer this process waits than the parties, who know more about what they wait for.
const MARGIN: Duration = Duration::from_millis(300);

/// Measure.
///
/// # Errors
/// If an option makes no sense, a party fails, or an output is wrong.
pub fn run(
    options: &Options,
    program: &Path,
    calibration: Calibration,
    cleanup: &Cleanup,
    on_start: OnStart<'_>,
) -> Result<Report, Failure> {
    options.check()?;
    let room = Room::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, PARTIES, cleanup)?;
    for party in PartyId::all(PARTIES) {
        if let Some(number) = processes.process_id(party) {
            on_start(party, number);
        }
    }
    let mut parties = Parties { processes: &mut processes, within: options.timeout + MARGIN, sessions: 0 };
    let connect_seconds = parties.connect(options, &room)?;
    let warmup = (options.warmup as u64).saturating_mul(options.chunk() as u64).min(options.blocks.max(1));
    let (mut times, mut costs) = (Vec::new(), Vec::new());
    let first = if options.warmup > 0 { warmup } else { options.blocks };
    let mut session = parties.begin(options, first)?;
    if options.warmup > 0 {
        parties.repetition(options, &session, warmup)?;
    }
    for rep in 0..options.reps {
        let used = rep > 0 || options.warmup > 0;
        if used && !options.one_session() {
            parties.processes.order_all(&Order::End)?;
            session = parties.begin(options, options.blocks)?;
        }
        let (took, cost) = parties.repetition(options, &session, options.blocks)?;
        times.push(took);
        costs = cost;
    }
    parties.processes.order_all(&Order::End)?;
    processes.close(options.timeout)?;
    room.close()?;
    let report = report(options, connect_seconds, &times, &costs, calibration);
    // a circuit without products has nothing to verify
    let products = report.phases.iter().any(|(name, phase)| *name == "online" && phase.bits > 0);
    reached(options.statistical_bits().filter(|_| products), report.verification_error_bits)?;
    Ok(report)
}

/// That verifications were as good as was asked.
fn reached(asked: Option<u32>, reached: Option<f64>) -> Result<(), Failure> {
    let reached = reached.unwrap_or(0.0);
    match asked {
        Some(asked) if reached < f64::from(asked) => Err(Failure::mismatch(format!(
            "a verification reached {reached:.1} bits where {asked} were asked for: report this"
        ))),
        _ => Ok(()),
    }
}

/// A session that has a key.
struct Running {
    key: Vec<u8>,
    strands: u32,
    setup: Times,
}

/// How many strands a party runs: one a thread. More would hide waiting, but take the cache from each other, which costs more.
fn strands(options: &Options, blocks: u64) -> u32 {
    u32::try_from((options.threads as u64).min(blocks.div_ceil(options.chunk() as u64)).max(1)).unwrap_or(1)
}

struct Parties<'p> {
    processes: &'p mut Processes,
    within: Duration,
    sessions: u32,
}

impl Parties<'_> {
    fn connect(&mut self, options: &Options, room: &Room) -> Result<f64, Failure> {
        let seats = seat::seats(self.processes, room, "bench/listen", self.within.max(CONNECT))?;
        for (party, seat) in PartyId::all(PARTIES).zip(seats) {
            let plan = Plan {
                seat,
                protocol: options.choice.protocol().name().into(),
                security: options.security.name().into(),
                work: Told::new(options),
                statistical: options.statistical_bits().unwrap_or(0),
                threads: u32::try_from(options.threads).unwrap_or(u32::MAX),
                chunk: options.chunk() as u32,
                rtt_ms: options.rtt_ms,
                rate_mbit: options.rate_mbit,
                timeout_ms: options.timeout.as_millis() as u64,
            };
            self.processes.order(party, &plan)?;
        }
        let seconds: Vec<f64> = self.processes.reports("bench/connect", self.within.max(CONNECT))?;
        Ok(seconds.into_iter().fold(0.0, f64::max))
    }

    /// Deal a part to each party, wait until all have it, and open the barrier.
    fn deal(&mut self, step: &str, order: &Order, data: &[u8]) -> Result<(), Failure> {
        let parts = deal::split(data, |out| Machine.entropy(out));
        for (party, part) in PartyId::all(PARTIES).zip(&parts) {
            self.processes.order(party, order)?;
            self.processes.bytes(party, &part.first)?;
            self.processes.bytes(party, &part.second)?;
        }
        drop(parts);
        self.go(step)
    }

    /// Wait until all parties stand at the barrier, and open it.
    fn go(&mut self, step: &str) -> Result<(), Failure> {
        self.processes.reports::<()>(step, self.within)?;
        self.processes.order_all(&Order::Go)
    }

    /// What it took until the last party was through.
    fn done(&mut self, step: &str) -> Result<Times, Failure> {
        Ok(self.processes.reports::<Times>(step, self.within)?.into_iter().fold(Times::default(), Times::max))
    }

    /// Begin the next session, with a key of its own, for repetitions of so many blocks.
    fn begin(&mut self, options: &Options, blocks: u64) -> Result<Running, Failure> {
        let mut key = vec![0; options.key_bytes()];
        Machine.entropy(&mut key);
        self.sessions = self.sessions.saturating_add(1);
        let strands = strands(options, blocks);
        let order = Order::Begin { session: self.sessions, strands };
        self.deal("bench/setup", &order, &key)?;
        Ok(Running { key, strands, setup: self.done("bench/setup")? })
    }

    fn repetition(
        &mut self,
        options: &Options,
        session: &Running,
        blocks: u64,
    ) -> Result<(Times, Vec<Costs>), Failure> {
        let (mut times, mut left) = (session.setup, blocks);
        while left > 0 {
            let now = left.min(options.segment() as u64) as usize;
            left -= now as u64;
            let mut inputs = vec![0; options.work.input_bytes() * now];
            Machine.entropy(&mut inputs);
            self.deal("bench/inputs", &Order::Inputs { blocks: now as u32 }, &inputs)?;
            times.add(self.done("bench/inputs")?);
            self.go("bench/online")?;
            let chunks = now.div_ceil(options.chunk());
            let makes_ahead = options.work == Work::Aes && options.choice.protocol().has_vectors();
            for _ in 0..meetings(makes_ahead, chunks, session.strands as usize) {
                self.go("bench/ahead")?;
            }
            times.add(self.done("bench/online")?);
            self.check_outputs(options, &session.key, &inputs, now)?;
        }
        self.processes.order_all(&Order::Counts)?;
        Ok((times, self.processes.reports("bench/counts", self.within)?))
    }

    /// Recombine all outputs of a segment and compare them with those of an ordinary library.
    fn check_outputs(
        &mut self,
        options: &Options,
        key: &[u8],
        inputs: &[u8],
        count: usize,
    ) -> Result<(), Failure> {
        let ordinary = Expected::new(options, key)?;
        let width = options.work.input_bytes();
        self.processes.order_all(&Order::Outputs)?;
        for (number, first) in (0..count).step_by(options.chunk()).enumerate() {
            let lanes = options.chunk().min(count - first);
            let chunk = inputs.get(width * first..width * (first + lanes)).unwrap_or_default();
            let components = self.processes.frames("bench/outputs", self.within)?;
            let digests = self.processes.frames("bench/outputs", self.within)?;
            let answer = |(component, digest): (Vec<u8>, Vec<u8>)| {
                Some(Answer { component, digest: digest.try_into().ok()? })
            };
            let answers: Option<Vec<Answer>> = components.into_iter().zip(digests).map(answer).collect();
            let answers: Option<[Answer; 3]> = answers.and_then(|answers| answers.try_into().ok());
            let opened = answers.map(|answers| deal::combine(&(number as u64).to_le_bytes(), &answers));
            let opened = match opened {
                Some(Ok(opened)) => opened,
                Some(Err(disagree)) => {
                    let error = format!(
                        "{} and {} gave different outputs: the results are worth nothing",
                        disagree.holder, disagree.witness
                    );
                    return Err(Failure::mismatch(error).with_peer(disagree.holder).at("bench/outputs"));
                }
                None => {
                    return Err(Failure::mismatch(
                        "a party gave outputs of a wrong form: the results are worth nothing",
                    ));
                }
            };
            if let Some(wrong) = ordinary.wrong(first, lanes, chunk, &opened) {
                let error = format!(
                    "the output of {} {wrong} is wrong: the results are worth nothing",
                    options.work.unit()
                );
                return Err(Failure::mismatch(error).at("bench/outputs"));
            }
        }
        Ok(())
    }
}

/// What outputs must be.
enum Expected {
    Library(Ordinary),
    /// What a circuit gives in the clear.
    Circuit(Circuit),
}

impl Expected {
    fn new(options: &Options, key: &[u8]) -> Result<Self, Failure> {
        if let Work::Circuit { name, .. } = &options.work {
            return Ok(Expected::Circuit(circuit::load(name, options.adder())?));
        }
        let missing = || Failure::mismatch("no ordinary library takes this key: report this");
        Ok(Expected::Library(ordinary(options, key).ok_or_else(missing)?))
    }

    /// The number of the first output that is wrong.
    fn wrong(&self, first: usize, lanes: usize, inputs: &[u8], outputs: &[u8]) -> Option<usize> {
        match self {
            Expected::Library(ordinary) => wrong_output(ordinary, first, lanes, inputs, outputs),
            Expected::Circuit(circuit) => {
                let expected = circuit.columns(lanes, inputs);
                if expected.len() != outputs.len() {
                    return Some(first);
                }
                let at = expected.iter().zip(outputs).position(|(expected, got)| expected != got);
                at.map(|at| first + at % lanes.max(1))
            }
        }
    }
}

/// What an ordinary library gives for an input, by its number in the segment.
type Ordinary = Box<dyn Fn(u64, &[u8]) -> Option<Vec<u8>>>;

fn ordinary(options: &Options, key: &[u8]) -> Option<Ordinary> {
    if let Some(settings) = options.settings() {
        let key = key.to_vec();
        return Some(Box::new(move |number, message| {
            ordinary::output(&settings, &key, &nonce(number), message)
        }));
    }
    let cipher = ordinary::cipher(key, options.direction)?;
    Some(Box::new(move |_, input| {
        let mut block = Block::try_from(input).ok()?;
        cipher(&mut block);
        Some(block.to_vec())
    }))
}

/// The first output that is not what it must be. Inputs and outputs are columns, a lane each.
fn wrong_output(
    ordinary: &Ordinary,
    first: usize,
    lanes: usize,
    inputs: &[u8],
    outputs: &[u8],
) -> Option<usize> {
    let row = |columns: &[u8], l: usize| columns.iter().skip(l).step_by(lanes).copied().collect::<Vec<u8>>();
    let wrong = |l: &usize| {
        let expected = ordinary((first + l) as u64, &row(inputs, *l));
        expected.is_none() || expected != Some(row(outputs, *l))
    };
    (0..lanes).find(wrong).map(|l| first + l)
}

/// Put the repetitions together: medians of times, maxima over the parties of all else.
fn report(
    options: &Options,
    connect_seconds: f64,
    times: &[Times],
    costs: &[Costs],
    calibration: Calibration,
) -> Report {
    let middle = |figure: &dyn Fn(&Times) -> f64| median(times.iter().map(figure).collect());
    let phases = PHASES.map(|name| {
        let took = |times: &Times| match name {
            "setup" => times.setup,
            "preprocessing" => times.preprocessing,
            "online" => times.online,
            _ => times.verification,
        };
        let most = |figure: fn(&(u64, u64, u32)) -> u64| {
            costs.iter().filter_map(|c| c.phases.get(name)).map(figure).max().unwrap_or(0)
        };
        let phase = Phase {
            seconds: middle(&|times| took(times).seconds),
            cpu_seconds: middle(&|times| took(times).cpu_seconds),
            bits: most(|(bits, _, _)| *bits),
            bytes: most(|(_, bytes, _)| *bytes),
            rounds: most(|(_, _, rounds)| u64::from(*rounds)) as u32,
        };
        (name, phase)
    });
    let mut checks = BTreeMap::new();
    for (id, n) in costs.iter().flat_map(|cost| &cost.checks) {
        let most = checks.entry(id.clone()).or_insert(0);
        *most = (*most).max(*n);
    }
    let worst = costs.iter().filter_map(|cost| cost.verification_error_bits).reduce(f64::min);
    Report {
        options: options.clone(),
        chunks: options.blocks.div_ceil(options.chunk() as u64),
        connect_seconds,
        latency_seconds: middle(&|times| times.online.seconds + times.verification.seconds),
        phases,
        peak_rss_bytes: costs.iter().filter_map(|cost| cost.peak_rss_bytes).max(),
        verification_error_bits: worst,
        checks,
        kernel: costs.first().map(|cost| cost.kernel.clone()).unwrap_or_default(),
        calibration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Direction;
    use divisi_rep3::Security;

    #[test]
    fn fewer_bits_than_were_asked_for_are_a_failure() {
        assert!(reached(Some(57), Some(57.0)).is_ok() && reached(None, None).is_ok());
        assert!(reached(Some(58), Some(57.9)).is_err() && reached(Some(1), None).is_err());
    }

    #[test]
    fn a_wrong_output_is_found_and_named() {
        // FIPS 197, appendix C.1, in lane 0; another block in lane 1.
        let key: Vec<u8> = (0..16).collect();
        let options = Options::default();
        let cipher = ordinary(&options, &key).unwrap();
        let columns =
            |a: &[u8; 16], b: &[u8; 16]| a.iter().zip(b).flat_map(|(a, b)| [*a, *b]).collect::<Vec<u8>>();
        let plain: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
        let sealed = hex::decode("69c4e0d86a7b0430d8cdb78070b4c55a").unwrap().try_into().unwrap();
        let zero: [u8; 16] = cipher(0, &[0; 16]).unwrap().try_into().unwrap();
        let inputs = columns(&plain, &[0; 16]);
        let mut outputs = columns(&sealed, &zero);
        let wrong = |inputs: &[u8], outputs: &[u8]| wrong_output(&cipher, 40, 2, inputs, outputs);
        assert_eq!(wrong(&inputs, &outputs), None);
        outputs[31] ^= 1;
        assert_eq!(wrong(&inputs, &outputs), Some(41));
        assert_eq!(wrong(&inputs, &outputs[..20]), Some(40));
        let back = ordinary(&Options { direction: Direction::Decrypt, ..options }, &key).unwrap();
        assert_eq!(wrong_output(&back, 0, 2, &columns(&sealed, &zero), &columns(&plain, &[0; 16])), None);
        let hash = Work::Function { algorithm: "sha256".parse().unwrap(), message_bytes: 0 };
        let hash = ordinary(&Options { work: hash, ..Options::default() }, &[]).unwrap();
        let digest = hash(0, &[]).unwrap();
        assert_eq!(wrong_output(&hash, 0, 1, &[], &digest), None);
        assert_eq!(wrong_output(&hash, 0, 1, &[], &digest[1..]), Some(0));
    }

    #[test]
    fn options_that_make_no_sense_are_refused_in_one_sentence() {
        let good = Options::default();
        assert!(good.check().is_ok());
        for bad in [
            Options { blocks: 0, ..good.clone() },
            Options { threads: 0, ..good.clone() },
            Options { reps: 0, ..good.clone() },
            Options { threads: 5000, ..good.clone() },
            Options { statistical: Some(0), ..good.clone() },
            Options { statistical: Some(115), ..good.clone() },
            Options { statistical: Some(57), security: Security::SemiHonest, ..good.clone() },
        ] {
            assert_eq!(bad.check().unwrap_err().kind.exit_code(), 2);
        }
        assert_eq!(
            (strands(&good, 100_000), strands(&Options { threads: 2, ..good.clone() }, 100_000)),
            (1, 2)
        );
        assert_eq!(strands(&Options { threads: 8, ..good }, 1), 1);
    }
}
