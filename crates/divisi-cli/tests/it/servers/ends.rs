//! How processes end, and what they leave: logs that nobody reads, commands that are killed, core dumps, and
//! lists of clients that differ.

use super::harness::{ServersHarness, random, signal, until, wait};
use super::memory::{block, connect_as};
use divisi_node::KeyName;
use rustix::process::Signal;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// All three servers with logs that nobody reads, in pipes that have little room: requests are served all the
/// same, more of them than the logs hold, and SIGTERM has its effect.
fn unread(requests: usize, bound: bool) {
    let mut harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    let key: KeyName = "k".parse().unwrap();
    let p99 = |harness: &ServersHarness| {
        let mut anna = connect_as(harness, "anna").unwrap();
        let mut times: Vec<Duration> = (0..requests)
            .map(|_| {
                let begun = Instant::now();
                block(&mut anna, &key);
                begun.elapsed()
            })
            .collect();
        times.sort_unstable();
        times[(requests * 99).div_ceil(100) - 1]
    };
    let calm = p99(&harness);
    (1..=3).for_each(|party| {
        signal(harness.server(party), Signal::TERM);
        wait(harness.server(party), Duration::from_secs(20));
    });
    let mut readers = Vec::new();
    let mut deaf: Vec<Child> = (1..=3)
        .map(|party| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            // of its 64 KiB most are taken
            writer.write_all(&[b'x'; 60 << 10]).unwrap();
            readers.push(reader);
            let identity = format!("mesh/party-{party}.key");
            let (party, data) = (party.to_string(), format!("data-{party}"));
            let mut command = Command::new(env!("CARGO_BIN_EXE_divisi"));
            command
                .args(["server", "--config", "mesh/mesh.toml", "--party", &party, "--identity", &identity])
                .args(["--data", &data])
                .current_dir(harness.dir.path())
                .stderr(writer);
            command.spawn().unwrap()
        })
        .collect();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        until("three servers that serve", Duration::from_secs(30), || connect_as(&harness, "anna").is_ok());
        until("a first request", Duration::from_secs(30), || {
            harness.client("anna", "key list").status.success()
        });
        let attacked = p99(&harness);
        println!("p99 {calm:?} with a log that is read, {attacked:?} with one that nobody reads");
        if bound {
            assert!(attacked <= (3 * calm).max(Duration::from_millis(500)), "{calm:?}, then {attacked:?}");
        }
        for child in &mut deaf {
            signal(child, Signal::TERM);
            assert_eq!(wait(child, Duration::from_secs(20)), 0);
        }
    }));
    drop(readers);
    deaf.iter_mut().for_each(|child| {
        let _ = child.kill();
        let _ = child.wait();
    });
    result.unwrap();
}

#[test]
fn logs_that_nobody_reads_stop_nothing() {
    unread(150, false);
}

#[test]
#[ignore = "half a minute of an idle machine"]
fn logs_that_nobody_reads_delay_nothing() {
    unread(5000, true);
}

/// A decryption that is killed, early or late, leaves either the complete file or none: no part of the
/// plaintext stays, under the file's name or another one.
#[test]
fn a_killed_decryption_leaves_nothing() {
    let harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    let text = random(1 << 20);
    std::fs::write(harness.path("text"), &text).unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");
    let decrypt = "decrypt --key k --in sealed --out opened";
    let begun = Instant::now();
    harness.does("anna", decrypt);
    let lasts = begun.elapsed();
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), text);
    std::fs::remove_file(harness.path("opened")).unwrap();
    let before = harness.files();
    for part in [2, 5, 7, 8, 9] {
        let mut child = harness.command_of("anna", decrypt).spawn().unwrap();
        std::thread::sleep(lasts * part / 10);
        // which may be over
        let _ = child.kill();
        wait(&mut child, Duration::from_secs(5));
        let left: Vec<String> = harness.files().into_iter().filter(|name| !before.contains(name)).collect();
        // only what was complete has its name
        let complete = left == ["opened"] && std::fs::read(harness.path("opened")).unwrap() == text;
        assert!(left.is_empty() || complete, "killed after {part} tenths: {left:?}");
        let _ = std::fs::remove_file(harness.path("opened"));
    }
}

/// Whether a process may write a core dump: its limit is 0 for itself and for whatever it starts.
fn dumps_no_core(process: u32) -> bool {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max core file size"));
    line.is_some_and(|line| line.split_whitespace().skip(4).take(2).eq(["0", "0"]))
}

#[test]
fn servers_clients_and_parties_dump_no_core() {
    let mut harness = ServersHarness::new(10.0);
    assert!(!dumps_no_core(std::process::id()) || core_is_off());
    for party in 1..=3 {
        let process = harness.server(party).id();
        assert!(dumps_no_core(process));
    }
    // a client that waits for its input, and the parties of a run
    let mut client = harness.command_of("anna", "hash --algorithm sha3-256");
    let mut client = client.stdin(Stdio::piped()).spawn().unwrap();
    until("a client without core dumps", Duration::from_secs(20), || dumps_no_core(client.id()));
    drop(client.stdin.take());
    wait(&mut client, Duration::from_secs(60));
    let mut bench = harness.command("bench circuit --circuit sha256 --count 100000").spawn().unwrap();
    let own = bench.id();
    let parties = || {
        let text = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    };
    let all_are_safe = || parties().len() >= 3 && parties().into_iter().all(dumps_no_core);
    until("parties without core dumps", Duration::from_secs(30), all_are_safe);
    signal(&bench, Signal::INT);
    wait(&mut bench, Duration::from_secs(20));
}

/// Whether this test itself was started where nobody may dump.
fn core_is_off() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Core).maximum == Some(0)
}

/// One server has another list of clients since it took over its file: all three say so, and that it is over.
#[test]
fn a_list_of_clients_that_differs_is_told_by_all_three() {
    let mut harness = ServersHarness::new(10.0);
    assert!(harness.run("mesh identity --out ida").status.success());
    let ida =
        divisi_net::Identity::load(&harness.path("ida/identity.key")).unwrap().fingerprint().to_string();
    let add = ["mesh", "add", "--config", "mesh/mesh.toml", "--client", "ida", "--fingerprint", &ida];
    assert!(harness.run(&add).status.success());
    signal(harness.server(1), Signal::HUP);
    harness.wait_for(1, "took over", 1);
    for (party, other) in [(1, 2), (1, 3), (2, 1), (3, 1)] {
        harness.wait_for(party, &format!("party {other} has another list of clients than party {party}"), 1);
    }
    assert!(!harness.log(2).iter().any(|line| line.contains("party 3 has another list")));
    for party in [2, 3] {
        signal(harness.server(party), Signal::HUP);
        harness.wait_for(party, "took over", 1);
        harness.wait_for(party, &format!("party 1 has the same list of clients as party {party} again"), 1);
    }
}

/// One link that does not work is a failure, whichever it is.
#[test]
fn a_check_fails_if_one_link_of_several_does() {
    use divisi_net::{Config, Listener, Machine, PartyId};
    use std::sync::Arc;
    let dir = tempfile::tempdir().unwrap();
    let sockets = [0; 3].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let hosts = sockets.each_ref().map(|socket| socket.local_addr().unwrap().to_string());
    let made = Config::create(3, &hosts, &["anna".into()], &Machine).unwrap();
    std::fs::write(dir.path().join("mesh.toml"), made.config.to_toml()).unwrap();
    made.clients[0].save(&dir.path().join("anna.key")).unwrap();
    let identities: Vec<_> = made.parties.into_iter().map(Arc::new).collect();
    for silent in 0..3 {
        let there = (0..3).filter(|at| *at != silent).map(|at| {
            let (socket, me) = (sockets[at].try_clone().unwrap(), PartyId::from_index(at).unwrap());
            let own = Arc::clone(&identities[at]);
            Listener::open_at(socket, made.config.clone(), me, own, Arc::new(Machine)).unwrap()
        });
        let _there: Vec<Listener> = there.collect();
        let output = std::process::Command::new(crate::program::PROGRAM)
            .current_dir(dir.path())
            .args(["mesh", "check", "--config", "mesh.toml", "--identity", "anna.key", "--timeout", "0.5"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(&format!("1 of 3 links do not work: party {}", silent + 1)), "{told}");
    }
}
