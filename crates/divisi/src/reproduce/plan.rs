//! The plan of a reproduction: every cell with its command and its figure, and the commands, each once.

use super::catalogue::{
    Catalogue, CatalogueCell, CatalogueColumn, CataloguePaper, CatalogueRow, CatalogueTable, CellKind,
    CellRule, Thoroughness,
};
use super::figure::Figure;
use crate::failure::Failure;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
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
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let over = matches!(words.as_slice(), [bench, what, ..]
            if bench == "bench" && OVER_A_NETWORK.contains(&what.as_str()));
        for (option, value) in [("--rtt", self.rtt_ms), ("--rate", self.rate_mbit)] {
            let Some(value) = value.filter(|_| over) else { continue };
            if let Some(at) = words.iter().position(|word| word == option) {
                words.drain(at..(at + 2).min(words.len()));
            }
            words.extend([option.to_owned(), value.to_string()]);
        }
        words.join(" ")
    }
}

/// A figure that stands in a cell, as the report tells of it.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCell {
    pub kind: CellKind,
    /// What the paper prints.
    pub printed: String,
    #[serde(serialize_with = "whole")]
    pub paper: Option<f64>,
    /// The value that the paper should print, and why.
    #[serde(serialize_with = "whole")]
    pub corrected: Option<f64>,
    pub erratum: Option<String>,
    /// What an exact figure of ours has to be, and why where that is another value.
    #[serde(serialize_with = "whole")]
    pub asserted: Option<f64>,
    pub why: Option<String>,
    /// Why it is out of reach, and what is measured instead.
    pub reason: Option<String>,
    pub nearest: Option<String>,
    pub figure: Option<Figure>,
    /// The command; `None` if none runs for this cell.
    #[serde(skip)]
    pub run: Option<PlannedRun>,
    /// Whether it runs with `--full` alone, and this is not that.
    #[serde(skip)]
    pub left_out: bool,
}

/// A figure in a report; a whole number as such.
pub fn whole<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => to.serialize_i64(*value as i64),
        other => other.serialize(to),
    }
}

/// A command that runs.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// Its arguments, without the program, separated by spaces.
    pub command: String,
    /// The estimate of its seconds.
    pub seconds: f64,
    /// The memory of all its processes, in MiB, if it is much.
    pub memory_mib: Option<u64>,
}

/// A paper with its cells, by `TABLE/ROW/COLUMN`.
#[derive(Clone, Debug)]
pub struct PlannedPaper {
    pub paper: CataloguePaper,
    pub cells: BTreeMap<String, PlannedCell>,
}

/// What is computed and run: all papers with all their cells, and the commands in order.
#[derive(Clone, Debug)]
pub struct ReproductionPlan {
    pub papers: Vec<PlannedPaper>,
    pub runs: Vec<PlannedRun>,
}

impl ReproductionPlan {
    /// The plan of a request. A cell that says too little is refused: a test excludes that for the catalogue
    /// of the program.
    pub fn new(catalogue: &Catalogue, request: &ReproduceRequest) -> Result<ReproductionPlan, Failure> {
        catalogue.has(request.paper.as_deref(), request.table.as_deref())?;
        let (mut papers, mut runs) = (Vec::new(), Vec::new());
        for paper in &catalogue.papers {
            let wrong = |at: &str, e| Failure::usage(format!("the catalogue of {}: {at}: {e}", paper.name));
            let mut cells = BTreeMap::new();
            for (at, place) in Place::all(paper) {
                let planned = place.cell(request).map_err(|e| wrong(&at, e))?;
                cells.insert(at, planned);
            }
            let of = PlannedPaper { paper: paper.clone(), cells };
            for (at, _) in Place::all(paper).filter(|(_, of)| request.wants(&paper.name, &of.table.id)) {
                of.wanted(&at, &mut runs, 0).map_err(|e| wrong(&at, e))?;
            }
            papers.push(of);
        }
        Ok(ReproductionPlan { papers, runs })
    }
}

/// How many cells may stand behind a cell.
const DEEPEST: usize = 8;

impl PlannedPaper {
    /// Add the commands that a cell needs, with those of the cells to which it refers.
    fn wanted(&self, at: &str, runs: &mut Vec<PlannedRun>, depth: usize) -> Result<(), String> {
        let cell = self.cells.get(at).ok_or_else(|| format!("there is no cell {at}"))?;
        if depth > DEEPEST {
            return Err("figures refer to each other in a circle".into());
        }
        runs.extend(cell.run.clone().filter(|run| runs.iter().all(|other| other.command != run.command)));
        let figure = cell.figure.iter().filter(|_| !cell.left_out);
        let mut others = figure.flat_map(|figure| &figure.references).filter_map(|of| of.strip_prefix('#'));
        others.try_for_each(|other| self.wanted(other, runs, depth + 1))
    }
}

/// A cell where it stands.
struct Place<'c> {
    table: &'c CatalogueTable,
    row: &'c CatalogueRow,
    column: &'c CatalogueColumn,
    own: CatalogueCell,
    printed: String,
    paper: Option<f64>,
}

impl<'c> Place<'c> {
    /// All cells in which the paper prints something, with their names.
    fn all(paper: &'c CataloguePaper) -> impl Iterator<Item = (String, Place<'c>)> {
        paper.tables.iter().flat_map(|table| {
            table.rows.iter().flat_map(move |row| {
                table.columns.iter().zip(&row.values).filter_map(move |(column, value)| {
                    let own = row.cells.iter().find(|cell| cell.column == column.id);
                    let at = format!("{}/{}/{}", table.id, row.id, column.id);
                    let (own, printed) = (own.cloned().unwrap_or_default(), value.text()?);
                    Some((at, Place { table, row, column, own, printed, paper: value.number() }))
                })
            })
        })
    }

    /// What the innermost rule says that says something.
    fn said<T: Clone>(&self, of: impl Fn(&CellRule) -> Option<&T>) -> Option<T> {
        let rules = [&self.own.rule, &self.row.rule, &self.column.rule, &self.table.rule];
        rules.into_iter().find_map(of).cloned()
    }

    /// The arguments from the outermost to the innermost.
    fn arguments(&self, of: impl Fn(&CellRule) -> Option<&String>) -> Vec<&str> {
        let rules = [&self.table.rule, &self.row.rule, &self.column.rule];
        let outer = rules.into_iter().filter(|_| self.own.rule.run.is_none());
        outer.chain([&self.own.rule]).filter_map(of).map(String::as_str).collect()
    }

    /// The command with its estimates: of seconds also where the catalogue has none.
    fn run(&self, request: &ReproduceRequest) -> Option<PlannedRun> {
        let run = self.arguments(|rule| rule.run.as_ref());
        let quick = request.thoroughness == Thoroughness::Quick;
        let more = self.arguments(|rule| if quick { &rule.quick } else { &rule.full }.as_ref());
        let seconds = self.said(|rule| rule.seconds.as_ref()?.get(&request.thoroughness));
        (!run.is_empty()).then(|| PlannedRun {
            command: request.network.put(&[run, more].concat().join(" ")),
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

    fn cell(&self, request: &ReproduceRequest) -> Result<PlannedCell, String> {
        let kind = self.said(|rule| rule.kind.as_ref()).ok_or("it has no kind")?;
        let far = kind == CellKind::OutOfReach;
        let reason = self.said(|rule| rule.reason.as_ref()).filter(|_| far);
        let nearest = self.said(|rule| rule.nearest.as_ref()).filter(|_| far);
        let figure = self.figure()?.filter(|_| !far || nearest.is_some());
        let own = figure.iter().flat_map(|figure| &figure.references).any(|name| !name.starts_with('#'));
        let run = self.run(request).filter(|_| own);
        let asserted = self.own.ours.or(self.own.corrected).or(self.paper);
        let asserted = asserted.filter(|_| kind == CellKind::Exact);
        let wrong = match kind {
            CellKind::OutOfReach if reason.is_none() => "it is out of reach without a reason",
            CellKind::OutOfReach if nearest.is_none() => "",
            _ if figure.is_none() => "it has no figure",
            _ if own && run.is_none() => "it has no command",
            CellKind::Exact if asserted.is_none() => "it is exact, and the paper prints no number",
            CellKind::Exact | CellKind::Measured | CellKind::Derived | CellKind::OutOfReach => "",
        };
        if !wrong.is_empty() {
            return Err(wrong.to_owned());
        }
        // whatever stands further in: what a table leaves out, no row of it brings back
        let rules = [&self.own.rule, &self.row.rule, &self.column.rule, &self.table.rule];
        let left_out = rules.iter().any(|rule| rule.when.is_some_and(|when| when != request.thoroughness));
        Ok(PlannedCell {
            kind,
            printed: self.printed.clone(),
            paper: self.paper,
            corrected: self.own.corrected,
            erratum: self.own.erratum.clone(),
            asserted,
            why: self.own.why.clone(),
            reason,
            nearest,
            figure,
            run: run.filter(|_| !left_out),
            left_out,
        })
    }
}
