//! The JSON of each command keeps its members: `members.txt` has commands, and below each its exit code and
//! the paths of all members of its object, with their types. What a later version adds is added there.
//!
//! `DIVISI_MEMBERS=write cargo test -p divisi-cli --test members` writes the file again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};

/// The variable that has the file written again.
const VARIABLE: &str = "DIVISI_MEMBERS";
/// How many commands run at a time. A benchmark first measures the machine for two seconds.
const AT_A_TIME: usize = 6;

const CIRCUIT: &str = "2 5\n3 1 1 1\n1 1\n\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n";
const PROGRAM: &str = "divisi program 1\ninput x 1 num 2x2\ninput y 2 num 1x2\ns = sub x y\nbest at = min s\n\
                       output best 1\noutput at 1,2\n";
const VECTORS: [&str; 5] = ["cmac", "ecb", "gcm", "sha2", "wycheproof-gcm"];

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/members.txt")
}

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

/// The paths of all members, with their types. Members of all elements of an array are put together.
fn members(path: &str, value: &Value, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !path.is_empty() {
        found.entry(path.to_owned()).or_default().insert(kind);
    }
    match value {
        Value::Array(all) => all.iter().for_each(|value| members(&format!("{path}[]"), value, found)),
        Value::Object(object) => {
            let dot = if path.is_empty() { "" } else { "." };
            object.iter().for_each(|(name, value)| members(&format!("{path}{dot}{name}"), value, found));
        }
        _ => {}
    }
}

/// What the file says of a command that was run in a directory.
fn told(command: &str, dir: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_divisi"))
        .args(command.split(' '))
        .arg("--json")
        .current_dir(dir)
        .output()
        .unwrap();
    let object: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {output:?}"));
    let mut found = BTreeMap::new();
    members("", &object, &mut found);
    let mut text = format!("$ {command}\nexit {}\n", output.status.code().unwrap());
    for (path, kinds) in found {
        text += &format!("{path}: {}\n", Vec::from_iter(kinds).join(", "));
    }
    text
}

/// The same of several commands in their order.
fn all_of(commands: &[String]) -> Vec<String> {
    // benchmarks need nothing of each other; the others follow each other in one directory
    let (benches, others): (Vec<_>, Vec<_>) =
        (0..commands.len()).partition(|i| commands[*i].starts_with("bench"));
    let (place, next) = (folder(), Mutex::new(benches.into_iter()));
    let mut all = BTreeMap::new();
    thread::scope(|scope| {
        let bench = || {
            let (mut done, place) = (Vec::new(), folder());
            while let Some(i) = { next.lock().unwrap().next() } {
                done.push((i, told(&commands[i], place.path())));
            }
            done
        };
        let benches: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(bench)).collect();
        all.extend(others.into_iter().map(|i| (i, told(&commands[i], place.path()))));
        benches.into_iter().for_each(|done| all.extend(done.join().unwrap()));
    });
    all.into_values().collect()
}

#[test]
fn the_members_of_each_command_stay() {
    let kept = fs::read_to_string(here()).unwrap();
    let commands: Vec<String> =
        kept.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect();
    assert!(commands.len() > 30, "commands are read");
    let now = all_of(&commands).join("\n");
    if env::var_os(VARIABLE).is_some_and(|said| said == "write") {
        fs::write(here(), now).unwrap();
        return;
    }
    let (mut differ, mut command) = (Vec::new(), "");
    let by_command = |text: &'_ str| {
        let parts = text.split("$ ").skip(1).map(|part| part.split_once('\n').unwrap_or((part, "")));
        let lines = |part: &str| part.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        parts
            .map(|(command, part)| (command.to_owned(), lines(part)))
            .collect::<BTreeMap<_, BTreeSet<String>>>()
    };
    let (kept, now) = (by_command(&kept), by_command(&now));
    for (of, lines) in &kept {
        let others = &now[of];
        for (what, line) in lines
            .difference(others)
            .map(|line| ("-", line))
            .chain(others.difference(lines).map(|line| ("+", line)))
        {
            if command != of {
                differ.push(format!("$ {of}"));
                command = of;
            }
            differ.push(format!("{what} {line}"));
        }
    }
    assert!(differ.is_empty(), "members differ from tests/members.txt:\n{}", differ.join("\n"));
}

#[test]
fn members_are_paths_with_types() {
    let value = serde_json::json!({ "a": [{ "b": 1 }, { "b": null, "c": "x" }], "d": true });
    let mut found = BTreeMap::new();
    members("", &value, &mut found);
    let lines: Vec<String> = found.iter().map(|(path, kinds)| format!("{path} {kinds:?}")).collect();
    assert_eq!(
        lines,
        [
            "a {\"array\"}",
            "a[] {\"object\"}",
            "a[].b {\"null\", \"number\"}",
            "a[].c {\"string\"}",
            "d {\"boolean\"}"
        ]
    );
}
