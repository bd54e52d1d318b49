//! The catalogue: every table of the papers with what they print, the command that measures the same here,
//! and what is taken from its report. The folder `papers` has a file for each paper; this is their form.

use super::cell::{CellKind, PrintedValue, ReportCell};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// How long the commands may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "the two forms of every command of the catalogue")]
pub enum Thoroughness {
    /// Few repetitions and small batches.
    Quick,
    /// What figures for a publication need.
    #[default]
    Full,
}

/// What a table, a column, a row or a cell may say; the innermost that says something counts, and arguments
/// add up.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CellRule {
    /// Arguments of the command, without the program.
    pub run: Option<String>,
    /// More arguments with `--quick`, and with `--full`.
    pub quick: Option<String>,
    pub full: Option<String>,
    /// How long the command takes with either.
    pub seconds: Option<BTreeMap<Thoroughness, f64>>,
    /// The memory of all its processes, in MiB.
    pub memory: Option<u64>,
    pub kind: Option<CellKind>,
    /// What is taken from the command's report (`figure.rs`).
    pub figure: Option<String>,
    /// "full" for what `--quick` leaves out.
    pub when: Option<Thoroughness>,
    /// Why a figure is out of reach, and what the command measures instead.
    pub reason: Option<String>,
    pub nearest: Option<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueColumn {
    /// Its name in the table.
    pub id: String,
    label: String,
    unit: String,
    /// The network, where columns are networks.
    network: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) rule: CellRule,
}

/// What a single cell says for itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueCell {
    pub column: String,
    /// The value that the paper should print, if it is another one, and why.
    pub corrected: Option<f64>,
    pub erratum: Option<String>,
    /// Our exact value, if it is provably another one, and why.
    pub ours: Option<f64>,
    pub why: Option<String>,
    #[serde(flatten)]
    pub rule: CellRule,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueRow {
    /// Its name in the table.
    pub id: String,
    /// The paper's name.
    label: String,
    /// Engine and adversary, by which a page filters; empty for none.
    engine: String,
    security: String,
    /// The number of parties; 0 if it depends on the column.
    parties: u16,
    /// The paper's values, one for each column.
    #[serde(skip_serializing)]
    pub values: Vec<PrintedValue>,
    #[serde(default, rename(deserialize = "cells"), skip_serializing)]
    pub(super) own: Vec<CatalogueCell>,
    /// The cells of a report; none where the paper prints nothing.
    #[serde(skip_deserializing)]
    pub(super) cells: Vec<Option<ReportCell>>,
    #[serde(flatten, skip_serializing)]
    pub(super) rule: CellRule,
}

/// What another implementation reaches, beside a column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all(deserialize = "kebab-case"), deny_unknown_fields)]
struct CataloguePeer {
    name: String,
    commit: String,
    /// How it was built and run.
    flags: String,
    leaves_out: String,
    machine: String,
    column: String,
    /// The unit, if it is another one than the column's.
    unit: Option<String>,
    /// The figures by row.
    values: BTreeMap<String, f64>,
}

/// A table or figure of a paper.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all(deserialize = "kebab-case"), deny_unknown_fields)]
pub struct CatalogueTable {
    /// Its name, as the paper numbers it.
    pub id: String,
    title: String,
    /// The paper's machines, and whether each party had its own.
    machines: String,
    machine_a_party: bool,
    network: String,
    /// What a reader has to know.
    note: Option<String>,
    /// What our figures leave out.
    we_leave_out: Option<String>,
    /// Formulas that figures name as `$name`.
    #[serde(default, skip_serializing)]
    pub(super) formulas: BTreeMap<String, String>,
    /// The columns.
    pub columns: Vec<CatalogueColumn>,
    /// The rows.
    pub rows: Vec<CatalogueRow>,
    #[serde(default)]
    peers: Vec<CataloguePeer>,
    #[serde(flatten, skip_serializing)]
    pub(super) rule: CellRule,
}

/// Numbers of a paper that are in no table of the catalogue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Where the paper prints them.
    pub table: String,
    what: String,
    /// How many.
    pub numbers: u32,
    reason: String,
}

/// A paper with its tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all(deserialize = "kebab-case"), deny_unknown_fields)]
pub struct CataloguePaper {
    /// Its short name.
    pub name: String,
    title: String,
    /// The file of its text.
    #[serde(skip_serializing)]
    pub text: String,
    /// Its tables.
    #[serde(default)]
    pub tables: Vec<CatalogueTable>,
    /// What is left out.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// The papers.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The papers.
    pub papers: Vec<CataloguePaper>,
    /// The SHA-256 of the files that all this comes from.
    pub digest: String,
}

impl Catalogue {
    /// The catalogue of this build; [`Failure`] if it does not hold together, which a test excludes.
    pub fn built_in() -> Result<Catalogue, Failure> {
        Self::of(&[
            include_str!("papers/maestro.toml"),
            include_str!("papers/kor17.toml"),
            include_str!("papers/wrk17.toml"),
            include_str!("papers/gykw.toml"),
            include_str!("papers/symphony.toml"),
        ])
    }

    /// The catalogue of these files, in the order of the page; [`Failure`] with what is wrong with one.
    pub fn of(files: &[&str]) -> Result<Catalogue, Failure> {
        let read = |file: &&str| {
            let paper: CataloguePaper = toml::from_str(file)
                .map_err(|e| Failure::usage(format!("a file of the catalogue cannot be read: {e}")))?;
            let once = once(paper.tables.iter().map(|table| &table.id));
            let held = once.and_then(|()| paper.tables.iter().try_for_each(CatalogueTable::check));
            held.map_err(|e| Failure::usage(format!("the catalogue of {}: {e}", paper.name)))?;
            Ok(paper)
        };
        let papers = files.iter().map(read).collect::<Result<_, Failure>>()?;
        Ok(Catalogue { papers, digest: hex::encode(Sha256::digest(files.join("\0"))) })
    }

    /// Refuse a paper or a table that there is not, with what is near; `None` is for all.
    pub(super) fn has(&self, paper: Option<&str>, table: Option<&str>) -> Result<(), Failure> {
        let names: Vec<&str> = self.papers.iter().map(|of| of.name.as_str()).collect();
        known("paper", paper, "", &names)?;
        let here = self.papers.iter().filter(|of| paper.is_none_or(|paper| of.name == paper));
        let ids: BTreeSet<&str> = here.flat_map(|of| &of.tables).map(|table| table.id.as_str()).collect();
        let of = paper.map_or(String::new(), |paper| format!(" of {paper}"));
        known("table", table, &of, &ids.into_iter().collect::<Vec<_>>())
    }
}

/// Refuse a name that is none of these, with the one that is most like it.
fn known(what: &str, name: Option<&str>, of: &str, names: &[&str]) -> Result<(), Failure> {
    let Some(name) = name.filter(|name| !names.contains(name)) else { return Ok(()) };
    let near = names.iter().min_by_key(|other| strsim::damerau_levenshtein(name, other)).unwrap_or(&"");
    let all = names.join(", ");
    Err(Failure::usage(format!("there is no {what} {name}{of}: give --{what} {near} or another of {all}")))
}

fn is_so(so: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if so { Ok(()) } else { Err(otherwise()) }
}

/// Refuse a name that stands twice.
fn once<'n>(mut names: impl Iterator<Item = &'n String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    names.try_for_each(|name| is_so(seen.insert(name), || format!("{name} is there twice")))
}

impl CataloguePaper {
    /// The cell `TABLE/ROW/COLUMN`.
    pub(super) fn cell(&self, at: &str) -> Result<&ReportCell, String> {
        let mut cells = self.tables.iter().flat_map(|of| &of.rows).flat_map(|of| of.cells.iter().flatten());
        cells.find(|cell| cell.at == at).ok_or_else(|| format!("there is no cell {at}"))
    }
}

impl CatalogueTable {
    /// What no type says: names that stand once, rows as wide as their table, and reasons.
    fn check(&self) -> Result<(), String> {
        once(self.columns.iter().map(|column| &column.id))?;
        once(self.rows.iter().map(|row| &row.id))?;
        let is_column = |id: &str| self.columns.iter().any(|column| column.id == id);
        for CatalogueRow { id, values, own, .. } in &self.rows {
            let (values, columns) = (values.len(), self.columns.len());
            let id = format!("{}/{id}", self.id);
            is_so(values == columns, || format!("{id} has {values} values for {columns} columns"))?;
            once(own.iter().map(|cell| &cell.column)).map_err(|e| format!("{id}/{e}"))?;
            for CatalogueCell { column, ours, why, corrected, erratum, .. } in own {
                is_so(is_column(column), || format!("{id}/{column} is in no column"))?;
                let both = ours.is_some() == why.is_some() && corrected.is_some() == erratum.is_some();
                is_so(both, || {
                    format!("{id}/{column} has a value without its reason, or a reason without its value")
                })?;
            }
        }
        for CataloguePeer { name, column, values, .. } in &self.peers {
            is_so(is_column(column), || format!("{name} stands beside {column}, which is no column"))?;
            for id in values.keys() {
                let row = self.rows.iter().any(|row| row.id == *id);
                is_so(row, || format!("{name} has a figure for {id}, which is no row"))?;
            }
        }
        Ok(())
    }
}
