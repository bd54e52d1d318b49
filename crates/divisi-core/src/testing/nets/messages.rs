//! The census of messages: each message of each shape is listed in an honest run, and changed in another one.
//!
//! Of a protocol with active security all honest parties abort, or put out what is right, and release nothing
//! that is not; of one against curious parties nobody panics or waits for ever, and no message of another
//! length is accepted. Found by name are steps of the sources with which no shape sends a message, steps that
//! were never changed, and changes that did not reach a message.

use super::attack::{Tried, UNREACHED, attack};
pub use super::plan::Extent;
use super::plan::{self, Change, Honest};
use super::{EQUAL, NetShape, checks, doubts, sources};
use crate::Check;
use crate::local::first;
use crate::testing::{Sent, many, sent};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// The inputs of all runs.
const INPUTS: u64 = 1;
/// The world of honest runs; those with a change have others, so that old messages are not the same there.
const WORLD: u64 = 2;
/// How often a message is waited for of which chance decides whether it is sent.
const TRIES: u64 = 20;
/// How many runs go on at once: most of them wait.
const THREADS: usize = 6;

/// The environment's list of files that changed, a line each: their steps get more changes.
const CHANGED: &str = "DIVISI_CHANGED";

/// The shapes of a crate.
pub struct MessageNet<'a> {
    /// The crate's folder.
    pub folder: &'a str,
    /// What is run.
    pub shapes: Vec<NetShape>,
    /// What is run honestly alone, with more than three parties: what is done for the third peer and later
    /// ones is counted there.
    pub crowds: Vec<NetShape>,
    /// The steps of the crate's sources with which no shape sends a message, each with the reason.
    pub silent: &'a [(&'a str, &'a str)],
    /// The checks of the crate.
    pub checks: &'a [Check],
    /// Those that no shape executes, each with the reason.
    pub idle: &'a [(&'a str, &'a str)],
    /// Checks that compare fewer than 64 bits, or digests that others made, each with the reason.
    pub narrow: &'a [(&'a str, &'a str)],
    /// Steps of which chance decides whether and to whom they are sent, each with the reason.
    pub varies: &'a [(&'a str, &'a str)],
}

/// What a census found.
pub struct MessageCensus {
    name: String,
    shapes: usize,
    /// By the name of a step: how many messages, changes, and changes that somebody noticed.
    rows: BTreeMap<String, [usize; 3]>,
    faults: Vec<String>,
}

impl MessageNet<'_> {
    /// Run all shapes honestly, then again for each change.
    #[must_use]
    pub fn census(&self, extent: Extent) -> MessageCensus {
        let folder = Path::new(self.folder);
        let names = sources::names(folder);
        let name = |step: u32| names.get(&step).cloned().unwrap_or_else(|| format!("step {step:#010x}"));
        let (mut faults, mut rows) = (Vec::new(), BTreeMap::<String, [usize; 3]>::new());
        let name_of_all = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let runs = honest(&self.shapes, INPUTS)
            .and_then(|one| Ok((self.twice(&one)?, honest(&self.shapes, EQUAL)?, one)))
            .and_then(|all| Ok((all, honest(&self.crowds, INPUTS)?)));
        let (honest, twice, equal, crowds) = match runs {
            Ok(((twice, equal, honest), crowds)) => (honest, twice, equal, crowds),
            Err(faults) => return MessageCensus { name: name_of_all, shapes: 0, rows, faults },
        };
        for (step, messages) in honest.iter().flat_map(|run| run.messages()) {
            rows.entry(name(step)).or_default()[0] += messages.len();
        }
        let files = std::env::var(CHANGED).unwrap_or_default();
        let changes = plan::changes(&honest, extent, &sources::steps_within(folder, &files));
        let tried = many(changes.len(), THREADS, |i| {
            let change = &changes[i];
            let run = honest.get(change.shape).zip(self.shapes.get(change.shape));
            let varies = self.varies(&name(change.message.step));
            run.map_or(Ok(Tried::default()), |(honest, shape)| {
                let tried = |again: u64| {
                    let world = WORLD + 1 + i as u64 + again * changes.len() as u64;
                    attack(shape, change, honest, [INPUTS, world], varies)
                };
                let is_unreached = |tried: &Result<_, _>| matches!(tried, Err(fault) if fault == UNREACHED);
                let tries = if varies { TRIES } else { 1 };
                let reached = (0..tries).map(tried).find(|tried| !is_unreached(tried));
                reached.unwrap_or_else(|| Err(UNREACHED.into()))
            })
        });
        let mut altered = BTreeSet::new();
        for (change, tried) in changes.iter().zip(tried) {
            let step = name(change.message.step);
            let row = rows.entry(step.clone()).or_default();
            row[1] += 1;
            match tried {
                Ok(tried) => {
                    row[2] += usize::from(tried.noticed);
                    if tried.altered {
                        altered.insert(step);
                    }
                }
                Err(fault) => faults.push(self.told(change, &step, &fault)),
            }
        }
        let never = rows.keys().filter(|step| !altered.contains(*step));
        faults.extend(never.map(|step| format!("{step} was never changed")));
        faults.extend(self.unsent(folder, &rows));
        faults.extend(checks::judge(self, [&honest, &twice, &equal, &crowds], &name));
        faults.extend(doubts::judge(self, &honest));
        MessageCensus { name: name_of_all, shapes: self.shapes.len(), rows, faults }
    }

    /// Demand that a census finds nothing wrong, and print its row of the table. Returns how many changes
    /// were tried, and how many of them somebody noticed.
    ///
    /// # Panics
    /// If a census finds something wrong.
    pub fn demand(&self, extent: Extent) -> [usize; 2] {
        let census = self.census(extent);
        println!("{census}");
        assert!(census.faults.is_empty(), "{:#?}", census.faults);
        census.tried()
    }

    /// Whether chance decides if a message with this step is sent.
    pub(super) fn varies(&self, step: &str) -> bool {
        self.varies.iter().any(|(what, _)| *what == step)
    }

    fn told(&self, change: &Change, step: &str, fault: &str) -> String {
        let shape = self.shapes.get(change.shape).map_or("", |shape| shape.name);
        let (at, operator) = (change.message.at, change.operator);
        format!(
            "{shape}: {step} from {} to {}, number {}, {operator:?} by {}: {fault}",
            at.from, at.to, at.n, change.salt
        )
    }

    /// The honest runs with twice as many lanes: nothing of shapes that do not ask how many.
    fn twice(&self, honest: &[Honest]) -> Result<Vec<Honest>, Vec<String>> {
        let none = || Honest { sent: Sent::new(), outcomes: Vec::new() };
        all(many(self.shapes.len(), 2, |i| {
            let grows = honest.get(i).is_some_and(|run| run.outcomes.iter().any(|one| one.grows));
            let Some(shape) = self.shapes.get(i).filter(|_| grows) else { return Ok(none()) };
            run(shape, 2, INPUTS).map(|run| Honest { sent: Sent::new(), ..run })
        }))
    }

    /// The steps of the sources with which no message was sent, and those that are called silent and are not.
    fn unsent(&self, folder: &Path, rows: &BTreeMap<String, [usize; 3]>) -> Vec<String> {
        let mut faults = Vec::new();
        let known = sources::steps_of(folder);
        let silent: BTreeSet<&str> = self.silent.iter().map(|(step, _)| *step).collect();
        for step in known.iter().filter(|step| step.speaks && !silent.contains(step.name.as_str())) {
            if !rows.contains_key(&step.name) {
                faults.push(format!("{}: no shape sends a message with this step", step.name));
            }
        }
        for step in silent {
            if rows.contains_key(step) {
                faults.push(format!("{step} is called silent, and a shape sends a message with it"));
            } else if known.iter().all(|known| known.name != step) {
                faults.push(format!("{step} is called silent, and stands in no source"));
            }
        }
        faults
    }
}

/// The honest runs of all these, with inputs of a seed, or why there are none.
pub(super) fn honest(shapes: &[NetShape], inputs: u64) -> Result<Vec<Honest>, Vec<String>> {
    let one = |i: usize| shapes.get(i).map_or_else(|| Err(String::new()), |shape| run(shape, 1, inputs));
    all(many(shapes.len(), 2, one))
}

/// The honest run of a shape with so many times as many lanes, and with inputs of a seed.
fn run(shape: &NetShape, size: usize, inputs: u64) -> Result<Honest, String> {
    let harness = shape.harness(WORLD);
    let recordings = harness.recordings();
    let (ends, outcomes) = shape.act_at(size, harness, inputs, WORLD).into_iter().unzip();
    let aborted = |abort| format!("{}: an honest party aborted: {abort}", shape.name);
    first(ends).map_err(aborted)?;
    Ok(Honest { sent: sent(&recordings), outcomes })
}

/// All of these, or all that went wrong.
fn all<T>(of: Vec<Result<T, String>>) -> Result<Vec<T>, Vec<String>> {
    let (fine, wrong): (Vec<_>, Vec<_>) = of.into_iter().partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(fine.into_iter().flatten().collect()) } else { Err(wrong) }
}

impl MessageCensus {
    /// What is wrong, a line each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// How many changes were tried, and how many of them somebody noticed.
    #[must_use]
    pub fn tried(&self) -> [usize; 2] {
        [1, 2].map(|i| self.rows.values().map(|row| row[i]).sum())
    }
}

/// A row of the table in docs/nets.md.
impl fmt::Display for MessageCensus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: usize = self.rows.values().map(|row| row[0]).sum();
        let [tried, noticed] = self.tried();
        let (name, shapes, steps) = (&self.name, self.shapes, self.rows.len());
        write!(f, "| {name} | {shapes} | {steps} | {messages} | {tried} | {noticed} |")
    }
}
