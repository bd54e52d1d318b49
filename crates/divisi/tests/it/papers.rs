//! The catalogue of the papers' figures (`src/reproduce/papers`) agrees with itself, and each number in it
//! with the papers' texts, where these lie beside the clone, in `../shared/seeds`: they are not ours to
//! publish.
//!
//! The texts are scans. `papers/*.toml` say where in a text a table stands (`regions`), and in which order
//! the scan has its numbers. A line there is the text's own, with these marks:
//!
//! | mark | stands for |
//! |---|---|
//! | `@{ROW}` | the row's values, in the order of the columns |
//! | `@{ROW/COLUMN}` | one value |
//! | `@{ROW/COLUMN=114}` | one value, which the scan has as 114; nothing after `=`: the scan lost it |
//! | `@{~512}` | a number that the catalogue leaves out, with a reason |
//!
//! Numbers outside of marks belong to names of rows and columns. All are compared with the text, one by one.

mod consistency;
mod text;

use divisi::reproduce::{Catalogue, CataloguePaper};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use text::{Counted, Layout};

/// What the catalogue says of a paper, as far as it is printed.
#[derive(Clone, Default)]
struct Printed {
    /// Of each table its rows, each with its values, by column, as they are printed.
    tables: BTreeMap<String, BTreeMap<String, Vec<(String, String)>>>,
    /// How many numbers are left out of each table.
    left_out: BTreeMap<String, usize>,
}

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Printed {
    fn of(paper: &CataloguePaper) -> Printed {
        let mut printed = Printed::default();
        for table in &paper.tables {
            let rows = table.rows.iter().map(|row| {
                let values = row.values.iter().map(|value| value.text().unwrap_or_default());
                (row.id.clone(), table.columns.iter().map(|column| column.id.clone()).zip(values).collect())
            });
            printed.tables.insert(table.id.clone(), rows.collect());
        }
        for entry in &paper.left_out {
            *printed.left_out.entry(entry.table.clone()).or_default() += entry.numbers as usize;
        }
        printed
    }

    /// A value as it is printed.
    fn shown(&self, table: &str, row: &str, column: &str) -> &str {
        let cells = self.tables.get(table).and_then(|rows| rows.get(row));
        let cell = cells.and_then(|cells| cells.iter().find(|(name, _)| name == column));
        cell.map_or_else(|| panic!("there is no cell {table}/{row}/{column}"), |(_, shown)| shown)
    }

    /// A value.
    fn number(&self, table: &str, row: &str, column: &str) -> f64 {
        let shown = self.shown(table, row, column);
        text::value(text::numbers(shown).first().unwrap_or_else(|| panic!("{table}/{row}/{column}: {shown}")))
    }
}

fn papers() -> Vec<CataloguePaper> {
    Catalogue::built_in().unwrap().papers
}

fn layout(paper: &CataloguePaper) -> Layout {
    let path = crate_folder().join("tests/it/papers").join(&paper.name).with_extension("toml");
    Layout::read(&fs::read_to_string(path).unwrap())
}

/// The text of a paper, if it lies beside the clone.
fn scanned(paper: &CataloguePaper) -> Option<String> {
    let clone = crate_folder().ancestors().nth(2).map(Path::to_owned)?;
    fs::read_to_string(clone.join("../shared/seeds").join(&paper.text)).ok()
}

/// Each number of the tables is in the catalogue, or left out with a reason.
#[test]
fn each_number_is_the_papers() {
    let mut whole = Counted::default();
    let mut without = Vec::new();
    for paper in papers() {
        let (printed, layout) = (Printed::of(&paper), layout(&paper));
        let Some(text) = scanned(&paper) else {
            without.push(paper.name);
            continue;
        };
        let paper = paper.name;
        let compared = layout.found(&text).and_then(|found| layout.compare(&printed, &found));
        let counted = compared.unwrap_or_else(|error| panic!("{paper}: {error}"));
        assert_eq!(counted.in_text, counted.cells + counted.left_out + counted.names, "{paper}");
        eprintln!("{paper}: {counted}");
        whole.add(&counted);
    }
    if without.is_empty() {
        eprintln!("together: {whole}");
        assert!(whole.cells > 900, "{whole}");
    } else {
        eprintln!("skipped, as no text lies in ../shared/seeds: {}", without.join(", "));
    }
}

/// The comparison notices each number that is changed. Where there is no text, the catalogue's own numbers
/// stand for it, so that this runs everywhere.
#[test]
fn a_changed_number_is_noticed() {
    for paper in papers() {
        let (printed, layout) = (Printed::of(&paper), layout(&paper));
        let text = scanned(&paper).map_or_else(|| layout.made_of(&printed), |text| layout.found(&text).unwrap());
        layout.compare(&printed, &text).unwrap();
        let places = layout.places(&printed);
        assert!(places.len() > 30, "{}: {}", paper.name, places.len());
        for (table, row, column) in places {
            let mut changed = printed.clone();
            let cells = changed.tables.get_mut(&table).unwrap().get_mut(&row).unwrap();
            let cell = cells.iter_mut().find(|(name, _)| *name == column).unwrap();
            cell.1 = format!("1{}", text::numbers(&cell.1)[0]);
            let error = layout.compare(&changed, &text).expect_err(&format!("{table}/{row}/{column}"));
            assert!(error.contains(&format!("{row}/{column}")), "{error}");
        }
        // a number that is left out counts, too
        let mut fewer = printed.clone();
        let (table, numbers) = fewer.left_out.iter_mut().find(|(_, numbers)| **numbers > 0).unwrap();
        let table = table.clone();
        *numbers -= 1;
        assert!(layout.compare(&fewer, &text).unwrap_err().contains(&table));
        // and a row that is missing
        let mut missing = printed;
        let compared = layout.places(&missing);
        let (table, row, _) = compared.last().unwrap();
        missing.tables.get_mut(table).unwrap().remove(row);
        assert!(layout.compare(&missing, &text).is_err());
    }
}
