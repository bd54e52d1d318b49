//! Sweeps over the mutants that cargo-mutants finds in the protocol files (`rules`): any part of them at a
//! time, going on where another sweep stopped.
//!
//! cargo-mutants builds anew for each mutant. Here one build holds hundreds: `switch` writes those that can
//! stand side by side into a copy of the project, each as a branch that an environment variable takes; what
//! the compiler does not take as a branch is built alone, as cargo-mutants does. `run` runs the tests of the
//! file's engine, as far as they reach the mutant (`reach`), until one notices. What came of each
//! mutant goes into `target/mutants/results.tsv` at once, with the commit; which survivors are known to do no
//! harm, and why, stands in `lab/attacks/mutants/survivors.tsv`.
//!
//! The copy has the hooks of `lab/attacks/hooks`, because many of the tests need them; mutants are those of
//! its text.

mod concern;
mod found;
mod reach;
mod rules;
mod run;
mod switch;
mod table;

use concern::Tests;
use divisi_attacks::compile::{self, Programs};
use divisi_attacks::mirror::{self, Source};
use found::{Genre, Mutant};
use reach::Reach;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use switch::Switched;
use table::{Outcome, Results};

const HELP: &str = "\
Usage: mutants [--shard K/N] [--most M] [--file TEXT] [--what TEXT] [--at-once J] [--base REVISION] [--report]
       mutants --sample N [--seed S] [--engine NAME] [--shard K/N] [--file TEXT] [--what TEXT] [--at-once J]
               [--report]
       mutants --reached-by K [--engine NAME] [--file TEXT] [--what TEXT]
       mutants --list [--engine NAME]

  --shard K/N    every N-th, from the K-th on
  --most M       end after M mutants
  --file TEXT    those of files whose path contains TEXT, or one of several texts with commas between
  --what TEXT    those whose description contains TEXT (\"never refuses\"), or one of several
  --at-once J    run the tests of J at a time (default: as many as there are cores)
  --base REV     mutants of what has changed since that revision
  --sample N     weakenings made by rule instead of mutants: N of those that build, of each engine, of what
                 all engines rest on, and of the servers; their results go into target/mutants/rules.tsv
  --seed S       with --sample: the order in which they are drawn (default 0)
  --engine NAME  of this one alone: rep3, ot, garble, spdz, bgv, mixed, mpgc, program, core, net, circuit,
                 modes, node, gateway or adapters
  --reached-by K judge nothing: print the lines with weakenings that K tests reach, or fewer
  --report       run nothing: say how many (of --file, --what) are done, and which survivors are not explained
  --list         run nothing: print each weakening that a rule makes, as a line of JSON";

/// The copy that is built.
const COPY: &str = "target/mutants/tree";
/// Where tests note what they reach.
const NOTES: &str = "target/mutants/reached";
/// Which survivors do no harm, and why.
const SURVIVORS: &str = "lab/attacks/mutants/survivors.tsv";

/// What the command line asks for.
struct Wanted {
    shard: (usize, usize),
    most: usize,
    file: String,
    what: String,
    at_once: usize,
    base: Option<String>,
    report: bool,
    list: bool,
    /// The most tests that reach a line which is printed.
    reached: Option<usize>,
    /// How many weakenings of each engine.
    sample: Option<usize>,
    engine: Option<String>,
    seed: u64,
}

impl Wanted {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut wanted = Wanted {
            shard: (1, 1),
            most: usize::MAX,
            file: String::new(),
            what: String::new(),
            at_once: compile::cores(),
            base: None,
            report: false,
            list: false,
            reached: None,
            sample: None,
            engine: None,
            seed: 0,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value\n{HELP}"));
            match argument.as_str() {
                "--shard" => {
                    let value = value()?;
                    let shard =
                        value.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                    wanted.shard = shard
                        .filter(|(k, n)| (1..=*n).contains(k))
                        .ok_or(format!("{value} is no shard: as 2/4"))?;
                }
                "--most" => wanted.most = value()?.parse().map_err(|e| format!("--most: {e}"))?,
                "--file" => wanted.file = value()?,
                "--what" => wanted.what = value()?,
                "--at-once" => wanted.at_once = value()?.parse().map_err(|e| format!("--at-once: {e}"))?,
                "--base" => wanted.base = Some(value()?),
                "--sample" => wanted.sample = Some(value()?.parse().map_err(|e| format!("--sample: {e}"))?),
                "--engine" => wanted.engine = Some(value()?),
                "--seed" => wanted.seed = value()?.parse().map_err(|e| format!("--seed: {e}"))?,
                "--reached-by" => {
                    wanted.reached = Some(value()?.parse().map_err(|e| format!("--reached-by: {e}"))?)
                }
                "--report" => wanted.report = true,
                "--list" => wanted.list = true,
                _ => return Err(format!("{argument} is not known\n{HELP}")),
            }
        }
        Ok(wanted)
    }

    /// Whether a mutant's file is asked for, and what it does.
    fn names(&self, mutant: &Mutant) -> bool {
        let any = |of: &str, texts: &str| texts.split(',').any(|text| of.contains(text));
        any(&mutant.file, &self.file) && any(&mutant.what, &self.what)
    }

    /// Those of the shard that is asked for.
    fn of_shard<'m>(&self, all: &'m [Mutant]) -> impl Iterator<Item = &'m Mutant> {
        let (k, n) = self.shard;
        all.iter().skip(k - 1).step_by(n)
    }
}

fn main() -> ExitCode {
    match Wanted::parse(std::env::args().skip(1)).and_then(|wanted| work(&wanted)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("mutants: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether every survivor is explained.
fn work(wanted: &Wanted) -> Result<bool, String> {
    let project = mirror::project()?;
    if wanted.sample.is_some() || wanted.list || wanted.reached.is_some() {
        return by_rule(&project, wanted);
    }
    let mut results = Results::open(&project.join("target/mutants/results.tsv"))?;
    let explained = table::explained(&project.join(SURVIVORS))?;
    let source = Source::read(&project)?;
    let tests = rules::tests(&source);
    let all = match &wanted.base {
        Some(base) => found::changed(&project, &source, base, &tests)?,
        None => found::list(&project, &source, &tests)?,
    };
    if !wanted.report {
        let mine = wanted.of_shard(&all);
        let left = mine.filter(|mutant| wanted.names(mutant) && results.of(mutant).is_none());
        let left: Vec<&Mutant> = left.take(wanted.most).collect();
        sweep(&project, &source, &tests, &left, wanted.at_once, &mut results)?;
    }
    let of: Vec<&Mutant> = all.iter().filter(|mutant| wanted.names(mutant)).collect();
    Ok(report(&of, &results, &explained))
}

/// Whether every survivor among the weakenings that rules make of the engines is explained.
fn by_rule(project: &Path, wanted: &Wanted) -> Result<bool, String> {
    let source = Source::read(project)?;
    let engines: Vec<&str> = match wanted.engine.as_deref() {
        Some(engine) => vec![engine],
        None => rules::engines(),
    };
    let mut results = Results::open(&project.join("target/mutants/rules.tsv"))?;
    let explained = table::explained(&project.join(SURVIVORS))?;
    let tests = rules::tests(&source);
    let mut fine = true;
    for engine in engines {
        let all = rules::list(&source, engine)?;
        if wanted.list {
            all.iter().for_each(|mutant| println!("{}", mutant.json()));
            continue;
        }
        println!("{engine}: {} weakenings made by rule", all.len());
        let all = rules::shuffled(all, wanted.seed);
        let mine: Vec<&Mutant> = wanted.of_shard(&all).filter(|mutant| wanted.names(mutant)).collect();
        if let Some(few) = wanted.reached {
            unreached(project, &source, &tests, &mine, few, wanted, &mut results)?;
            continue;
        }
        let (k, n) = wanted.shard;
        let most = (wanted.sample.unwrap_or(0) + n - k) / n;
        let drawn = if wanted.report {
            0
        } else {
            run_some(project, &source, &tests, &mine, most, wanted, &mut results)?
        };
        fine &= report(if wanted.report { &mine } else { &mine[..drawn] }, &results, &explained);
    }
    Ok(fine)
}

/// Runs `most` of those that build, in their order, but for those that have a result. Returns how many it had
/// to look at.
fn run_some(
    project: &Path,
    source: &Source,
    tests: &Tests,
    all: &[&Mutant],
    most: usize,
    wanted: &Wanted,
    results: &mut Results,
) -> Result<usize, String> {
    let mut drawn = 0;
    loop {
        let builds = |mutant: &&&Mutant| !matches!(results.of(mutant), None | Some(Outcome::Unviable));
        let run = all[..drawn].iter().filter(builds).count();
        if run >= most || drawn == all.len() {
            return Ok(drawn);
        }
        let more = (most - run).saturating_mul(2).clamp(20, 600);
        let last = (drawn + more).min(all.len());
        let left: Vec<&Mutant> =
            all[drawn..last].iter().filter(|m| results.of(m).is_none()).copied().collect();
        sweep(project, source, tests, &left, wanted.at_once, results)?;
        drawn = last;
    }
}

/// Run these mutants, as many in one build as can stand side by side.
fn sweep(
    project: &Path,
    source: &Source,
    tests: &Tests,
    left: &[&Mutant],
    at_once: usize,
    results: &mut Results,
) -> Result<(), String> {
    let commit = commit(project)?;
    let (mut alone, mut reach) = (Vec::new(), Reach::default());
    let mut left = left.to_vec();
    while !left.is_empty() {
        let mut cut = switch::side_by_side(source, &left)?;
        alone.append(&mut cut.alone);
        left = cut.later;
        let (programs, chosen) = built(project, source, tests, cut.together, &mut alone, results)?;
        let targets = chosen.iter().flat_map(|mutant| tests.of(&mutant.file)).map(String::as_str).collect();
        reach = Reach::of(&programs, &targets, at_once, &project.join(NOTES))?;
        compile::at_once(
            &chosen,
            at_once,
            |i, mutant| run::mutant(&programs, tests.of(&mutant.file), &reach, Some(i + 1)),
            |i, outcome| results.add(chosen[i], outcome?, &commit),
        )?;
    }
    let copy = project.join(COPY);
    for mutant in alone {
        switch::write(source, &copy, |file, text| (file == mutant.file).then(|| mutant.applied(text)))?;
        let files = [mutant.file.as_str()].into();
        let outcome = match compile::tests(&copy, &tests.targets(&files))? {
            Ok(programs) => {
                let tests = tests.of(&mutant.file);
                reach.add(&programs, tests)?;
                run::mutant(&programs, tests, &reach, None)?
            }
            Err(_) => Outcome::Unviable,
        };
        results.add(mutant, outcome, &commit)?;
    }
    Ok(())
}

/// Builds these mutants, each as a branch; those that the compiler does not take become results, or are to be
/// built alone. Returns the programs and those that are in them.
fn built<'m>(
    project: &Path,
    source: &Source,
    tests: &Tests,
    mut chosen: Vec<&'m Mutant>,
    alone: &mut Vec<&'m Mutant>,
    results: &mut Results,
) -> Result<(Programs, Vec<&'m Mutant>), String> {
    let copy = project.join(COPY);
    let commit = commit(project)?;
    loop {
        let switched = Switched::write(source, &copy, &chosen)?;
        let files: BTreeSet<&str> = chosen.iter().map(|mutant| mutant.file.as_str()).collect();
        let errors = match compile::tests(&copy, &tests.targets(&files))? {
            Ok(programs) => return Ok((programs, chosen)),
            Err(errors) => errors,
        };
        let mut refused = switched.of(&errors.places);
        if refused.is_empty() {
            // a rule's weakening may leave a type open elsewhere in its file
            let near = |m: &Mutant| errors.places.iter().any(|place| place.file == Path::new(&m.file));
            let numbers = chosen.iter().enumerate().filter(|(_, m)| m.genre == Genre::Rule && near(m));
            refused = numbers.map(|(i, _)| (i, true)).collect();
        }
        if refused.is_empty() {
            return Err(format!("the copy does not build:\n{}", errors.said));
        }
        let mut rest = Vec::new();
        for (i, mutant) in chosen.into_iter().enumerate() {
            match refused.get(&i) {
                None => rest.push(mutant),
                Some(false) if mutant.genre != Genre::Rule => alone.push(mutant),
                Some(_) => results.add(mutant, Outcome::Unviable, &commit)?,
            }
        }
        chosen = rest;
    }
}

/// Prints the lines of weakenings that at most `few` tests reach, of one weakening of each line: what is
/// weakened there goes unnoticed, or nearly so, whatever it is.
fn unreached(
    project: &Path,
    source: &Source,
    tests: &Tests,
    all: &[&Mutant],
    few: usize,
    wanted: &Wanted,
    results: &mut Results,
) -> Result<(), String> {
    let mut lines = BTreeSet::new();
    let some = |m: &&&Mutant| !matches!(results.of(m), Some(Outcome::Unviable));
    let each: Vec<&Mutant> =
        all.iter().filter(some).filter(|m| lines.insert((&m.file, m.line))).copied().collect();
    let chosen = switch::side_by_side(source, &each)?.together;
    let (programs, chosen) = built(project, source, tests, chosen, &mut Vec::new(), results)?;
    let targets = chosen.iter().flat_map(|mutant| tests.of(&mutant.file)).map(String::as_str).collect();
    let reach = Reach::of(&programs, &targets, wanted.at_once, &project.join(NOTES))?;
    for (i, mutant) in chosen.iter().enumerate() {
        let count = reach.count(tests.of(&mutant.file), i + 1);
        if count <= few {
            println!("{count} tests reach {}:{}: {}", mutant.file, mutant.line, mutant.what);
        }
    }
    Ok(())
}

/// The commit that is checked out.
fn commit(project: &Path) -> Result<String, String> {
    let git = Command::new("git").args(["rev-parse", "--short=10", "HEAD"]).current_dir(project).output();
    let output = git.map_err(|e| format!("git: {e}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Prints what is done, and the survivors that nobody has explained. Returns whether there are none.
fn report(all: &[&Mutant], results: &Results, explained: &table::Explained) -> bool {
    let (mut caught, mut hung, mut unviable, mut known, mut open) = (0, 0, 0, 0, Vec::new());
    for mutant in all {
        match results.of(mutant) {
            Some(Outcome::Caught(_)) => caught += 1,
            Some(Outcome::Hung(_)) => hung += 1,
            Some(Outcome::Unviable) => unviable += 1,
            Some(Outcome::Survived(_)) if explained.contains_key(&mutant.key()) => known += 1,
            Some(Outcome::Survived(_)) => open.push(mutant),
            None => {}
        }
    }
    for mutant in &open {
        println!("SURVIVED {}:{}: {}", mutant.file, mutant.line, mutant.what);
    }
    println!(
        "mutants: {} of {} done: {caught} caught, {hung} hang, {unviable} do not build, {known} survive and are explained, \
         {} survive",
        caught + hung + unviable + known + open.len(),
        all.len(),
        open.len()
    );
    open.is_empty()
}
