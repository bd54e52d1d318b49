//! Parties as real processes whose links lead through proxies that count bytes and records of TLS: one of
//! them is killed, stopped, cut off or made to send garbage in the middle of a phase, or when a certain
//! message sets out.

mod wires;

use divisi::bench::{self, BenchOptions};
use divisi::calibrate::Calibration;
use divisi::cleanup::Cleanup;
use divisi::engine;
use divisi::local::PartyProgram;
use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
pub use wires::{FAULTS, Fault, Plan, Record, When, Wires, through_proxies};

const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi");
pub const PARTIES: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of a run in which nothing happens.
const UNDISTURBED: Duration = Duration::from_secs(60);
/// The time that a busy machine may take in addition.
const BUSY: Duration = Duration::from_secs(15);

/// How many runs of this program continue at once: most of their time they wait.
const AT_ONCE: usize = 5;
/// Which places of simultaneous runs are taken, and who waits for one.
static PLACES: (Mutex<[bool; AT_ONCE]>, Condvar) = (Mutex::new([false; AT_ONCE]), Condvar::new());

/// The place of a run among the simultaneous ones.
struct RunPlace(usize);

impl RunPlace {
    /// The first place that is free; waits for one.
    fn take() -> Self {
        let (places, freed) = &PLACES;
        let mut taken = freed.wait_while(places.lock().unwrap(), |taken| !taken.contains(&false)).unwrap();
        let place = taken.iter().position(|taken| !taken).unwrap();
        taken[place] = true;
        Self(place)
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        PLACES.0.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
        PLACES.1.notify_one();
    }
}

/// Make a mesh in which party i dials the parties before it through proxies, so that each party has its own
/// configuration. Simultaneous runs use different loopback addresses if the machine has several, because each
/// port is free for a moment before its party listens on it.
fn mesh(dir: &Path, place: &RunPlace, wires: &Arc<Mutex<Wires>>) {
    let own = || TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2 + place.0 as u8), 0));
    let listen = |_| own().or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let ports: Vec<TcpListener> = (0..PARTIES).map(listen).collect();
    let hosts: Vec<String> = ports.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    let made = Command::new(PROGRAM)
        .current_dir(dir)
        .args(["mesh", "new", "--parties", &PARTIES.to_string(), "--hosts", &hosts.join(","), "--out", "m"])
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    through_proxies(&dir.join("m"), &hosts, wires);
    // only now: a proxy must not be given the port of a party
    drop(ports);
    // a process that another test has begun to start holds them, too, until it runs its own program
    let taken = || hosts.iter().any(|host| TcpListener::bind(host).is_err());
    (0..500).take_while(|_| taken()).for_each(|_| std::thread::sleep(Duration::from_millis(10)));
}

/// Which engine, and how.
#[derive(Clone, Copy)]
pub struct RunChoice {
    pub engine: &'static str,
    pub more: &'static [&'static str],
    pub task: &'static Task,
}

/// What is computed.
pub struct Task {
    /// Files that it needs: their names and what they say.
    pub files: fn() -> Vec<(&'static str, String)>,
    /// What `divisi run` is told of it, and the inputs that a party gives.
    pub what: &'static [&'static str],
    pub inputs: fn(usize) -> Vec<String>,
    /// How `divisi bench` is told to measure it.
    pub bench: &'static [&'static str],
    /// An output, and where it stands among all.
    pub output: (&'static str, &'static str),
    pub timeout: Duration,
}

/// AES-128 of a key and a block of the first two parties.
pub static AES_128: Task = Task {
    files: Vec::new,
    what: &["--circuit", "aes128"],
    inputs: |number| {
        let value =
            |owner: usize, digits: &str| format!("{owner}={}", if owner == number { digits } else { "" });
        vec![value(1, "000102030405060708090a0b0c0d0e0f"), value(2, "00112233445566778899aabbccddeeff")]
    },
    bench: &[],
    output: ("/0", "\"69c4e0d86a7b0430d8cdb78070b4c55a\""),
    timeout: TIMEOUT,
};

fn party(dir: &Path, way: RunChoice, index: usize, timeout: Duration) -> Child {
    let number = index + 1;
    let given = (way.task.inputs)(number);
    Command::new(PROGRAM)
        .current_dir(dir)
        .args(["run", "--engine", way.engine, "--json"])
        .args(["--timeout", &timeout.as_secs().to_string()])
        .args(way.task.what)
        .args(way.more)
        .args(given.iter().flat_map(|input| ["--input", input.as_str()]))
        .args(["--party", &number.to_string(), "--config", &format!("m/mesh-{index}.toml")])
        .args(["--identity", &format!("m/party-{number}.key")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How each party ended, and when after the fault; nothing of one that was stopped or killed.
pub type Ends = Vec<Option<(Output, Duration)>>;

/// A run by all parties with a fault, and what was sent in it.
pub fn run(way: RunChoice, plan: Option<Plan>) -> (Ends, [u64; PARTIES], Vec<(Record, usize)>) {
    let place = RunPlace::take();
    let dir = tempfile::tempdir().unwrap();
    let wires = Arc::new(Mutex::new(Wires { plan, ..Wires::default() }));
    mesh(dir.path(), &place, &wires);
    for (name, text) in (way.task.files)() {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let timeout = if plan.is_some() { way.task.timeout } else { UNDISTURBED };
    let mut children: Vec<Option<Child>> = {
        // no proxy passes anything on before all processes are known
        let mut wires = wires.lock().unwrap();
        let children: Vec<Child> = (0..PARTIES).map(|index| party(dir.path(), way, index, timeout)).collect();
        wires.processes = children.iter().map(Child::id).collect();
        children.into_iter().map(Some).collect()
    };
    let gone =
        plan.filter(|plan| matches!(plan.fault, Fault::Killed | Fault::Stopped)).map(|plan| plan.victim);
    let mut victim = gone.map(|victim| children[victim].take().unwrap());
    let ends = std::thread::scope(|scope| {
        let wires = &wires;
        let waits = children.into_iter().map(|child| {
            child.map(|child| {
                scope.spawn(move || {
                    let output = child.wait_with_output().unwrap();
                    let begun = wires.lock().unwrap().begun;
                    (output, begun.map_or(Duration::ZERO, |begun| begun.elapsed()))
                })
            })
        });
        let waits: Vec<_> = waits.collect();
        waits.into_iter().map(|wait| wait.map(|wait| wait.join().unwrap())).collect()
    });
    if let Some(victim) = &mut victim {
        // it may have been killed already
        let _ = victim.kill();
        victim.wait().unwrap();
    }
    let mut wires = wires.lock().unwrap();
    (ends, wires.sent, std::mem::take(&mut wires.records))
}

const AES: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// A run in which nothing happens: what was sent in it.
pub fn undisturbed(way: RunChoice) -> ([u64; PARTIES], Vec<(Record, usize)>) {
    let (ends, sent, records) = run(way, None);
    for (output, _) in ends.into_iter().flatten() {
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(output.status.success(), "{told}");
        let (place, value) = way.task.output;
        assert_eq!(told["outputs"].pointer(place).map(Value::to_string), Some(value.to_owned()), "{told}");
    }
    (sent, records)
}

/// Where the middle of each phase lies, in bytes that a party has sent.
fn middles(engine: &'static str) -> [Vec<u64>; PARTIES] {
    let (sent, _) = undisturbed(RunChoice { engine, more: &[], task: &AES_128 });
    let calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };
    let (parties, security) = (Some(PARTIES), engine::named(engine).unwrap().profile().security);
    let once = BenchOptions { reps: 1, warmup: 0, ..BenchOptions::default() };
    let options = BenchOptions { engine, parties, security, ..once };
    let options = options.of_circuit(&"aes128".into(), 1).unwrap();
    let report =
        bench::run(&options, &PartyProgram::at(PROGRAM), calibration, &Cleanup::new(), &|_, _| {}).unwrap();
    middles_of(sent, &report.to_json())
}

/// The same of what was sent, and of what a measurement told.
fn middles_of(sent: [u64; PARTIES], told: &Value) -> [Vec<u64>; PARTIES] {
    let phases = told["phases"].as_array().unwrap();
    // where all parties send alike, an engine tells what each of them does
    let bytes = |phase: &Value, party: usize| {
        let by_party = phase["bytes_sent_by_party"][party].as_u64();
        by_party.or(phase["bytes_sent_per_party"].as_u64()).unwrap()
    };
    std::array::from_fn(|party| {
        // from the end: the set-up, with handshakes and what TLS adds, differs most from party to party
        let mut end = sent[party];
        let middle = |phase| {
            let begin = end.saturating_sub(bytes(phase, party));
            let middle = begin.midpoint(end);
            end = begin;
            middle
        };
        let mut middles: Vec<u64> = phases.iter().rev().map(middle).collect();
        middles.reverse();
        middles
    })
}

/// Check that the parties other than the victim ended in time, with an abort that names a peer and a step,
/// and printed nothing of the output; returns what each of them printed. If the victim may have sent
/// everything that another party needs, that party may also have the right output.
pub fn aborted(ends: Ends, victim: usize, at: &str, may_be_done: bool) -> [Value; PARTIES] {
    let mut all = [const { Value::Null }; PARTIES];
    for (party, end) in ends.into_iter().enumerate().filter(|(party, _)| *party != victim) {
        let (output, took) = end.unwrap();
        let told: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{at}: party {} says {output:?}", party + 1));
        if may_be_done && output.status.success() {
            assert_eq!(told["outputs"][0], AES, "{at}: {told}");
            continue;
        }
        let end = (output.status.code(), told["kind"].as_str());
        assert_eq!(end, (Some(1), Some("abort")), "{at}: {told}");
        assert!(told["step"].is_string() && told["peer"].is_u64(), "{at}: {told}");
        assert!(took < TIMEOUT + BUSY, "{at}: party {} took {took:?}", party + 1);
        assert!(told["outputs"].is_null() && !told.to_string().contains(&AES[..8]), "{at}: {told}");
        all[party] = told;
    }
    all
}

/// In each of these phases one party is killed, one stopped, one cut off, and one sends garbage: the others
/// end in time, with an abort.
pub fn whoever_stops_the_others_abort(engine: &'static str, phases: &[(usize, [usize; 4])]) {
    let way = RunChoice { engine, more: &[], task: &AES_128 };
    strike(way, &middles(engine), phases);
}

/// The same of another task, whose phases `divisi bench` measures.
pub fn whoever_stops_in(way: RunChoice, phases: &[(usize, [usize; 4])]) {
    let (sent, _) = undisturbed(way);
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in (way.task.files)() {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let measured = Command::new(PROGRAM)
        .env(divisi::calibrate::VARIABLE, "50")
        .current_dir(dir.path())
        .args(["bench", way.engine, "--json", "--reps", "1", "--warmup", "0"])
        .args(["--parties", &PARTIES.to_string()])
        .args(way.task.bench)
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert!(measured.status.success(), "{told}");
    strike(way, &middles_of(sent, &told), phases);
}

fn strike(way: RunChoice, middles: &[Vec<u64>; PARTIES], phases: &[(usize, [usize; 4])]) {
    let jobs = phases.iter().flat_map(|(phase, victims)| {
        FAULTS.into_iter().zip(*victims).map(|(fault, victim)| (*phase, fault, victim))
    });
    at_once(jobs.collect(), |(phase, fault, victim)| {
        let plan = Plan { victim, when: When::Sent(middles[victim][phase]), fault };
        let (ends, ..) = run(way, Some(plan));
        aborted(ends, victim, &format!("{fault:?} of party {} in phase {phase}", victim + 1), false);
    });
}

/// Do all jobs, as many at once as there are places of runs.
pub fn at_once<J: Send>(jobs: Vec<J>, work: impl Fn(J) + Sync) {
    let jobs = Mutex::new(jobs.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = jobs.lock().unwrap().next();
                    let Some(job) = next else { break };
                    work(job);
                }
            });
        }
    });
}
