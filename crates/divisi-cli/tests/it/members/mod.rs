//! The JSON of each command keeps its members: `members.txt` has commands on fixed inputs, and below each its
//! exit code and all members of its object, with their values or, if these are times or the like, their types
//! (`listed.rs`). What a later version adds is added there. `members_of_servers.txt` is the same of the
//! commands that need three servers (`tests/it/servers/answers.rs`).
//!
//! `DIVISI_MEMBERS=write cargo test -p divisi-cli --test it keep_their_members` writes both
//! again.

pub(crate) mod listed;

use listed::Members;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{fs, thread};

/// How many commands run at a time. A benchmark first measures the machine for two seconds.
const AT_A_TIME: usize = 6;

const CIRCUIT: &str = "2 5\n3 1 1 1\n1 1\n\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n";
const PROGRAM: &str = "divisi program 1\ninput x 1 num 2x2 in -9..9\ninput y 2 num 1x2 in 0..9\ns = sub x y\n\
                       assume s in -18..9\nbest at = min s\noutput best 1\noutput at 1,2\n";
const VECTORS: [&str; 5] = ["cmac", "ecb", "gcm", "sha2", "wycheproof-gcm"];

/// A directory with the files that commands read.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("c.txt"), CIRCUIT).unwrap();
    fs::write(dir.path().join("p.txt"), PROGRAM).unwrap();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../divisi/tests/corpus/vectors");
    for name in VECTORS.map(|name| format!("{name}.json")) {
        fs::copy(vectors.join(&name), dir.path().join(&name)).unwrap();
    }
    dir
}

/// The members of commands, in their order.
fn all_of(commands: &[String]) -> Vec<Members> {
    // benchmarks need nothing of each other; the others follow each other in one directory
    let (benches, others): (Vec<_>, Vec<_>) =
        (0..commands.len()).partition(|i| commands[*i].starts_with("bench"));
    let (place, next) = (folder(), Mutex::new(benches.into_iter()));
    let mut all = BTreeMap::new();
    thread::scope(|scope| {
        let bench = || {
            let (mut done, place) = (Vec::new(), folder());
            while let Some(i) = { next.lock().unwrap().next() } {
                done.push((i, listed::run(&commands[i], place.path())));
            }
            done
        };
        let benches: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(bench)).collect();
        all.extend(others.into_iter().map(|i| (i, listed::run(&commands[i], place.path()))));
        benches.into_iter().for_each(|done| all.extend(done.join().unwrap()));
    });
    all.into_values().collect()
}

#[test]
fn commands_keep_their_members() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/members.txt");
    listed::compare(&list, all_of);
}

/// Each command but the server, which prints no object, is in one of the lists.
#[test]
fn every_command_is_listed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let lists = ["members.txt", "members_of_servers.txt"];
    let lists = lists.map(|name| fs::read_to_string(tests.join(name)).unwrap()).concat();
    let help = Command::new(env!("CARGO_BIN_EXE_divisi")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "help", "server"].contains(name)).collect();
    assert!(names.len() > 12, "commands are read: {names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !lists.contains(&format!("\n$ {name} "))).collect();
    assert!(missing.is_empty(), "in no list of members: {missing:?}");
}

#[test]
fn members_are_paths_with_values_or_types() {
    let value = serde_json::json!({
        "a": [{ "b": 1 }, { "b": null, "c": "x; y" }, { "b": 1 }, { "b": 2 }], "d": true, "seconds": 1.5,
        "calibration": { "any": 3 }, "p50_ms": 1.0, "p90_ms": null, "p99_ms": "1", "rtt_ms": 20.0, "e": [], "f": [[1], [2, 3]], "g": { "h.i": null },
    });
    let members = listed::members(&value);
    assert_eq!(
        members.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            ". d: true",
            ". e: array",
            ". f[][]: 1, 2, 3",
            ". p50_ms: number?",
            ". p90_ms: number?",
            ". p99_ms: string",
            ". rtt_ms: 20.0",
            ". seconds: number",
            ".a[] b: null, 1 x2, 2",
            ".a[] c: \"x\\u003b y\"",
            ".calibration any: number",
            ".g h.i: null",
        ]
    );
}

/// What the commands of a group have alike stands once, and is of each of them.
#[test]
fn a_list_is_read_as_it_is_written() {
    let long = "word ".repeat(40);
    let text = format!(
        "# how\n\n## two\n. a: 1; exit code: 0\n.b c: null\n\n$ one --x\n. d: 2\n\n$ two\n. d: 3; e: \"{}\n    {}\"\n\
         \n## one\n\n$ three\n. a: 1\n",
        &long[..94],
        &long[95..],
    );
    let mut list = listed::List::read(&text);
    assert_eq!((list.commands().join(", ").as_str(), list.text()), ("one --x, two, three", text));
}
