//! The plan of a reproduction: every cell with its command and its figure, and the commands, each once.

use super::catalogue::{
    Catalogue, CatalogueCell, CatalogueColumn, CataloguePaper, CatalogueRow, CatalogueTable, CellKind,
    CellRule, Occasion, Selection,
};
use super::figure::Figure;
use crate::failure::Failure;
use std::collections::BTreeMap;

/// How long the commands may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two forms of every command of the catalogue")]
pub enum Thoroughness {
    /// Few repetitions and small batches.
    Quick,
    /// What figures for a publication need.
    #[default]
    Full,
}

impl Thoroughness {
    /// Its name in the report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Thoroughness::Quick => "quick",
            Thoroughness::Full => "full",
        }
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

/// A figure that stands in a cell.
#[derive(Clone, Debug)]
pub struct PlannedCell {
    /// Its kind.
    pub kind: CellKind,
    /// What the paper prints.
    pub printed: String,
    /// The paper's value.
    pub paper: Option<f64>,
    /// The value that the paper should print, and why.
    pub corrected: Option<(f64, String)>,
    /// Our exact value where it is another one, and why.
    pub ours: Option<(f64, String)>,
    /// Why it is out of reach.
    pub reason: Option<String>,
    /// What is measured instead.
    pub nearest: Option<String>,
    /// The expression, and what it says.
    pub figure: Option<(Figure, String)>,
    /// The command, without the program; `None` if none runs for this cell.
    pub command: Option<String>,
    /// Whether it runs with `--full` alone, and this is not that.
    pub left_out: bool,
}

impl PlannedCell {
    /// What an exact figure of ours has to be.
    #[must_use]
    pub fn asserted(&self) -> Option<f64> {
        let stated = self.ours.as_ref().or(self.corrected.as_ref()).map(|(value, _)| *value);
        stated.or(self.paper).filter(|_| self.kind == CellKind::Exact)
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
    /// The paper.
    pub paper: CataloguePaper,
    /// The cells.
    pub cells: BTreeMap<String, PlannedCell>,
}

/// What is computed and run.
#[derive(Clone, Debug)]
pub struct ReproductionPlan {
    /// How long it may take.
    pub thoroughness: Thoroughness,
    /// The network that all commands emulate.
    pub network: EmulatedNetwork,
    /// What is shown.
    pub selection: Selection,
    /// All papers, with all their cells.
    pub papers: Vec<PlannedPaper>,
    /// The commands, in order.
    pub runs: Vec<PlannedRun>,
    /// The digest of the catalogue.
    pub digest: String,
}

/// The seconds that a command takes if the catalogue says nothing.
const SECONDS: [f64; 2] = [3.0, 10.0];

impl ReproductionPlan {
    /// The plan for a selection.
    ///
    /// # Errors
    /// [`Failure`] if a cell says too little, which a test excludes for the catalogue of the program.
    pub fn new(
        catalogue: &Catalogue,
        selection: Selection,
        thoroughness: Thoroughness,
        network: EmulatedNetwork,
    ) -> Result<ReproductionPlan, Failure> {
        let mut runs = Vec::new();
        let mut papers = Vec::with_capacity(catalogue.papers.len());
        for paper in &catalogue.papers {
            let wrong = |(at, e)| Failure::usage(format!("the catalogue of {}: {at}: {e}", paper.name));
            let mut commands = BTreeMap::new();
            let mut cells = BTreeMap::new();
            for (at, place) in Place::all(paper) {
                let planned = place.cell(thoroughness, network).map_err(|e| wrong((at.clone(), e)))?;
                if let Some(command) = &planned.command {
                    commands.entry(command.clone()).or_insert_with(|| place.run(command, thoroughness));
                }
                cells.insert(at, planned);
            }
            let of = PlannedPaper { paper: paper.clone(), cells };
            for (at, place) in Place::all(paper) {
                if selection.has(&paper.name, &place.table.id) {
                    of.wanted(&at, &commands, &mut runs, 0).map_err(|e| wrong((at, e)))?;
                }
            }
            papers.push(of);
        }
        let digest = catalogue.digest.clone();
        Ok(ReproductionPlan { thoroughness, network, selection, papers, runs, digest })
    }
}

/// How many cells may stand behind a cell.
const DEEPEST: usize = 8;

impl PlannedPaper {
    /// Add the commands that a cell needs, with those of the cells to which it refers.
    fn wanted(
        &self,
        at: &str,
        commands: &BTreeMap<String, PlannedRun>,
        runs: &mut Vec<PlannedRun>,
        depth: usize,
    ) -> Result<(), String> {
        let cell = self.cells.get(at).ok_or_else(|| format!("there is no cell {at}"))?;
        if depth > DEEPEST {
            return Err("figures refer to each other in a circle".into());
        }
        let run = cell.command.as_ref().and_then(|command| commands.get(command));
        if let Some(run) = run.filter(|run| runs.iter().all(|other| other.command != run.command)) {
            runs.push(run.clone());
        }
        let figure = cell.figure.iter().filter(|_| !cell.left_out);
        let mut others =
            figure.flat_map(|(figure, _)| figure.references()).filter_map(|of| of.strip_prefix('#'));
        others.try_for_each(|other| self.wanted(other, commands, runs, depth + 1))
    }
}

/// A cell where it stands.
struct Place<'c> {
    table: &'c CatalogueTable,
    row: &'c CatalogueRow,
    column: &'c CatalogueColumn,
    own: Option<&'c CatalogueCell>,
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
                    let (printed, paper) = (value.text()?, value.number());
                    Some((at, Place { table, row, column, own, printed, paper }))
                })
            })
        })
    }

    /// The rules, the innermost first.
    fn rules(&self) -> impl Iterator<Item = &'c CellRule> {
        let own = self.own.map(|own| &own.rule);
        own.into_iter().chain([&self.row.rule, &self.column.rule, &self.table.rule])
    }

    /// The arguments from the outermost to the innermost.
    fn arguments(&self, of: impl Fn(&CellRule) -> Option<&String>) -> Vec<&'c str> {
        let rules = [&self.table.rule, &self.row.rule, &self.column.rule];
        let whole = self.own.is_some_and(|own| own.rule.run.is_some());
        let outer = rules.into_iter().filter(|_| !whole).chain(self.own.map(|own| &own.rule));
        outer.filter_map(of).map(String::as_str).collect()
    }

    /// The whole command.
    fn command(&self, thoroughness: Thoroughness) -> Option<String> {
        let run = self.arguments(|rule| rule.run.as_ref());
        let more = self.arguments(|rule| match thoroughness {
            Thoroughness::Quick => rule.quick.as_ref(),
            Thoroughness::Full => rule.full.as_ref(),
        });
        (!run.is_empty()).then(|| [run, more].concat().join(" "))
    }

    /// The command with its estimates.
    fn run(&self, command: &str, thoroughness: Thoroughness) -> PlannedRun {
        let said = self.rules().find_map(|rule| rule.seconds).map(|of| [of.quick, of.full]);
        let [quick, full] = said.unwrap_or(SECONDS);
        PlannedRun {
            command: command.to_owned(),
            seconds: if thoroughness == Thoroughness::Quick { quick } else { full },
            memory_mib: self.rules().find_map(|rule| rule.memory),
        }
    }

    /// The figure, with the table's formulas in it.
    fn figure(&self) -> Result<Option<(Figure, String)>, String> {
        let Some(text) = self.rules().find_map(|rule| rule.figure.as_ref()) else { return Ok(None) };
        let mut text = text.clone();
        // a formula may name another one; of two names the longer one may begin with the other
        let mut names: Vec<(&String, &String)> = self.table.formulas.iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for _ in 0..DEEPEST {
            for (name, formula) in &names {
                text = text.replace(&format!("${name}"), &format!("({formula})"));
            }
        }
        Ok(Some((Figure::read(&text).map_err(|e| format!("{text}: {e}"))?, text)))
    }

    fn cell(&self, thoroughness: Thoroughness, network: EmulatedNetwork) -> Result<PlannedCell, String> {
        let kind = self.rules().find_map(|rule| rule.kind).ok_or("it has no kind")?;
        let text = |of: fn(&CellRule) -> Option<&String>| self.rules().find_map(of).cloned();
        let (reason, nearest) = (text(|rule| rule.reason.as_ref()), text(|rule| rule.nearest.as_ref()));
        let far = kind == CellKind::OutOfReach;
        let figure = self.figure()?.filter(|_| !far || nearest.is_some());
        let mut names = figure.iter().flat_map(|(figure, _)| figure.references());
        let own = names.any(|name| !name.starts_with('#'));
        let left_out =
            thoroughness == Thoroughness::Quick && self.rules().any(|rule| rule.when == Some(Occasion::Full));
        let command = self.command(thoroughness).filter(|_| own).map(|command| network.put(&command));
        match kind {
            CellKind::OutOfReach if reason.is_none() => {
                return Err("it is out of reach without a reason".into());
            }
            CellKind::OutOfReach if nearest.is_none() => {}
            _ if figure.is_none() => return Err("it has no figure".into()),
            _ if own && command.is_none() => return Err("it has no command".into()),
            CellKind::Exact if self.paper.is_none() && self.own.is_none_or(|own| own.ours.is_none()) => {
                return Err("it is exact, and the paper prints no number".into());
            }
            CellKind::Exact | CellKind::Measured | CellKind::Derived | CellKind::OutOfReach => {}
        }
        let with = |value: Option<f64>, why: Option<&String>| value.zip(why.cloned());
        Ok(PlannedCell {
            kind,
            printed: self.printed.clone(),
            paper: self.paper,
            corrected: self.own.and_then(|own| with(own.corrected, own.erratum.as_ref())),
            ours: self.own.and_then(|own| with(own.ours, own.why.as_ref())),
            reason: reason.filter(|_| far),
            nearest: nearest.filter(|_| far),
            figure,
            command: command.filter(|_| !left_out),
            left_out,
        })
    }
}
