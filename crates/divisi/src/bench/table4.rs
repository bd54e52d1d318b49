//! The paper's Table 4 (GYKW), measured: as many operations as its Table 6 counts for each of five
//! applications. The paper's figures are estimates from the times of single operations.
//!
//! Each application is a benchmark of its own, with its own processes and keys: unused preprocessing of one
//! serves no other.

use super::{BenchOptions, BenchReport};
use crate::calibrate::Calibration;
use crate::cleanup::Cleanup;
use crate::engine::{Engine, JobSpec, Measured, Page, Phase};
use crate::failure::Failure;
use crate::local::PartyProgram;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::applications::table6::{ROWS, Row};
use serde_json::{Value, json};
use std::sync::Arc;

/// The numbers of parties in the paper's columns.
pub const PARTIES: [usize; 3] = [4, 16, 64];

/// The measurements for the rows of the table, and their sum.
#[derive(Clone, Debug)]
pub struct Table4 {
    /// The benchmark of each row.
    pub reports: Vec<(Row, BenchReport)>,
    /// All rows as one benchmark.
    pub whole: BenchReport,
}

/// The seconds of a row from its inputs to its outputs, with preprocessing and without set-up.
#[must_use]
pub fn seconds(report: &BenchReport) -> f64 {
    report.measured.seconds(&["preprocessing", "online"])
}

/// The paper's figure for this number of parties.
#[must_use]
pub fn printed(row: &Row, parties: usize) -> Option<f64> {
    PARTIES.iter().zip(row.seconds).find(|(n, _)| **n == parties).map(|(_, seconds)| seconds)
}

/// Measure all rows, each with as many instances as the job in `options` has, of which nothing else counts.
/// `tell` is called with the next row.
///
/// # Errors
/// Those of [`super::run`].
pub fn run(
    options: &BenchOptions,
    program: &PartyProgram,
    calibration: Calibration,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Row),
) -> Result<Table4, Failure> {
    let mut reports = Vec::with_capacity(ROWS.len());
    for row in ROWS {
        tell(&row);
        let name = format!("table4-{}", row.name).into();
        let job = JobSpec::Own(Arc::new(ProgramJob::load(&name, None, 1)?));
        let options = BenchOptions { job, ..options.clone() }.counted(options.count());
        let report = super::run(&options, program, calibration, cleanup, &|_, _| {})?;
        reports.push((row, report));
    }
    let whole = together(options.engine()?, &reports)?;
    Ok(Table4 { reports, whole })
}

/// All rows as one benchmark, as if they ran one after the other.
fn together(engine: &dyn Engine, reports: &[(Row, BenchReport)]) -> Result<BenchReport, Failure> {
    let Some((_, first)) = reports.first() else {
        return Err(Failure::mismatch("a table without rows: report this"));
    };
    let all = || reports.iter().map(|(_, report)| &report.measured);
    let phase = |name: &'static str| {
        let sum = all().map(|measured| measured.phase(name)).fold(Phase::default(), |sum, phase| Phase {
            seconds: sum.seconds + phase.seconds,
            cpu_seconds: sum.cpu_seconds + phase.cpu_seconds,
            bits: sum.bits + phase.bits,
            bytes: sum.bytes + phase.bytes,
            rounds: sum.rounds + phase.rounds,
        });
        (name, sum)
    };
    let mut facts = first.measured.facts.clone();
    for count in ["and", "and_of_a2b", "products", "b2a", "a2b", "lookups"] {
        let sum: u64 = all().map(|measured| measured.number(count)).sum();
        facts.insert(count.to_owned(), json!(sum));
    }
    facts.insert("op".into(), json!("table4"));
    facts.remove("program");
    let mut checks = first.measured.checks.clone();
    checks.clear();
    for (id, n) in all().flat_map(|measured| &measured.checks) {
        *checks.entry(id.clone()).or_insert(0) += n;
    }
    let repetitions = |number: usize| {
        let of = all().filter_map(|measured| measured.repetitions.get(number));
        of.fold(Vec::new(), |mut sum: Vec<crate::engine::Took>, took| {
            sum.resize(took.len(), crate::engine::Took::default());
            sum.iter_mut().zip(took).for_each(|(sum, took)| sum.add(*took));
            sum
        })
    };
    let measured = Measured {
        count: all().map(|measured| measured.count).sum(),
        facts,
        phases: first.measured.phases.iter().map(|(name, _)| phase(name)).collect(),
        repetitions: (0..first.measured.repetitions.len()).map(repetitions).collect(),
        // left out, because the party that sends most differs from row to row
        bytes_by_party: Vec::new(),
        peak_rss_bytes: all().filter_map(|measured| measured.peak_rss_bytes).max(),
        checks,
        ..first.measured.clone()
    };
    let (json, page) = (engine.report(&measured), page(&measured, reports));
    Ok(BenchReport { options: first.options.clone(), measured, json, page })
}

fn page(measured: &Measured, reports: &[(Row, BenchReport)]) -> Page {
    let row = |(row, report): &(Row, BenchReport)| {
        let phase = |name| format!("{:.1}", report.measured.phase(name).seconds * 1e3);
        let bytes = ["preprocessing", "online"].map(|name| report.measured.phase(name).bytes);
        vec![
            row.title.to_owned(),
            phase("setup"),
            phase("preprocessing"),
            phase("online"),
            bytes.iter().sum::<u64>().to_string(),
            format!("{:.3}", seconds(report)),
            printed(row, measured.parties).map_or("-".into(), |seconds| seconds.to_string()),
        ]
    };
    let insecure = measured.facts.get("insecure").and_then(Value::as_bool).unwrap_or(false);
    Page {
        above: format!(
            "{}as many operations as GYKW's Table 6 counts, mixed, semi-honest, {} parties, k {}, median of {}, the slowest party and the one that sends most:",
            if insecure { "INSECURE lattices, for tests: " } else { "" },
            measured.parties,
            measured.number("k"),
            measured.reps,
        ),
        head: [
            "counts of",
            "set-up, ms",
            "preprocessing, ms",
            "online, ms",
            "bytes",
            "s without set-up",
            "Table 4, s",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: reports.iter().map(row).collect(),
        below: format!(
            "Table 4 is an estimate from times of single operations on other machines, without the set-up too. memory {}; all outputs checked; no protection against parties that deviate\n{}",
            measured.memory(),
            measured.calibration.summary(),
        ),
    }
}

impl Table4 {
    /// All rows as one benchmark, as every benchmark prints it, with two more members: `seconds` (without
    /// set-up), and `applications`, which has for each application its own benchmark with `application`,
    /// `seconds` (without set-up) and `paper_seconds` (null where Table 4 has no column for this number of
    /// parties).
    #[must_use]
    pub fn to_json(&self) -> Value {
        let row = |(row, report): &(Row, BenchReport)| {
            let mut json = report.to_json();
            json["application"] = json!(row.title);
            json["seconds"] = json!(seconds(report));
            json["paper_seconds"] = json!(printed(row, report.measured.parties));
            json
        };
        let mut json = self.whole.to_json();
        json["seconds"] = json!(seconds(&self.whole));
        json["applications"] = self.reports.iter().map(row).collect();
        json
    }
}
