//! The applications whose cost GYKW estimates in section 8.5 (Tables 4 and 6), by name, with inputs and
//! outputs. Semi-honest, like every run of a program.
//!
//! Each declares ranges of its inputs, for which it is right.
//!
//! | name | what | inputs |
//! |---|---|---|
//! | `biomatch` | the nearest of 256 records of four numbers | query and base |
//! | `kmeans` | [`kmeans`]: centres of three groups of Fisher's 150 iris plants, five steps | points of two parties |
//! | `mnist` | [`digits`]: which digit an image of 28x28 shows, by a network that is secret too | image and network |
//! | `gauss` | the density of a normal distribution at seven points | points, mean and deviation |
//! | `merge-db` | mean and variance of two tables of 100 | a table each |
//! | `table4-biomatch` and so on | [`table6`]: the paper's counts of operations, without a meaning | random |
//!
//! The paper does not define "Gauss Dist."; the program here has comparisons, quotients and a table, on seven
//! numbers, because the paper has seven A2B. Nor does it say in full what the others compute: it has their
//! counts from a compiler. Here `biomatch`, `gauss` and `merge-db` are texts in `programs/`, and the others
//! are made with the Rust API.

pub mod digits;
pub mod kmeans;
pub mod table6;

use crate::plain::Entries;
use crate::program::{ProgramError, Script};
use crate::text;
use crate::valid::{self, Draw};

/// An application.
#[derive(Clone, Copy)]
pub struct Application {
    /// Its name, also on the command line.
    pub name: &'static str,
    /// What it computes, in a few words.
    pub about: &'static str,
    script: fn(&str) -> Result<Script, ProgramError>,
    inputs: Option<fn(Draw<'_>) -> Result<Vec<Entries>, ProgramError>>,
    /// What a party's own inputs must fulfil beside the ranges that the program declares.
    check: Option<fn(&[Option<Entries>]) -> Result<(), ProgramError>>,
}

/// All applications in the order of the paper's Table 4; then the programs with the counts of its Table 6.
pub const ALL: [Application; 10] = [
    of_text("biomatch", "the nearest of 256 records"),
    Application {
        name: "kmeans",
        about: "three groups of 150 iris plants",
        check: None,
        script: |_| kmeans::iris(&[75, 75]),
        inputs: Some(|_| kmeans::iris_inputs(&[75, 75])),
    },
    Application {
        name: "mnist",
        about: "a handwritten digit by a secret network",
        check: Some(digits::check),
        script: |_| digits::script(1, 2),
        inputs: Some(digits::inputs),
    },
    of_text("gauss", "the density of a normal distribution"),
    of_text("merge-db", "mean and variance of two tables"),
    of_counts("table4-biomatch"),
    of_counts("table4-kmeans"),
    of_counts("table4-mnist"),
    of_counts("table4-gauss"),
    of_counts("table4-merge-db"),
];

const fn of_text(name: &'static str, about: &'static str) -> Application {
    Application { name, about, script: written, inputs: None, check: None }
}

const fn of_counts(name: &'static str) -> Application {
    Application {
        name,
        about: "operations counted in Table 6",
        script: table6::script,
        inputs: None,
        check: None,
    }
}

/// The application with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Application> {
    ALL.iter().find(|application| application.name == name)
}

/// The text of an application, if it has one.
#[must_use]
pub fn source(name: &str) -> Option<&'static str> {
    match name {
        "biomatch" => Some(include_str!("../../programs/biomatch.txt")),
        "merge-db" => Some(include_str!("../../programs/merge-db.txt")),
        "gauss" => Some(include_str!("../../programs/gauss.txt")),
        _ => None,
    }
}

fn written(name: &str) -> Result<Script, ProgramError> {
    let source = source(name).ok_or_else(|| format!("there is no application {name}"))?;
    text::read(source, &|circuit| Err(format!("there is no circuit {circuit}")))
}

impl Application {
    /// The application as a program.
    ///
    /// # Errors
    /// If the program is wrong, which tests exclude.
    pub fn script(&self) -> Result<Script, ProgramError> {
        (self.script)(self.name)
    }

    /// Inputs for it: the data in the repository, or random inputs in their ranges.
    ///
    /// # Errors
    /// The errors of [`Application::script`].
    pub fn inputs(&self, draw: Draw<'_>) -> Result<Vec<Entries>, ProgramError> {
        match self.inputs {
            Some(inputs) => inputs(draw),
            None => Ok(valid::random_in(&self.script()?, draw)),
        }
    }

    /// Check what a party's own inputs must fulfil beside their ranges; `None` stands for those of other
    /// parties.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them.
    pub fn check(&self, inputs: &[Option<Entries>]) -> Result<(), ProgramError> {
        self.check.map_or(Ok(()), |check| check(inputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ValueKind;
    use crate::{Interval, lower, plain};

    /// Every application has a valid program, and its inputs fit.
    #[test]
    fn each_has_a_script_and_inputs() {
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below.max(1)
        };
        for application in &ALL {
            let script = application.script().unwrap();
            let inputs = application.inputs(&mut draw).unwrap();
            let some: Vec<Option<Entries>> = inputs.iter().cloned().map(Some).collect();
            application.check(&some).unwrap();
            for input in script.inputs().iter().filter(|input| input.value.kind() == ValueKind::Num) {
                assert!(input.range.is_some(), "{} {}", application.name, input.name);
            }
            // the two largest are only evaluated among parties
            if !application.name.contains("mnist") {
                valid::evaluate(&script, &inputs).unwrap();
            }
            assert!(lower(&script).is_some() && script.parties() == 2, "{}", application.name);
            assert_eq!(named(application.name).unwrap().name, application.name);
        }
        let inputs = named("merge-db").unwrap().inputs(&mut draw).unwrap();
        assert!(plain::evaluate(&named("merge-db").unwrap().script().unwrap(), &inputs).is_ok());
        assert!(named("chess").is_none());
    }

    /// At the ends of all ranges, in every mixture of the signs that makes differences largest, all is so
    /// that programs assume.
    #[test]
    fn ranges_hold_at_their_ends() {
        for application in ALL.iter().filter(|application| !application.name.contains("mnist")) {
            let script = application.script().unwrap();
            for pattern in 0..6_usize {
                let end = |input: usize, entry: usize, low: i64, high: i64| match pattern {
                    0 => low,
                    1 => high,
                    2 if input.is_multiple_of(2) => low,
                    3 if !input.is_multiple_of(2) => low,
                    4 if entry.is_multiple_of(2) => low,
                    5 if (input + entry).is_multiple_of(2) => low,
                    _ => high,
                };
                let all = script.inputs().iter().enumerate().map(|(i, input)| {
                    let bounds = input.range.unwrap_or(Interval::of_bits(1));
                    let [low, high] = [bounds.low(), bounds.high()].map(|x| i64::try_from(x).unwrap());
                    let entries = 0..input.value.shape().entries();
                    match input.value.kind() {
                        ValueKind::Num => {
                            Entries::Num(entries.map(|entry| end(i, entry, low, high)).collect())
                        }
                        ValueKind::Bits(width) => Entries::Bits(
                            entries
                                .map(|entry| {
                                    let x = end(i, entry, low, high);
                                    (0..width).map(|bit| bit < 63 && x >> bit & 1 == 1).collect()
                                })
                                .collect(),
                        ),
                    }
                });
                let inputs: Vec<Entries> = all.collect();
                let right = valid::evaluate(&script, &inputs);
                assert!(right.is_ok(), "{} {pattern}: {}", application.name, right.unwrap_err());
            }
        }
    }

    /// Salaries of 30,000 to 90,000 are refused, and so is any number beyond a range.
    #[test]
    fn inputs_beyond_a_range_are_refused() {
        let merge = named("merge-db").unwrap().script().unwrap();
        let table = |x: i64| Entries::Num((0..100).map(|i| if i == 41 { x } else { 0 }).collect());
        for (x, fits) in [(1999, true), (-1999, true), (2000, false), (-2000, false), (30_000, false)] {
            for input in merge.inputs() {
                assert_eq!(valid::in_range(&merge, input, &table(x)).is_ok(), fits, "{x}");
            }
        }
        let error = valid::in_range(&merge, &merge.inputs()[1], &table(2000)).unwrap_err();
        assert!(error.starts_with("value 42 of the input right is not from -1999 to 1999"), "{error}");
        let gauss = named("gauss").unwrap().script().unwrap();
        assert!(valid::in_range(&gauss, &gauss.inputs()[2], &Entries::Num(vec![0])).is_err());
    }
}
