//! Parties as real processes whose links lead through proxies that count bytes: one of them is killed,
//! stopped, cut off or made to send garbage when it has sent what takes it to the middle of a phase.

use divisi::bench::{self, BenchOptions, Work};
use divisi::calibrate::Calibration;
use divisi::cleanup::Cleanup;
use divisi::engine;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi");
const PARTIES: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(2);
/// What a busy machine may add to it.
const BUSY: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Killed,
    Stopped,
    CutOff,
    Garbage,
}

/// What happens to one party, once it has sent so many bytes.
#[derive(Clone, Copy)]
struct Plan {
    victim: usize,
    after: u64,
    fault: Fault,
}

/// What all proxies share.
#[derive(Default)]
struct Wires {
    plan: Option<Plan>,
    /// Bytes that each party sent.
    sent: [u64; PARTIES],
    processes: Vec<u32>,
    sockets: Vec<(usize, TcpStream)>,
    begun: Option<Instant>,
}

impl Wires {
    /// A party sends this: whether it is to be forwarded, as it is then; nothing if there is no link any
    /// more.
    fn pass(&mut self, from: usize, body: &mut [u8]) -> Option<bool> {
        self.sent[from] += body.len() as u64;
        let Some(Plan { victim, after, fault }) = self.plan else { return Some(true) };
        if from != victim || self.sent[from] < after {
            return Some(true);
        }
        let first = self.begun.is_none();
        self.begun.get_or_insert_with(Instant::now);
        let signal = |signal| kill_process(Pid::from_raw(self.processes[victim] as i32).unwrap(), signal);
        match fault {
            Fault::Killed if first => {
                signal(Signal::KILL).unwrap();
                return Some(false);
            }
            Fault::Stopped if first => {
                signal(Signal::STOP).unwrap();
                return Some(false);
            }
            Fault::CutOff => {
                let links = self.sockets.iter().filter(|(party, _)| *party == victim);
                links.for_each(|(_, socket)| drop(socket.shutdown(Shutdown::Both)));
                return None;
            }
            Fault::Garbage => body.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(7) ^ 0xa5),
            // what lay in its own buffers is lost
            Fault::Killed | Fault::Stopped => return Some(false),
        }
        Some(true)
    }
}

/// Forward what one end says until it ends.
fn pump(mut from: TcpStream, mut to: TcpStream, who: usize, wires: Arc<Mutex<Wires>>) {
    let mut body = [0; 256];
    while let Ok(n @ 1..) = from.read(&mut body) {
        let Some(forward) = wires.lock().unwrap().pass(who, &mut body[..n]) else { break };
        if forward && to.write_all(&body[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// A listener through which `dialler` reaches `acceptor`: its address.
fn proxy(dialler: usize, acceptor: usize, address: String, wires: &Arc<Mutex<Wires>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap().to_string();
    let wires = Arc::clone(wires);
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            // whoever is not there yet will be called again
            let Ok(far) = TcpStream::connect(&address) else { continue };
            for socket in [&near, &far] {
                socket.set_nodelay(true).unwrap();
                let mut wires = wires.lock().unwrap();
                wires.sockets.extend([dialler, acceptor].map(|party| (party, socket.try_clone().unwrap())));
            }
            for (from, to, who) in [(&near, &far, dialler), (&far, &near, acceptor)] {
                let (from, to, wires) =
                    (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&wires));
                std::thread::spawn(move || pump(from, to, who, wires));
            }
        }
    });
    here
}

/// A mesh whose party i dials those before it through proxies: each has a configuration of its own.
fn mesh(dir: &Path, wires: &Arc<Mutex<Wires>>) {
    let ports: Vec<_> = (0..PARTIES).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> = ports.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    let made = Command::new(PROGRAM)
        .current_dir(dir)
        .args(["mesh", "new", "--parties", &PARTIES.to_string(), "--hosts", &hosts.join(","), "--out", "m"])
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    let config = std::fs::read_to_string(dir.join("m/mesh.toml")).unwrap();
    for dialler in 0..PARTIES {
        let mut own = config.clone();
        for (acceptor, host) in hosts.iter().enumerate().take(dialler) {
            own = own.replace(host, &proxy(dialler, acceptor, host.clone(), wires));
        }
        std::fs::write(dir.join(format!("m/mesh-{dialler}.toml")), own).unwrap();
    }
    // only now: a proxy must not be given the port of a party
    drop(ports);
}

fn party(dir: &Path, engine: &str, index: usize) -> Child {
    let number = index + 1;
    let value = |owner: usize, digits: &str| format!("{owner}={}", if owner == number { digits } else { "" });
    Command::new(PROGRAM)
        .current_dir(dir)
        .args([
            "run",
            "--engine",
            engine,
            "--json",
            "--circuit",
            "aes128",
            "--timeout",
            &TIMEOUT.as_secs().to_string(),
        ])
        .args(["--input", &value(1, "000102030405060708090a0b0c0d0e0f")])
        .args(["--input", &value(2, "00112233445566778899aabbccddeeff")])
        .args(["--party", &number.to_string(), "--config", &format!("m/mesh-{index}.toml")])
        .args(["--identity", &format!("m/party-{number}.key")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A run of AES-128 by all parties with a fault: how each ended (not the victim, if it was stopped or
/// killed), and when after the fault; how many bytes each sent.
fn run(engine: &str, plan: Option<Plan>) -> (Vec<Option<(Output, Duration)>>, [u64; PARTIES]) {
    let dir = tempfile::tempdir().unwrap();
    let wires = Arc::new(Mutex::new(Wires { plan, ..Wires::default() }));
    mesh(dir.path(), &wires);
    let mut children: Vec<Option<Child>> = {
        // no proxy passes anything on before all processes are known
        let mut wires = wires.lock().unwrap();
        let children: Vec<Child> = (0..PARTIES).map(|index| party(dir.path(), engine, index)).collect();
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
    let sent = wires.lock().unwrap().sent;
    (ends, sent)
}

const AES: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// Where the middle of each phase lies, in bytes that a party has sent.
fn middles(engine: &'static str) -> [Vec<u64>; PARTIES] {
    let (ends, sent) = run(engine, None);
    for (output, _) in ends.into_iter().flatten() {
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(output.status.success(), "{told}");
        assert_eq!(told["outputs"][0], AES);
    }
    let calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };
    let work = Work::Circuit { name: "aes128".into(), input_bits: 256 };
    let (parties, security) = (Some(PARTIES), engine::named(engine).unwrap().usual_security());
    let once = BenchOptions { blocks: 1, reps: 1, warmup: 0, ..BenchOptions::default() };
    let options = BenchOptions { engine, work, parties, security, ..once };
    let report = bench::run(&options, Path::new(PROGRAM), calibration, &Cleanup::new(), &|_, _| {}).unwrap();
    let told = report.to_json();
    let phases = told["phases"].as_array().unwrap();
    // where all parties send alike, an engine tells what each of them does
    let bytes = |phase: &Value, party: usize| {
        let by_party = phase["bytes_sent_by_party"][party].as_u64();
        by_party.or(phase["bytes_sent_per_party"].as_u64()).unwrap()
    };
    std::array::from_fn(|party| {
        let all: u64 = phases.iter().map(|phase| bytes(phase, party)).sum();
        // handshakes, the session that agrees, and what TLS adds
        let mut at = sent[party] - all;
        let middle = |phase| {
            let middle = at + bytes(phase, party) / 2;
            at += bytes(phase, party);
            middle
        };
        phases.iter().map(middle).collect()
    })
}

/// In each of these phases one party is killed, one stopped, one cut off, and one sends garbage: the others
/// end in time, with an abort that names a peer and a step, and nothing of the output.
pub fn whoever_stops_the_others_abort(engine: &'static str, phases: &[(usize, [usize; 4])]) {
    let middles = middles(engine);
    for (phase, victims) in phases {
        for (fault, victim) in
            [Fault::Killed, Fault::Stopped, Fault::CutOff, Fault::Garbage].into_iter().zip(*victims)
        {
            let plan = Plan { victim, after: middles[victim][*phase], fault };
            let (ends, _) = run(engine, Some(plan));
            let at = format!("{fault:?} of party {} in phase {phase}", victim + 1);
            for (party, end) in ends.iter().enumerate().filter(|(party, _)| *party != victim) {
                let (output, took) = end.as_ref().unwrap();
                let told: Value = serde_json::from_slice(&output.stdout)
                    .unwrap_or_else(|_| panic!("{at}: party {} says {output:?}", party + 1));
                let end = (output.status.code(), told["kind"].as_str());
                assert_eq!(end, (Some(1), Some("abort")), "{at}: {told}");
                assert!(told["step"].is_string() && told["peer"].is_u64(), "{at}: {told}");
                assert!(*took < TIMEOUT + BUSY, "{at}: party {} took {took:?}", party + 1);
                assert!(told["outputs"].is_null() && !told.to_string().contains(&AES[..8]), "{at}: {told}");
            }
        }
    }
}
