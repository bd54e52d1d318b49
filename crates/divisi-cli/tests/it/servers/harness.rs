//! Three servers as processes, and the commands of their clients.

use crate::faults::proxies::{Wires, through_proxies};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The words of a command: each by itself, or in one text with spaces between them.
pub trait Words {
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Words for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

pub type Log = Arc<Mutex<Vec<String>>>;

/// Three servers and the directory of everything.
pub struct ServersHarness {
    pub dir: tempfile::TempDir,
    pub servers: Vec<Option<(Child, Log)>>,
    /// What each server is told beside.
    more: Vec<String>,
    /// Whether each has a configuration of its own, in which the others stand behind proxies.
    apart: bool,
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

pub fn wait(child: &mut Child, within: Duration) -> i32 {
    let until = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        assert!(Instant::now() < until, "a process did not end in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn until(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + within;
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl ServersHarness {
    /// Ports that were free may be taken when the servers open them: then another harness.
    pub fn new(timeout: f64) -> ServersHarness {
        ServersHarness::with(timeout, &[], None)
    }

    /// The same of servers that are told more, and whose links may lead through proxies.
    pub fn with(timeout: f64, more: &[&str], wires: Option<&Arc<Mutex<Wires>>>) -> ServersHarness {
        (0..5)
            .find_map(|_| ServersHarness::try_new(timeout, more, wires))
            .expect("five times a port was taken")
    }

    fn try_new(timeout: f64, more: &[&str], wires: Option<&Arc<Mutex<Wires>>>) -> Option<ServersHarness> {
        let dir = tempfile::tempdir().unwrap();
        let ports: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let hosts: Vec<String> = ports.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
        let more = more.iter().map(|word| (*word).to_owned()).collect();
        let mut harness =
            ServersHarness { dir, servers: vec![None, None, None], more, apart: wires.is_some() };
        let listed = hosts.join(",");
        let mesh = format!("mesh new --parties 3 --hosts {listed} --clients anna,ben --out mesh");
        let made = harness.run(&mesh);
        assert!(made.status.success(), "{made:?}");
        let config = harness.path("mesh/mesh.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, format!("timeout_seconds = {timeout:?}\nconnect_seconds = 10.0\n{text}"))
            .unwrap();
        if let Some(wires) = wires {
            through_proxies(&harness.path("mesh"), &hosts, wires);
        }
        // only now: no proxy, and nothing else of this test, is given the port of a server
        drop(ports);
        (1..=3).for_each(|party| harness.start(party));
        let mut taken = false;
        until("three servers that joined", Duration::from_secs(20), || {
            taken = (1..=3).any(|party| harness.log(party).iter().any(|line| line.contains("is taken")));
            taken
                || (1..=3).all(|party| {
                    harness.log(party).iter().any(|line| line.contains("joined the other servers"))
                })
        });
        (!taken).then_some(harness)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn start(&mut self, party: usize) {
        let own = format!("mesh/mesh-{}.toml", party - 1);
        let config = if self.apart { own.as_str() } else { "mesh/mesh.toml" };
        let (identity, data) = (format!("mesh/party-{party}.key"), format!("data-{party}"));
        self.start_at(party, [config, &identity, &data].map(OsStr::new));
    }

    /// Start a server with this configuration, identity and directory of data.
    pub fn start_at(&mut self, party: usize, [config, identity, data]: [&OsStr; 3]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_divisi"));
        command.args(["server", "--party", &party.to_string()]);
        for (option, path) in [("--config", config), ("--identity", identity), ("--data", data)] {
            command.arg(option).arg(path);
        }
        let mut child =
            command.args(&self.more).current_dir(self.dir.path()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Log::default();
        let (stderr, lines) = (child.stderr.take().unwrap(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        self.servers[party - 1] = Some((child, log));
    }

    pub fn log(&self, party: usize) -> Vec<String> {
        self.servers[party - 1].as_ref().unwrap().1.lock().unwrap().clone()
    }

    /// Until a server's log has this many lines with this text.
    pub fn wait_for(&self, party: usize, text: &str, times: usize) {
        let count = || self.log(party).iter().filter(|line| line.contains(text)).count();
        until(&format!("{text:?} in {:#?}", self.log(party)), Duration::from_secs(20), || count() >= times);
    }

    pub fn server(&mut self, party: usize) -> &mut Child {
        &mut self.servers[party - 1].as_mut().unwrap().0
    }

    pub fn command(&self, args: &(impl Words + ?Sized)) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_divisi"));
        command
            .args(args.words())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &(impl Words + ?Sized)) -> Output {
        self.command(args).output().unwrap()
    }

    /// A command of a client.
    pub fn client(&self, who: &str, args: &(impl Words + ?Sized)) -> Output {
        self.command_of(who, args).output().unwrap()
    }

    pub fn command_of(&self, who: &str, args: &(impl Words + ?Sized)) -> Command {
        let identity = format!("mesh/client-{who}.key");
        let mut command = self.command(args);
        command.args(["--config", "mesh/mesh.toml", "--identity", &identity]);
        command
    }

    /// A command that succeeds.
    pub fn does(&self, who: &str, args: &(impl Words + ?Sized)) -> Output {
        let output = self.client(who, args);
        assert!(output.status.success(), "{:?}: {output:?}", args.words());
        output
    }

    /// The object that a command prints which succeeds.
    pub fn told(&self, who: &str, args: &(impl Words + ?Sized)) -> Value {
        serde_json::from_slice(&self.does(who, args).stdout).unwrap()
    }

    /// A command that fails in one sentence which contains these parts.
    pub fn fails(&self, who: &str, args: &(impl Words + ?Sized), status: i32, parts: &[&str]) {
        let (output, args) = (self.client(who, args), args.words());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {output:?}");
        assert!(
            told.lines().count() == 1 && parts.iter().all(|part| told.contains(part)),
            "{args:?}: {told}"
        );
    }

    /// Everything that lies in the directory itself.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| !name.starts_with("data-") && name != "mesh");
        names.sort();
        names
    }
}

impl Drop for ServersHarness {
    fn drop(&mut self) {
        for (child, log) in self.servers.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
            if std::thread::panicking() {
                eprintln!("{:#?}", log.lock().unwrap());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "texts of tests belong to no session")]
pub fn random(bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    divisi_net::World::entropy(&divisi_net::Machine, &mut out);
    out
}
