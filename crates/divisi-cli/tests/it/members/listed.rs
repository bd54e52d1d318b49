//! A file that lists commands in groups, and below each the members of its JSON object: their names, and
//! their values or, where these vary, their types. What all commands of a group have stands once, below the
//! title.
//!
//! A line begins with the path of an object, as jq writes it, and names its members; lines that are indented
//! continue it. Members of all elements of an array are put together, with their values in the order of the
//! elements. A figure of requests, which is null where none was done in time, is `number?`, whichever it is.
//! That something is an array or an object is said only if it is empty, because its elements or
//! members say it otherwise.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The variable that has the files written again.
const VARIABLE: &str = "DIVISI_MEMBERS";

/// The length of a line, but for words that are longer.
const COLUMNS: usize = 110;

/// Members whose values are no fact of the program: figures of the machine and what follows from times,
/// random bytes, prose, and the names of files.
const VARY: [&str; 29] = [
    "about",
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
    "help",
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

/// Figures that need requests that were done.
const OF_REQUESTS: [&str; 3] = ["p50_ms", "p90_ms", "p99_ms"];

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

/// The members of a command's object, each as the path of its object, its name, and its values or types.
pub type Members = BTreeSet<String>;

/// What is known of the member, or of the members, of one name: types, and values in their order.
type Known = BTreeMap<(String, String), (BTreeSet<&'static str>, Vec<String>)>;

fn collect(object: &str, name: &str, value: &Value, found: &mut Known) {
    let (kinds, values) = found.entry((object.to_owned(), name.to_owned())).or_default();
    kinds.extend(match value {
        Value::Null => Some("null"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(all) => all.is_empty().then_some("array"),
        Value::Object(members) => members.is_empty().then_some("object"),
    });
    match value {
        Value::Null => {}
        Value::Array(all) => all.iter().for_each(|value| collect(object, &format!("{name}[]"), value, found)),
        Value::Object(members) => {
            let inside = format!("{}.{name}", object.trim_end_matches('.'));
            members.iter().for_each(|(name, value)| collect(&inside, name, value, found));
        }
        value => values.push(value.to_string()),
    }
}

/// The members of an object.
pub fn members(object: &Value) -> Members {
    let mut found = Known::new();
    collect("", "", object, &mut found);
    let member = |((object, name), (kinds, values)): ((String, String), (BTreeSet<&str>, Vec<String>))| {
        let is_figure = kinds.iter().all(|kind| ["null", "number"].contains(kind));
        if OF_REQUESTS.contains(&name.as_str()) && is_figure {
            return Some(format!("{object} {name}: number?"));
        }
        let alone = values.is_empty() || varies(&format!("{object}.{name}"));
        let known = ["boolean", "number", "string"];
        let mut said: Vec<String> =
            kinds.into_iter().filter(|kind| alone || !known.contains(kind)).map(str::to_owned).collect();
        for same in values.chunk_by(|one, two| !alone && one == two) {
            match same {
                _ if alone => {}
                [value] => said.push(value.clone()),
                same => said.push(format!("{} x{}", same[0], same.len())),
            }
        }
        // the sign that separates members
        let said = format!("{object} {name}: {}", said.join(", ")).replace(';', "\\u003b");
        (!said.ends_with(": ")).then_some(said)
    };
    found.into_iter().filter_map(member).collect()
}

/// The lines that list members.
fn pack(members: &Members) -> String {
    let mut objects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for member in members {
        let (object, member) = member.split_once(' ').unwrap();
        objects.entry(object).or_default().push(member);
    }
    let mut lines = String::new();
    for (object, members) in objects {
        lines += object;
        let mut column = object.len();
        for word in members.join("; ").split(' ') {
            let next = column + 1 + word.chars().count();
            let (space, end) = if next > COLUMNS { ("\n    ", next - column + 3) } else { (" ", next) };
            lines.extend([space, word]);
            column = end;
        }
        lines += "\n";
    }
    lines
}

/// The members that lines list.
fn unpack(lines: &str) -> Members {
    let lines = lines.replace("\n    ", " ");
    let objects = lines.lines().filter_map(|line| line.split_once(' '));
    objects
        .flat_map(|(object, all)| all.split("; ").map(move |member| format!("{object} {member}")))
        .collect()
}

/// The commands of a title, each with its members.
pub struct Group {
    title: String,
    commands: Vec<(String, Members)>,
}

/// What is before the first title, and the groups.
pub struct List {
    before: String,
    groups: Vec<Group>,
}

impl List {
    pub fn read(text: &str) -> List {
        let mut parts = text.split("\n## ");
        let before = parts.next().unwrap_or_default().to_owned();
        let group = |part: &str| {
            let (title, rest) = part.split_once('\n').unwrap();
            let mut commands = rest.split("\n$ ");
            let shared = unpack(commands.next().unwrap_or_default());
            let command = |part: &str| {
                let (command, own) = part.split_once('\n').unwrap();
                (command.to_owned(), &shared | &unpack(own))
            };
            Group { title: title.to_owned(), commands: commands.map(command).collect() }
        };
        List { before, groups: parts.map(group).collect() }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut (String, Members)> {
        self.groups.iter_mut().flat_map(|group| &mut group.commands)
    }

    pub fn commands(&mut self) -> Vec<String> {
        self.all().map(|(command, _)| command.clone()).collect()
    }

    pub fn text(&self) -> String {
        let mut text = self.before.clone();
        for Group { title, commands } in &self.groups {
            let shared = commands.iter().map(|(_, members)| members.clone()).reduce(|one, two| &one & &two);
            let shared = shared.filter(|_| commands.len() > 1).unwrap_or_default();
            text += &format!("\n## {title}\n{}", pack(&shared));
            for (command, members) in commands {
                text += &format!("\n$ {command}\n{}", pack(&(members - &shared)));
            }
        }
        text
    }
}

/// What is true of a command that is run in a directory.
pub fn run(command: &str, dir: &Path) -> Members {
    // several commands at once may reach the usual time limit on a busy machine
    let patient = ["--timeout", "60"].into_iter().filter(|_| !command.contains("--timeout"));
    let output = Command::new(env!("CARGO_BIN_EXE_divisi"))
        .env(divisi::calibrate::VARIABLE, "50")
        .args(command.split(' '))
        .arg("--json")
        .args(patient)
        .current_dir(dir)
        .output()
        .unwrap();
    let object: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {output:?}"));
    let mut members = members(&object);
    members.insert(format!(". exit code: {}", output.status.code().unwrap()));
    members
}

/// Run the commands of a list, which `run` takes and answers in their order, and compare it with what is true
/// now, or write it again.
pub fn compare(path: &Path, run: impl FnOnce(&[String]) -> Vec<Members>) {
    let mut list = List::read(&fs::read_to_string(path).unwrap());
    let commands = list.commands();
    assert!(commands.len() > 12, "commands are read");
    let now = run(&commands);
    let mut differ = Vec::new();
    for ((command, members), now) in list.all().zip(now) {
        let gone = members.difference(&now).map(|member| format!("- {member}"));
        let new = now.difference(members).map(|member| format!("+ {member}"));
        let both: Vec<String> = gone.chain(new).collect();
        if !both.is_empty() {
            differ.push(format!("$ {command}"));
            differ.extend(both);
        }
        *members = now;
    }
    if env::var_os(VARIABLE).is_some_and(|said| said == "write") {
        fs::write(path, list.text()).unwrap();
    } else {
        assert!(differ.is_empty(), "{} says otherwise:\n{}", path.display(), differ.join("\n"));
    }
}
