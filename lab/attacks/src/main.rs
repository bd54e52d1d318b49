//! Runs every weakened build of the lists in `weakened/`: each weakening must fail the test that its line
//! names.
//!
//! One build holds all weakenings: `tree` copies the project and writes each of them into the copy as a
//! branch that an environment variable takes, `compile` compiles the named tests there, `run` runs each test
//! once without a weakening and then once for each weakening that it is said to notice. These are weakenings
//! that rules do not make; `bin/mutants/rules` makes the others.
//!
//! The copy has hooks, too, by which a test switches a check off or is a corrupt party inside a protocol:
//! `hooked` finds and runs the tests that need them.

mod hooked;
mod list;
mod run;
mod table;
mod tree;

use divisi_attacks::compile;
use divisi_attacks::mirror::{Source, project};
use hooked::Hooked;
use list::List;
use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
Usage: weakened [--hooked] [--ids] [--sample N] [--only TEXT] [--table] [--list] [--taint]

  --hooked      run the tests that need hooks: of corrupt parties, and of mutants, in which one check is
                switched off; after them no weakenings but those that --ids, --sample or --only name
  --ids         run one weakening of each check of each engine: the one that says `first = true`, or the first
  --sample N    run N weakenings, another choice every day, the same in all engines' proportion; of those that
                --ids does not run, if both are given
  --only TEXT   run those whose id, file or test contains TEXT, or whose check or engine it is; if given
                several times, those of each
  --table       print a table of all weakenings, and run nothing
  --list        print the id of each weakening, and run nothing
  --taint       write the copy of the project that `divisi-measure poison` builds, in which marks of secrets
                are told to it, print its folder, and run nothing";

/// What the command line asks for.
#[derive(Default)]
struct Wanted {
    hooked: bool,
    ids: bool,
    sample: Option<usize>,
    only: Vec<String>,
    table: bool,
    list: bool,
    taint: bool,
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
                "--ids" => wanted.ids = true,
                "--hooked" => wanted.hooked = true,
                "--table" => wanted.table = true,
                "--list" => wanted.list = true,
                "--taint" => wanted.taint = true,
                _ => return Err(format!("{argument} is not known\n{HELP}")),
            }
        }
        Ok(wanted)
    }

    /// The weakenings of a list that run.
    fn chosen(&self, list: List) -> List {
        let (mut chosen, others) = if self.ids { list.one_of_each_check() } else { (List(Vec::new()), list) };
        match self.sample {
            Some(number) => chosen.0.extend(others.sample(number, today()).0),
            None if self.ids => {}
            None => chosen = others,
        }
        chosen
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
    let project = project()?;
    if wanted.taint {
        let copy = project.join("target/taint");
        Source::tainted(&project)?.write(&copy, |_, _| Ok(None))?;
        println!("{}", copy.display());
        return Ok(true);
    }
    let weakened = project.join("lab/attacks/weakened");
    let all = List::read(&weakened)?;
    if wanted.table {
        return std::io::stdout()
            .write_all(table::of(&all).as_bytes())
            .map(|()| true)
            .map_err(|e| e.to_string());
    }
    let woven = if wanted.only.is_empty() { all.clone() } else { all.clone().only(&wanted.only) };
    // for a sample, too, the copy has all of them, so that one which no longer compiles shows at once
    let list = wanted.chosen(woven.clone());
    if wanted.list {
        list.0.iter().for_each(|weakening| println!("{}", weakening.id));
        return Ok(true);
    }
    let rows = !wanted.hooked || wanted.ids || wanted.sample.is_some() || !wanted.only.is_empty();
    if rows && list.0.is_empty() {
        return Err("no weakening is left to run".into());
    }
    let (source, copy) = (Source::read(&project)?, project.join("target/weakened/tree"));
    let hooked = if wanted.hooked { Some(Hooked::find(&project, &source)?) } else { None };
    let mut targets = hooked.as_ref().map(Hooked::targets).unwrap_or_default();
    if rows {
        for (package, names) in list.targets()? {
            targets.entry(package).or_default().extend(names);
        }
    }
    tree::write(&source, &copy, &woven)?;
    let tests = compile::tests(&copy, &targets)?;
    let tests = tests.map_err(|errors| format!("the weakened tree does not build:\n{}", errors.said))?;
    let fine = hooked.map_or(Ok(true), |hooked| hooked.run(&tests))?;
    if wanted.ids {
        println!(
            "ids: {} checks of engines have a weakening by hand",
            all.clone().one_of_each_check().0.0.len()
        );
    }
    Ok((!rows || run::all(&list, &tests)?) && fine)
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
    use std::collections::HashSet;

    /// By `--ids` each check of each engine has one weakening, and a sample is of the others.
    #[test]
    fn ids_are_one_weakening_of_each_check_and_a_sample_is_of_others() {
        let list = List::read(&project().unwrap().join("lab/attacks/weakened")).unwrap();
        let check = |w: &list::Weakening| (w.engine.clone(), w.check.clone());
        let checks: HashSet<_> = list.0.iter().map(check).collect();
        let firsts: Vec<_> = list.0.iter().filter(|w| w.first).map(check).collect();
        assert_eq!(firsts.iter().collect::<HashSet<_>>().len(), firsts.len(), "two are first: {firsts:?}");
        let ids = |sample| Wanted { ids: true, sample, ..Wanted::default() }.chosen(list.clone()).0;
        let each = ids(None);
        assert_eq!(
            (each.iter().map(check).collect::<HashSet<_>>(), each.len()),
            (checks.clone(), checks.len())
        );
        assert_eq!(each.iter().filter(|w| w.first).count(), firsts.len());
        let more = ids(Some(20));
        assert_eq!(more.iter().map(|w| &w.id).collect::<HashSet<_>>().len(), each.len() + 20);
    }

    #[test]
    fn the_table_has_each_weakening() {
        let list = List::read(&project().unwrap().join("lab/attacks/weakened")).unwrap();
        let table = table::of(&list);
        for w in &list.0 {
            let row = format!("| {} | {} | {} | `{}` |\n", w.check, w.what, w.why.words(), w.killed_by);
            assert!(table.contains(&row), "{}", w.id);
        }
    }

    /// Most weakenings are made by rule.
    #[test]
    fn few_weakenings_are_written_by_hand() {
        let list = List::read(&project().unwrap().join("lab/attacks/weakened")).unwrap();
        assert!(list.0.len() <= 400, "{} weakenings: let a rule make some (bin/mutants/rules)", list.0.len());
    }

    /// A sample runs a few weakenings: here each names a test that is there.
    #[test]
    fn every_weakening_names_a_test_of_the_copy() {
        let project = project().unwrap();
        let source = Source::read(&project).unwrap();
        for weakening in List::read(&project.join("lab/attacks/weakened")).unwrap().0 {
            let (package, target, path) = weakening.test().unwrap();
            let mut place = match (package, target) {
                ("divisi-attacks", target) => format!("lab/attacks/tests/{target}"),
                (package, "lib") => format!("crates/{package}/src"),
                (package, target) => format!("crates/{package}/tests/{target}"),
            };
            let (modules, name) = path.rsplit_once("::").unwrap_or(("", path));
            let here = |place: &str| {
                let files = [".rs", "/mod.rs", "/main.rs", "/lib.rs"].map(|end| format!("{place}{end}"));
                // a function, or a line of a suite of mutants
                let has = |text: &str| {
                    [format!("fn {name}("), format!(" {name}: ")].iter().any(|t| text.contains(t))
                };
                files.iter().filter_map(|file| source.text(file)).any(has)
            };
            let mut found = here(&place);
            for module in modules.split("::") {
                place = format!("{place}/{module}");
                found |= here(&place);
            }
            assert!(found, "{}: {}", weakening.id, weakening.killed_by);
        }
    }
}
