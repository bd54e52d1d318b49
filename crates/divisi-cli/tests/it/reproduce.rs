//! Reproduction: a catalogue of a few small tables from end to end, what is wrong with it, and the commit.

use crate::has;
use divisi::cleanup::Cleanup;
use divisi::failure::Failure;
use divisi::local::PartyProgram;
use divisi::reproduce::{
    self, Catalogue, Progress, ReportProgram, ReproduceRequest, Reproduction, Thoroughness,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

#[path = "../../build/commit.rs"]
mod commit;

/// A paper with two tables: exact figures, one of which is planted wrong; measured, derived and failing ones.
const PAPER: &str = r#"
name = "small"
title = "A small <paper>"
text = "none"

[[tables]]
id = "table-1"
title = "Counts"
machines = "none"
machine-a-party = false
network = "none"
run = "circuit info aes128"
kind = "exact"
[[tables.columns]]
id = "and"
label = "ANDs"
unit = "gates"
figure = "[/and]"
[[tables.rows]]
id = "right"
label = "AES"
engine = ""
security = ""
parties = 0
values = ["6,400"]
[[tables.rows]]
id = "stated"
label = "AES by others"
engine = ""
security = ""
parties = 0
values = [6800]
cells = [{ column = "and", ours = 6400, why = "another S-box" }]

[[tables]]
id = "table-2"
title = "Times"
machines = "three"
machine-a-party = true
network = "fast"
run = "bench aes --security semi-honest --protocol gf4-circuit --warmup 0 --timeout 60"
quick = "--blocks 4 --reps 2"
full = "--blocks 8 --reps 2"
kind = "measured"
[tables.formulas]
twice = "2 * [count]"
[[tables.columns]]
id = "rate"
label = "blocks"
unit = "1/s"
figure = "[online_per_second]"
[[tables.columns]]
id = "more"
label = "more"
unit = "1"
kind = "derived"
figure = "$twice + [#table-1/right/and]"
[[tables.rows]]
id = "runs"
label = "It runs"
engine = "rep3"
security = "semi-honest"
parties = 3
values = [1000, 6408]
[[tables.rows]]
id = "fails"
label = "It fails, \"really\""
engine = "rep3"
security = "semi-honest"
parties = 3
run = "--parties 5"
values = [5, ""]
[[tables.rows]]
id = "cannot"
label = "Out of reach"
engine = ""
security = ""
parties = 0
kind = "out-of-reach"
reason = "there is no such machine"
values = ["-", "7"]
[[tables.rows]]
id = "long"
label = "In full alone"
engine = "rep3"
security = "semi-honest"
parties = 3
when = "full"
values = [9, ""]
[[tables.rows]]
id = "large"
label = "More than memory"
engine = "rep3"
security = "semi-honest"
parties = 3
run = "--key-bits 256"
memory = 1000000000
values = [9, ""]
[[tables.peers]]
name = "another"
commit = "0"
flags = "none"
leaves-out = "all"
machine = "a slow one"
column = "rate"
values = { runs = 5 }

[[left-out]]
table = "table-3"
what = "constants"
numbers = 2
reason = "they measure nothing"
"#;

/// Reproduce a table of a catalogue, as if the program were built from some commit.
fn write(
    catalogue: &str,
    request: &ReproduceRequest,
    commit: &str,
) -> (Result<Reproduction, Failure>, Vec<Progress>) {
    let told: Mutex<Vec<Progress>> = Mutex::default();
    // runs with a time limit of their own keep it
    let timeout = Some(std::time::Duration::from_secs(30));
    let program = ReportProgram { party: &PartyProgram::at(env!("CARGO_BIN_EXE_divisi")), commit, timeout };
    let catalogue = Catalogue::of(&[catalogue]).unwrap();
    let tell = |now: &Progress| told.lock().unwrap().push(now.clone());
    let written = reproduce::write(&catalogue, request, program, &Cleanup::new(), &tell);
    (written, told.into_inner().unwrap())
}

fn quick(out: PathBuf) -> ReproduceRequest {
    ReproduceRequest { out, thoroughness: Thoroughness::Quick, ..ReproduceRequest::default() }
}

/// The cells of a table in a report.
fn cells(report: &Value, table: usize) -> BTreeMap<String, Value> {
    let table = &report["papers"][0]["tables"][table];
    let columns = table["columns"].as_array().unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    rows.flat_map(|row| {
        let named = |(column, cell): (&Value, &Value)| {
            (format!("{}/{}", row["id"].as_str().unwrap(), column["id"].as_str().unwrap()), cell.clone())
        };
        columns.iter().zip(row["cells"].as_array().unwrap()).map(named).collect::<Vec<_>>()
    })
    .collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_small_paper_is_reproduced_and_what_fails_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let request = quick(dir.path().join("out"));
    let (written, told) = write(PAPER, &request, "0123abcd");
    let written = written.unwrap();
    let report = json(&written.json);
    has!(report, "schema": 1, "commit": "0123abcd", "mode": "quick");
    let counts = serde_json::json!({
        "exact": 2, "differ": 0, "measured": 1, "derived": 1, "out_of_reach": 2, "failed": 1, "not_run": 2,
    });
    assert_eq!(report["counts"], counts);
    let (first, second) = (cells(&report, 0), cells(&report, 1));
    has!(first["right/and"], "state": "ok", "printed": "6,400", "paper": 6400, "ours": 6400);
    has!(first["stated/and"], "state": "ok", "asserted": 6400, "paper": 6800, "why": "another S-box");
    let rate = &second["runs/rate"];
    assert_eq!((&rate["state"], rate["repetitions"].as_u64()), (&"ok".into(), Some(2)));
    let [least, greatest, cpu] = ["least", "greatest", "cpu_us"].map(|name| rate[name].as_f64().unwrap());
    assert!(0.0 < least && least <= greatest && cpu > 0.0, "{rate}");
    has!(second["runs/more"], "state": "ok", "kind": "derived", "ours": 6408);
    assert_eq!(second["fails/rate"]["state"], "failed");
    assert!(second["fails/rate"]["failure"].as_str().unwrap().contains("3 parties, not 5"));
    assert!(second["fails/more"].is_null());
    has!(second["cannot/more"], "state": "not-run", "reason": "there is no such machine");
    has!(second["long/rate"], "state": "not-run", "failure": null);
    assert!(second["large/rate"]["failure"].as_str().unwrap().contains("1000000000 MiB"));
    assert_eq!((written.runs, written.failed.is_some(), written.differs), (4, true, None));
    // told before each pass of a run, with the time left from the first one on; there is no second pass after
    // one that failed
    assert_eq!(told.iter().map(|now| now.done).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(told.iter().map(|now| now.of).collect::<Vec<_>>(), [7, 7, 7, 6, 5]);
    assert!(told.iter().all(|now| now.left.is_some()) && told[1].now == told[4].now);

    let page = std::fs::read_to_string(&written.html).unwrap();
    for part in
        ["A small &lt;paper&gt;", "6,800", "another S-box", "data-row=\"fails\"", "a machine for each party"]
    {
        assert!(page.contains(part), "{part}");
    }
    let csv = std::fs::read_to_string(&written.csv).unwrap();
    assert_eq!((csv.matches("\r\n").count(), csv.lines().count()), (1 + 9, 1 + 9));
    assert!(csv.contains("small,table-1,right,and,gates,,,0,exact,ok,\"6,400\",6400,"), "{csv}");

    // again: what is finished is not run again, and what failed is
    let (again, told) = write(PAPER, &ReproduceRequest { resume: true, ..request.clone() }, "0123abcd");
    assert_eq!(again.unwrap().runs, 4);
    assert!(
        told.iter().all(|now| now.now.contains("--parties 5") || now.now.contains("256")) && told.len() == 2
    );
    assert_eq!(cells(&json(&written.json), 1)["runs/rate"], *rate);
    // by another program, with another catalogue, or unasked: refused, and nothing is lost
    let changed = PAPER.replace("6800", "6801");
    for (catalogue, resume, commit, part) in [
        (PAPER, true, "0123abce", "runs of commit 0123abcd, and this program is of 0123abce"),
        (&changed, true, "0123abcd", "catalogue"),
        (PAPER, false, "0123abcd", "--resume"),
    ] {
        let request = ReproduceRequest { resume, ..request.clone() };
        let failure = write(catalogue, &request, commit).0.unwrap_err();
        assert!(failure.kind.exit_code() == 2 && failure.error.contains(part), "{failure}");
    }
    assert_eq!(json(&written.json)["counts"], counts);
}

#[test]
fn an_exact_figure_that_differs_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let planted = PAPER.replace("ours = 6400", "ours = 6401");
    let request = ReproduceRequest { table: Some("table-1".into()), ..quick(dir.path().to_owned()) };
    let written = write(&planted, &request, "unknown").0.unwrap();
    assert_eq!(written.differs.as_deref(), Some("small table-1/stated/and is 6400, not 6401"));
    assert_eq!((written.counts.exact, written.counts.differ, written.runs), (1, 1, 1));
    assert!(std::fs::read_to_string(&written.html).unwrap().contains("has to be 6,401"));
}

#[test]
fn a_catalogue_that_does_not_hold_together_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to, part) in [
        ("values = [5, \"\"]", "values = [5]", "1 values for 2 columns"),
        ("id = \"fails\"", "id = \"runs\"", "runs is there twice"),
        ("memory = 1", "memroy = 1", "memroy"),
        (", why = \"another S-box\"", "", "without its reason"),
        ("[#table-1/right/and]", "[#table-1/wrong/and]", "no cell table-1/wrong/and"),
        ("reason = \"there is", "note = \"there is", "note"),
        ("2 * [count]", "2 * (count", "no number"),
        ("{ runs = 5 }", "{ walks = 5 }", "no row"),
    ] {
        let text = PAPER.replace(from, to);
        assert_ne!(text, PAPER, "{from}");
        let program =
            ReportProgram { party: &PartyProgram::at("/no/such/program"), commit: "1", timeout: None };
        let failure = Catalogue::of(&[&text]).and_then(|catalogue| {
            reproduce::write(&catalogue, &quick(dir.path().join("out")), program, &Cleanup::new(), &|_| {})
        });
        let failure = failure.unwrap_err();
        assert!(failure.error.contains(part), "{part}: {failure}");
    }
    assert!(!dir.path().join("out").exists());
}

/// A program that cannot be started fails each run, and the page is there all the same.
#[test]
fn without_a_program_every_run_fails() {
    let dir = tempfile::tempdir().unwrap();
    let program = ReportProgram { party: &PartyProgram::at("/no/such/program"), commit: "1", timeout: None };
    let catalogue = Catalogue::of(&[PAPER]).unwrap();
    let request = quick(dir.path().to_owned());
    let written = reproduce::write(&catalogue, &request, program, &Cleanup::new(), &|_| {}).unwrap();
    assert!(written.failed.unwrap().1.contains("/no/such/program cannot be run"));
    assert_eq!((written.counts.exact, written.counts.failed), (0, 5));
    assert!(std::fs::read_dir(dir.path().join("runs")).unwrap().next().is_none());
}

/// The command itself: a table of the catalogue.
#[test]
fn a_table_of_the_catalogue_is_reproduced() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_divisi"))
        .args(["reproduce", "--quick", "--paper", "maestro", "--table", "table-3", "--rtt", "0.1", "--out"])
        .arg(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("divisi: ")).collect();
    let report = json(&dir.path().join("report.json"));
    let runs = report["runs"].as_array().unwrap().iter();
    let passes = runs.map(|run| if run["command"].as_str().unwrap().contains("--reps") { 2 } else { 1 });
    assert_eq!(lines.len(), passes.sum::<usize>(), "{said}");
    assert!(lines.iter().all(|line| line.contains(": divisi ") && line.ends_with(" left")), "{said}");
    assert!(lines[0].starts_with("1 of ") && lines[1].contains("--rtt 0.1"), "{said}");
    assert!(report["counts"]["exact"].as_u64() > Some(0) && report["counts"]["differ"] == 0, "{report}");
    has!(report["settings"], "rtt_ms": 0.1, "machine": null);
    let warned = said.lines().any(|line| line.starts_with("divisi: other processes took "));
    assert_eq!(report["disturbed"], warned, "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    for part in ["report.csv", "commit ", "load ", report["machine"]["processor"].as_str().unwrap()] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // only an optimised program knows its commit
    let commit = report["commit"].as_str().unwrap();
    assert!(commit == "unknown" || commit.len() >= 40 && !cfg!(debug_assertions), "{commit}");
}

/// The commit of a repository whose files are these.
fn commit_of(files: &[(&str, &str)]) -> Option<String> {
    let files: BTreeMap<PathBuf, &str> =
        files.iter().map(|(path, text)| (PathBuf::from(path), *text)).collect();
    let found = commit::of(Path::new("/r"), |path| files.get(path).map(|text| (*text).to_owned()))?;
    assert!(found.read.iter().all(|path| path.is_absolute()), "{found:?}");
    Some(found.id)
}

#[test]
fn the_commit_is_that_of_the_files_of_the_repository() {
    let (one, two) = ("1".repeat(40), "2".repeat(64));
    let branch = ("/r/.git/HEAD", "ref: refs/heads/main\n");
    let packed =
        format!("# pack-refs with: peeled\n{two} refs/heads/main\n{one} refs/heads/mainly\n^{one}\n");
    assert_eq!(commit_of(&[branch, ("/r/.git/refs/heads/main", &format!("{one}\n"))]), Some(one.clone()));
    assert_eq!(commit_of(&[branch, ("/r/.git/packed-refs", &packed)]), Some(two));
    assert_eq!(commit_of(&[("/r/.git/HEAD", &one)]), Some(one.clone()));
    // a second working tree
    assert_eq!(
        commit_of(&[
            ("/r/.git", "gitdir: /main/.git/worktrees/r\n"),
            ("/main/.git/worktrees/r/HEAD", "ref: refs/heads/side\n"),
            ("/main/.git/worktrees/r/commondir", "/main/.git\n"),
            ("/main/.git/refs/heads/side", &one),
        ]),
        Some(one)
    );
    // no repository, an unborn branch, a file that is no repository's
    for files in [&[][..], &[branch], &[("/r/.git/HEAD", "nonsense")], &[("/r/.git", "nonsense")]] {
        assert_eq!(commit_of(files), None, "{files:?}");
    }
}
