//! The axes along which a check has no weakened build, and why: `weakened/axes-ENGINE.toml`.

use crate::list::{Axis, ENGINES, List};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why there is no weakened build for a check and an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The reason, in a sentence.
    pub why: String,
    /// Checks such as `rep3/A3`, at least one of which must have a weakened build on the same axis: that
    /// build stands for this one, too.
    #[serde(default)]
    pub there: Vec<String>,
}

/// Axes by the letter of their reason. The letter `open` says that they apply, and that no build is there
/// yet.
type ByReason = BTreeMap<String, BTreeSet<Axis>>;

/// The letter of axes that apply and have no build.
pub const OPEN: &str = "open";

/// The reasons of an engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// The reasons by their letters.
    pub reasons: BTreeMap<String, Reason>,
    /// Axes in which no check of this engine is weakened.
    #[serde(default)]
    every: ByReason,
    /// The axes in which a check is not weakened, by the id of the check.
    checks: BTreeMap<String, ByReason>,
}

/// What there is for a check and an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// So many weakened builds.
    Builds(usize),
    /// The letter of the reason why there are none.
    Reason(String),
}

/// The cells of an engine, check by check, in the order of the axes.
pub type Cells = BTreeMap<String, Vec<Cell>>;

impl Axes {
    /// Reads the axes of an engine.
    pub fn read(folder: &Path, engine: &str) -> Result<Axes, String> {
        let path = folder.join(format!("axes-{engine}.toml"));
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{path:?}: {e}"))?;
        toml::from_str(&text).map_err(|e| format!("{path:?}: {e}"))
    }

    /// Reads the axes of all engines, in the order of [`ENGINES`].
    pub fn read_all(folder: &Path) -> Result<Vec<Axes>, String> {
        ENGINES.iter().map(|engine| Axes::read(folder, engine)).collect()
    }

    /// The cells of this engine. Each has either builds or exactly one reason.
    ///
    /// # Errors
    /// If a cell has builds and a reason, has neither, or has several reasons; or if a reason is unfounded or
    /// never given: a line for each such problem.
    pub fn cells(&self, engine: &str, list: &List) -> Result<Cells, String> {
        let mut wrong = Vec::new();
        let mut builds: BTreeMap<(&str, Axis), usize> = BTreeMap::new();
        let of_engine = list.0.iter().filter(|w| w.engine == engine);
        of_engine.for_each(|w| *builds.entry((&w.check, w.axis)).or_default() += 1);
        let mut used = BTreeSet::new();
        self.look_at_every(engine, &builds, &mut wrong);
        let weakened = builds.keys().map(|(check, _)| *check);
        let names: BTreeSet<&str> = weakened.chain(self.checks.keys().map(String::as_str)).collect();
        let none = ByReason::new();
        let mut cells = Cells::new();
        for check in names {
            let own = self.checks.get(check).unwrap_or(&none);
            let mut row = Vec::new();
            for axis in Axis::all() {
                let all = self.every.iter().chain(own).filter(|(_, axes)| axes.contains(&axis));
                let letters: Vec<&String> = all.map(|(letter, _)| letter).collect();
                letters.iter().for_each(|letter| _ = used.insert(letter.as_str()));
                let here = || format!("{engine} {check} {}", axis.name());
                let built = builds.get(&(check, axis)).copied().unwrap_or(0);
                match (built, letters.as_slice()) {
                    (0, []) => wrong.push(format!("{}: neither a build nor a reason", here())),
                    (0, [letter]) => {
                        if let Some(problem) = self.unfounded(letter, axis, list) {
                            wrong.push(format!("{}: {problem}", here()));
                        }
                        row.push(Cell::Reason((*letter).clone()));
                    }
                    (0, _) => wrong.push(format!("{}: more than one reason: {letters:?}", here())),
                    (number, []) => row.push(Cell::Builds(number)),
                    _ => wrong.push(format!("{}: a build, and a reason why there is none", here())),
                }
            }
            cells.insert(check.into(), row);
        }
        let idle = self.reasons.keys().filter(|letter| !used.contains(letter.as_str()));
        idle.for_each(|letter| wrong.push(format!("{engine}: the reason {letter} is never given")));
        if wrong.is_empty() { Ok(cells) } else { Err(wrong.join("\n")) }
    }

    /// The checks that have no weakened build along any axis, each with the reasons.
    pub fn without_builds(&self, cells: &Cells) -> Vec<(String, String)> {
        let why = |cell: &Cell| match cell {
            Cell::Builds(_) => None,
            Cell::Reason(letter) => Some(self.reasons.get(letter).map_or(OPEN, |reason| reason.why.as_str())),
        };
        let reasons = |row: &Vec<Cell>| row.iter().map(why).collect::<Option<BTreeSet<&str>>>();
        let idle = cells.iter().filter_map(|(check, row)| Some((check, reasons(row)?)));
        idle.map(|(check, why)| (check.clone(), Vec::from_iter(why).join(" "))).collect()
    }

    /// Notes a problem if an axis in which no check is weakened has a build of this engine.
    fn look_at_every(&self, engine: &str, builds: &BTreeMap<(&str, Axis), usize>, wrong: &mut Vec<String>) {
        for axis in self.every.values().flatten() {
            if let Some((check, _)) = builds.keys().find(|(_, other)| other == axis) {
                let name = axis.name();
                wrong.push(format!(
                    "{engine}: the file says that no check is weakened in {name}, but {check} has a build"
                ));
            }
        }
    }

    /// Why the reason with this letter is unfounded for this axis; `None` if it is not.
    fn unfounded(&self, letter: &str, axis: Axis, list: &List) -> Option<String> {
        if letter == OPEN {
            return None;
        }
        let Some(reason) = self.reasons.get(letter) else { return Some(format!("no reason {letter}")) };
        let is_there = |place: &String| {
            list.0.iter().any(|w| w.axis == axis && place.split_once('/') == Some((&*w.engine, &*w.check)))
        };
        let empty = !reason.there.is_empty() && !reason.there.iter().any(is_there);
        empty.then(|| {
            format!("{letter} says that {} has such a build, and none has", reason.there.join(" or "))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read() -> (List, Vec<Axes>) {
        let folder = divisi_attacks::mirror::project().unwrap().join("lab/attacks/weakened");
        (List::read(&folder).unwrap(), Axes::read_all(&folder).unwrap())
    }

    /// Every axis of every check has a weakened build, or a reason why it does not apply.
    #[test]
    fn every_axis_of_every_check_has_builds_or_a_reason() {
        let (list, all) = read();
        let wrong: Vec<String> =
            ENGINES.iter().zip(&all).filter_map(|(engine, axes)| axes.cells(engine, &list).err()).collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    /// A check whose axes all have a reason is told with these.
    #[test]
    fn a_check_without_builds_has_its_reasons() {
        let (list, all) = read();
        assert_eq!(all[0].without_builds(&all[0].cells("rep3", &list).unwrap()), []);
        let row = vec![Cell::Reason(OPEN.into()); Axis::all().count()];
        let of = |row| all[0].without_builds(&Cells::from([("A0".into(), row)]));
        assert_eq!(of(row.clone()), [("A0".into(), OPEN.into())]);
        assert_eq!(of([row, vec![Cell::Builds(1)]].concat()), []);
    }

    /// A list without the builds of one cell, a reason beside a build, an unfounded reason and two reasons
    /// are noticed.
    #[test]
    fn what_is_missing_or_said_twice_is_noticed() {
        let (list, all) = read();
        let axes = &all[0];
        let [mask, early] = ["mask", "early"].map(|name| Axis::try_from(name.to_owned()).unwrap());
        let without = |check: &str, axis: Axis| {
            let other =
                |w: &&crate::list::Weakening| w.engine != "rep3" || w.check != check || w.axis != axis;
            List(list.0.iter().filter(other).cloned().collect())
        };
        let problem = |axes: &Axes, list: &List| axes.cells("rep3", list).unwrap_err();
        assert!(problem(axes, &without("A7", mask)).contains("A7 mask: neither a build nor a reason"));
        let mut other = axes.clone();
        let letter = other.reasons.keys().next().unwrap().clone();
        let row = other.checks.get_mut("A7").unwrap();
        row.entry(letter.clone()).or_default().insert(mask);
        assert!(problem(&other, &list).contains("A7 mask: a build, and a reason"));
        let mut other = axes.clone();
        other.reasons.values_mut().for_each(|reason| reason.there = vec!["rep3/none".into()]);
        assert!(problem(&other, &list).contains("says that rep3/none has such a build"));
        let mut other = axes.clone();
        let row = other.checks.get_mut("A7").unwrap();
        let axis = *row.values().flatten().next().unwrap();
        let letters: Vec<String> = other.reasons.keys().cloned().collect();
        let row = other.checks.get_mut("A7").unwrap();
        letters.iter().for_each(|letter| _ = row.entry(letter.clone()).or_default().insert(axis));
        assert!(problem(&other, &list).contains("more than one reason"));
        let mut other = axes.clone();
        other.every.entry(letter).or_default().insert(early);
        assert!(problem(&other, &list).contains("no check is weakened in early"));
    }
}
