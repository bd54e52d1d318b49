//! The lists of weakenings.

use divisi_attacks::compile::Targets;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// A check, or a random value that a check or a mask uses, made too weak.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weakening {
    /// Its name, unique over all lists: lower case, digits and hyphens.
    pub id: String,
    /// The check it weakens, by its id: `A8`.
    pub check: String,
    /// Why no rule makes it.
    pub why: Why,
    /// What the weakened code does, in a few words.
    pub what: String,
    /// The file, from the project's folder.
    pub file: String,
    /// Text of that file that comes before `find`, where `find` alone stands in several places.
    pub after: Option<String>,
    /// The text that is replaced.
    pub find: String,
    /// What replaces it. `weak!()` in it is true in the weakened build; without a `weak!()` it is the
    /// expression that stands in the place of the expression `find`.
    pub replace: String,
    /// The test that fails in the weakened build: `package/target::path`, with the target `lib` for unit
    /// tests.
    pub killed_by: String,
    /// Other places that change with it, if this change alone would only break the run of honest parties.
    #[serde(default)]
    pub also: Vec<FurtherEdit>,
    /// Whether it is the one of its check that always runs (`--ids`); if none says so, the first is.
    #[serde(default)]
    pub first: bool,
    /// The engine on whose list it stands.
    #[serde(skip)]
    pub engine: String,
}

/// Another place of a weakening. Its fields mean the same as those of [`Weakening`] with the same names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FurtherEdit {
    /// The file; that of the weakening if there is none.
    pub file: Option<String>,
    pub after: Option<String>,
    pub find: String,
    pub replace: String,
    /// Whether the text is replaced in every build, without a branch: for declarations, which cannot stand in
    /// a branch.
    #[serde(default)]
    pub always: bool,
}

/// A text that a weakening replaces.
#[derive(Clone, Copy)]
pub struct Edit<'l> {
    pub id: &'l str,
    pub file: &'l str,
    pub after: Option<&'l str>,
    pub find: &'l str,
    pub replace: &'l str,
    pub always: bool,
}

/// Why a weakening is written by hand: what no rule of `bin/mutants/rules` makes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// It concerns one case of several that the code treats alike: a kind, a peer, a layer, a field, a
    /// direction.
    Case,
    /// It changes a part of a value whose type has no elements: lanes of a plane, bytes of a label.
    Part,
    /// It takes another number than one that is off by one: a width, a size, a bound.
    Number,
    /// It takes another value of the same type, of which a rule knows nothing.
    Value,
    /// It moves something past more than one statement, or out of its function.
    Order,
    /// It gives somebody more than is his.
    More,
    /// A rule makes the same: it is the one of its check that `.ci/run` runs.
    Check,
}

impl Why {
    /// All of them, with the reason in words.
    pub const ALL: [(Why, &str); 7] = [
        (Why::Case, "one case of several"),
        (Why::Part, "a part of a value that has no elements"),
        (Why::Number, "another number"),
        (Why::Value, "another value of the same type"),
        (Why::Order, "another order"),
        (Why::More, "more than is his"),
        (Why::Check, "the row of its check"),
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        Why::ALL.iter().find(|(why, _)| *why == self).map_or("", |(_, words)| words)
    }
}

impl Weakening {
    /// All that it replaces.
    pub fn edits(&self) -> impl Iterator<Item = Edit<'_>> {
        let Weakening { id, file, after, find, replace, .. } = self;
        let first = Edit { id, file, after: after.as_deref(), find, replace, always: false };
        let others = self.also.iter().map(move |place| Edit {
            id,
            file: place.file.as_ref().unwrap_or(file),
            after: place.after.as_deref(),
            find: &place.find,
            replace: &place.replace,
            always: place.always,
        });
        std::iter::once(first).chain(others)
    }

    /// Package, target and path of the test that notices it.
    pub fn test(&self) -> Result<(&str, &str, &str), String> {
        let split = || {
            let (package, rest) = self.killed_by.split_once('/')?;
            let (target, path) = rest.split_once("::")?;
            Some((package, target, path))
        };
        split().ok_or(format!("{}: killed_by = \"{}\" is not package/target::path", self.id, self.killed_by))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    weakening: Vec<Weakening>,
}

/// Weakenings of all engines, engine by engine, in the order of their files.
#[derive(Clone)]
pub struct List(pub Vec<Weakening>);

impl List {
    /// The test targets that its weakenings name.
    pub fn targets(&self) -> Result<Targets, String> {
        let mut targets = Targets::new();
        for weakening in &self.0 {
            let (package, target, _) = weakening.test()?;
            targets.entry(package.into()).or_default().insert(target.into());
        }
        Ok(targets)
    }

    /// Read `folder/ENGINE/*.toml`.
    pub fn read(folder: &Path) -> Result<List, String> {
        let mut all = Vec::new();
        for engine in ENGINES {
            let mut paths: Vec<_> = std::fs::read_dir(folder.join(engine))
                .map_err(|e| format!("{folder:?}/{engine}: {e}"))?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.extension().is_some_and(|e| e == "toml"))
                .collect();
            paths.sort();
            for path in paths {
                let text = std::fs::read_to_string(&path).map_err(|e| format!("{path:?}: {e}"))?;
                let file: File = toml::from_str(&text).map_err(|e| format!("{path:?}: {e}"))?;
                all.extend(file.weakening.into_iter().map(|w| Weakening { engine: engine.into(), ..w }));
            }
        }
        let mut ids = HashSet::new();
        for weakening in &all {
            weakening.test()?;
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if !weakening.id.chars().all(plain) || !ids.insert(&weakening.id) {
                return Err(format!("{}: an id is unique, of lower case, digits and hyphens", weakening.id));
            }
        }
        Ok(List(all))
    }

    /// Those that have one of these texts in their id, file or test, or one as their check or engine.
    pub fn only(self, texts: &[String]) -> List {
        let has = |w: &Weakening, text: &String| {
            let fields = [&w.id, &w.file, &w.killed_by];
            w.check == *text || w.engine == *text || fields.iter().any(|field| field.contains(text))
        };
        List(self.0.into_iter().filter(|w| texts.iter().any(|text| has(w, text))).collect())
    }

    /// One for each check of each engine, and the others.
    pub fn one_of_each_check(self) -> (List, List) {
        let mut chosen: BTreeMap<(&str, &str), (bool, usize)> = BTreeMap::new();
        for (i, w) in self.0.iter().enumerate() {
            let entry = chosen.entry((&w.engine, &w.check)).or_insert((w.first, i));
            if w.first && !entry.0 {
                *entry = (true, i);
            }
        }
        let chosen: HashSet<usize> = chosen.into_values().map(|(_, i)| i).collect();
        let (ones, others): (Vec<_>, Vec<_>) =
            self.0.into_iter().enumerate().partition(|(i, _)| chosen.contains(i));
        let list = |of: Vec<(usize, Weakening)>| List(of.into_iter().map(|(_, w)| w).collect());
        (list(ones), list(others))
    }

    /// So many of them, evenly spaced, from another start every day.
    pub fn sample(self, number: usize, day: u64) -> List {
        let all = self.0.len();
        let number = number.min(all);
        let chosen = |i: usize| (i * all / number + day as usize) % all;
        let mut chosen: Vec<usize> = (0..number).map(chosen).collect();
        chosen.sort_unstable();
        List(chosen.into_iter().map(|i| self.0[i].clone()).collect())
    }
}

/// The engines, in the order of the last line; and the gateway, which has checks of its own and is none.
pub const ENGINES: [&str; 7] = ["rep3", "ot", "garble", "spdz", "bgv", "mixed", "gateway"];
