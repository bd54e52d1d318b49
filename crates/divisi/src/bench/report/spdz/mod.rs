//! The report of AES and triple DES by masked tables: KOR+17's Tables 2 to 5 side by side with what is
//! measured here, and with what our formulas say.

mod page;
mod papers;
mod prices;

use super::figures::{self, Figure, spread_json};
use super::paper_page::{self, Conditions, Outcome, PageRequest, PaperPage, Runs};
use super::run::{Progress, ReportProgram};
use crate::bench::{BenchOptions, BenchReport, Spread};
use crate::cleanup::Cleanup;
use crate::engine::job::{Cipher, DesKeys};
use crate::failure::Failure;
use divisi_core::{Direction, Security};
use divisi_symmetric::aes::KeySize;
use prices::{Sizes, material};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// All protocols, in the order of Table 2.
const PROTOCOLS: [&str; 8] =
    ["aes-bd", "aes-rp", "aes-lt", "aes-tinytable", "3des-raw", "3des-pv", "3des-lt", "3des-tinytable"];

/// The protocol that evaluates a polynomial of degree 62. It multiplies so often that its runs have fewer
/// blocks.
const RAW: &str = "3des-raw";

/// An emulated network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkLimits {
    /// The round-trip time, in milliseconds.
    pub rtt_ms: f64,
    /// The bandwidth, in 10^6 bits a second.
    pub rate_mbit: f64,
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct SpdzPlan {
    /// The protocols by name; all eight by default.
    pub protocols: Vec<&'static str>,
    /// The blocks of a batch, near and far.
    pub blocks: [u64; 2],
    /// Repetitions of each batch.
    pub reps: usize,
    /// Repetitions of one block, near and far.
    pub single: [usize; 2],
    /// The network of Table 3, and that of Table 4.
    pub networks: [LinkLimits; 2],
    /// How long a receive waits for a message.
    pub timeout: Duration,
}

impl SpdzPlan {
    /// The plan for a request.
    #[must_use]
    pub fn of(request: PageRequest) -> SpdzPlan {
        let PageRequest { quick, reps, timeout } = request;
        SpdzPlan {
            protocols: PROTOCOLS.to_vec(),
            blocks: if quick { [256, 32] } else { [2048, 256] },
            reps: reps.unwrap_or(if quick { 1 } else { 3 }),
            single: if quick { [10, 1] } else { [50, 3] },
            networks: [
                LinkLimits { rtt_ms: 0.3, rate_mbit: 1000.0 },
                LinkLimits { rtt_ms: 100.0, rate_mbit: 50.0 },
            ],
            // the preprocessing of a batch keeps a slow network busy for long
            timeout: timeout.unwrap_or(Duration::from_secs(60)),
        }
    }

    fn options(&self, protocol: &str, place: Distance, single: bool) -> BenchOptions {
        let network = self.networks[place as usize];
        let whole = self.blocks[place as usize];
        let blocks = if protocol == RAW { (whole / 32).max(1) } else { whole };
        let cipher = if protocol.starts_with("aes") {
            Cipher::Aes(KeySize::Aes128)
        } else {
            Cipher::TripleDes(DesKeys::Three)
        };
        BenchOptions {
            engine: "spdz",
            parties: Some(2),
            own: std::iter::once(("protocol".to_owned(), protocol.to_owned())).collect(),
            reps: if single { self.single[place as usize] } else { self.reps },
            warmup: usize::from(single && place == Distance::Near),
            rtt_ms: Some(network.rtt_ms),
            rate_mbit: Some(network.rate_mbit),
            timeout: self.timeout,
            ..BenchOptions::default()
        }
        .of_blocks(cipher, Direction::Encrypt, if single { 1 } else { blocks })
    }

    /// All runs, each for one block and for a batch: all protocols near, and far all but 3des-raw, which the
    /// paper did not measure there.
    fn runs(&self) -> Vec<(&'static str, Distance, bool)> {
        let mut runs = Vec::new();
        for place in [Distance::Near, Distance::Far] {
            for &protocol in self.protocols.iter().filter(|name| place == Distance::Near || **name != RAW) {
                runs.extend([true, false].map(|single| (protocol, place, single)));
            }
        }
        runs
    }
}

/// Where the parties are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    /// In one network: Table 3.
    Near,
    /// Far apart: Table 4.
    Far,
}

impl Distance {
    fn name(self) -> &'static str {
        match self {
            Distance::Near => "LAN",
            Distance::Far => "WAN",
        }
    }
}

/// One run.
struct Measurement {
    protocol: &'static str,
    place: Distance,
    /// Whether it is one block, for its latency.
    single: bool,
    report: BenchReport,
}

/// All that was measured.
struct SpdzOutcome {
    plan: SpdzPlan,
    conditions: Conditions,
    measured: Vec<Measurement>,
}

/// Run the plan and write `spdz.html`, `spdz.json` and `spdz.csv` into `out`, which is made if it does not
/// exist. `tell` is called with the progress before each run.
///
/// # Errors
/// [`Failure`] if the plan makes no sense, the files cannot be written, a run fails, or an output is wrong;
/// then no file is left.
pub fn write(
    plan: &SpdzPlan,
    out: &Path,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<PaperPage, Failure> {
    paper_page::write("spdz", out, cleanup, || measure(plan, program, cleanup, tell))
}

fn measure(
    plan: &SpdzPlan,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<SpdzOutcome, Failure> {
    let list = plan.runs();
    let mut runs = Runs::begin(program, cleanup, tell, list.len())?;
    let mut measured = Vec::with_capacity(list.len());
    for (protocol, place, single) in list {
        let report = runs.run(&run_name(protocol, place, single), &plan.options(protocol, place, single))?;
        measured.push(Measurement { protocol, place, single, report });
    }
    Ok(SpdzOutcome { plan: plan.clone(), conditions: runs.end(), measured })
}

fn run_name(protocol: &str, place: Distance, single: bool) -> String {
    format!("{protocol}, {}, {}", place.name(), if single { "one block" } else { "a batch" })
}

impl Measurement {
    /// Blocks a second for everything that precedes the inputs: preprocessing, and the loading of tables.
    fn preprocessing_per_second(&self) -> f64 {
        let measured = &self.report.measured;
        measured.count as f64 / measured.seconds(&["preprocessing", "load"])
    }

    /// Megabytes to the peer for a block, before the inputs are there: preprocessing, and the loading of
    /// tables.
    fn preprocessing_megabytes(&self) -> f64 {
        let measured = &self.report.measured;
        let bits: u64 = ["preprocessing", "load"].map(|name| measured.phase(name).bits).iter().sum();
        bits as f64 / measured.count.max(1) as f64 / 8e6
    }

    /// The spread of [`Measurement::preprocessing_per_second`].
    fn preprocessing_spread(&self) -> Option<Spread> {
        let count = self.report.measured.count as f64;
        Some(self.report.seconds_spread(&["preprocessing", "load"])?.map(|seconds| count / seconds))
    }

    /// The figures of every run, and the rate of preprocessing.
    fn figures(&self) -> Vec<Figure> {
        let rate = self.preprocessing_per_second();
        let ahead = Figure::new("preprocessing_per_second", "1/s", rate, self.preprocessing_spread());
        figures::of(&self.report).into_iter().chain([ahead]).collect()
    }

    /// The name of the run.
    fn name(&self) -> String {
        run_name(self.protocol, self.place, self.single)
    }

    /// Rounds of a block, online.
    fn rounds(&self) -> u32 {
        self.report.measured.phase("online").rounds
    }

    /// Openings of a block, online.
    fn openings(&self) -> f64 {
        self.report.measured.number("openings") as f64 / self.report.measured.count.max(1) as f64
    }
}

impl SpdzOutcome {
    fn find(&self, protocol: &str, place: Distance, single: bool) -> Option<&Measurement> {
        let same = |m: &&Measurement| m.protocol == protocol && m.place == place && m.single == single;
        self.measured.iter().find(same)
    }
}

impl Outcome for SpdzOutcome {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn page(&self) -> String {
        page::page(self)
    }

    /// Fields: those of [`Conditions::to_json`]; `runs`, each as `bench` prints it with `network`,
    /// `latency_seconds`, `preprocessing_per_second` and `spread` (for each figure that follows from times
    /// the `least` and `greatest` of the repetitions) added; `costs` of each protocol by formula beside the
    /// measured ones (Table 2), with `paper_rounds` and, if they differ, `rounds_reason`; `tables` (Table
    /// 5); `papers`.
    fn to_json(&self) -> Value {
        let run = |m: &Measurement| {
            let mut json = m.report.to_json();
            json["network"] = json!(m.place.name());
            json["latency_seconds"] = json!(m.report.latency_seconds());
            json["preprocessing_per_second"] = json!(m.preprocessing_per_second());
            json["spread"] = spread_json(&m.figures());
            json
        };
        let cost = |protocol: &&'static str| {
            let of = material(protocol);
            let counts = of.and_then(prices::Material::counts);
            let measured = self.find(protocol, Distance::Near, false);
            let blocks = usize::try_from(self.plan.blocks[0]).unwrap_or(usize::MAX);
            let paper = papers::cost(protocol);
            let rounds = measured.map(Measurement::rounds);
            json!({
                "protocol": protocol,
                "rounds": rounds,
                "paper_rounds": paper.map(|paper| paper.rounds),
                "rounds_reason": paper.zip(rounds).and_then(|(paper, rounds)| paper.rounds_reason(rounds)),
                "openings": measured.map(Measurement::openings),
                "triples": counts.map(|[triples, _]| triples),
                "random_bits": counts.map(|[_, bits]| bits),
                "measured_megabytes": measured.map(Measurement::preprocessing_megabytes),
                "bucketed_megabytes": of.and_then(|of| of.by_buckets(Sizes::new(48, 4), blocks)),
                "mascot_megabytes": of.and_then(|of| of.by_mascot(Sizes::new(40, 1))),
            })
        };
        let tables = page::tables().into_iter().map(
            |(name, kilobytes)| json!({ "by": name, "entries": papers::ENTRIES, "kilobytes": kilobytes }),
        );
        let mut json = self.conditions.to_json("spdz", Security::Malicious.name());
        json["runs"] = self.measured.iter().map(run).collect();
        json["costs"] = self.plan.protocols.iter().map(cost).collect();
        json["tables"] = tables.collect();
        json["papers"] = papers::to_json();
        json
    }

    fn to_csv(&self) -> String {
        figures::csv(self.measured.iter().map(|m| (m.name(), m.figures(), &m.report)))
    }
}
