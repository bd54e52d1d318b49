//! The outcome of a reproduction: each cell with our figure.

use super::catalogue::CataloguePaper as Paper;
use super::cell::{CellKind, ReportCell};
use super::figure::{in_report, repetitions};
use super::plan::{DEEPEST, ReproduceRequest};
use super::resume::run_file;
use super::runner::RunRecord;
use serde::Serialize;
use serde_json::{Value, json};

/// How many cells ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CellCounts {
    /// Exact figures that are equal.
    pub exact: usize,
    /// Exact figures that differ.
    pub differ: usize,
    /// Measured figures.
    pub measured: usize,
    /// Derived figures.
    pub derived: usize,
    /// Figures out of reach.
    pub out_of_reach: usize,
    /// Figures whose run failed.
    pub failed: usize,
    /// Figures whose run did not begin.
    pub not_run: usize,
}

/// All that was run, and what follows from it.
pub struct Evaluation<'o> {
    records: &'o [RunRecord],
    /// The papers with what was asked for of them.
    pub papers: Vec<Paper>,
    /// How the cells ended.
    pub counts: CellCounts,
    /// The first exact figure that differs, in words.
    pub differs: Option<String>,
}

impl<'o> Evaluation<'o> {
    /// The evaluation of these runs.
    pub fn new(request: &ReproduceRequest, plan: &[Paper], records: &'o [RunRecord]) -> Self {
        let (papers, counts) = (Vec::new(), CellCounts::default());
        let mut evaluation = Evaluation { records, papers, counts, differs: None };
        for paper in plan {
            let mut shown = paper.clone();
            shown.tables.retain(|table| request.wants(&paper.name, &table.id));
            shown.left_out.retain(|left| request.wants(&paper.name, &left.table));
            let rows = shown.tables.iter_mut().flat_map(|table| &mut table.rows);
            for cell in rows.flat_map(|row| row.cells.iter_mut().flatten()) {
                evaluation.evaluate(paper, cell);
                evaluation.count(&paper.name, cell);
            }
            if !shown.tables.is_empty() || !shown.left_out.is_empty() {
                evaluation.papers.push(shown);
            }
        }
        evaluation
    }

    /// The value of a cell, in one repetition of its own run or in all.
    fn value(&self, paper: &Paper, cell: &ReportCell, at: Option<usize>, depth: u8) -> Result<f64, String> {
        if depth > DEEPEST {
            return Err("figures refer to each other in a circle".into());
        }
        let figure = cell.figure.as_ref().ok_or("nothing is measured")?;
        let record = self.record(cell).map(|(_, record)| record);
        figure.value(&mut |name| match (name.strip_prefix('#'), record) {
            (Some(name), _) => {
                let other = paper.cell(name).and_then(|other| self.value(paper, other, None, depth + 1));
                other.map_err(|e| format!("{name}: {e}"))
            }
            (None, Some(record)) => in_report(record.end.as_ref().map_err(Clone::clone)?, name, at),
            (None, None) => Err("its command did not run".into()),
        })
    }

    /// The run of a cell, with its place in the list.
    fn record(&self, cell: &ReportCell) -> Option<(usize, &'o RunRecord)> {
        let command = &cell.command.as_ref()?.command;
        self.records.iter().enumerate().find(|(_, record)| record.run.command == *command)
    }

    /// Put our figure into a cell.
    fn evaluate(&self, paper: &Paper, cell: &mut ReportCell) {
        if cell.left_out || cell.figure.is_none() {
            return;
        }
        let record = self.record(cell);
        cell.run = record.map(|(at, _)| at);
        let ours = match self.value(paper, cell, None, 0) {
            Ok(ours) => ours,
            Err(why) => {
                cell.failure = Some(why);
                cell.state = if record.is_none_or(|(_, record)| record.began) { "failed" } else { "not-run" };
                return;
            }
        };
        cell.state =
            if cell.asserted.is_some_and(|asserted| differ(ours, asserted)) { "differs" } else { "ok" };
        cell.ours = Some(ours);
        let Some(report) = record.and_then(|(_, record)| record.end.as_ref().ok()) else { return };
        let (cpu, number) =
            (|at| in_report(report, "cpu_us_per_block_and_party", at).ok(), repetitions(report));
        let spread = |of: &dyn Fn(Option<usize>) -> Option<f64>| {
            let each = (0..number).filter_map(|at| of(Some(at))).map(|v| (v, v));
            each.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unzip()
        };
        (cell.cpu_us, (cell.cpu_least, cell.cpu_greatest)) = (cpu(None), spread(&cpu));
        if cell.kind != CellKind::Exact {
            (cell.least, cell.greatest) = spread(&|at| self.value(paper, cell, at, 0).ok());
            cell.repetitions = cell.least.map(|_| number);
        }
    }

    /// Count a cell, and keep the first that differs.
    fn count(&mut self, paper: &str, cell: &ReportCell) {
        let counts = &mut self.counts;
        *match (cell.state, cell.kind) {
            (_, CellKind::OutOfReach) => &mut counts.out_of_reach,
            ("not-run", _) => &mut counts.not_run,
            ("failed", _) => &mut counts.failed,
            ("differs", _) => &mut counts.differ,
            (_, CellKind::Exact) => &mut counts.exact,
            (_, CellKind::Measured) => &mut counts.measured,
            (_, CellKind::Derived) => &mut counts.derived,
        } += 1;
        if let ("differs", Some(ours), Some(asserted)) = (cell.state, cell.ours, cell.asserted) {
            self.differs.get_or_insert_with(|| format!("{paper} {} is {ours}, not {asserted}", cell.at));
        }
    }
}

/// Whether two exact figures differ by more than what arithmetic rounds.
fn differ(ours: f64, asserted: f64) -> bool {
    (ours - asserted).abs() > 1e-9 * asserted.abs()
}

/// The runs, each with what its cells do not tell.
pub fn runs(records: &[RunRecord]) -> Value {
    let run = |record: &RunRecord| {
        json!({
            "command": format!("divisi {}", record.run.command),
            "ok": record.end.is_ok(), "failure": record.end.as_ref().err(),
            "seconds": record.seconds, "expected_seconds": record.run.seconds, "resumed": record.resumed,
            "file": record.end.as_ref().ok().map(|_| run_file(&record.run.command)),
        })
    };
    records.iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_figures_that_differ_at_all_differ() {
        for asserted in [1.0, 8.5, 568_504.0, 1e7, -3.0] {
            for (ours, is_other) in [(asserted * (1.0 + 1e-12), false), (asserted * (1.0 + 1e-7), true)] {
                assert_eq!(differ(ours, asserted), is_other, "{ours} {asserted}");
                assert_eq!(differ(-ours, -asserted), is_other, "{ours} {asserted}");
            }
        }
        assert!(differ(1e-12, 0.0) && !differ(0.0, 0.0) && differ(1.0, -1.0));
    }
}
