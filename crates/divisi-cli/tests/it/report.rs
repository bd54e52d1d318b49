//! The report: a tiny matrix, the page that comes of it, and the fields of its JSON.

use crate::has;
use crate::program::PROGRAM;
use divisi::bench::report::PageRequest;
use divisi::bench::report::mixed::MixedPlan;
use divisi::bench::report::spdz::{LinkLimits, SpdzPlan};
use divisi::bench::report::{self, MatrixPlan, Progress, ReportProgram, RunGroup};
use divisi::cleanup::Cleanup;
use divisi::local::PartyProgram;
use divisi_rep3::Protocol;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

#[path = "../../build/commit.rs"]
mod commit;

/// Elements without content, and without an end.
const VOID: [&str; 1] = ["meta"];

/// Every tag closed in order, every `<` and `&` part of markup, and nothing from elsewhere.
fn check_page(html: &str) -> Result<(), String> {
    let mut rest = html.strip_prefix("<!doctype html>").ok_or("no doctype")?;
    let mut open: Vec<&str> = Vec::new();
    while let Some((text, after)) = rest.split_once('<') {
        check_text(text, open.last() == Some(&"style"))?;
        let (tag, next) = after.split_once('>').ok_or("a tag without an end")?;
        rest = next;
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last != Some(name) {
                return Err(format!("</{name}> where {last:?} is open"));
            }
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) || tag.contains('<') {
            return Err(format!("no tag: <{tag}>"));
        }
        // outside the quotes stand the name and the attributes' names
        let attributes: Vec<&str> = tag.split('"').step_by(2).flat_map(str::split_whitespace).collect();
        let foreign = |a: &&str| a.starts_with("src=") || a.ends_with("href=") || a.starts_with("on");
        if tag.matches('"').count() % 2 != 0 || attributes.iter().any(foreign) {
            return Err(format!("an attribute in <{tag}>"));
        }
        if ["script", "link", "img", "iframe", "object", "base"].contains(&name) {
            return Err(format!("<{name}>"));
        }
        match tag.ends_with('/') {
            true => {}
            false if VOID.contains(&name) => return Err(format!("<{name}> is not ended")),
            false => open.push(name),
        }
    }
    check_text(rest, false)?;
    if ["http:", "https:", "url(", "@import", "javascript:"].iter().any(|outside| html.contains(outside)) {
        return Err("something from elsewhere".into());
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are left open")) }
}

fn check_text(text: &str, style: bool) -> Result<(), String> {
    let loose = text.split('&').skip(1).find(|after| {
        let entity = after.split(';').next().unwrap_or_default();
        entity.len() > 6 || !entity.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
    });
    match loose {
        Some(after) => Err(format!("a loose & before {after:?}")),
        None if text.contains('>') && !style => Err(format!("a loose > in {text:?}")),
        None => Ok(()),
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let page = |body: &str| format!("<!doctype html><html><meta charset=\"utf-8\"/>{body}</html>");
    assert_eq!(check_page(&page("<p class=\"a\">x &amp; y<line x=\"1\"/></p>")), Ok(()));
    for bad in [
        "<p>",
        "</p>",
        "<b><i></b></i>",
        "a & b",
        "a > b",
        "<img src=\"x\"/>",
        "<script></script>",
        "<p onclick=\"x\"></p>",
        "<style>@import x</style>",
        "<a href=\"x\"></a>",
        "https://example.com",
        "<p class=\"></p>",
        "< p></p>",
    ] {
        assert!(check_page(&page(bad)).is_err(), "{bad}");
    }
    assert!(check_page("<html></html>").is_err());
}

fn tiny() -> MatrixPlan {
    MatrixPlan {
        quick: true,
        blocks: Some(40),
        reps: Some(1),
        round_trips_ms: vec![1.0, 3.0],
        ..MatrixPlan::default()
    }
}

fn write(plan: &MatrixPlan, out: &Path, tell: &dyn Fn(&Progress)) -> report::Written {
    report::write(plan, out, program(), &Cleanup::new(), tell).unwrap()
}

/// The program, as if it were built from some commit.
fn program() -> ReportProgram<'static> {
    static BUILT: LazyLock<PartyProgram> = LazyLock::new(|| PartyProgram::at(env!("CARGO_BIN_EXE_divisi")));
    ReportProgram { party: &BUILT, commit: "0123abcd" }
}

/// The lines of a CSV below its header: run, figure, unit, value, least, greatest, repetitions.
fn lines_of(csv: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(csv).unwrap();
    let rest = text.strip_prefix("run,figure,unit,value,least,greatest,repetitions\r\n").unwrap();
    let cells = |line: &str| {
        // only the run's name may stand in quotes
        let (name, figures) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",").unwrap(),
            None => line.split_once(',').unwrap(),
        };
        let cells: Vec<String> = [name].into_iter().chain(figures.split(',')).map(str::to_owned).collect();
        assert_eq!(cells.len(), 7, "{line}");
        cells
    };
    rest.split_terminator("\r\n").map(cells).collect()
}

/// The spread of each figure is around the figure that it belongs to, and the same in the CSV.
fn check_spread(run: &serde_json::Value, reps: usize) {
    let spread = run["spread"].as_object().unwrap();
    for name in ["online_per_second", "total_per_second", "latency_seconds", "setup_seconds"] {
        assert!(spread.contains_key(name), "{name}");
    }
    for (name, figure) in spread {
        let (least, greatest) = (figure["least"].as_f64(), figure["greatest"].as_f64());
        assert!(least <= greatest, "{name}: {figure}");
        assert!(reps > 1 || least == greatest, "{name}: {figure}");
    }
    if let Some(latency) = run["latency_seconds"].as_f64() {
        let [least, greatest] =
            ["least", "greatest"].map(|end| spread["latency_seconds"][end].as_f64().unwrap());
        assert!((least..=greatest).contains(&latency), "{run}");
    }
}

/// Commit, load and the share of others are in a report and its page.
fn check_conditions(json: &serde_json::Value, page: &str) {
    assert_eq!(json["commit"], "0123abcd");
    assert!(json["machine"]["processor"].is_string());
    assert!(json["load"]["before"].is_number() && json["load"]["after"].is_number());
    let others = json["others_share"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&others), "{others}");
    assert_eq!(json["disturbed"], others > 0.1);
    assert_eq!(page.contains("class=\"warning\">Warning: other processes took"), others > 0.1);
    assert!(page.contains("commit 0123abcd") && page.contains("other processes meanwhile: "));
}

#[test]
fn a_tiny_matrix_makes_a_page_and_its_json() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let tiny = MatrixPlan { reps: Some(2), ..tiny() };
    let written = write(&tiny, &out, &|now| told.lock().unwrap().push(now.clone()));

    let page = std::fs::read_to_string(&written.html).unwrap();
    check_page(&page).unwrap();
    assert_eq!(page.matches("<svg ").count(), 6, "throughput and CPU for either security, memory, latency");
    for protocol in Protocol::ALL.iter().copied() {
        assert!(page.matches(protocol.name()).count() >= 10, "{protocol}");
    }
    // the papers' figures, with their machines, and ours with this one
    for part in [
        "775,697",
        "44,624",
        "i9-9900",
        "Xeon E5-2650v2",
        "The machines differ",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("width=device-width") && page.contains(&written.outcome.date()));
    assert!(!page.contains("NaN") && !page.contains(">inf"));

    let data = std::fs::read_to_string(&written.json).unwrap();
    assert_eq!(data, format!("{:#}\n", written.outcome.to_json()));
    let json: serde_json::Value = serde_json::from_str(&data).unwrap();
    has!(json, "schema": 1, "count": 40, "figure": null, "quick": true);
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), tiny.runs().len());
    check_conditions(&json, &page);
    for run in runs {
        check_spread(run, 2);
        assert!(run["checked"] == true && run["phases"].as_array().unwrap().len() == 4);
        assert!(RunGroup::ALL.iter().any(|group| run["group"] == group.name()));
        assert!(
            run["latency_seconds"].as_f64().unwrap() > 0.0 && run["cpu_us_per_block_and_party"].is_number()
        );
    }
    assert_eq!(runs.iter().filter(|run| run["group"] == "throughput").count(), 10);
    assert!(runs.iter().any(|run| run["key_bits"] == 256));
    let lines = lines_of(&written.csv);
    assert_eq!(lines.len(), runs.len() * (4 + 2 * 4));
    assert!(
        lines.iter().all(|line| line[6] == "2" && line[4..6].iter().all(|cell| cell.parse::<f64>().is_ok()))
    );
    let first = runs[0]["spread"]["latency_seconds"]["least"].as_f64().unwrap();
    let cell: f64 = lines.iter().find(|line| line[1] == "latency_seconds").unwrap()[4].parse().unwrap();
    // the reader of JSON may be wrong in the last bit
    assert!((cell - first).abs() <= 1e-9 * first, "{cell} {first}");

    // the meter's rounds beside the paper's, each difference with its reason
    let rounds = json["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 10);
    for of in rounds {
        let same = of["online"] == of["paper_online"]
            && of["preprocessing"] == of["paper_preprocessing"].as_u64().unwrap_or(0);
        let reasons = of["reasons"].as_array().unwrap();
        assert_eq!(reasons.is_empty(), same, "{of}");
        assert!(
            !reasons.iter().any(|reason| reason.as_str().unwrap().contains("no reason is known")),
            "{of}"
        );
    }
    let online = |name: &str| rounds.iter().find(|of| of["protocol"] == name).unwrap()["online"].as_u64();
    assert_eq!(["gf4-circuit", "gf8-circuit", "lut256-additive"].map(online), [Some(40), Some(30), Some(11)]);

    let points = json["latency"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    for point in points {
        let figure = |name: &str| point[name].as_f64().unwrap();
        let wait = figure("rounds") * figure("rtt_ms") / 2e3;
        assert!((figure("bound_seconds") - 1.1 * wait - figure("loopback_seconds")).abs() < 1e-9, "{point}");
        assert!(figure("rounds") > 10.0 && figure("seconds") >= wait, "{point}");
        assert_eq!(point["within_bound"], figure("seconds") <= figure("bound_seconds"));
    }

    let told = told.into_inner().unwrap();
    assert_eq!(told.iter().map(|now| now.done).collect::<Vec<_>>(), (0..runs.len()).collect::<Vec<_>>());
    assert!(told.iter().all(|now| now.of == runs.len() && !now.now.is_empty()));
    let (first, rest) = told.split_first().unwrap();
    assert!(
        first.left.is_none() && rest.iter().all(|now| now.left.is_some_and(|left| left > Duration::ZERO))
    );
}

#[test]
fn a_figure_alone_replaces_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("report.html"), "an earlier one").unwrap();
    let plan = MatrixPlan { latency_only: true, round_trips_ms: vec![1.0], ..tiny() };
    let written = write(&plan, dir.path(), &|_| {});
    let page = std::fs::read_to_string(&written.html).unwrap();
    check_page(&page).unwrap();
    assert_eq!((page.matches("<svg ").count(), written.outcome.points().len()), (1, 3));
    assert!(!page.contains("<h2>Throughput") && page.contains("<h2>Latency of one block"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn a_report_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let failed = |plan: &MatrixPlan, program: &str| {
        let program = ReportProgram { party: &PartyProgram::at(program), commit: "unknown" };
        report::write(plan, &out, program, &Cleanup::new(), &|_| {}).unwrap_err()
    };
    let failure = failed(&tiny(), "/no/such/program");
    assert!(failure.kind.exit_code() == 1 && failure.error.contains("cannot be started"), "{failure}");
    assert_eq!(failed(&MatrixPlan { reps: Some(0), ..tiny() }, "/no/such/program").kind.exit_code(), 2);
    assert!(!out.exists());
}

#[test]
fn a_page_of_numbers_and_bits_stands_beside_the_papers_tables() {
    let dir = tempfile::tempdir().unwrap();
    let plan = MixedPlan {
        parties: vec![2, 3],
        reps: 1,
        fewer: 200,
        applications: vec!["gauss", "merge-db"],
        danger_insecure: true,
        ..MixedPlan::of(PageRequest { quick: true, ..PageRequest::default() })
    };
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let tell = |now: &Progress| told.lock().unwrap().push(now.clone());
    let written = report::mixed::write(&plan, dir.path(), program(), &Cleanup::new(), &tell).unwrap();
    let page = std::fs::read_to_string(&written.html).unwrap();
    check_page(&page).unwrap();
    // the paper's figures, what they are about, and that these protect nothing
    for part in ["0.494", "1621.5", "1.52", "8.51", "51.12", "m5.2xlarge", "Semi-honest", "INSECURE"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("n = 3") && page.contains("Gauss Dist., here") && !page.contains("NaN"));
    let data = std::fs::read_to_string(&written.json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert!(json["schema"] == 1 && json["engine"] == "mixed" && json["insecure"] == true);
    assert_eq!(json["operations"].as_array().unwrap().len(), 2 * 4);
    check_conditions(&json, &page);
    json["operations"].as_array().unwrap().iter().for_each(|run| check_spread(run, 1));
    let applications = json["applications"].as_array().unwrap();
    assert_eq!(applications.len(), 2 * 2 * 2);
    for run in applications {
        assert!(
            run["checked"] == true
                && run["seconds"].as_f64().unwrap() > 0.0
                && run["paper_seconds"].is_null()
        );
    }
    let lines = lines_of(&written.csv);
    assert_eq!(lines.iter().filter(|line| line[1] == "item_seconds").count(), 2 * 4);
    assert_eq!(lines.iter().filter(|line| line[1] == "seconds").count(), applications.len());
    assert_eq!(json["counts"].as_array().unwrap().len(), 2);
    assert_eq!((written.runs, told.into_inner().unwrap().len()), (16, 16));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn a_page_of_masked_tables_stands_beside_the_papers_tables() {
    let dir = tempfile::tempdir().unwrap();
    let plan = SpdzPlan {
        protocols: vec!["aes-lt", "aes-rp", "3des-lt", "3des-raw"],
        blocks: [3, 2],
        reps: 1,
        single: [2, 1],
        networks: [
            LinkLimits { rtt_ms: 0.1, rate_mbit: 10_000.0 },
            LinkLimits { rtt_ms: 2.0, rate_mbit: 1000.0 },
        ],
        timeout: Duration::from_secs(60),
    };
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let tell = |now: &Progress| told.lock().unwrap().push(now.clone());
    let written = report::spdz::write(&plan, dir.path(), program(), &Cleanup::new(), &tell).unwrap();
    let page = std::fs::read_to_string(&written.html).unwrap();
    check_page(&page).unwrap();
    // figures of each of the paper's tables, and what they are about
    for part in ["42,240", "51,654", "29,055", "577", "112", "i7-4790", "Malicious", "N = 1024", "3des-raw"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN") && !page.contains(">inf"));
    let data = std::fs::read_to_string(&written.json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert!(json["schema"] == 1 && json["engine"] == "spdz" && json["security"] == "malicious");
    // 3des-raw has no figures far apart
    let runs = json["runs"].as_array().unwrap();
    assert_eq!((runs.len(), written.runs, told.into_inner().unwrap().len()), (14, 14, 14));
    for run in runs {
        assert!(run["checked"] == true && run["latency_seconds"].as_f64().unwrap() > 0.0, "{run}");
        assert!(run["preprocessing_per_second"].as_f64().unwrap() > 0.0, "{run}");
    }
    assert_eq!(runs.iter().filter(|run| run["network"] == "WAN").count(), 6);
    check_conditions(&json, &page);
    // one block near has two repetitions, everything else one
    runs.iter().for_each(|run| check_spread(run, if run["count"] == 1 { 2 } else { 1 }));
    let lines = lines_of(&written.csv);
    assert_eq!(lines.iter().filter(|line| line[1] == "preprocessing_per_second").count(), 14);
    // measured rounds and openings are the paper's, and what is made ahead follows the formula
    for (cost, rounds, openings) in [("aes-lt", 10, 160), ("aes-rp", 70, 1920), ("3des-lt", 46, 384)] {
        let of = json["costs"].as_array().unwrap().iter().find(|of| of["protocol"] == cost).unwrap();
        assert!(of["rounds"] == rounds && of["openings"] == f64::from(openings), "{of}");
        assert!(of["paper_rounds"] == rounds && of["rounds_reason"].is_null(), "{of}");
        let [measured, formula] =
            ["measured_megabytes", "bucketed_megabytes"].map(|name| of[name].as_f64().unwrap());
        assert!(measured >= formula && measured < 3.0 * formula, "{of}");
    }
    let raw = json["costs"].as_array().unwrap().iter().find(|of| of["protocol"] == "3des-raw").unwrap();
    assert!(
        raw["rounds"] == 322 && raw["paper_rounds"] == 2_979 && raw["rounds_reason"].is_string(),
        "{raw}"
    );
    assert!(page.contains("rounds of 3des-raw: "));
    assert_eq!(json["tables"].as_array().unwrap().len(), 5);
    assert!(json["papers"]["table4"].as_array().unwrap().len() == 5);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
}

/// What a report says on standard error, which is no terminal here, and what it prints.
#[test]
fn a_report_in_a_log_says_where_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(PROGRAM)
        .env(divisi::calibrate::VARIABLE, "50")
        .args(["bench", "report", "--figure", "latency", "--rtt", "1", "--reps", "2", "--out"])
        .arg(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("divisi: ")).collect();
    assert_eq!(lines.len(), 6, "{said}");
    for (number, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("{} of 6: ", number + 1)) && line.contains("1 block"), "{line}");
    }
    assert!(lines[3].contains("round trip 1 ms") && lines[3].ends_with(" left"), "{said}");
    let warned = said.lines().any(|line| line.starts_with("divisi: rep3: other processes took "));
    let data = std::fs::read_to_string(dir.path().join("report.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert_eq!(json["disturbed"], warned, "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    for part in
        ["expected, ms", "report.csv", "commit ", "load ", json["machine"]["processor"].as_str().unwrap()]
    {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains("bound"), "{printed}");
    // only an optimised program knows its commit
    let commit = json["commit"].as_str().unwrap();
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
