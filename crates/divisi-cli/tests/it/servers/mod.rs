//! Three servers as three processes, and clients as others: what users do, and what happens to them.

mod answers;
#[cfg(target_os = "linux")]
mod ends;
mod files;
#[cfg(target_os = "linux")]
mod full;
mod garbled;
mod harness;
mod keys;
#[cfg(target_os = "linux")]
mod memory;
mod names;
mod orders;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod unkind;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use harness::{ServersHarness, random, signal, until, wait};
use rustix::process::Signal;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[test]
fn keys_and_files_there_and_back() {
    let mut harness = ServersHarness::new(30.0);
    let text = random(200_001);
    std::fs::write(harness.path("text"), &text).unwrap();
    harness.does("anna", "key new --key files --type aes-256 --clients ben");
    harness.fails("anna", "key new --key files --type aes-256", 1, &["files", "already"]);

    // to a file, and back to another, by another client whom the key's maker named
    harness.does("anna", "encrypt --key files --aad for-ben --in text --out sealed");
    let sealed = std::fs::read(harness.path("sealed")).unwrap();
    assert_eq!(sealed.len(), text.len() + 28);
    let json = harness.told(
        "ben",
        &["decrypt", "--key", "files", "--aad", "for-ben", "--in", "sealed", "--out", "opened", "--json"],
    );
    assert_eq!((json["bytes_in"].as_u64(), json["bytes_out"].as_u64()), (Some(200_029), Some(200_001)));
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), text);
    assert_eq!(std::fs::metadata(harness.path("opened")).unwrap().permissions().mode() & 0o777, 0o600);

    // what is not what was encrypted: nothing appears, and what was there stays
    std::fs::write(harness.path("opened"), "mine").unwrap();
    for at in [0, 11, 12, 100_000, sealed.len() - 1] {
        let mut damaged = sealed.clone();
        damaged[at] ^= 4;
        std::fs::write(harness.path("damaged"), damaged).unwrap();
        harness.fails("anna", "decrypt --key files --aad for-ben --in damaged --out opened", 1, &[]);
    }
    std::fs::write(harness.path("damaged"), &sealed[..sealed.len() - 1]).unwrap();
    harness.fails("anna", "decrypt --key files --aad for-ben --in damaged --out opened", 1, &[]);
    harness.fails("anna", "decrypt --key files --aad for-bob --in sealed --out opened", 1, &[]);
    let nothing = harness.client("anna", "decrypt --key files --in sealed");
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(1), 0), "no plaintext without its tag");
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), b"mine");
    assert_eq!(harness.files(), ["damaged", "opened", "sealed", "text"]);

    // through pipes
    let pipe = |args: &[&str], input: &[u8]| {
        let mut child = harness.command_of("anna", args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let piped = pipe(&["encrypt", "--key", "files"], b"a short text");
    assert_eq!(pipe(&["decrypt", "--key", "files"], &piped), b"a short text");
    let empty = pipe(&["encrypt", "--key", "files"], b"");
    assert_eq!((empty.len(), pipe(&["decrypt", "--key", "files"], &empty)), (28, Vec::new()));

    // however S-boxes are computed, a file is the same
    let choices = [
        ["--priority", "online-throughput"],
        ["--protocol", "lut256"],
        ["--priority", "low-latency"],
        ["--protocol", "gf8-circuit"],
    ];
    for (to, from) in choices.iter().zip(choices.iter().cycle().skip(1)) {
        let piped = pipe(&[&["encrypt", "--key", "files"][..], to].concat(), &text);
        assert_eq!(
            pipe(&[&["decrypt", "--key", "files"][..], from].concat(), &piped),
            text,
            "{to:?} {from:?}"
        );
    }
    let args = "encrypt --key files --in text --out chosen --priority low-latency --json";
    let json = harness.told("anna", args);
    assert_eq!(
        (json["mode"].as_str(), json["protocol"].as_str()),
        (Some("low-latency"), Some("lut256-additive"))
    );

    // a key that was there before: an ordinary library opens what the servers write with it
    let key = random(16);
    std::fs::write(harness.path("key"), &key).unwrap();
    harness.does("ben", "key import --key old --type aes-128 --in key --exportable");
    harness.does("ben", "encrypt --key old --aad x --in text --out sealed");
    let sealed = std::fs::read(harness.path("sealed")).unwrap();
    let cipher = aes_gcm::Aes128Gcm::new_from_slice(&key).unwrap();
    let iv = sealed[..12].try_into().unwrap();
    assert_eq!(cipher.decrypt(iv, Payload { msg: &sealed[12..], aad: b"x" }).unwrap(), text);
    harness.does("ben", "key export --key old --out exported");
    assert_eq!(std::fs::read(harness.path("exported")).unwrap(), key);
    assert_eq!(std::fs::metadata(harness.path("exported")).unwrap().permissions().mode() & 0o777, 0o600);
    harness.fails("ben", "key export --key old --out exported", 2, &["exists already"]);

    // who may not
    harness.fails("anna", "encrypt --key old --in text --out no", 1, &["does not serve client anna"]);
    harness.fails("anna", "key export --key files --out no", 1, &["not made exportable"]);
    harness.fails("ben", "key destroy --key files --yes", 1, &["anna"]);
    harness.fails("anna", "encrypt --key nothing --in text --out no", 1, &["nothing"]);
    assert!(!harness.path("no").exists());

    let json = harness.told("ben", "key list --json");
    let keys: Vec<_> = json["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| (k["key"].as_str(), k["maker"].as_str(), k["differs"].as_array().unwrap().len()))
        .collect();
    assert_eq!(keys, [(Some("files"), Some("anna"), 0), (Some("old"), Some("ben"), 0)]);

    // a client that comes later: pinned in the file, taken over on SIGHUP
    harness.run("mesh identity --out mesh/carl");
    let fingerprint = divisi_net::Identity::load(&harness.path("mesh/carl/identity.key"))
        .unwrap()
        .fingerprint()
        .to_string();
    std::fs::rename(harness.path("mesh/carl/identity.key"), harness.path("mesh/client-carl.key")).unwrap();
    let added = harness.run(&[
        "mesh",
        "add",
        "--config",
        "mesh/mesh.toml",
        "--client",
        "carl",
        "--fingerprint",
        &fingerprint,
    ]);
    assert!(added.status.success(), "{added:?}");
    for party in 1..=3 {
        signal(harness.server(party), Signal::HUP);
        harness.wait_for(party, "took over", 1);
        let change =
            format!("the configuration changes: client carl is new, with the identity {fingerprint}");
        harness.wait_for(party, &change, 1);
    }
    let list = harness.does("carl", "key list");
    assert!(String::from_utf8_lossy(&list.stdout).contains("no key serves you"));

    harness.does("ben", "key destroy --key old --yes");
    harness.fails("ben", "decrypt --key old --aad x --in sealed --out no", 1, &["destroyed"]);

    // the logs: a line a request, no secret; the end: at once, in an orderly way
    for party in 1..=3 {
        let log = harness.log(party).join("\n");
        for part in ["key new files", "encrypt", "decrypt", "anna", "ben"] {
            assert!(log.contains(part), "{part}: {log}");
        }
        assert!(!log.contains(&hex::encode(&key)), "{log}");
        signal(harness.server(party), Signal::TERM);
        assert_eq!(wait(harness.server(party), Duration::from_secs(20)), 0);
    }
}

/// The processor's time that a process has used, in ticks of the system.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // behind the name, which may hold anything: the state is the third field, user and system time the 14th
    // and 15th
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Begin to encrypt a file that takes some seconds, and wait until the servers work at it.
fn begin(harness: &mut ServersHarness) -> Child {
    std::fs::write(harness.path("long"), random(16 << 20)).unwrap();
    let server = harness.server(1).id();
    let before = ticks(server);
    let child = harness.command_of("anna", "encrypt --key k --in long --out sealed").spawn().unwrap();
    let partial = || ticks(server) >= before + 20;
    until("some of the output", Duration::from_secs(20), partial);
    child
}

#[test]
fn an_interrupted_client_leaves_nothing() {
    let mut harness = ServersHarness::new(30.0);
    harness.does("anna", "key new --key k --type aes-128");
    // a process that is killed cannot clean up: its output had no name yet
    for (which, status) in [(Signal::INT, 1), (Signal::TERM, 1), (Signal::KILL, -1)] {
        let mut child = begin(&mut harness);
        signal(&child, which);
        assert_eq!(wait(&mut child, Duration::from_secs(20)), status);
        assert_eq!(harness.files(), ["long"]);
    }
    // The servers noticed, and serve the next.
    std::fs::write(harness.path("text"), "short").unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");
    for party in 1..=3 {
        assert!(harness.server(party).try_wait().unwrap().is_none());
    }
}

#[test]
fn a_server_that_dies_is_named_and_the_others_join_it_again() {
    let mut harness = ServersHarness::new(30.0);
    harness.does("anna", "key new --key k --type aes-128");
    let child = begin(&mut harness);
    let start = Instant::now();
    harness.server(2).kill().unwrap();
    let output = child.wait_with_output().unwrap();
    // and not by the time limit
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("party 2") && told.lines().count() == 1, "{told}");
    assert_eq!(harness.files(), ["long"]);
    // The others stay up and say why they cannot serve ...
    for party in [1, 3] {
        assert!(harness.server(party).try_wait().unwrap().is_none());
    }
    std::fs::write(harness.path("text"), "short").unwrap();
    let refused = harness.client("anna", "encrypt --key k --in text --out sealed --json --timeout 1");
    let json: serde_json::Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(
        (refused.status.code(), json["retry"].as_bool(), json["peer"].as_u64()),
        (Some(1), Some(true), Some(2)),
        "{json}"
    );
    // ... and join the dead one when it is back, which has its keys on its disk.
    harness.start(2);
    harness.wait_for(2, "joined the other servers", 1);
    until("service", Duration::from_secs(20), || {
        harness.client("anna", "encrypt --key k --in text --out sealed").status.success()
    });
    harness.does("anna", "decrypt --key k --in sealed --out opened");
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), b"short");
}

#[test]
fn links_are_checked_and_a_data_directory_has_one_server() {
    let mut harness = ServersHarness::with(30.0, &["--json"], None);
    let json = harness.told("anna", "mesh check --json");
    let links = json["links"].as_array().unwrap();
    assert_eq!(links.len(), 3);
    assert!(
        links.iter().all(|link| link["trouble"].is_null() && link["same_configuration"] == true),
        "{json}"
    );
    for (link, others) in links.iter().zip([[2, 3], [1, 3], [1, 2]]) {
        let with = serde_json::json!(others);
        assert!(link["session"]["with"] == with && link["out_of_step"].is_null(), "{json}");
    }

    // who is not in the configuration is named in the log, of which each line is an object
    harness.run("mesh identity --out stranger");
    let stranger = harness.path("stranger/identity.key");
    let fingerprint = divisi_net::Identity::load(&stranger).unwrap().fingerprint().to_string();
    std::fs::copy(harness.path("mesh/mesh.toml"), harness.path("other.toml")).unwrap();
    harness.run(&["mesh", "add", "--config", "other.toml", "--client", "eve", "--fingerprint", &fingerprint]);
    let check = harness.run("mesh check --config other.toml --identity stranger/identity.key");
    assert_eq!(check.status.code(), Some(1), "{check:?}");
    for party in 1..=3 {
        harness.wait_for(party, &format!("showed the unknown identity {fingerprint}"), 1);
        for line in harness.log(party) {
            let object: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert!(object["time"].as_str().unwrap().ends_with('Z'), "{line}");
            assert!(object["party"] == party && object["line"].is_string(), "{line}");
        }
    }

    // a second server on the first one's data; nobody else can read what lies there
    let second = harness.run("server --listen 127.0.0.1:0 --config mesh/mesh.toml --party 1 --identity mesh/party-1.key --data data-1");
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.code() == Some(2) && told.contains("another process uses"), "{told}");
    harness.does("anna", "key new --key k --type aes-128");
    let key = harness.path("data-1/keys/k.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);

    // a key file that was made readable, or damaged, at one server: refused, and the server named
    std::fs::write(harness.path("text"), "short").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    harness.fails("anna", "encrypt --key k --in text --out no", 1, &["party 1", "log of party 1"]);
    // where the file lies and how it is open is for its operator, and for no client
    harness.wait_for(1, "read by others", 1);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");
    let mut bytes = std::fs::read(&key).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&key, bytes).unwrap();
    harness.fails("anna", "encrypt --key k --in text --out no", 1, &["party 1", "damaged"]);
    assert!(!harness.path("no").exists());
    signal(harness.server(1), Signal::TERM);
    assert_eq!(wait(harness.server(1), Duration::from_secs(20)), 0);
    // it starts again, says so, and serves what is whole
    harness.start(1);
    harness.wait_for(1, "k.key is damaged", 1);
    harness.wait_for(1, "joined the other servers", 1);
    harness.does("anna", "key new --key other --type aes-128");
}

/// Digests and tags of files by three servers, as users make them: those of any library, and a false tag ends
/// with 1.
#[test]
fn files_are_hashed_and_authenticated() {
    let harness = ServersHarness::new(10.0);
    std::fs::write(harness.path("abc"), "abc").unwrap();
    let line =
        |args: &[&str]| String::from_utf8(harness.does("anna", args).stdout).unwrap().trim().to_owned();
    // FIPS 180-4 and FIPS 202
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(line(&["hash", "--algorithm", "sha256", "--in", "abc"]), sha256);
    let mut command = harness.command_of("anna", "hash --algorithm shake128 --bytes 4 --json");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"").unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["digest"].as_str(), json["bytes_in"].as_u64()), (Some("7f9c2ba4"), Some(0)));

    std::fs::write(harness.path("key"), [0x0b; 32]).unwrap();
    harness.does("anna", "key import --key h --type hmac-sha256 --in key --clients ben");
    let mac = ["mac", "--key", "h", "--algorithm", "hmac-sha256", "--in", "abc"];
    let tag = line(&mac);
    assert_eq!(tag.len(), 64);
    let verify = |who: &str, key: &str, algorithm: &str, tag: &str, status| {
        let args = ["mac", "--key", key, "--algorithm", algorithm, "--in", "abc", "--verify", tag];
        match status {
            0 => drop(harness.does(who, &args)),
            _ => harness.fails(who, &args, status, &[]),
        }
    };
    verify("ben", "h", "hmac-sha256", &tag, 0);
    let wrong = format!("{}{}", &tag[..63], if tag.ends_with('0') { "1" } else { "0" });
    verify("anna", "h", "hmac-sha256", &wrong, 1);
    verify("anna", "h", "hmac-sha256", &tag[2..], 2);
    verify("anna", "h", "hmac-sha256", "no digits", 2);
    verify("anna", "h", "hmac-sha512", &tag.repeat(2), 2);
    // GMAC has a nonce that nobody chose: never the same tag twice
    harness.does("anna", "key new --key g --type gmac-aes256");
    let gmac = ["mac", "--key", "g", "--algorithm", "gmac-aes256", "--in", "abc"];
    let (one, two) = (line(&gmac), line(&gmac));
    assert!(one != two && one.len() == 56);
    verify("anna", "g", "gmac-aes256", &one, 0);
    verify("anna", "g", "gmac-aes256", &two, 0);
    // a key serves its type and nothing else
    let encrypt = ["encrypt", "--key", "h", "--in", "abc", "--out", "sealed"];
    harness.fails("anna", &encrypt, 2, &["is of type hmac-sha256, which does not encrypt"]);
    harness.does("anna", "key new --key a --type aes-128");
    let cmac = "mac --key a --algorithm cmac-aes128 --in abc";
    harness.fails("anna", cmac, 2, &["is of type aes-128", "a key serves one algorithm"]);
    let siv = ["encrypt", "--key", "a", "--algorithm", "siv", "--in", "abc", "--out", "sealed"];
    harness.fails("anna", &siv, 2, &["is of type aes-128, which serves gcm and not siv"]);
    // what is guessed by asking is asked of nobody
    let short = |key: &str, algorithm: &str, bytes: &str, least: &str| {
        let args = ["mac", "--key", key, "--algorithm", algorithm, "--bytes", bytes, "--in", "abc"];
        harness.fails("anna", &args, 2, &[least, "give a larger --bytes"]);
    };
    short("h", "hmac-sha256", "7", "at least 8 bytes, not 7");
    short("g", "gmac-aes256", "11", "at least 12 bytes, not 11");
    harness.fails("anna", "hash --algorithm hmac-sha256 --in abc", 2, &["hmac-sha256"]);
    harness.fails("anna", "hash --algorithm sha256 --bytes 33 --in abc", 2, &["32 bytes"]);
    // a file of nothing but a hole: the limit is told before anything of it is read
    let long = std::fs::File::create(harness.path("long")).unwrap();
    long.set_len(divisi_node::MESSAGE + 1).unwrap();
    let words =
        [&format!("{} bytes", divisi_node::MESSAGE + 1)[..], &format!("at most {}", divisi_node::MESSAGE)];
    harness.fails("anna", "hash --algorithm sha3-256 --in long", 2, &words);
}
