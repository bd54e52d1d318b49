//! Runs every weakened build of the lists in `weakened/`: each weakening must fail the test that its line
//! names.
//!
//! One build holds all weakenings: `tree` copies the project and writes each of them into the copy as a
//! branch that an environment variable takes, `compile` compiles the named tests there, `run` runs each test
//! once without a weakening and then once for each weakening that it is said to notice. `axes` says along
//! which axes each check has no weakened build, and why.

mod axes;
mod list;
mod run;
mod table;
mod tree;

use divisi_attacks::compile;
use list::List;
use std::process::ExitCode;

const HELP: &str = "\
Usage: weakened [--sample N] [--only TEXT] [--table] [--list]

  --sample N    run N weakenings, another choice every day, the same in all engines' proportion
  --only TEXT   run those whose id, file or test contains TEXT, or whose check or engine it is; if given
                several times, those of each
  --table       write the table of all weakenings to docs/weakened.md, and run nothing
  --list        print the id of each weakening, and run nothing";

/// What the command line asks for.
#[derive(Default)]
struct Wanted {
    sample: Option<usize>,
    only: Vec<String>,
    table: bool,
    list: bool,
}

impl Wanted {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut wanted = Wanted::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--sample" => {
                    let number = value()?;
                    wanted.sample = Some(number.parse().map_err(|_| format!("{number} is no number"))?);
                }
                "--only" => wanted.only.push(value()?),
                "--table" => wanted.table = true,
                "--list" => wanted.list = true,
                _ => return Err(format!("{argument} is not known\n{HELP}")),
            }
        }
        Ok(wanted)
    }
}

fn main() -> ExitCode {
    match Wanted::parse(std::env::args().skip(1)).and_then(|wanted| work(&wanted)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("weakened: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Whether every weakening that ran was noticed.
fn work(wanted: &Wanted) -> Result<bool, String> {
    let project = divisi_attacks::mirror::project()?;
    let list = List::read(&project.join("attacks/weakened"))?;
    if wanted.table {
        let path = project.join("docs/weakened.md");
        let axes = axes::Axes::read_all(&project.join("attacks/weakened"))?;
        return std::fs::write(&path, table::of(&list, &axes)?)
            .map(|()| true)
            .map_err(|e| format!("{path:?}: {e}"));
    }
    let list = if wanted.only.is_empty() { list } else { list.only(&wanted.only) };
    // for a sample, too, the copy has all of them, so that one which no longer compiles shows at once
    let woven = list.clone();
    let list = match wanted.sample {
        Some(number) => list.sample(number, today()),
        None => list,
    };
    if wanted.list {
        list.0.iter().for_each(|weakening| println!("{}", weakening.id));
        return Ok(true);
    }
    if list.0.is_empty() {
        return Err("no weakening is left to run".into());
    }
    let copy = project.join("target/weakened/tree");
    tree::write(&project, &copy, &woven)?;
    let tests = compile::tests(&copy, &project.join("target/weakened/build"), &list.targets()?, &[])?;
    let tests = tests.map_err(|errors| format!("the weakened tree does not build:\n{}", errors.said))?;
    run::all(&list, &tests)
}

/// Days since 1970.
fn today() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() / 86_400)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Who adds a weakening writes the page anew: `just weakened-table`.
    #[test]
    fn the_page_is_that_of_the_lists() {
        let project = divisi_attacks::mirror::project().unwrap();
        let list = List::read(&project.join("attacks/weakened")).unwrap();
        let axes = axes::Axes::read_all(&project.join("attacks/weakened")).unwrap();
        let page = std::fs::read_to_string(project.join("docs/weakened.md")).unwrap();
        assert!(page == table::of(&list, &axes).unwrap(), "docs/weakened.md is not that of attacks/weakened");
    }
}
