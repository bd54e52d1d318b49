//! The plan of a reproduction: every cell with its command and its figure, and the commands, each once.

use super::catalogue::{
    Catalogue, CatalogueCell, CatalogueColumn, CataloguePaper, CatalogueRow, CatalogueTable, CellRule,
    Thoroughness,
};
use super::cell::{CellKind, PlannedRun, PrintedValue, ReportCell};
use super::figure::Figure;
use crate::failure::Failure;
use std::path::PathBuf;

/// What to reproduce, and how.
#[derive(Clone, Debug, Default)]
pub struct ReproduceRequest {
    /// The paper; `None` for all.
    pub paper: Option<String>,
    /// The table; `None` for all.
    pub table: Option<String>,
    /// How long it may take.
    pub thoroughness: Thoroughness,
    /// The network that all commands emulate instead of those of the papers.
    pub network: EmulatedNetwork,
    /// The machines, in words for the page.
    pub machine: Option<String>,
    /// The directory for all files.
    pub out: PathBuf,
    /// Whether to take up finished runs.
    pub resume: bool,
}

impl ReproduceRequest {
    /// Whether it asks for this table of this paper.
    pub(super) fn wants(&self, paper: &str, table: &str) -> bool {
        let all_or = |wanted: &Option<String>, name| wanted.as_deref().is_none_or(|wanted| wanted == name);
        all_or(&self.paper, paper) && all_or(&self.table, table)
    }
}

/// A network that all commands emulate instead of their own ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EmulatedNetwork {
    /// The round-trip time, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// The bandwidth, in 10^6 bits a second.
    pub rate_mbit: Option<f64>,
}

/// The commands that emulate a network.
const OVER_A_NETWORK: [&str; 7] = ["aes", "des3", "hash", "mac", "circuit", "mixed", "lookup"];

impl EmulatedNetwork {
    /// The command over this network.
    fn put(self, command: &str) -> String {
        let mut words: Vec<&str> = command.split_whitespace().collect();
        let over = matches!(*words, ["bench", what, ..] if OVER_A_NETWORK.contains(&what));
        let [rtt, rate] = [self.rtt_ms, self.rate_mbit].map(|of| Some(of.filter(|_| over)?.to_string()));
        for (option, value) in [("--rtt", &rtt), ("--rate", &rate)] {
            let Some(value) = value else { continue };
            if let Some(at) = words.iter().position(|word| *word == option) {
                words.drain(at..(at + 2).min(words.len()));
            }
            words.extend([option, value]);
        }
        words.join(" ")
    }
}

/// What is computed and run: all papers with all their cells, and the commands in order. A cell that says too
/// little is refused: a test excludes that for the catalogue of the program.
pub fn plan(
    catalogue: &Catalogue,
    request: &ReproduceRequest,
) -> Result<(Vec<CataloguePaper>, Vec<PlannedRun>), Failure> {
    catalogue.has(request.paper.as_deref(), request.table.as_deref())?;
    let (mut papers, mut runs) = (catalogue.papers.clone(), Vec::new());
    for paper in &mut papers {
        let wrong = |name: &str, e| Failure::usage(format!("the catalogue of {name}: {e}"));
        for table in &mut paper.tables {
            let cells = |row: &CatalogueRow| {
                let places = table.columns.iter().zip(&row.values);
                places.map(|(column, value)| Place { request, table, row, column }.cell(value)).collect()
            };
            let cells: Result<Vec<_>, _> = table.rows.iter().map(cells).collect();
            let cells = cells.map_err(|e| wrong(&paper.name, e))?;
            table.rows.iter_mut().zip(cells).for_each(|(row, cells)| row.cells = cells);
        }
        for table in paper.tables.iter().filter(|table| request.wants(&paper.name, &table.id)) {
            let mut cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
            let added = cells.try_for_each(|cell| add(paper, cell, &mut runs));
            added.map_err(|e| wrong(&paper.name, e))?;
        }
    }
    Ok((papers, runs))
}

/// How deep cells and formulas may refer to others.
pub const DEEPEST: u8 = 8;

/// Add the commands that a cell needs, with those of the cells to which it refers.
fn add(paper: &CataloguePaper, cell: &ReportCell, runs: &mut Vec<PlannedRun>) -> Result<(), String> {
    let (mut rest, mut number) = (vec![cell], 0);
    while let Some(of) = rest.pop() {
        runs.extend(of.command.clone().filter(|run| runs.iter().all(|other| other.command != run.command)));
        let figure = of.figure.iter().filter(|_| !of.left_out);
        let others = figure.flat_map(|figure| figure.references.iter().rev());
        for other in others.filter_map(|name| name.strip_prefix('#')) {
            rest.push(paper.cell(other).map_err(|e| format!("{}: {e}", of.at))?);
        }
        number += 1;
        if number > 1000 {
            return Err(format!("{}: figures refer to each other in a circle", cell.at));
        }
    }
    Ok(())
}

/// A cell where it stands.
struct Place<'c> {
    request: &'c ReproduceRequest,
    table: &'c CatalogueTable,
    row: &'c CatalogueRow,
    column: &'c CatalogueColumn,
}

impl<'c> Place<'c> {
    /// What the cell says for itself.
    fn own(&self) -> Option<&'c CatalogueCell> {
        self.row.own.iter().find(|cell| cell.column == self.column.id)
    }

    /// The rules, the innermost first.
    fn rules(&self) -> impl Iterator<Item = &'c CellRule> {
        let own = self.own().map(|own| &own.rule);
        own.into_iter().chain([&self.row.rule, &self.column.rule, &self.table.rule])
    }

    /// What the innermost rule says that says something.
    fn said<T: Clone>(&self, of: impl Fn(&CellRule) -> Option<&T>) -> Option<T> {
        self.rules().find_map(of).cloned()
    }

    /// The arguments from the outermost to the innermost.
    fn arguments(&self, of: impl Fn(&CellRule) -> Option<&String>) -> Vec<&'c str> {
        let own = self.own().map(|own| &own.rule);
        let outer = [&self.table.rule, &self.row.rule, &self.column.rule].into_iter();
        let outer = outer.filter(|_| own.is_none_or(|own| own.run.is_none()));
        outer.chain(own).filter_map(of).map(String::as_str).collect()
    }

    /// The command with its estimates: of seconds also where the catalogue has none.
    fn run(&self) -> Option<PlannedRun> {
        let run = self.arguments(|rule| rule.run.as_ref());
        let quick = self.request.thoroughness == Thoroughness::Quick;
        let more = self.arguments(|rule| if quick { &rule.quick } else { &rule.full }.as_ref());
        let seconds = self.said(|rule| rule.seconds.as_ref()?.get(&self.request.thoroughness));
        (!run.is_empty()).then(|| PlannedRun {
            command: self.request.network.put(&[run, more].concat().join(" ")),
            seconds: seconds.unwrap_or(if quick { 3.0 } else { 10.0 }),
            memory_mib: self.said(|rule| rule.memory.as_ref()),
        })
    }

    /// The figure, with the table's formulas in it.
    fn figure(&self) -> Result<Option<Figure>, String> {
        let Some(mut text) = self.said(|rule| rule.figure.as_ref()) else { return Ok(None) };
        // a formula may name another one; of two names the longer one may begin with the other
        let mut names: Vec<(&String, &String)> = self.table.formulas.iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for _ in 0..DEEPEST {
            for (name, formula) in &names {
                text = text.replace(&format!("${name}"), &format!("({formula})"));
            }
        }
        Figure::read(&text).map(Some).map_err(|e| format!("{text}: {e}"))
    }

    /// The cell; none if the paper prints nothing there.
    fn cell(&self, value: &PrintedValue) -> Result<Option<ReportCell>, String> {
        let Some(printed) = value.text() else { return Ok(None) };
        let at = format!("{}/{}/{}", self.table.id, self.row.id, self.column.id);
        let cell = self.planned(value.number()).map_err(|e| format!("{at}: {e}"))?;
        Ok(Some(ReportCell { at, printed, ..cell }))
    }

    fn planned(&self, paper: Option<f64>) -> Result<ReportCell, String> {
        let kind = self.said(|rule| rule.kind.as_ref()).ok_or("it has no kind")?;
        let far = kind == CellKind::OutOfReach;
        let reason = self.said(|rule| rule.reason.as_ref()).filter(|_| far);
        let nearest = self.said(|rule| rule.nearest.as_ref()).filter(|_| far);
        let figure = self.figure()?.filter(|_| !far || nearest.is_some());
        let own = figure.iter().flat_map(|figure| &figure.references).any(|name| !name.starts_with('#'));
        let command = self.run().filter(|_| own);
        let CatalogueCell { corrected, erratum, ours, why, .. } = self.own().cloned().unwrap_or_default();
        let asserted = ours.or(corrected).or(paper).filter(|_| kind == CellKind::Exact);
        match kind {
            CellKind::OutOfReach if reason.is_none() => Err("it is out of reach without a reason"),
            CellKind::OutOfReach if nearest.is_none() => Ok(()),
            _ if figure.is_none() => Err("it has no figure"),
            _ if own && command.is_none() => Err("it has no command"),
            CellKind::Exact if asserted.is_none() => Err("it is exact, and the paper prints no number"),
            _ => Ok(()),
        }?;
        // whatever stands further in: what a table leaves out, no row of it brings back
        let left_out = self.rules().any(|of| of.when.is_some_and(|when| when != self.request.thoroughness));
        let command = command.filter(|_| !left_out);
        let planned =
            ReportCell { kind, paper, corrected, erratum, asserted, why, reason, nearest, ..<_>::default() };
        Ok(ReportCell { figure, command, left_out, state: "not-run", ..planned })
    }
}
