//! Where a scanned text has a table, and the comparison of its numbers with the catalogue's.

use super::Printed;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;

/// The numbers in a text, in order: digits with points and commas between them.
pub fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let bytes = rest.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut end = 1;
        while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && digit(end + 1)) {
            end += 1;
        }
        found.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    found
}

/// The value of a number that has commas between its thousands.
pub fn value(number: &str) -> f64 {
    number.replace(',', "").parse().unwrap_or(f64::NAN)
}

fn same(one: &str, other: &str) -> bool {
    one == other || value(one) == value(other)
}

/// Where a table stands in the text of a paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    table: String,
    /// How its first line begins, and the how many-th line that begins so it is.
    from: String,
    #[serde(default = "first")]
    occurrence: usize,
    /// How its last line begins.
    to: String,
    /// Its lines, with marks.
    lines: String,
    /// What stands between the thousands of a number.
    thousands: Option<char>,
}

fn first() -> usize {
    1
}

/// Where the tables stand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    regions: Vec<Region>,
}

/// A number that the text must have.
struct Expected {
    number: String,
    /// The cell, or what else it belongs to.
    of: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Cell,
    LeftOut,
    Name,
}

/// How many numbers there are.
#[derive(Debug, Default)]
pub struct Counted {
    pub in_text: usize,
    pub cells: usize,
    pub left_out: usize,
    pub names: usize,
}

impl Counted {
    pub fn add(&mut self, other: &Counted) {
        self.in_text += other.in_text;
        self.cells += other.cells;
        self.left_out += other.left_out;
        self.names += other.names;
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted { in_text, cells, left_out, names } = self;
        write!(f, "{in_text} numbers: {cells} of cells, {left_out} left out, {names} in names")
    }
}

/// A piece of a line.
enum Piece<'t> {
    Text(&'t str),
    LeftOut(&'t str),
    Row(&'t str),
    /// A cell, and what the scan has instead.
    Cell(&'t str, &'t str, Option<&'t str>),
}

fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut parts = line.split("@{");
    let mut found: Vec<Piece<'_>> = parts.next().map(Piece::Text).into_iter().collect();
    for part in parts {
        let (inner, after) = part.split_once('}').unwrap_or_else(|| panic!("a mark without an end: {line}"));
        let (cell, scan) = inner.split_once('=').map_or((inner, None), |(cell, scan)| (cell, Some(scan)));
        found.push(match (inner.strip_prefix('~'), cell.split_once('/')) {
            (Some(number), _) => Piece::LeftOut(number),
            (None, Some((row, column))) => Piece::Cell(row, column, scan),
            (None, None) => Piece::Row(cell),
        });
        found.push(Piece::Text(after));
    }
    found
}

impl Region {
    /// The numbers that the text has to have here.
    fn expected(&self, printed: &Printed) -> Result<Vec<Expected>, String> {
        let rows = printed.tables.get(&self.table);
        let mut all = Vec::new();
        let cell = |row: &str, column: &str, shown: &str, scan: Option<&str>| {
            let shown = match (scan, self.thousands) {
                (Some(scan), _) => scan.to_owned(),
                (None, Some(mark)) => grouped(shown, mark),
                (None, None) => shown.to_owned(),
            };
            let of = format!("{row}/{column}");
            numbers(&shown).into_iter().map(move |number| Expected { number, of: of.clone(), kind: Kind::Cell }).collect::<Vec<_>>()
        };
        for line in self.lines.lines() {
            for piece in pieces(line) {
                let other = |text: &str, kind, of: &str| {
                    numbers(text).into_iter().map(|number| Expected { number, of: of.to_owned(), kind }).collect::<Vec<_>>()
                };
                match piece {
                    Piece::Text(text) => all.extend(other(text, Kind::Name, "a name")),
                    Piece::LeftOut(text) => all.extend(other(text, Kind::LeftOut, "what is left out")),
                    Piece::Row(row) => {
                        let cells = rows.and_then(|rows| rows.get(row));
                        for (column, shown) in cells.ok_or(format!("{} has no row {row}", self.table))? {
                            all.extend(cell(row, column, shown, None));
                        }
                    }
                    Piece::Cell(row, column, scan) => {
                        let cells = rows.and_then(|rows| rows.get(row));
                        let found = cells.and_then(|cells| cells.iter().find(|(name, _)| name == column));
                        let (_, shown) = found.ok_or(format!("{} has no {row}/{column}", self.table))?;
                        all.extend(cell(row, column, shown, scan));
                    }
                }
            }
        }
        Ok(all)
    }

    /// The numbers that are left out here.
    fn left_out(&self) -> usize {
        let of = |line| pieces(line).iter().filter(|piece| matches!(piece, Piece::LeftOut(_))).count();
        self.lines.lines().map(of).sum()
    }

    /// The cells whose number is compared as the catalogue has it, and those that the scan has in another
    /// form.
    fn cells(&self, printed: &Printed) -> [Vec<(String, String)>; 2] {
        let [mut exact, mut other] = [Vec::new(), Vec::new()];
        for piece in self.lines.lines().flat_map(pieces) {
            match piece {
                Piece::Row(row) => {
                    let cells = printed.tables.get(&self.table).and_then(|rows| rows.get(row));
                    exact.extend(cells.into_iter().flatten().map(|(column, _)| (row.to_owned(), column.clone())));
                }
                Piece::Cell(row, column, scan) => {
                    let list = if scan.is_some() { &mut other } else { &mut exact };
                    list.push((row.to_owned(), column.to_owned()));
                }
                Piece::Text(_) | Piece::LeftOut(_) => {}
            }
        }
        [exact, other]
    }

    fn find<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut begins = (0..lines.len()).filter(|at| lines[*at].starts_with(&self.from));
        let missing = || format!("the text has no line that begins with {:?}", self.from);
        let first = begins.nth(self.occurrence - 1).ok_or_else(missing)?;
        let last = (first..lines.len()).find(|at| lines[*at].starts_with(&self.to));
        let last = last.ok_or(format!("the text has no line that begins with {:?}", self.to))?;
        Ok(lines[first..=last].to_vec())
    }
}

/// A whole number with a mark between its thousands.
fn grouped(shown: &str, mark: char) -> String {
    let digits = shown.len();
    let place = |(at, c): (usize, char)| if at > 0 && (digits - at).is_multiple_of(3) { vec![mark, c] } else { vec![c] };
    shown.chars().enumerate().flat_map(place).collect()
}

impl Layout {
    pub fn read(text: &str) -> Layout {
        toml::from_str(text).unwrap()
    }

    /// The numbers that the text has, for each region.
    pub fn found(&self, text: &str) -> Result<Vec<Vec<String>>, String> {
        self.regions.iter().map(|region| Ok(numbers(&region.find(text)?.join("\n")))).collect()
    }

    /// The numbers of a text that has just what the catalogue has.
    pub fn made_of(&self, printed: &Printed) -> Vec<Vec<String>> {
        let of = |region: &Region| region.expected(printed).unwrap().into_iter().map(|e| e.number).collect();
        self.regions.iter().map(of).collect()
    }

    /// Compare every number that the text has with the catalogue's.
    pub fn compare(&self, printed: &Printed, found: &[Vec<String>]) -> Result<Counted, String> {
        let mut counted = Counted::default();
        for (region, found) in self.regions.iter().zip(found) {
            let table = &region.table;
            let expected = region.expected(printed)?;
            for (at, Expected { number, of, kind }) in expected.iter().enumerate() {
                let Some(there) = found.get(at) else {
                    return Err(format!("{table}: the text ends before {number} of {of}"));
                };
                if !same(number, there) {
                    return Err(format!("{table}: the catalogue has {number} for {of}, the text {there}"));
                }
                match kind {
                    Kind::Cell => counted.cells += 1,
                    Kind::LeftOut => counted.left_out += 1,
                    Kind::Name => counted.names += 1,
                }
            }
            if let Some(more) = found.get(expected.len()) {
                return Err(format!("{table}: the text has {more}, which is nowhere in the catalogue"));
            }
            counted.in_text += found.len();
        }
        self.count_what_is_left_out(printed)?;
        self.every_cell_is_compared(printed)?;
        Ok(counted)
    }

    /// As many numbers are left out as the catalogue says.
    fn count_what_is_left_out(&self, printed: &Printed) -> Result<(), String> {
        let names = self.regions.iter().map(|region| &region.table).chain(printed.left_out.keys());
        for table in names.collect::<BTreeSet<_>>() {
            let here: usize = self.regions.iter().filter(|r| r.table == *table).map(Region::left_out).sum();
            let said = printed.left_out.get(table).copied().unwrap_or(0);
            if here != said {
                return Err(format!("{table}: {here} numbers are left out, and the catalogue gives a reason for {said}"));
            }
        }
        Ok(())
    }

    /// Each number that the catalogue says is printed is compared with the text, once.
    fn every_cell_is_compared(&self, printed: &Printed) -> Result<(), String> {
        let mut compared = BTreeSet::new();
        for region in &self.regions {
            for (row, column) in region.cells(printed).into_iter().flatten() {
                let place = (region.table.clone(), row, column);
                if !numbers(printed.shown(&place.0, &place.1, &place.2)).is_empty() && !compared.insert(place.clone()) {
                    return Err(format!("{place:?} is compared twice"));
                }
            }
        }
        for (table, rows) in &printed.tables {
            for (row, cells) in rows {
                for (column, shown) in cells.iter().filter(|(_, shown)| !numbers(shown).is_empty()) {
                    if !compared.contains(&(table.clone(), row.clone(), column.clone())) {
                        return Err(format!("{table}/{row}/{column}, {shown}, is not compared with the text"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The cells whose numbers the text has as the catalogue has them.
    pub fn places(&self, printed: &Printed) -> Vec<(String, String, String)> {
        let of = |region: &Region| {
            let [exact, _] = region.cells(printed);
            let table = region.table.clone();
            exact.into_iter().map(move |(row, column)| (table.clone(), row, column)).collect::<Vec<_>>()
        };
        let all = self.regions.iter().flat_map(of);
        all.filter(|(table, row, column)| !numbers(printed.shown(table, row, column)).is_empty()).collect()
    }
}
