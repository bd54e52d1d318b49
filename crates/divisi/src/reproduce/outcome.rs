//! The outcome of a reproduction: each cell with our figure, as JSON and as CSV.

use super::catalogue::{CatalogueColumn, CatalogueTable, CellKind};
use super::figure::{in_report, repetitions};
use super::plan::{PlannedCell, PlannedPaper, ReproductionPlan};
use super::resume::RunStore;
use super::runner::{RunEnd, RunRecord};
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

/// The figure of a cell.
#[derive(Clone, Debug, Default)]
struct Ours {
    value: Option<f64>,
    spread: Option<(f64, f64, usize)>,
    failure: Option<String>,
    skipped: bool,
    run: Option<usize>,
    cpu_us: Option<f64>,
}

/// All that was run, and what follows from it.
pub struct Evaluation<'o> {
    plan: &'o ReproductionPlan,
    records: &'o [RunRecord],
    by_command: BTreeMap<&'o str, usize>,
}

/// A figure in JSON; a whole number as such.
fn figure(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => json!(value as i64),
        other => json!(other),
    }
}

/// How deep cells may refer to cells.
const DEEPEST: usize = 8;

impl<'o> Evaluation<'o> {
    /// The evaluation of these runs.
    #[must_use]
    pub fn new(plan: &'o ReproductionPlan, records: &'o [RunRecord]) -> Self {
        let by_command = records.iter().enumerate().map(|(at, record)| (record.run.command.as_str(), at));
        Evaluation { plan, records, by_command: by_command.collect() }
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
        let (figure, _) = cell.figure.as_ref().ok_or("nothing is measured")?;
        let record = self.record(cell).map(|(_, record)| record);
        figure.value(&mut |name| match (name.strip_prefix('#'), record.map(|record| &record.end)) {
            (Some(other), _) => {
                self.value(paper, other, None, depth + 1).map_err(|e| format!("{other}: {e}"))
            }
            (None, Some(RunEnd::Done(report))) => in_report(report, name, repetition),
            (None, Some(RunEnd::Failed(why) | RunEnd::Skipped(why))) => Err(why.clone()),
            (None, None) => Err("its command did not run".into()),
        })
    }

    /// The run of a cell.
    fn record(&self, cell: &PlannedCell) -> Option<(usize, &'o RunRecord)> {
        let at = *self.by_command.get(cell.command.as_deref()?)?;
        Some((at, self.records.get(at)?))
    }

    fn ours(&self, paper: &PlannedPaper, at: &str, cell: &PlannedCell) -> Ours {
        if cell.left_out || cell.figure.is_none() {
            return Ours { skipped: true, ..Ours::default() };
        }
        let record = self.record(cell);
        let report = record.and_then(|(_, record)| record.report());
        let run = record.map(|(at, _)| at);
        let cpu_us = report.and_then(|report| in_report(report, "cpu_us_per_block_and_party", None).ok());
        let value = match self.value(paper, at, None, 0) {
            Ok(value) => value,
            Err(why) => {
                let skipped = record.is_some_and(|(_, record)| matches!(record.end, RunEnd::Skipped(_)));
                return Ours { failure: Some(why), skipped, run, ..Ours::default() };
            }
        };
        let number = report.map_or(0, repetitions);
        let each = (0..number).filter_map(|repetition| self.value(paper, at, Some(repetition), 0).ok());
        let ends = each.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let spread = ends.filter(|_| cell.kind != CellKind::Exact).map(|(least, most)| (least, most, number));
        Ours { value: Some(value), spread, run, cpu_us, ..Ours::default() }
    }

    /// How a cell ended.
    fn state(cell: &PlannedCell, ours: &Ours) -> &'static str {
        match (cell.asserted(), ours.value) {
            _ if ours.skipped => "not-run",
            (_, None) => "failed",
            (Some(asserted), Some(ours)) if (ours - asserted).abs() > 1e-9 * asserted.abs() => "differs",
            (_, Some(_)) => "ok",
        }
    }

    fn cell(&self, paper: &PlannedPaper, at: &str, counts: &mut CellCounts) -> Value {
        let Some(cell) = paper.cells.get(at) else { return Value::Null };
        let ours = self.ours(paper, at, cell);
        let state = Self::state(cell, &ours);
        *match (state, cell.kind) {
            (_, CellKind::OutOfReach) => &mut counts.out_of_reach,
            ("not-run", _) => &mut counts.not_run,
            ("failed", _) => &mut counts.failed,
            ("differs", _) => &mut counts.differ,
            (_, CellKind::Exact) => &mut counts.exact,
            (_, CellKind::Measured) => &mut counts.measured,
            (_, CellKind::Derived) => &mut counts.derived,
        } += 1;
        let why = cell.ours.as_ref().map(|(_, why)| why);
        json!({
            "kind": cell.kind,
            "state": state,
            "printed": cell.printed,
            "paper": figure(cell.paper),
            "corrected": figure(cell.corrected.as_ref().map(|(value, _)| *value)),
            "erratum": cell.corrected.as_ref().map(|(_, why)| why),
            "asserted": figure(cell.asserted()),
            "ours": figure(ours.value),
            "least": figure(ours.spread.map(|(least, ..)| least)),
            "greatest": figure(ours.spread.map(|(_, greatest, _)| greatest)),
            "repetitions": ours.spread.map(|(.., number)| number),
            "cpu_us": ours.cpu_us,
            "why": why,
            "reason": cell.reason,
            "nearest": cell.nearest,
            "failure": ours.failure,
            "run": ours.run,
            "figure": cell.figure.as_ref().map(|(_, text)| text),
        })
    }

    fn table(&self, paper: &PlannedPaper, table: &CatalogueTable, counts: &mut CellCounts) -> Value {
        let mut rows = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            let at = |column: &CatalogueColumn| format!("{}/{}/{}", table.id, row.id, column.id);
            let mut json = json!(row);
            json["cells"] =
                table.columns.iter().map(|column| self.cell(paper, &at(column), counts)).collect();
            rows.push(json);
        }
        let mut json = json!(table);
        json["rows"] = rows.into();
        json
    }

    /// The papers with what is selected of them, and how their cells ended.
    #[must_use]
    pub fn papers(&self) -> (Value, CellCounts) {
        let mut counts = CellCounts::default();
        let selection = &self.plan.selection;
        let mut papers = Vec::new();
        for of in &self.plan.papers {
            let paper = &of.paper;
            let tables = paper.tables.iter().filter(|table| selection.has(&paper.name, &table.id));
            let tables: Vec<Value> = tables.map(|table| self.table(of, table, &mut counts)).collect();
            let left_out = paper.left_out.iter().filter(|left| selection.has(&paper.name, &left.table));
            let left_out: Vec<_> = left_out.collect();
            if !tables.is_empty() || !left_out.is_empty() {
                papers.push(json!({
                    "name": paper.name,
                    "title": paper.title,
                    "tables": tables,
                    "left_out": left_out,
                }));
            }
        }
        (papers.into(), counts)
    }

    /// The runs, each with what its cells do not tell.
    #[must_use]
    pub fn runs(&self) -> Value {
        let run = |record: &RunRecord| {
            let report = record.report();
            let number = |name| report.and_then(|report| in_report(report, name, None).ok());
            let failure = match &record.end {
                RunEnd::Done(_) => None,
                RunEnd::Failed(why) | RunEnd::Skipped(why) => Some(why),
            };
            json!({
                "command": format!("divisi {}", record.run.command),
                "ok": report.is_some(),
                "failure": failure,
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

/// The first exact figure of a report that differs, in words.
#[must_use]
pub fn differing(report: &Value) -> Option<String> {
    let lines = csv_cells(report);
    let of = lines.iter().find(|cells| cells.get("state").is_some_and(|state| state == "differs"))?;
    let text = |name: &str| of.get(name).cloned().unwrap_or_default();
    let [paper, table, row, column] = ["paper_name", "table", "row", "column"].map(text);
    Some(format!("{paper} {table}/{row}/{column} is {}, not {}", text("ours"), text("asserted")))
}

/// The columns of the CSV that are members of a cell.
const OF_A_CELL: [&str; 14] = [
    "kind",
    "state",
    "printed",
    "paper",
    "corrected",
    "asserted",
    "ours",
    "least",
    "greatest",
    "repetitions",
    "cpu_us",
    "reason",
    "nearest",
    "failure",
];

/// The columns of the CSV that say where a cell stands.
const OF_A_PLACE: [&str; 8] =
    ["paper_name", "table", "row", "column", "unit", "engine", "security", "parties"];

/// The cells of a report as CSV (RFC 4180): a line for each cell.
#[must_use]
pub fn csv(report: &Value) -> String {
    let names: Vec<&str> = OF_A_PLACE.into_iter().chain(OF_A_CELL).chain(["command"]).collect();
    let head = line(names.iter().map(|name| (*name).to_owned()));
    let cells = csv_cells(report);
    let lines =
        cells.iter().map(|cells| line(names.iter().map(|name| cells.get(name).cloned().unwrap_or_default())));
    head + &lines.collect::<String>()
}

/// For each cell of a report what its line says, by column.
fn csv_cells(report: &Value) -> Vec<BTreeMap<&'static str, String>> {
    let list = |of: &Value, name: &str| of.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |of: &Value, name: &str| match of.get(name) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    let runs = list(report, "runs");
    let mut out = Vec::new();
    for paper in list(report, "papers") {
        for table in list(&paper, "tables") {
            let columns = list(&table, "columns");
            for row in list(&table, "rows") {
                for (column, cell) in
                    columns.iter().zip(list(&row, "cells")).filter(|(_, cell)| !cell.is_null())
                {
                    let run = cell.get("run").and_then(Value::as_u64);
                    let run = run.and_then(|run| runs.get(usize::try_from(run).ok()?));
                    let mut cells: BTreeMap<&str, String> =
                        OF_A_CELL.into_iter().map(|name| (name, text(&cell, name))).collect();
                    cells.extend([
                        ("paper_name", text(&paper, "name")),
                        ("table", text(&table, "id")),
                        ("row", text(&row, "id")),
                        ("column", text(column, "id")),
                        ("unit", text(column, "unit")),
                        ("engine", text(&row, "engine")),
                        ("security", text(&row, "security")),
                        ("parties", text(&row, "parties")),
                        ("command", run.map_or(String::new(), |run| text(run, "command"))),
                    ]);
                    out.push(cells);
                }
            }
        }
    }
    out
}

/// A line of a CSV. Cells with commas, quotes or ends of lines stand in quotes.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cell = |cell: String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    cells.map(cell).collect::<Vec<_>>().join(",") + "\r\n"
}
