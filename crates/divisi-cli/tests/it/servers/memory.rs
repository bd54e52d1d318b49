//! What servers keep when much was asked of them: no more than before.

use super::harness::{ServersHarness, until};
use divisi_fuzz::repetitions;
use divisi_net::{Config, Identity, Machine};
use divisi_node::{Client, KeyName};
use divisi_symmetric::algorithm::Settings;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// The resident bytes of each server, and its open descriptors where this user may see them.
pub fn held(harness: &mut ServersHarness) -> Vec<(usize, usize)> {
    let of = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        (1024 * kilobytes, descriptors)
    };
    (1..=3).map(|party| of(harness.server(party).id())).collect()
}

/// A connection of this client with all three.
pub fn connect_as(harness: &ServersHarness, who: &str) -> Result<Client, divisi_node::Error> {
    let config = Config::load(&harness.path("mesh/mesh.toml")).unwrap();
    let identity = Identity::load(&harness.path(&format!("mesh/client-{who}.key"))).unwrap();
    Client::connect(&config, &identity, Arc::new(Machine))
}

fn connect(harness: &ServersHarness) -> Client {
    connect_as(harness, "anna").unwrap()
}

/// One block, encrypted.
pub fn block(client: &mut Client, key: &KeyName) {
    client.encrypt(key, b"", &mut &[7; 16][..], 16, &mut Vec::new(), &mut |_| {}).unwrap();
}

/// After the first of `n` requests of one block, the servers' memory and descriptors do not grow.
fn requests(first: usize, n: usize) {
    let mut harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    let (mut anna, key) = (connect(&harness), "k".parse().unwrap());
    (0..first).for_each(|_| block(&mut anna, &key));
    let before = held(&mut harness);
    (first..n).for_each(|_| block(&mut anna, &key));
    let after = held(&mut harness);
    println!("bytes and descriptors after {first} requests {before:?}, after {n} {after:?}");
    for (before, after) in before.iter().zip(&after) {
        assert!(after.0 <= before.0 + (2 << 20), "{before:?} {after:?}");
        assert!(after.1 <= before.1 + 1, "{before:?} {after:?}");
    }
}

#[test]
fn requests_leave_nothing_behind() {
    requests(repetitions(400, 1000), repetitions(800, 2000));
}

#[test]
#[ignore = "a minute"]
fn ten_thousand_requests_leave_nothing_behind() {
    requests(1000, 10_000);
}

/// What a first short message left (the program of its hash) is all that a long one leaves, when nobody asks
/// for anything.
#[test]
#[ignore = "minutes"]
fn a_long_message_leaves_no_memory_behind() {
    let mut harness = ServersHarness::new(60.0);
    let mut anna = connect(&harness);
    let settings = Settings::new("sha256".parse().unwrap());
    let mut hash = |length: u64| {
        anna.hash(&settings, &mut std::io::repeat(1).take(length), length, &mut |_| {}).unwrap();
    };
    hash(64);
    std::thread::sleep(Duration::from_secs(5));
    let before = held(&mut harness);
    hash(32 * 1024);
    let peak = held(&mut harness);
    println!("bytes before {before:?}, at the end of a message {peak:?}");
    let mut now = peak;
    until("memory that is given back", Duration::from_secs(20), || {
        now = held(&mut harness);
        before.iter().zip(&now).all(|(before, now)| now.0 <= before.0 + (16 << 20))
    });
    println!("when nobody asks {now:?}");
}

/// The most resident bytes that each server ever had.
fn peaks(harness: &mut ServersHarness) -> Vec<usize> {
    let of = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
    };
    (1..=3).map(|party| of(harness.server(party).id())).collect()
}

/// Texts of modes that servers compute as a whole, of this many bytes, leave a server below 256 MiB.
fn one_shot_messages(lengths: &[(&str, &str, usize)]) {
    let mut harness = ServersHarness::new(300.0);
    for (algorithm, of, length) in lengths {
        let key = format!("k-{algorithm}");
        harness.does("anna", &["key", "new", "--key", &key, "--type", of]);
        let text: Vec<u8> = (0..*length).map(|i| (i % 251) as u8).collect();
        std::fs::write(harness.path("text"), &text).unwrap();
        let [text_file, sealed, back] = ["text", "sealed", "back"].map(|name| harness.path(name));
        let [text_file, sealed, back] = [&text_file, &sealed, &back].map(|path| path.to_str().unwrap());
        harness.does(
            "anna",
            &["encrypt", "--key", &key, "--algorithm", algorithm, "--in", text_file, "--out", sealed],
        );
        harness.does(
            "anna",
            &["decrypt", "--key", &key, "--algorithm", algorithm, "--in", sealed, "--out", back],
        );
        assert!(std::fs::read(back).unwrap() == text, "{algorithm}");
        let peaks = peaks(&mut harness);
        println!("{algorithm}, {length} bytes: at most {peaks:?} bytes");
        assert!(peaks.iter().all(|peak| *peak < 256 << 20), "{algorithm}: {peaks:?}");
    }
}

#[test]
fn whole_texts_leave_a_server_below_its_bound() {
    one_shot_messages(&[
        ("siv", "aes-256-siv", 4096),
        ("kwp", "aes-256-kw", 250),
        ("cbc", "aes-256-cbc", 4000),
    ]);
}

/// The longest that servers take.
#[test]
#[ignore = "minutes"]
fn the_longest_whole_texts_leave_a_server_below_its_bound() {
    one_shot_messages(&[
        ("siv", "aes-256-siv", 16 << 10),
        ("kw", "aes-256-kw", 16 << 10),
        ("kwp", "aes-256-kw", (16 << 10) - 3),
        ("cbc", "aes-256-cbc", 64 << 10),
    ]);
}
