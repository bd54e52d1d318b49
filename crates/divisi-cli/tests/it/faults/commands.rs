//! What happens when parties of a benchmark or a demonstration die, stall, or are interrupted: the command
//! ends in time, names party and step, and leaves no process and no file.

use divisi::bench::{self, BenchOptions};
use divisi::calibrate::Calibration;
use divisi::cleanup::Cleanup;
use divisi::failure::{Failure, Kind};
use divisi::local::PartyProgram;
use divisi_fuzz::repetitions;
use divisi_net::PartyId;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi");
const TIMEOUT: Duration = Duration::from_secs(2);
/// What a busy machine may add to a limit: the benchmarks below would else last minutes.
const BUSY: Duration = Duration::from_secs(15);

fn pid(number: u32) -> Pid {
    Pid::from_raw(number as i32).unwrap()
}

fn is_there(number: u32) -> bool {
    // A zombie is gone: only its parent has not looked yet.
    let state = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    test_kill_process(pid(number)).is_ok() && !state.contains(") Z ")
}

fn until_gone(numbers: &[u32]) {
    let end = Instant::now() + BUSY;
    while numbers.iter().any(|number| is_there(*number)) {
        assert!(Instant::now() < end, "processes are left: {numbers:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// AES that would take minutes.
fn blocks() -> BenchOptions {
    let options = BenchOptions { reps: 1, warmup: 1, timeout: TIMEOUT, ..BenchOptions::default() };
    options.counted(50_000_000)
}

/// The same of eight hashes in constant rounds, garbled ahead and evaluated again and again.
fn garbled() -> BenchOptions {
    let own = [("rounds".to_owned(), "constant".to_owned())].into();
    BenchOptions { own, reps: 100_000, ..blocks() }.of_messages("sha256".parse().unwrap(), 55, 8)
}

/// Run a benchmark, and send a party a signal after a while; the failure, and how long after the signal it
/// came.
fn disturbed(options: &BenchOptions, victim: u8, signal: Signal, after: Duration) -> (Failure, Duration) {
    let calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };
    let (numbers, sent) = (Mutex::new(Vec::new()), Mutex::new(None));
    let failure = std::thread::scope(|scope| {
        let (numbers, sent) = (&numbers, &sent);
        let on_start = |party: PartyId, number: u32| {
            numbers.lock().unwrap().push(number);
            if party.number() == victim {
                scope.spawn(move || {
                    std::thread::sleep(after);
                    kill_process(pid(number), signal).unwrap();
                    *sent.lock().unwrap() = Some(Instant::now());
                });
            }
        };
        bench::run(options, &PartyProgram::at(PROGRAM), calibration, &Cleanup::new(), &on_start).unwrap_err()
    });
    let took = sent.lock().unwrap().unwrap().elapsed();
    until_gone(&numbers.lock().unwrap());
    (failure, took)
}

/// A party is killed this many milliseconds after it started.
fn killed(options: &BenchOptions, victim: u8, after: u64) {
    let (failure, took) = disturbed(options, victim, Signal::KILL, Duration::from_millis(after));
    let told = format!("party {victim} after {after} ms: {failure:?}, {took:?}");
    assert_eq!((failure.kind, failure.peer), (Kind::Abort, Some(victim)), "{told}");
    assert!(
        failure.step.as_ref().is_some_and(|step| !step.is_empty()) && failure.error.contains("signal: 9"),
        "{told}"
    );
    assert!(took < TIMEOUT + BUSY, "{told}");
}

/// Before it can connect, while it connects or sets up, while it computes.
#[test]
fn a_party_that_is_killed_ends_the_benchmark_at_once_and_is_named() {
    [(1, 0), (2, 60), (3, 400), (2, 1200)]
        .into_iter()
        .for_each(|(victim, after)| killed(&blocks(), victim, after));
}

/// While calls are garbled ahead, and while they are used.
#[test]
fn a_garbler_or_evaluator_that_is_killed_ends_the_benchmark_at_once_and_is_named() {
    [(1, 1000), (2, 1150), (3, 1300)]
        .into_iter()
        .for_each(|(victim, after)| killed(&garbled(), victim, after));
}

/// A party is stopped this many milliseconds after it started; it is named, at the latest in the last of so
/// many tries.
fn stopped(options: &BenchOptions, victim: u8, after: u64, tries: u8) {
    let attempt = || disturbed(options, victim, Signal::STOP, Duration::from_millis(after));
    let (mut failure, mut took) = attempt();
    for _ in 1..tries {
        if failure.peer == Some(victim) {
            break;
        }
        assert!(failure.kind == Kind::Abort && failure.peer.is_some(), "{failure:?}");
        (failure, took) = attempt();
    }
    let told = format!("party {victim} after {after} ms: {failure:?}, {took:?}");
    assert_eq!((failure.kind, failure.peer), (Kind::Abort, Some(victim)), "{told}");
    // On a machine that is busy the parties may still have been connecting.
    let connecting =
        failure.step.as_ref().is_some_and(|step| ["join", "connect"].iter().any(|s| step.contains(s)));
    let limit = if connecting { bench::CONNECT } else { TIMEOUT };
    assert!(failure.step.is_some() && took < limit + BUSY, "{told}");
}

#[test]
fn a_party_that_is_stopped_ends_the_benchmark_in_time_and_is_named() {
    let all = [(3, 1500), (2, 1000), (1, 600), (1, 800)];
    repetitions(&all[..3], &all[..])
        .iter()
        .for_each(|(victim, after)| stopped(&blocks(), *victim, *after, 1));
}

/// A party that is stopped between its answer to the benchmark and its last message to the peers, which
/// another thread sends, leaves them waiting: they are named instead. Calls are short, so that this is seen
/// at times.
#[test]
fn a_garbler_or_evaluator_that_is_stopped_ends_the_benchmark_in_time_and_is_named() {
    [(3, 1000), (1, 1150), (2, 1300)]
        .into_iter()
        .for_each(|(victim, after)| stopped(&garbled(), victim, after, 6));
}

/// Start a command with a directory of its own for what it writes, and wait until its three parties run.
/// Returns the command, and the process ids of the parties.
fn start(args: &[&str], dir: &Path) -> (Child, Vec<u32>) {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .env("TMPDIR", dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        let children = |task: std::fs::DirEntry| {
            std::fs::read_to_string(task.path().join("children")).unwrap_or_default()
        };
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().map_while(Result::ok);
        let parties: Vec<u32> = tasks
            .map(children)
            .collect::<Vec<_>>()
            .join(" ")
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        // The identities are in the room when the parties run.
        let folder = std::fs::read_dir(dir).unwrap().map_while(Result::ok).next();
        if parties.len() == 3
            && folder
                .is_some_and(|folder| std::fs::read_dir(folder.path()).is_ok_and(|files| files.count() >= 3))
        {
            return (child, parties);
        }
        assert!(child.try_wait().unwrap().is_none() && Instant::now() < end, "the parties did not start");
        std::thread::sleep(Duration::from_millis(2));
    }
}

const LONG_BENCH: [&str; 4] = ["bench", "aes", "--blocks", "50000000"];

#[test]
fn an_interrupted_command_leaves_no_process_and_no_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(32 << 20).unwrap();
    let demo = ["demo", "--file", file.path().to_str().unwrap()];
    for (args, signal) in [
        (&LONG_BENCH[..], Signal::INT),
        (&LONG_BENCH[..], Signal::HUP),
        (&demo[..], Signal::INT),
        (&demo[..], Signal::TERM),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (child, parties) = start(args, dir.path());
        std::thread::sleep(Duration::from_millis(300));
        if signal == Signal::INT {
            // as a terminal does, to all of its processes
            parties.iter().for_each(|party| kill_process(pid(*party), signal).unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
        kill_process(pid(child.id()), signal).unwrap();
        let start = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < BUSY, "{:?}", start.elapsed());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("interrupted") && told.lines().count() == 1, "{output:?}");
        until_gone(&parties);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "files are left");
    }
}

#[test]
fn parties_end_with_a_command_that_is_killed_and_clean_up_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(32 << 20).unwrap();
    let demo = ["demo", "--file", file.path().to_str().unwrap()];
    for args in [&LONG_BENCH[..], &demo[..]] {
        let (mut child, parties) = start(args, dir.path());
        std::thread::sleep(Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        until_gone(&parties);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "files are left");
    }
}

#[test]
fn a_demonstration_leaves_nothing_and_fails_with_its_servers() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        Command::new(PROGRAM).args(["demo", "--key-bits", "256"]).env("TMPDIR", dir.path()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        run.status.success() && told.contains("the same file again") && told.contains("exportable"),
        "{run:?}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);

    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(32 << 20).unwrap();
    let args = ["demo", "--json", "--timeout", "10", "--file", file.path().to_str().unwrap()];
    let (child, parties) = start(&args, dir.path());
    std::thread::sleep(Duration::from_millis(1500));
    // whoever is killed is missed at once, long before the limit of time
    kill_process(pid(parties[0]), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{json}");
    assert!(json["peer"].is_u64() && json["step"].is_string() && json["error"].is_string(), "{json}");
    until_gone(&parties);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
