//! The runs of a report, in order, with an estimate of the time that each takes.

use super::papers;
use crate::bench::BenchOptions;
use crate::engine::job::{Cipher, JobSpec, LookupJob};
use crate::failure::Failure;
use crate::mode::Priority;
use divisi_core::Direction;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::KeySize;
use std::time::Duration;

/// The round-trip times of the Symphony slide, in milliseconds.
pub const ROUND_TRIPS_MS: [f64; 5] = [1.0, 15.0, 30.0, 50.0, 100.0];

/// What to measure.
#[derive(Clone, Debug)]
pub struct MatrixPlan {
    /// Whether to make fewer runs, of fewer blocks.
    pub quick: bool,
    /// Whether to measure only the latency of one block, for the latency figure.
    pub latency_only: bool,
    /// Blocks of a run; by default 100,000, or 20,000 with `quick`.
    pub blocks: Option<u64>,
    /// Repetitions of each run; by default 5, for one block 100 and fewer over slow links, fewer with
    /// `quick`.
    pub reps: Option<usize>,
    /// Emulated round-trip times of the latency figure, in milliseconds, in order.
    pub round_trips_ms: Vec<f64>,
    /// How long a receive waits for a message.
    pub timeout: Duration,
}

impl Default for MatrixPlan {
    fn default() -> Self {
        MatrixPlan {
            quick: false,
            latency_only: false,
            blocks: None,
            reps: None,
            round_trips_ms: ROUND_TRIPS_MS.to_vec(),
            timeout: BenchOptions::default().timeout,
        }
    }
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunGroup {
    /// Encryption by every protocol.
    Throughput,
    /// Decryption by every protocol.
    Decryption,
    /// Two threads a party.
    Threads,
    /// Keys of 256 bits.
    LongKey,
    /// Batches of other sizes.
    Batch,
    /// One block, over loopback.
    OneBlock,
    /// One block, over an emulated round-trip time.
    RoundTrip,
    /// Lookups in a table of 2^16 entries, by three factors and by two.
    Lookups,
}

impl RunGroup {
    /// Every group, in the order in which they are measured.
    pub const ALL: [RunGroup; 8] = [
        RunGroup::OneBlock,
        RunGroup::Throughput,
        RunGroup::Decryption,
        RunGroup::Threads,
        RunGroup::LongKey,
        RunGroup::Batch,
        RunGroup::RoundTrip,
        RunGroup::Lookups,
    ];

    /// Its name in the report's JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RunGroup::Throughput => "throughput",
            RunGroup::Decryption => "decryption",
            RunGroup::Threads => "threads",
            RunGroup::LongKey => "long-key",
            RunGroup::Batch => "batch",
            RunGroup::OneBlock => "one-block",
            RunGroup::RoundTrip => "round-trip",
            RunGroup::Lookups => "lookups",
        }
    }
}

/// One benchmark of the matrix.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its purpose.
    pub group: RunGroup,
    /// The options, which are those of `bench aes`.
    pub options: BenchOptions,
}

impl MatrixPlan {
    /// Blocks of a run.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.unwrap_or(if self.quick { 20_000 } else { BenchOptions::default().count() })
    }

    /// Check that the plan makes sense.
    ///
    /// # Errors
    /// [`Failure`] with a sentence that says what to correct.
    pub fn check(&self) -> Result<(), Failure> {
        if self.round_trips_ms.len() > 20
            || !self.round_trips_ms.iter().all(|ms| *ms > 0.0 && *ms <= 10_000.0)
        {
            return Err(Failure::usage(
                "--rtt has to be a list of at most 20 round-trip times, each above 0 and at most 10000 ms: correct it",
            ));
        }
        self.runs().iter().try_for_each(|run| run.options.check())
    }

    /// Every run, in the order in which they are measured.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        RunGroup::ALL.into_iter().flat_map(|group| self.group(group)).collect()
    }

    fn group(&self, group: RunGroup) -> Vec<Run> {
        let run = |options| Run { group, options };
        let large = |choice: (Protocol, Security)| self.large(choice.0, choice.1);
        match group {
            RunGroup::OneBlock if self.latency_only || self.quick => {
                Priority::ALL.map(|mode| run(self.one_block(mode.protocol(), Security::Malicious))).into()
            }
            RunGroup::OneBlock => every(|(protocol, security)| run(self.one_block(protocol, security))),
            RunGroup::RoundTrip => {
                let at = |ms: f64| Priority::ALL.map(|mode| run(self.far_apart(mode, ms)));
                self.round_trips_ms.iter().copied().flat_map(at).collect()
            }
            _ if self.latency_only => Vec::new(),
            RunGroup::Throughput => every(|choice| run(large(choice))),
            RunGroup::LongKey => {
                let options = self.large(Protocol::Gf4Circuit, Security::Malicious);
                let long = Cipher::Aes(KeySize::Aes256);
                vec![run(options.of_blocks(long, Direction::Encrypt, self.blocks()))]
            }
            _ if self.quick => Vec::new(),
            RunGroup::Lookups => [Security::SemiHonest, Security::Malicious]
                .into_iter()
                .flat_map(|security| [3, 2].map(|factors| run(self.lookups(factors, security))))
                .collect(),
            RunGroup::Decryption => {
                let back = |options: BenchOptions| {
                    options.of_blocks(Cipher::Aes(KeySize::Aes128), Direction::Decrypt, self.blocks())
                };
                every(|choice| run(back(large(choice))))
            }
            RunGroup::Threads => every(|choice| run(BenchOptions { threads: 2, ..large(choice) })),
            RunGroup::Batch => [100, 10_000]
                .into_iter()
                .flat_map(|blocks| {
                    let options = move |protocol| self.large(protocol, Security::Malicious).counted(blocks);
                    Protocol::ALL.iter().map(move |protocol| run(options(*protocol)))
                })
                .collect(),
        }
    }

    fn large(&self, protocol: Protocol, security: Security) -> BenchOptions {
        let reps = self.reps.unwrap_or(if self.quick { 3 } else { BenchOptions::default().reps });
        let timeout = self.timeout;
        let options =
            BenchOptions { choice: protocol.into(), security, reps, timeout, ..BenchOptions::default() };
        options.counted(self.blocks())
    }

    /// The options of a run of lookups by this many factors, in a table of 2^16 bytes.
    fn lookups(&self, factors: usize, security: Security) -> BenchOptions {
        let dimensions = Some(factors);
        let job = LookupJob { entries: 1 << 16, inputs: 1, dimensions, count: 1, table: None };
        let options = self.large(Protocol::Gf4Circuit, security);
        BenchOptions { job: JobSpec::Lookups(job), ..options }.counted(self.blocks().min(LOOKUPS))
    }

    fn one_block(&self, protocol: Protocol, security: Security) -> BenchOptions {
        let reps = self.reps.unwrap_or(if self.quick { 20 } else { 100 });
        BenchOptions { reps, ..self.large(protocol, security) }.counted(1)
    }

    /// The options of a run of one block over a slow link. Such a run mostly waits, which varies little, so
    /// that few repetitions are enough.
    fn far_apart(&self, mode: Priority, rtt_ms: f64) -> BenchOptions {
        let default =
            if self.quick { (60.0 / rtt_ms).clamp(2.0, 20.0) } else { (500.0 / rtt_ms).clamp(5.0, 100.0) };
        let reps = self.reps.unwrap_or(default as usize);
        let options = self.one_block(mode.protocol(), Security::Malicious);
        BenchOptions { choice: mode.into(), rtt_ms: Some(rtt_ms), reps, warmup: 0, ..options }
    }
}

fn every(run: impl Fn((Protocol, Security)) -> Run) -> Vec<Run> {
    let securities = [Security::SemiHonest, Security::Malicious];
    let choices = |security| Protocol::ALL.iter().map(move |protocol| (*protocol, security));
    securities.into_iter().flat_map(choices).map(run).collect()
}

/// The most lookups of a run.
const LOOKUPS: u64 = 1 << 15;

/// The assumed number of rounds of a session's setup, and of a repetition with all its phases, for the guess
/// of how long a run waits.
const ROUNDS: f64 = 64.0;
/// The effort of verifying one block, and of starting three processes, in the unit in which sending one bit
/// is 1.
const VERIFYING: f64 = 10_000.0;
const STARTING: f64 = 1.5e9;

impl Run {
    /// A title of a few words.
    #[must_use]
    pub fn title(&self) -> String {
        let o = &self.options;
        if let JobSpec::Lookups(LookupJob { entries, dimensions, .. }) = &o.job {
            let factors = dimensions.unwrap_or_default();
            return format!("lookups in {entries} entries by {factors} factors, {}", o.security);
        }
        let mut title = format!("{}, {}", o.choice.protocol(), o.security);
        match self.group {
            RunGroup::Decryption => title += ", decryption",
            RunGroup::Threads => title += ", two threads",
            RunGroup::LongKey => title += ", AES-256",
            RunGroup::Throughput
            | RunGroup::Batch
            | RunGroup::OneBlock
            | RunGroup::RoundTrip
            | RunGroup::Lookups => {}
        }
        if let Some(ms) = o.rtt_ms {
            title += &format!(", round trip {ms} ms");
        }
        format!("{title}, {} block{}", o.count(), if o.count() == 1 { "" } else { "s" })
    }

    /// A guess of the seconds that the run's messages are under way, which do not depend on the machine.
    pub(super) fn waiting(&self) -> f64 {
        let round = self.options.rtt_ms.unwrap_or(0.0) / 2e3;
        round * ROUNDS * (self.options.reps as f64 + 1.0)
    }

    /// A guess of the run's computing, in a unit whose duration depends on the machine.
    pub(super) fn effort(&self) -> f64 {
        let o = &self.options;
        let (ahead, online) = papers::bits(o.choice.protocol()).unwrap_or_default();
        let verifying = if o.security == Security::Malicious { VERIFYING } else { 0.0 };
        STARTING + o.count() as f64 * (o.reps as f64 + 1.0) * ((ahead + online) as f64 + verifying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_every_protocol_security_and_direction() {
        let plan = MatrixPlan::default();
        let runs = plan.runs();
        for protocol in Protocol::ALL.iter().copied() {
            for security in [Security::SemiHonest, Security::Malicious] {
                for direction in [Direction::Encrypt, Direction::Decrypt] {
                    let is = |o: &BenchOptions| {
                        let JobSpec::Blocks(job) = &o.job else { return false };
                        (o.choice.protocol(), o.security, job.direction) == (protocol, security, direction)
                            && (o.count(), o.reps, o.threads, o.rtt_ms) == (100_000, 5, 1, None)
                            && job.cipher == Cipher::Aes(KeySize::Aes128)
                    };
                    assert_eq!(
                        runs.iter().filter(|run| is(&run.options)).count(),
                        1,
                        "{protocol} {security}"
                    );
                }
                let alone = |o: &BenchOptions| {
                    (o.choice.protocol(), o.security, o.count(), o.rtt_ms) == (protocol, security, 1, None)
                };
                assert!(runs.iter().any(|run| alone(&run.options) && run.options.reps >= 100));
            }
        }
        assert_eq!(runs.iter().filter(|run| run.group == RunGroup::LongKey).count(), 1);
        assert_eq!(runs.iter().filter(|run| run.group == RunGroup::RoundTrip).count(), 15);
        assert!(plan.check().is_ok() && runs.iter().all(|run| run.effort() > 0.0));
    }

    #[test]
    fn the_figure_alone_needs_one_block_only_and_a_hurry_needs_less() {
        let figure = MatrixPlan { latency_only: true, ..MatrixPlan::default() }.runs();
        assert_eq!(figure.len(), 3 + 15);
        assert!(
            figure.iter().all(|run| run.options.count() == 1 && run.options.security == Security::Malicious)
        );
        let work =
            |plan: &MatrixPlan| plan.runs().iter().map(|run| run.effort() + 1e9 * run.waiting()).sum::<f64>();
        let quick = MatrixPlan { quick: true, ..MatrixPlan::default() };
        assert!(work(&quick) < work(&MatrixPlan::default()) / 2.0);
        let groups = [RunGroup::Throughput, RunGroup::LongKey, RunGroup::OneBlock, RunGroup::RoundTrip];
        assert!(groups.iter().all(|group| quick.runs().iter().any(|run| run.group == *group)));
    }

    #[test]
    fn a_plan_that_makes_no_sense_is_refused() {
        let good = MatrixPlan {
            blocks: Some(10),
            reps: Some(1),
            round_trips_ms: vec![0.5],
            ..MatrixPlan::default()
        };
        assert!(good.check().is_ok());
        for bad in [
            MatrixPlan { blocks: Some(0), ..good.clone() },
            MatrixPlan { reps: Some(0), ..good.clone() },
            MatrixPlan { round_trips_ms: vec![1.0, f64::NAN], ..good.clone() },
            MatrixPlan { round_trips_ms: vec![0.0], ..good.clone() },
            MatrixPlan { round_trips_ms: vec![1.0; 21], ..good.clone() },
        ] {
            assert_eq!(bad.check().unwrap_err().kind.exit_code(), 2);
        }
    }
}
