//! A file that lists commands, and below each its exit code and the members of its JSON object: their paths,
//! types and values. A list in the order of the arrays has the values of members of arrays.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The variable that has the files written again.
const VARIABLE: &str = "DIVISI_MEMBERS";

/// Members whose values are no fact of the program: figures of the machine and what follows from times,
/// random bytes, prose, and the names of files.
const VARY: [&str; 27] = [
    "address",
    "aes_ctr_gb_s",
    "auto",
    "calibration",
    "clmul_ns",
    "commit",
    "csv",
    "date",
    "disturbed",
    "error",
    "fingerprint",
    "html",
    "id",
    "json",
    "kernel",
    "key_id",
    "kinds",
    "load",
    "loopback_gbit_s",
    "machine",
    "others_share",
    "peak_rss_bytes_per_party",
    "since",
    "spread",
    "three_beside_two",
    "trouble",
    "within_bound",
];

/// Whether the value of a member may be another in the next run.
fn varies(path: &str) -> bool {
    let is_time = |name: &str| {
        name.contains("cpu")
            || name.ends_with("seconds")
            || name.ends_with("per_second")
            || name.ends_with("_ms") && name != "rtt_ms"
    };
    let mut names = path.split('.').map(|name| name.trim_end_matches("[]"));
    names.any(|name| VARY.contains(&name) || is_time(name))
}

/// What is known of the member, or of the members, of one path.
#[derive(Default)]
pub struct Member {
    kinds: BTreeSet<&'static str>,
    values: Vec<String>,
}

/// All members by their paths. Members of all elements of an array are put together.
pub fn members(path: &str, value: &Value, found: &mut BTreeMap<String, Member>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !path.is_empty() {
        let member = found.entry(path.to_owned()).or_default();
        member.kinds.insert(kind);
        if !matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
            member.values.push(value.to_string());
        }
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

/// One line for each member.
pub fn lines(object: &Value) -> Vec<String> {
    let mut found = BTreeMap::new();
    members("", object, &mut found);
    let line = |(path, Member { kinds, values }): (String, Member)| {
        let kinds = Vec::from_iter(kinds).join(", ");
        if values.is_empty() || varies(&path) {
            format!("{path}: {kinds}")
        } else {
            format!("{path}: {kinds} = {}", values.join(", "))
        }
    };
    found.into_iter().map(line).collect()
}

/// The commands of a list.
pub fn commands(list: &Path) -> Vec<String> {
    let kept = fs::read_to_string(list).unwrap();
    kept.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// What a list says of a command that is run in a directory.
pub fn told(command: &str, dir: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_divisi"))
        .args(command.split(' '))
        .arg("--json")
        .current_dir(dir)
        .output()
        .unwrap();
    let object: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {output:?}"));
    let code = output.status.code().unwrap();
    format!("$ {command}\nexit {code}\n{}\n", lines(&object).join("\n"))
}

/// Compare a list with what is true now, or write it again.
pub fn compare(list: &Path, now: &str) {
    if env::var_os(VARIABLE).is_some_and(|said| said == "write") {
        fs::write(list, now).unwrap();
        return;
    }
    let by_command = |text: &str| {
        let parts = text.split("$ ").skip(1).map(|part| part.split_once('\n').unwrap_or((part, "")));
        let lines = |part: &str| part.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        parts
            .map(|(command, part)| (command.to_owned(), lines(part)))
            .collect::<BTreeMap<_, BTreeSet<String>>>()
    };
    let (kept, now) = (by_command(&fs::read_to_string(list).unwrap()), by_command(now));
    let mut differ = Vec::new();
    for (command, lines) in &kept {
        let others = &now[command];
        let gone = lines.difference(others).map(|line| format!("- {line}"));
        let new = others.difference(lines).map(|line| format!("+ {line}"));
        let both: Vec<String> = gone.chain(new).collect();
        if !both.is_empty() {
            differ.push(format!("$ {command}"));
            differ.extend(both);
        }
    }
    assert!(differ.is_empty(), "{} says otherwise:\n{}", list.display(), differ.join("\n"));
}
