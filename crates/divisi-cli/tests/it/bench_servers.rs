//! Benchmarks of three servers: their figures, what is emulated, and how they end.

use crate::has;
use crate::program::{CALIBRATION, PROGRAM};
use divisi::bench::servers::file;
use divisi::bench::servers::serve::{self, Mix, RequestKind};
use divisi::cleanup::Cleanup;
use divisi::local::PartyProgram;
use divisi::mode::Choice;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn serve(clients: usize, seconds: f64, mix: Mix) -> serve::ServeReport {
    let options = serve::ServeOptions { clients, seconds, mix, timeout: None };
    serve::run(&options, &PartyProgram::at(PROGRAM), CALIBRATION, &Cleanup::new()).unwrap()
}

/// A benchmark whose directory is made in `dir`.
fn bench(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("bench").args(args).env("TMPDIR", dir).env(divisi::calibrate::VARIABLE, "50");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The JSON object that a benchmark prints. The benchmark must leave no files behind.
fn json(args: &[&str]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = bench(dir.path(), args).output().unwrap();
    assert!(status.success(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
    assert_eq!(without_warning(&stderr), "");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    serde_json::from_slice(&stdout).unwrap()
}

/// What stands on standard error beside the warning that the machine was calibrated in a shorter time.
fn without_warning(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().filter(|line| !line.contains(divisi::calibrate::VARIABLE)).collect()
}

fn has_exactly(object: &Value, fields: &[&str]) {
    let object = object.as_object().unwrap();
    assert!(fields.iter().all(|field| object.contains_key(*field)), "{object:?}");
    assert_eq!(object.len(), fields.len(), "{object:?}");
}

fn costs_something(object: &Value) {
    assert!(object["cpu_seconds_per_party"].as_f64().unwrap() > 0.0, "{object}");
    #[cfg(target_os = "linux")]
    assert!((1 << 20..512 << 20).contains(&object["peak_rss_bytes_per_party"].as_u64().unwrap()), "{object}");
    assert!(object["calibration"]["aes_ctr_gb_s"].is_number(), "{object}");
    assert!(object["schema"] == 1 && object["checked"] == true, "{object}");
}

#[test]
fn a_file_there_and_back_has_its_figures() {
    let object = json(&["file", "--bytes", "200000", "--json"]);
    costs_something(&object);
    has!(object, "bytes": 200_000, "protocol": "gf4-circuit", "rtt_ms": null, "rtt_links": null, "mode": null);
    for rate in ["encrypt_mb_per_second", "decrypt_mb_per_second"] {
        assert!((1e-4..1e4).contains(&object[rate].as_f64().unwrap()), "{object}");
    }
}

#[test]
fn many_clients_have_their_figures() {
    // on a busy machine the first request may take long
    let of = |seconds: &str| json(&["serve", "--clients", "2", "--seconds", seconds, "--json"]);
    let some = |object: &Value| object["kinds"]["one-block"]["count"] != 0;
    let object = ["1", "8", "32"].iter().map(|seconds| of(seconds)).find(some).unwrap();
    costs_something(&object);
    has!(object, "clients": 2, "mix": "one-block");
    has_exactly(&object["kinds"], &["one-block"]);
    let (seconds, blocks) = (object["seconds"].as_f64().unwrap(), &object["kinds"]["one-block"]);
    assert!([1.0, 8.0, 32.0].contains(&seconds), "{object}");
    let per_second = blocks["count"].as_f64().unwrap() / seconds;
    assert!((blocks["per_second"].as_f64().unwrap() - per_second).abs() <= 1e-6 * per_second, "{object}");
    let [p50, p90, p99] = ["p50_ms", "p90_ms", "p99_ms"].map(|p| blocks[p].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p90 && p90 <= p99 && p99 <= seconds * 1e3, "{object}");
    assert!(blocks["refused"].is_u64(), "{object}");
}

/// The client waits for a server at least once each way, so that a round trip is in each time.
#[test]
fn an_emulated_round_trip_is_the_clients() {
    let rtt = 60.0;
    let options = file::FileOptions { bytes: 1, choice: Choice::default(), rtt_ms: Some(rtt), timeout: None };
    let (mut last, program) = (0, PartyProgram::at(PROGRAM));
    let report =
        file::run(&options, &program, CALIBRATION, &Cleanup::new(), &mut |done| last = done).unwrap();
    assert!(report.encrypt_seconds * 1e3 >= rtt && report.decrypt_seconds * 1e3 >= rtt, "{report:?}");
    assert_eq!(last, 2);
    let object = report.to_json();
    assert!(object["rtt_ms"] == rtt && object["rtt_links"] == "client-server", "{object}");
}

/// A log has a line every ten seconds, if it asks for it: how far, how fast, how long still.
#[test]
fn a_log_is_told_how_far_a_long_command_is() {
    let dir = tempfile::tempdir().unwrap();
    let far = ["file", "--bytes", "1000000", "--rtt", "1000", "--verbose"];
    let mut child = bench(dir.path(), &far).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains(" left")).unwrap();
    assert!(line.contains(" of 1.91 MiB, ") && line.contains("/s, "), "{line}");
    // the rest says no more
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A key names 64 at most.
#[test]
fn more_clients_than_a_key_names_are_served() {
    let report = serve_some(66, Mix::OneBlock);
    assert!(report.checked && report.options.clients == 66, "{report:?}");
}

/// The report of a mix in which some request was done: on a busy machine the first may take long.
fn serve_some(clients: usize, mix: Mix) -> serve::ServeReport {
    for seconds in [0.5, 2.0, 8.0, 32.0] {
        let begun = Instant::now();
        let report = serve(clients, seconds, mix);
        let most = Duration::from_secs_f64(60.0 + seconds);
        assert!(begun.elapsed() < most, "it waited for a request, as of a file of 1 GiB");
        if report.kinds.iter().any(|of| of.count > 0) {
            return report;
        }
    }
    panic!("no request of {} was done", mix.name());
}

#[test]
fn each_mix_has_its_kinds_and_long_requests_need_not_end() {
    for mix in [Mix::OneBlock, Mix::File] {
        let report = serve_some(1, mix);
        assert!(report.kinds.iter().map(|of| of.kind).eq(mix.kinds().iter().copied()), "{report:?}");
        let [p50, p90, p99] = report.kinds[0].percentiles.map(Option::unwrap);
        assert!(report.checked && 0.0 < p50 && p50 <= p90 && p90 <= p99, "{report:?}");
    }

    let report = serve_some(3, Mix::Mixed);
    let blocks = report.kinds.iter().find(|of| of.kind == RequestKind::OneBlock).unwrap();
    assert!(blocks.count > 0 && blocks.percentiles.iter().all(Option::is_some), "{report:?}");
    let object = report.to_json();
    has_exactly(&object["kinds"], &["one-block", "file", "hash"]);
    for long in ["file", "hash"] {
        let of = &object["kinds"][long];
        assert!(of["count"] == 0 && of["p50_ms"].is_null() && of["per_second"] == 0.0, "{object}");
    }
    assert_eq!(object["checked"], true);
}

/// Running servers: their directory in `dir` has the keys of all three.
fn wait_for_servers(dir: &Path, child: &mut Child) {
    let until = Instant::now() + Duration::from_secs(30);
    let keys = |folder: &Path| (1..=3).all(|party| folder.join(format!("data-{party}")).is_dir());
    while !std::fs::read_dir(dir).unwrap().any(|folder| keys(&folder.unwrap().path())) {
        assert!(Instant::now() < until && child.try_wait().unwrap().is_none(), "no server began");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ended(child: Child, dir: &Path) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "something is left");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn an_interruption_leaves_nothing_behind() {
    for args in [&["serve", "--clients", "2", "--seconds", "600"][..], &["file", "--bytes", "1000000000"]] {
        let dir = tempfile::tempdir().unwrap();
        let mut child = bench(dir.path(), args).spawn().unwrap();
        wait_for_servers(dir.path(), &mut child);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let (code, told) = ended(child, dir.path());
        assert!(code == Some(1) && told.contains("interrupted"), "{code:?} {told}");
    }
}

/// Clients only see that nobody serves them any more; the benchmark knows which process ended.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_dies_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = bench(dir.path(), &["serve", "--clients", "2", "--seconds", "3"]).spawn().unwrap();
    wait_for_servers(dir.path(), &mut child);
    let id = child.id();
    let servers = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let second = servers.split_whitespace().nth(1).unwrap().parse().unwrap();
    kill_process(Pid::from_raw(second).unwrap(), Signal::KILL).unwrap();
    let (code, told) = ended(child, dir.path());
    assert!(code == Some(1) && told.contains("the process of party 2 ended"), "{code:?} {told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
