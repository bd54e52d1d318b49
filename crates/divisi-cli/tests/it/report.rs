//! The report: a tiny matrix, the page that comes of it, and the fields of its JSON.

use divisi::bench::report::PageRequest;
use divisi::bench::report::mixed::MixedPlan;
use divisi::bench::report::spdz::{LinkLimits, SpdzPlan};
use divisi::bench::report::{self, MatrixPlan, Progress, RunGroup};
use divisi::cleanup::Cleanup;
use divisi_rep3::Protocol;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

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
    report::write(plan, out, Path::new(env!("CARGO_BIN_EXE_divisi")), &Cleanup::new(), tell).unwrap()
}

#[test]
fn a_tiny_matrix_makes_a_page_and_its_json() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let written = write(&tiny(), &out, &|now| told.lock().unwrap().push(now.clone()));

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
    let fields = [
        "schema",
        "engine",
        "version",
        "date",
        "seconds",
        "machine",
        "kernel",
        "calibration",
        "calibration_after",
        "quick",
        "figure",
        "count",
        "runs",
        "latency",
        "papers",
    ];
    let object = json.as_object().unwrap();
    assert!(fields.iter().all(|field| object.contains_key(*field)) && object.len() == fields.len());
    assert!(json["schema"] == 1 && json["count"] == 40 && json["figure"].is_null() && json["quick"] == true);
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), tiny().runs().len());
    for run in runs {
        assert!(run["checked"] == true && run["phases"].as_array().unwrap().len() == 4);
        assert!(RunGroup::ALL.iter().any(|group| run["group"] == group.name()));
        assert!(
            run["latency_seconds"].as_f64().unwrap() > 0.0 && run["cpu_us_per_block_and_party"].is_number()
        );
    }
    assert_eq!(runs.iter().filter(|run| run["group"] == "throughput").count(), 10);
    assert!(runs.iter().any(|run| run["key_bits"] == 256));

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
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_report_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let failed = |plan: &MatrixPlan, program: &str| {
        report::write(plan, &out, Path::new(program), &Cleanup::new(), &|_| {}).unwrap_err()
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
    let program = Path::new(env!("CARGO_BIN_EXE_divisi"));
    let tell = |now: &Progress| told.lock().unwrap().push(now.clone());
    let written = report::mixed::write(&plan, dir.path(), program, &Cleanup::new(), &tell).unwrap();
    let page = std::fs::read_to_string(&written.html).unwrap();
    check_page(&page).unwrap();
    // the paper's figures, what they are about, and that these protect nothing
    for part in ["0.494", "1621.5", "1.52", "8.51", "51.12", "m5.2xlarge", "Semi-honest", "INSECURE"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("n = 3") && page.contains("here, n = 2") && !page.contains("NaN"));
    let data = std::fs::read_to_string(&written.json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert!(json["schema"] == 1 && json["engine"] == "mixed" && json["insecure"] == true);
    assert_eq!(json["operations"].as_array().unwrap().len(), 2 * 4);
    let applications = json["applications"].as_array().unwrap();
    assert_eq!(applications.len(), 2 * 2 * 2);
    for run in applications {
        assert!(
            run["checked"] == true
                && run["seconds"].as_f64().unwrap() > 0.0
                && run["paper_seconds"].is_null()
        );
    }
    assert_eq!(json["counts"].as_array().unwrap().len(), 2);
    assert_eq!((written.runs, told.into_inner().unwrap().len()), (16, 16));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
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
    let program = Path::new(env!("CARGO_BIN_EXE_divisi"));
    let tell = |now: &Progress| told.lock().unwrap().push(now.clone());
    let written = report::spdz::write(&plan, dir.path(), program, &Cleanup::new(), &tell).unwrap();
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
    // measured rounds and openings are the paper's, and what is made ahead follows the formula
    for (cost, rounds, openings) in [("aes-lt", 10, 160), ("aes-rp", 70, 1920), ("3des-lt", 46, 384)] {
        let of = json["costs"].as_array().unwrap().iter().find(|of| of["protocol"] == cost).unwrap();
        assert!(of["rounds"] == rounds && of["openings"] == f64::from(openings), "{of}");
        let [measured, formula] =
            ["measured_megabytes", "bucketed_megabytes"].map(|name| of[name].as_f64().unwrap());
        assert!(measured >= formula && measured < 3.0 * formula, "{of}");
    }
    assert_eq!(json["tables"].as_array().unwrap().len(), 5);
    assert!(json["papers"]["table4"].as_array().unwrap().len() == 5);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}
