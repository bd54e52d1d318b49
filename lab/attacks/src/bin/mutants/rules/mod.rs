//! Weakenings made by rule: every call that draws, sends, opens, tosses, commits, compares, hashes or enters
//! a ledger, and every loop, in the protocol files of an engine, is made too weak in each way that a rule
//! knows.
//!
//! [`engines`] says which files are protocol files, and which tests judge them. What the compiler does not
//! take is no weakening; the others are run like mutants, against the tests of their crate, the quickest
//! first.

mod engines;
mod sites;
mod words;

use crate::concern::Tests;
use crate::found::{Genre, Mutant, digest};
use divisi_attacks::mirror::Source;
use engines::engine_of;
pub use engines::engines;
use std::collections::{BTreeMap, BTreeSet};

/// Which tests judge each protocol file.
pub fn tests(source: &Source) -> Tests {
    // some crates have no program of tests
    let there = |test: &String| {
        let (package, target) = test.split_once('/').unwrap_or_default();
        target != "it" || source.text(&format!("crates/{package}/tests/it/main.rs")).is_some()
    };
    let mut tests = Tests::default();
    for (file, _) in source.texts().filter(|(file, _)| !source.is_added(file)) {
        if let Some((_, judges)) = engine_of(file) {
            let judges: BTreeSet<String> = judges.into_iter().filter(there).collect();
            tests.add(file, judges.into_iter().collect());
        }
    }
    tests
}

/// All weakenings of an engine, in the order of files and lines.
pub fn list(source: &Source, engine: &str) -> Result<Vec<Mutant>, String> {
    if !engines().contains(&engine) {
        return Err(format!("{engine} is no engine: give one of {}", engines().join(", ")));
    }
    let mut all = Vec::new();
    for (file, text) in source.texts().filter(|(file, _)| !source.is_added(file)) {
        if engine_of(file).is_none_or(|(of, _)| of != engine) || is_of_tests(source, file) {
            continue;
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let sites = sites::of(file, text)?.into_iter().filter(|site| {
            let line = line_at(text, site.at.start);
            // marks of secrets are empty functions, records (of draws, too) and logs change nothing, and what
            // is wiped is not read again
            let marks =
                ["leak", "secret", "public", "received", "plant"].map(|mark| format!("taint::{mark}("));
            let others = ["record::note(", "log.note(", "(Zeroize::zeroize)", ".drawn(||"].map(str::to_owned);
            let marks = marks.iter().chain(&others).any(|mark| line.contains(mark));
            !marks && !source.is_hook(file, line) && !words::draws_nothing(file, &site.what)
        });
        for site in sites {
            let mut mutant = Mutant {
                file: file.to_owned(),
                line: text[..site.at.start].matches('\n').count() + 1,
                what: site.what,
                nth: 0,
                text: digest(&text[site.function]),
                genre: Genre::Rule,
                span: site.at,
                replacement: site.instead,
            };
            let nth = seen.entry(mutant.key()).or_default();
            *nth += 1;
            mutant.nth = *nth;
            all.push(mutant);
        }
    }
    Ok(all)
}

/// The line of a text in which a place is.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// Whether a file is a module of tests alone.
fn is_of_tests(source: &Source, file: &str) -> bool {
    let Some((folder, name)) = file.trim_end_matches(".rs").rsplit_once('/') else { return false };
    let above = [format!("{folder}.rs"), format!("{folder}/mod.rs"), format!("{folder}/lib.rs")];
    let module = format!("mod {name};");
    let mut before = above.iter().filter_map(|above| Some(source.text(above)?.split_once(&module)?.0));
    // the attributes of a module stand in the lines before it
    let attributes = |text: &&str| {
        text.lines().rev().take_while(|line| line.starts_with(['#', '/'])).any(|line| line == "#[cfg(test)]")
    };
    // so is what lies in the folder of such a module
    before.any(|text| attributes(&text)) || folder.contains("/src/") && is_of_tests(source, folder)
}

/// All of them in an order that the seed alone decides: a sample is the first of these.
pub fn shuffled(mut all: Vec<Mutant>, seed: u64) -> Vec<Mutant> {
    let number = |mutant: &Mutant| digest(&format!("{seed} {}", mutant.key()));
    all.sort_by_cached_key(number);
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::concern::parts;
    use std::path::Path;

    #[test]
    fn protocol_files_belong_to_an_engine() {
        let engine = |file| engine_of(file).map(|(engine, _)| engine);
        for (file, expected) in [
            ("crates/divisi-garble/src/laand.rs", Some("garble")),
            ("crates/divisi-node/src/server/agreement/comparison.rs", Some("node")),
            ("crates/divisi-mpgc/src/garble.rs", Some("mpgc")),
            ("crates/divisi-core/src/coin.rs", Some("core")),
            ("crates/divisi-net/src/inbox.rs", Some("net")),
            ("crates/divisi-garble/src/adapter/mod.rs", Some("adapters")),
            ("crates/divisi-node/src/tests/attacks.rs", None),
            ("crates/divisi-garble/tests/it/main.rs", None),
            ("crates/divisi-gateway/src/kms/generated/client.rs", None),
            ("crates/divisi-field/src/gf8/mod.rs", None),
        ] {
            assert_eq!(engine(file), expected, "{file}");
        }
    }

    /// A test program that was renamed would leave its engine without a verdict.
    #[test]
    fn tests_that_judge_an_engine_are_where_they_are_said_to_be() {
        let project = divisi_attacks::mirror::project().unwrap();
        let is_module = |folder: &Path, module: &str| {
            let file = folder.join(module.replace("::", "/"));
            file.with_extension("rs").is_file() || file.join("mod.rs").is_file()
        };
        for judge in engines::CRATES.iter().flat_map(|(_, _, judges)| *judges).chain(engines::ADAPTERS.1) {
            let (package, target, module) = parts(judge);
            let of = if package == "divisi-attacks" { "lab/attacks" } else { &format!("crates/{package}") };
            let (file, folder) = match target {
                "lib" => ("src/lib.rs".to_owned(), "src".to_owned()),
                _ => (format!("tests/{target}/main.rs"), format!("tests/{target}")),
            };
            let of = project.join(of);
            let is_there = of.join(file).is_file() || of.join(format!("tests/{target}.rs")).is_file();
            assert!(is_there, "{judge}: no such target");
            assert!(
                module.is_none_or(|module| is_module(&of.join(folder), module)),
                "{judge}: no such module"
            );
        }
    }

    #[test]
    fn what_hooks_bring_and_modules_of_tests_are_not_weakened() {
        let source = Source::read(&divisi_attacks::mirror::project().unwrap()).unwrap();
        let file = "crates/divisi-garble/src/evaluate.rs";
        let text = source.text(file).unwrap();
        let lines = |line: &str| (text.contains(line), source.is_hook(file, line));
        assert_eq!(lines("self.wrong = Some(place);"), (true, true));
        assert_eq!(lines("values[i] ^= bit;"), (true, false));
        // a check that a hook changes stays one
        let file = "crates/divisi-rep3/src/input.rs";
        let changed = source.text(file).unwrap().lines().find(|line| line.contains("mutated(checks::A25)"));
        assert!(!source.is_hook(file, changed.unwrap()), "{changed:?}");
        assert!(is_of_tests(&source, "crates/divisi-garble/src/table/pads.rs"));
        assert!(!is_of_tests(&source, "crates/divisi-garble/src/table.rs"));
    }

    /// Each rule has a place in this text, and none in code of tests.
    #[test]
    fn each_rule_finds_its_places() {
        let text = "fn step(s: &mut S, peers: &[P]) -> Result<(), A> {
            let r = s.prg(peer, \"mask\").words(4);
            for peer in peers { s.send(E, *peer, &r)?; }
            s.require(W15, E, same == zero, None)?;
            difference |= mac;
            s.entropy(&mut seed);
            s.observe(W16);
            s.flush()?;
            s.observe(W15);
            let fresh = Tweak::new([0; 32]);
            if me.number() != owner || me.index() == 0 || list.len() == me.index() { return Err(few()); }
            peers.iter().for_each(|p| hasher.update(p));
            self.spent += n;
            prg.words(&mut words);
            sampler.bits(&mut bits);
            if low & 3 == 1 || low == 3 || kind == Kind::Small { return Err(few()); }
            let masked = share ^ mask;
            let coin = s.toss(COIN)?;
            let fine = reduced && left <= bound;
            if self.spent > n || !fine { return Err(few()); }
            if !a.ct_eq(b) { abort(); }
            hasher.update(&one);
            hasher.update(&two);
            absorb(&mut state, &one);
            mix(&mut state);
            if got != sent { return Err(s.abort()); }
            b.demand(LOOKUP, table.k == made.k, Misfit::Lanes)?;
            let fits = key == of;
            if !fits { return Err(s.misuse()); }
            let both = if left == right { one } else { two };
            if lanes != many || of != 3 { return Err(s.misuse()); }
            owed.extend(one.chain(two));
            x.rests_on.max(y.rests_on);
            Ok(())
        }
        #[cfg(test)]
        mod tests { fn t() { s.send(E, p, &r); } }";
        let found = sites::of("x.rs", text).unwrap();
        let has = |at: &str, what: &str| {
            found.iter().any(|site| text.get(site.at.clone()) == Some(at) && site.what.contains(what))
        };
        assert!(has("s.prg(peer, \"mask\")", "the value of before"));
        assert!(has("s.prg(peer, \"mask\")", "a constant"));
        assert!(has("\"mask\"", "a constant for argument 2"));
        assert!(has("peers", "the first only of a loop") && has("peers", "all but the last of a loop"));
        assert!(has("s.send(E, *peer, &r)?;", "leaves out the send"));
        assert!(has("same == zero", "says yes for argument 3"));
        assert!(has("difference |= mac;", "keeps the last only"));
        assert!(has("s.prg(peer, \"mask\")", "keeps eight bits of the draw"));
        assert!(has("s.entropy(&mut seed);", "keeps all bits but the last of the draw entropy"));
        // a check is counted before what may fail, not before what cannot
        assert!(has("s.flush()?;\n            s.observe(W15);", "one statement earlier"));
        assert!(!has("s.entropy(&mut seed);\n            s.observe(W16);", "one statement earlier"));
        assert!(!has("[0; 32]", "a constant"));
        assert!(has("peers.iter()", "the first only of what `for_each` takes"));
        assert!(has("difference |= mac;", "keeps the first only") && has("difference |= mac;", "adds up"));
        assert!(has("self.spent += n;", "leaves out `+=`"));
        assert!(has("prg.words(&mut words);", "takes one element for all of the draw words"));
        assert!(has("prg.words(&mut words);", "takes the list of before for the draw words"));
        // of one bit, of less than a byte, and of a variant eight bits are all
        assert!(
            !has("kind == Kind::Small", "eight bits") && has("kind == Kind::Small", "that they are equal")
        );
        assert!(has("sampler.bits(&mut bits);", "keeps the first element of the draw bits"));
        assert!(!has("sampler.bits(&mut bits);", "eight bits") && !has("low & 3 == 1", "eight bits"));
        assert!(has("low == 3", "looks at eight bits"));
        assert!(!has("list.len() == me.index()", "eight bits"));
        assert!(!has("hasher.update(&one);\n            hasher.update(&two);", "one statement earlier"));
        assert!(has("absorb(&mut state, &one);\n            mix(&mut state);", "one statement earlier"));
        // whether it refuses a difference is one question; how it compares, another one of a peer's message
        assert!(has("got != sent", "never refuses") && !has("got != sent", "says that they are equal"));
        assert!(has("got != sent", "eight bits") && has("got != sent", "but for the first time"));
        assert!(has("table.k == made.k", "says yes") && !has("table.k == made.k", "but for the first time"));
        assert!(has("key == of", "that they are equal") && !has("key == of", "but for the first time"));
        assert!(has("left == right", "that they are equal") && !has("left == right", "but for the first"));
        assert!(has("of != 3", "a side of `||`") && !has("of != 3", "says that they are equal"));
        assert!(!has("lanes != many", "eight bits") && !has("lanes != many", "but for the first time"));
        assert!(!has("me.number() != owner", "eight bits") && !has("me.index() == 0", "eight bits"));
        assert!(has("share ^ mask", "leaves out what `^` adds"));
        let both = "let masked = share ^ mask;\n            let coin = s.toss(COIN)?;";
        assert!(has(both, "takes the toss toss one statement earlier"));
        assert!(has("s.toss(COIN)?", "keeps the first element of the toss"));
        assert!(has("reduced", "leaves out a side of `&&`") && has("bound", "lets one more through"));
        assert!(has("self.spent > n || !fine", "never refuses") && has("!fine", "leaves out a side of `||`"));
        assert!(has("a.ct_eq(b)", "looks at the first byte in the comparison ct_eq"));
        assert!(has("a.ct_eq(b)", "says but for the first time that both sides are alike"));
        assert!(has("two", "leaves out what `chain` adds"));
        assert!(has("x.rests_on.max(y.rests_on)", "takes the first of `max`"));
        assert!(found.iter().all(|site| site.what.ends_with("in step")), "none is of a test");
        // who says yes anyway is not weakened by it
        let says_yes = |end: &str| {
            let found = sites::of("x.rs", &format!("fn enters() -> bool {{ seen(); {end} }}")).unwrap();
            found.iter().any(|site| site.what.starts_with("says yes"))
        };
        assert!(says_yes("fits") && !says_yes("true"));
    }

    /// The ids of checks that a text names in marks (`[W15, W16]`) and as constants (`checks::W15`).
    fn ids(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let words = text.split(word).map(|word| word.trim_end_matches('.').replace('_', "."));
        words.filter(|word| known.contains(word)).collect()
    }

    /// Every check that a crate registers has its id in a function that rules weaken.
    #[test]
    fn every_check_is_weakened_by_rules() {
        let source = Source::read(&divisi_attacks::mirror::project().unwrap()).unwrap();
        let registers = source.texts().filter(|(file, _)| file.ends_with("/src/checks.rs"));
        let ids_of = |text: &str| {
            text.split(" = \"")
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
                .collect::<Vec<_>>()
        };
        let known: BTreeSet<String> = registers.flat_map(|(_, text)| ids_of(text)).collect();
        let mut weakened = BTreeSet::new();
        for (file, text) in source.texts().filter(|(file, _)| engine_of(file).is_some()) {
            let functions: BTreeSet<(usize, usize)> = sites::of(file, text)
                .unwrap()
                .into_iter()
                .map(|site| (site.function.start, site.function.end))
                .collect();
            functions.into_iter().for_each(|(start, end)| weakened.extend(ids(&text[start..end], &known)));
        }
        assert!(known.len() > 100, "{known:?}");
        assert_eq!(known.difference(&weakened).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_seed_decides_the_order() {
        let mutant = |line| Mutant {
            file: "x.rs".into(),
            line,
            what: format!("weakening {line}"),
            nth: 1,
            text: String::new(),
            genre: Genre::Rule,
            span: 0..1,
            replacement: String::new(),
        };
        let lines =
            |seed| shuffled((0..40).map(mutant).collect(), seed).iter().map(|m| m.line).collect::<Vec<_>>();
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
    }
}
