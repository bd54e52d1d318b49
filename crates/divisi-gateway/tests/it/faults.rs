//! Servers that go and come while clients ask: each request ends in 200 with the right answer, or in 503 that
//! names a server, and the health follows.

use super::stay::{Answered, Stay, TOKEN};
use data_encoding::BASE64;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 8;
/// The longest time that a request may take while servers go and come.
const LONGEST: Duration = Duration::from_secs(15);
/// How soon a server is back that was stopped: a second, and what a busy machine needs.
const BACK: Duration = Duration::from_secs(5);
/// How often a pause is tried until a server is soon back: a machine that stalls delays one try, a fault of
/// the servers all.
const TRIES: usize = 3;

/// Stops the clients when it is dropped: also when a test fails, which else would wait for them for ever.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Encrypt a text of one's own and decrypt it again, until told to stop.
fn client(stay: &Stay, number: usize, stop: &AtomicBool, counts: &[AtomicUsize; 2]) {
    for turn in 0.. {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let text = BASE64.encode(format!("client {number}, text {turn}").as_bytes());
        let mut body = json!({"plaintext": text});
        for path in ["/v1/transit/encrypt/k", "/v1/transit/decrypt/k"] {
            let begun = Instant::now();
            let (status, answer) = stay.json("POST", path, &body);
            assert!(begun.elapsed() < LONGEST, "{path} took {:?}", begun.elapsed());
            counts[usize::from(status == 503)].fetch_add(1, Ordering::SeqCst);
            match status {
                200 => {}
                503 => {
                    assert!(answer["errors"][0].is_string(), "{answer}");
                    break;
                }
                _ => panic!("{path}: {status} {answer}"),
            }
            if let Some(plaintext) = answer["data"]["plaintext"].as_str() {
                assert_eq!(plaintext, text);
            }
            body = json!({"ciphertext": answer["data"]["ciphertext"]});
        }
    }
}

/// Wait until the health has this status, and this text in what is missing.
fn until(stay: &Stay, status: u16, missing: &str) {
    let begun = Instant::now();
    loop {
        let (now, health) = stay.json("GET", "/v1/sys/health", &Value::Null);
        if now == status && health["missing"].to_string().contains(missing) {
            return;
        }
        assert!(begun.elapsed() < LONGEST, "no {status} that names {missing:?}: {now} {health}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Stop a server for so many seconds; how soon it is back when it goes on. Answers go on, too.
fn back(stay: &Stay, server: &str, seconds: u64, answered: &AtomicUsize) -> Duration {
    stay.signal(server, Signal::STOP);
    until(stay, 503, "");
    std::thread::sleep(Duration::from_secs(seconds));
    stay.signal(server, Signal::CONT);
    let begun = Instant::now();
    until(stay, 200, "");
    let took = begun.elapsed();
    println!("server {server} is back {took:?} after {seconds} s");
    let before = answered.load(Ordering::SeqCst);
    while answered.load(Ordering::SeqCst) < before + CLIENTS {
        assert!(begun.elapsed() < LONGEST, "nothing is answered");
        std::thread::sleep(Duration::from_millis(20));
    }
    took
}

/// Under load each server in turn is killed and comes back, and one is killed for good: the right answer or
/// 503.
#[test]
fn whoever_is_killed_under_load_spoils_no_answer() {
    let stay = Stay::start(&[]);
    assert_eq!(stay.json("POST", "/v1/transit/keys/k", &json!({})).0, 200);
    let (stop, counts) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        (0..CLIENTS).for_each(|number| {
            let (stay, stop, counts) = (&stay, &stop, &counts);
            scope.spawn(move || client(stay, number, stop, counts));
        });
        for server in 1..=3 {
            stay.order(&format!("stop {server}"));
            until(&stay, 503, &format!("party {server}"));
            stay.order(&format!("start {server}"));
            let before = counts[0].load(Ordering::SeqCst);
            let begun = Instant::now();
            while counts[0].load(Ordering::SeqCst) < before + 2 * CLIENTS {
                assert!(begun.elapsed() < LONGEST, "nothing is answered");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        stay.order("stop 2");
        let begun = Instant::now();
        while counts[1].load(Ordering::SeqCst) == 0 && begun.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let [good, down] = counts.map(AtomicUsize::into_inner);
    assert!(good >= 6 * CLIENTS && down > 0, "{good} answers, {down} refused");
}

/// A server that is stopped, and not ended, is missed, and back soon after it goes on: under load, whatever
/// waits for it then.
#[test]
fn a_server_that_was_stopped_is_soon_back() {
    let stay = Stay::start(&[]);
    assert_eq!(stay.json("POST", "/v1/transit/keys/k", &json!({})).0, 200);
    let (stop, counts) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    // the time limit among the servers is ten seconds: beyond it their session ends
    let pauses = divisi_fuzz::repetitions(vec![3], vec![3, 25, 3, 25, 25]);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        (0..CLIENTS).for_each(|number| {
            let (stay, stop, counts) = (&stay, &stop, &counts);
            scope.spawn(move || client(stay, number, stop, counts));
        });
        for (nth, seconds) in pauses.into_iter().enumerate() {
            let server = (1 + nth % 3).to_string();
            let is_soon = |_| back(&stay, &server, seconds, &counts[0]) < BACK;
            assert!((0..TRIES).any(is_soon), "server {server} is late after each pause of {seconds} s");
        }
    });
}

/// The file of a socket goes with the gateway that made it.
#[test]
fn a_gateway_that_ends_takes_its_socket_away() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("kms.sock");
    let stay = Stay::start(&["--kms", socket.to_str().unwrap()]);
    assert!(socket.exists());
    stay.signal("gateway.toml", Signal::TERM);
    let begun = Instant::now();
    while socket.exists() {
        assert!(begun.elapsed() < LONGEST, "the file is there still");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What is wrong with a configuration, and with which server, as `divisi-gateway check` tells it.
#[test]
fn a_check_names_every_server_that_is_missing() {
    let stay = Stay::start(&[]);
    assert_eq!(stay.json("POST", "/v1/transit/keys/k", &json!({})).0, 200);
    let own = stay.folder.join("gateway.toml");
    let with_kms = stay.folder.join("with_kms.toml");
    let text = std::fs::read_to_string(&own).unwrap();
    // a socket that nobody has made: a check opens none
    let socket = stay.folder.join("none").join("kms");
    let mount = "[[mount]]\npath = \"apart\"\nprefix = \"x\"\n";
    std::fs::write(&with_kms, format!("{text}{mount}[kms]\nsocket = {socket:?}\nkey = \"k\"\n")).unwrap();
    let check = |path: &std::path::Path| {
        let mut out = Vec::new();
        let good = divisi_gateway::check::check(path, &mut out).unwrap();
        (good, String::from_utf8(out).unwrap())
    };
    let (good, told) = check(&own);
    assert!(good && told.matches(": serves\n").count() == 3 && !told.contains("kms"), "{told}");
    let (good, told) = check(&with_kms);
    assert!(good && told.contains("key k: aes256-gcm96, key_id "), "{told}");
    let mounts = ["transit, keys *\n", "apart, keys x*\n"].map(|mount| format!("mount: /v1/{mount}"));
    assert!(mounts.iter().all(|mount| told.contains(mount)), "{told}");
    assert!(told.contains("kms: at /v1/transit a token") && !told.contains("kms: at /v1/apart"), "{told}");
    // a key that is not there, or encrypts nothing
    assert_eq!(stay.json("POST", "/v1/transit/keys/h", &json!({"type": "hmac", "key_size": 32})).0, 200);
    for (key, why) in [("gone", "have no such key"), ("h", "does not encrypt")] {
        let path = stay.folder.join("other_key.toml");
        let text = std::fs::read_to_string(&with_kms).unwrap();
        std::fs::write(&path, text.replace("key = \"k\"", &format!("key = \"{key}\""))).unwrap();
        let (good, told) = check(&path);
        assert!(!good && told.matches(": serves\n").count() == 3 && told.contains(why), "{told}");
    }
    // a server that is nowhere, though the others serve
    let mesh = std::fs::read_to_string(stay.folder.join("mesh.toml")).unwrap();
    let addresses: Vec<&str> = told.lines().filter_map(|line| line.strip_suffix(": serves")).collect();
    for (server, line) in addresses.iter().enumerate() {
        let address = line.split(" at ").nth(1).unwrap();
        assert_eq!(mesh.matches(address).count(), 1);
        std::fs::write(stay.folder.join("other.toml"), mesh.replace(address, "127.0.0.1:1")).unwrap();
        for (path, kms) in [(&own, false), (&with_kms, true)] {
            let text = std::fs::read_to_string(path).unwrap().replace("\"mesh.toml\"", "\"other.toml\"");
            let path = stay.folder.join("without.toml");
            std::fs::write(&path, text).unwrap();
            let (good, told) = check(&path);
            assert!(!good && told.matches(": serves\n").count() == 2, "{told}");
            assert!(
                told.contains(&format!("party {} at 127.0.0.1:1: is not reachable", server + 1)),
                "{told}"
            );
            assert_eq!(told.contains("key k: not looked up: a server is missing"), kms, "{told}");
        }
    }
}

/// A gateway that is started again serves what it served before; a request to none fails. What it has made is
/// with the servers alone: whoever steals its identity exports no key.
#[test]
fn a_gateway_has_no_state() {
    let stay = Stay::start(&[]);
    let (_, sealed) = stay.json("POST", "/v1/transit/encrypt/k", &json!({"plaintext": "YWJj"}));
    stay.order("stop gateway");
    assert!(std::net::TcpStream::connect(stay.address).is_err());
    stay.order("start gateway");
    let body = json!({"ciphertext": sealed["data"]["ciphertext"]});
    let (status, opened) = stay.json("POST", "/v1/transit/decrypt/k", &body);
    assert_eq!((status, &opened["data"]["plaintext"]), (200, &json!("YWJj")));
    for (name, kind) in [("a", "aes128-gcm96"), ("h", "hmac"), ("l", "aes256-gcm96")] {
        let body = if name == "h" { json!({"type": kind, "key_size": 32}) } else { json!({"type": kind}) };
        assert_eq!(stay.json("POST", &format!("/v1/transit/keys/{name}"), &body).0, 200, "{name}");
    }
    let mesh = divisi_net::Config::load(&stay.folder.join("mesh.toml")).unwrap();
    let stolen = divisi_net::Identity::load(&stay.folder.join("gateway.key")).unwrap();
    let world = std::sync::Arc::new(divisi_net::Machine);
    let mut thief = divisi_node::Client::connect(&mesh, &stolen, world).unwrap();
    for name in ["a", "h", "k", "l"] {
        let name = name.parse().unwrap();
        let listed = thief.key_named(&name).unwrap().unwrap();
        let shown = (listed.key.exportable, listed.key.clients.len(), listed.differs.len());
        assert_eq!(shown, (false, 0, 0), "{name}");
        assert!(thief.key_export(&name).is_err(), "{name}");
    }
}

/// Neither token nor plaintext is in the log; each request has a line.
#[test]
fn the_log_has_a_line_for_each_request_and_no_secret() {
    let stay = Stay::start(&[]);
    let secret = BASE64.encode(b"a planted plaintext");
    let (status, answer) =
        stay.json("POST", "/v1/transit/encrypt/planted-key", &json!({"plaintext": secret}));
    assert_eq!(status, 200, "{answer}");
    let headers = [("X-Vault-Token", "s.planted-token"), ("Content-Type", "application/json")];
    let good = format!("{{\"plaintext\": \"{secret}\"}}");
    let broken = format!("{{\"plaintext\": \"{secret}\" broken");
    let wrong = |headers: &[(&str, &str)], body: &str| {
        let answered = stay.ask("POST", "/v1/transit/encrypt/planted-key", headers, Some(body.as_bytes()));
        answered.map(|Answered { status, body, .. }| (status, String::from_utf8(body).unwrap())).unwrap()
    };
    let answers = [wrong(&headers, &good), wrong(&[("X-Vault-Token", TOKEN)], &broken)];
    assert_eq!(answers.each_ref().map(|(status, _)| *status), [403, 400]);
    // the log is written beside the answers
    let read = || std::fs::read_to_string(stay.folder.join("gateway.log")).unwrap();
    let begun = Instant::now();
    while read().matches("encrypt").count() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(5), "{}", read());
        std::thread::sleep(Duration::from_millis(20));
    }
    // a line has the id of its answer, and no other one has it
    let log = read();
    let ids: Vec<Value> =
        log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("id").cloned()).collect();
    assert_eq!(ids.iter().filter(|id| **id == answer["request_id"]).count(), 1, "{log}");
    assert!(ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id)), "{log}");
    for said in answers.iter().map(|(_, said)| said.clone()).chain([log]) {
        for word in [&*secret, "planted", TOKEN] {
            assert!(!said.contains(word), "{word} in {said}");
        }
    }
}
