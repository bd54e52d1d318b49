//! The report of operations on numbers and bits among many parties: GYKW's Tables 2, 3, 4 and 6, and its
//! estimate of garbling, side by side with what is measured here. The page says that it is semi-honest.

mod page;
mod papers;

use super::figures::{self, Figure, spread_json};
use super::paper_page::{self, Conditions, Outcome, PageRequest, PaperPage, Runs};
use super::run::{Progress, ReportProgram};
use crate::bench::{BenchOptions, BenchReport, Spread, table4};
use crate::cleanup::Cleanup;
use crate::engine::JobSpec;
use crate::failure::Failure;
use crate::program::HeldProgram;
use divisi_core::Security;
use divisi_program::RunCost;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::adapter::manner::INSECURE;
use divisi_program::applications::table6::{ROWS, Row};
use divisi_program::operations::{Op, OperationJob};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The operations of Tables 2 and 3, each with its number of items.
const OPERATIONS: [(Op, u64); 4] =
    [(Op::B2a, 20_000), (Op::A2b, 10_000), (Op::TripleBool, 1 << 20), (Op::TripleArith, 1 << 16)];

/// What to measure.
#[derive(Clone, Debug)]
pub struct MixedPlan {
    /// The numbers of parties, in order.
    pub parties: Vec<usize>,
    /// Repetitions of each run.
    pub reps: usize,
    /// The factor by which the operations' numbers of items are reduced.
    pub fewer: u64,
    /// Applications by name; all five by default.
    pub applications: Vec<&'static str>,
    /// Whether to use lattices that protect nothing: for tests.
    pub danger_insecure: bool,
    /// How long a receive waits for a message.
    pub timeout: Duration,
}

impl MixedPlan {
    /// The plan for a request.
    #[must_use]
    pub fn of(request: PageRequest) -> MixedPlan {
        let PageRequest { quick, reps, timeout } = request;
        MixedPlan {
            parties: if quick { vec![2, 4] } else { vec![2, 4, 8, 16] },
            reps: reps.unwrap_or(if quick { 1 } else { 3 }),
            fewer: if quick { 4 } else { 1 },
            applications: ROWS.iter().map(|row| row.name).collect(),
            danger_insecure: false,
            timeout: timeout.unwrap_or(BenchOptions::default().timeout),
        }
    }

    fn options(&self, parties: usize, job: JobSpec, count: u64) -> BenchOptions {
        let own = self.danger_insecure.then(|| (INSECURE.to_owned(), String::new()));
        BenchOptions {
            engine: "mixed",
            parties: Some(parties),
            own: own.into_iter().collect::<BTreeMap<_, _>>(),
            job,
            security: Security::SemiHonest,
            reps: self.reps,
            warmup: 1,
            timeout: self.timeout,
            ..BenchOptions::default()
        }
        .counted(count)
    }

    fn rows(&self) -> impl Iterator<Item = &'static Row> {
        ROWS.iter().filter(|row| self.applications.contains(&row.name))
    }
}

/// The measurements among one number of parties.
struct Column {
    parties: usize,
    operations: Vec<(Op, BenchReport)>,
    /// For each row of Table 6, a run of as many operations as the row counts.
    counted: Vec<(&'static Row, BenchReport)>,
    /// The applications themselves.
    whole: Vec<(&'static Row, BenchReport)>,
}

/// All that was measured.
struct MixedOutcome {
    plan: MixedPlan,
    conditions: Conditions,
    columns: Vec<Column>,
    /// The cost of each application by the counts of Table 6.
    costs: Vec<(&'static Row, RunCost)>,
}

/// Run the plan and write `mixed.html`, `mixed.json` and `mixed.csv` into `out`, which is made if it does not
/// exist. `tell` is called with the progress before each run.
///
/// # Errors
/// [`Failure`] if the plan makes no sense, the files cannot be written, a run fails, or an output is wrong;
/// then no file is left.
pub fn write(
    plan: &MixedPlan,
    out: &Path,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<PaperPage, Failure> {
    paper_page::write("mixed", out, cleanup, || measure(plan, program, cleanup, tell))
}

fn measure(
    plan: &MixedPlan,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<MixedOutcome, Failure> {
    let of = plan.parties.len() * (OPERATIONS.len() + 2 * plan.rows().count());
    let mut runs = Runs::begin(program, cleanup, tell, of)?;
    let mut run = |what: String, options: BenchOptions| {
        runs.run(&format!("{what}, {} parties", options.parties.unwrap_or_default()), &options)
    };
    let mut columns = Vec::with_capacity(plan.parties.len());
    for &parties in &plan.parties {
        let (mut operations, mut counted, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for (op, count) in OPERATIONS {
            let count = (count / plan.fewer.max(1)).max(1);
            operations.push((op, run(op.name().to_owned(), plan.options(parties, operation(op), count))?));
        }
        for row in plan.rows() {
            for (list, name) in
                [(&mut counted, format!("table4-{}", row.name)), (&mut whole, row.name.to_owned())]
            {
                let job = JobSpec::Own(Arc::new(ProgramJob::load(&name.as_str().into(), None, 1)?));
                let options = plan.options(parties, job, 1);
                list.push((row, run(name, options)?));
            }
        }
        columns.push(Column { parties, operations, counted, whole });
    }
    let costs = plan
        .rows()
        .map(|row| Ok((row, HeldProgram::load(row.name)?.about().cost)))
        .collect::<Result<_, Failure>>()?;
    Ok(MixedOutcome { plan: plan.clone(), conditions: runs.end(), columns, costs })
}

/// An operation as the paper measures it.
fn operation(op: Op) -> JobSpec {
    JobSpec::Own(Arc::new(OperationJob { op, bits: 32, entries: 256, private: false, count: 1 }))
}

/// The phase that the paper's table is about.
fn phase_of_paper(op: Op) -> &'static str {
    if op.is_random() { "preprocessing" } else { "online" }
}

/// The seconds of one item in that phase.
fn item_seconds(op: Op, report: &BenchReport) -> f64 {
    report.measured.phase(phase_of_paper(op)).seconds / report.measured.count.max(1) as f64
}

/// The spread of [`item_seconds`].
fn item_spread(op: Op, report: &BenchReport) -> Option<Spread> {
    let count = report.measured.count.max(1) as f64;
    Some(report.seconds_spread(&[phase_of_paper(op)])?.map(|seconds| seconds / count))
}

/// The spread of an application's seconds, set-up left out.
fn application_spread(report: &BenchReport) -> Option<Spread> {
    report.seconds_spread(&["preprocessing", "online"])
}

/// The figures of an operation: those of every run, and the seconds of an item.
fn operation_figures(op: Op, report: &BenchReport) -> Vec<Figure> {
    let item = Figure::new("item_seconds", "s", item_seconds(op, report), item_spread(op, report));
    figures::of(report).into_iter().chain([item]).collect()
}

/// The figures of an application: those of every run, and its seconds without set-up.
fn application_figures(report: &BenchReport) -> Vec<Figure> {
    let all = Figure::new("seconds", "s", table4::seconds(report), application_spread(report));
    figures::of(report).into_iter().chain([all]).collect()
}

impl Outcome for MixedOutcome {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn page(&self) -> String {
        page::page(self)
    }

    /// Fields: those of [`Conditions::to_json`]; `insecure`; `operations` and `applications`, each as
    /// `bench mixed` prints it with `spread` added (for each figure that follows from times the `least` and
    /// `greatest` of the repetitions), applications with `application`, `seconds` (set-up left out) and
    /// `paper_seconds` added, too; `counts` of each application beside Table 6; `papers`.
    fn to_json(&self) -> Value {
        let application = |(row, report): &(&'static Row, BenchReport)| {
            let mut json = report.to_json();
            json["application"] = json!(row.title);
            json["seconds"] = json!(table4::seconds(report));
            json["paper_seconds"] = json!(table4::printed(row, report.measured.parties));
            json["spread"] = spread_json(&application_figures(report));
            json
        };
        let operation = |(op, report): &(Op, BenchReport)| {
            let mut json = report.to_json();
            json["spread"] = spread_json(&operation_figures(*op, report));
            json
        };
        let counts = |(row, cost): &(&'static Row, RunCost)| {
            json!({
                "application": row.title,
                "here": { "and": cost.ands + cost.a2b_ands, "products": cost.products, "b2a": cost.b2a, "a2b": cost.a2b },
                "paper": { "and": row.ands, "products": row.products, "b2a": row.b2a, "a2b": row.a2b },
            })
        };
        let operations = self.columns.iter().flat_map(|column| &column.operations);
        let applications = self.columns.iter().flat_map(|column| column.counted.iter().chain(&column.whole));
        let mut json = self.conditions.to_json("mixed", Security::SemiHonest.name());
        json["insecure"] = json!(self.plan.danger_insecure);
        json["operations"] = operations.map(operation).collect();
        json["applications"] = applications.map(application).collect();
        json["counts"] = self.costs.iter().map(counts).collect();
        json["papers"] = papers::to_json();
        json
    }

    fn to_csv(&self) -> String {
        let mut runs = Vec::new();
        for column in &self.columns {
            let name = |what: &str| format!("{what}, {} parties", column.parties);
            for (op, report) in &column.operations {
                runs.push((name(op.name()), operation_figures(*op, report), report));
            }
            for (row, report) in &column.counted {
                runs.push((name(&format!("table4-{}", row.name)), application_figures(report), report));
            }
            for (row, report) in &column.whole {
                runs.push((name(row.name), application_figures(report), report));
            }
        }
        figures::csv(runs)
    }
}
