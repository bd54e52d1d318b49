//! The outcome of a reproduction: each cell with our figure.

use super::catalogue::{CatalogueTable, CellKind};
use super::figure::{in_report, repetitions};
use super::plan::{PlannedCell, PlannedPaper, ReproduceRequest, ReproductionPlan, whole};
use super::resume::RunStore;
use super::runner::RunRecord;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

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

/// A cell with our figure, as the report tells of it.
#[derive(Clone, Debug, Default, Serialize)]
struct CellOutcome<'o> {
    #[serde(flatten)]
    planned: Option<&'o PlannedCell>,
    state: &'static str,
    #[serde(serialize_with = "whole")]
    ours: Option<f64>,
    /// The ends of the spread, and of how many repetitions.
    #[serde(serialize_with = "whole")]
    least: Option<f64>,
    #[serde(serialize_with = "whole")]
    greatest: Option<f64>,
    repetitions: Option<usize>,
    cpu_us: Option<f64>,
    failure: Option<String>,
    /// The run's place in the list.
    run: Option<usize>,
}

/// All that was run, and what follows from it.
pub struct Evaluation<'o> {
    request: &'o ReproduceRequest,
    plan: &'o ReproductionPlan,
    records: &'o [RunRecord],
    /// How the cells ended.
    pub counts: CellCounts,
    /// The first exact figure that differs, in words.
    pub differs: Option<String>,
}

/// How deep cells may refer to cells.
const DEEPEST: usize = 8;

impl<'o> Evaluation<'o> {
    /// The evaluation of these runs.
    pub fn new(request: &'o ReproduceRequest, plan: &'o ReproductionPlan, records: &'o [RunRecord]) -> Self {
        Evaluation { request, plan, records, counts: CellCounts::default(), differs: None }
    }

    /// The value of a cell, in one repetition of its own run or in all.
    fn value(
        &self,
        paper: &PlannedPaper,
        at: &str,
        repetition: Option<usize>,
        depth: usize,
    ) -> Result<f64, String> {
        let cell = paper.cells.get(at).ok_or_else(|| format!("there is no cell {at}"))?;
        if depth > DEEPEST {
            return Err("figures refer to each other in a circle".into());
        }
        let figure = cell.figure.as_ref().ok_or("nothing is measured")?;
        let record = self.record(cell).map(|(_, record)| record);
        figure.value(&mut |name| match (name.strip_prefix('#'), record) {
            (Some(other), _) => {
                self.value(paper, other, None, depth + 1).map_err(|e| format!("{other}: {e}"))
            }
            (None, Some(record)) => in_report(record.end.as_ref().map_err(Clone::clone)?, name, repetition),
            (None, None) => Err("its command did not run".into()),
        })
    }

    /// The run of a cell, with its place in the list.
    fn record(&self, cell: &PlannedCell) -> Option<(usize, &'o RunRecord)> {
        let command = &cell.run.as_ref()?.command;
        self.records.iter().enumerate().find(|(_, record)| record.run.command == *command)
    }

    fn cell<'c>(&self, paper: &PlannedPaper, at: &str, planned: &'c PlannedCell) -> CellOutcome<'c> {
        let mut cell = CellOutcome { planned: Some(planned), state: "not-run", ..CellOutcome::default() };
        if planned.left_out || planned.figure.is_none() {
            return cell;
        }
        let record = self.record(planned);
        cell.run = record.map(|(at, _)| at);
        let ours = match self.value(paper, at, None, 0) {
            Ok(ours) => ours,
            Err(why) => {
                cell.failure = Some(why);
                if record.is_none_or(|(_, record)| record.began) {
                    cell.state = "failed";
                }
                return cell;
            }
        };
        let differs =
            planned.asserted.is_some_and(|asserted| (ours - asserted).abs() > 1e-9 * asserted.abs());
        cell.state = if differs { "differs" } else { "ok" };
        cell.ours = Some(ours);
        let Some(report) = record.and_then(|(_, record)| record.end.as_ref().ok()) else { return cell };
        cell.cpu_us = in_report(report, "cpu_us_per_block_and_party", None).ok();
        let number = if planned.kind == CellKind::Exact { 0 } else { repetitions(report) };
        let each = (0..number).filter_map(|repetition| self.value(paper, at, Some(repetition), 0).ok());
        if let Some((least, greatest)) = each.map(|v| (v, v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
            (cell.least, cell.greatest, cell.repetitions) = (Some(least), Some(greatest), Some(number));
        }
        cell
    }

    /// Count a cell, and keep the first that differs.
    fn count(&mut self, paper: &str, at: &str, planned: &PlannedCell, cell: &CellOutcome<'_>) {
        let counts = &mut self.counts;
        *match (cell.state, planned.kind) {
            (_, CellKind::OutOfReach) => &mut counts.out_of_reach,
            ("not-run", _) => &mut counts.not_run,
            ("failed", _) => &mut counts.failed,
            ("differs", _) => &mut counts.differ,
            (_, CellKind::Exact) => &mut counts.exact,
            (_, CellKind::Measured) => &mut counts.measured,
            (_, CellKind::Derived) => &mut counts.derived,
        } += 1;
        if let ("differs", Some(ours), Some(asserted)) = (cell.state, cell.ours, planned.asserted) {
            self.differs.get_or_insert_with(|| format!("{paper} {at} is {ours}, not {asserted}"));
        }
    }

    fn table(&mut self, paper: &PlannedPaper, table: &CatalogueTable) -> Value {
        let mut rows = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            let mut cells = Vec::with_capacity(table.columns.len());
            for column in &table.columns {
                let at = format!("{}/{}/{}", table.id, row.id, column.id);
                cells.push(paper.cells.get(&at).map_or(Value::Null, |planned| {
                    let cell = self.cell(paper, &at, planned);
                    self.count(&paper.paper.name, &at, planned, &cell);
                    json!(cell)
                }));
            }
            let mut json = json!(row);
            json["cells"] = cells.into();
            rows.push(json);
        }
        let mut json = json!(table);
        json["rows"] = rows.into();
        json
    }

    /// The papers with what is selected of them.
    pub fn papers(&mut self) -> Value {
        let (plan, request) = (self.plan, self.request);
        let mut papers = Vec::new();
        for of in &plan.papers {
            let paper = &of.paper;
            let selected = |table: &str| request.wants(&paper.name, table);
            let tables = paper.tables.iter().filter(|table| selected(&table.id));
            let tables: Vec<Value> = tables.map(|table| self.table(of, table)).collect();
            let left_out: Vec<_> = paper.left_out.iter().filter(|left| selected(&left.table)).collect();
            if !tables.is_empty() || !left_out.is_empty() {
                let (name, title) = (&paper.name, &paper.title);
                papers.push(json!({ "name": name, "title": title, "tables": tables, "left_out": left_out }));
            }
        }
        papers.into()
    }

    /// The runs, each with what its cells do not tell.
    pub fn runs(&self) -> Value {
        let run = |record: &RunRecord| {
            let report = record.end.as_ref().ok();
            let number = |name| report.and_then(|report| in_report(report, name, None).ok());
            json!({
                "command": format!("divisi {}", record.run.command),
                "ok": report.is_some(),
                "failure": record.end.as_ref().err(),
                "seconds": record.seconds,
                "expected_seconds": record.run.seconds,
                "resumed": record.resumed,
                "cpu_us_per_block_and_party": number("cpu_us_per_block_and_party"),
                "online_per_second": number("online_per_second"),
                "total_per_second": number("total_per_second"),
                "file": report.map(|_| RunStore::file(&record.run.command)),
            })
        };
        self.records.iter().map(run).collect()
    }
}
