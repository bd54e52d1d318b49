//! Servers that garble hashes and MACs, and fail: with what they garbled ahead, and in the middle of a
//! message.

use super::harness::{ServersHarness, signal, until};
use super::{random, ticks};
use crate::faults::proxies::{Fault, Plan, When, Wires};
use divisi_fuzz::repetitions;
use rustix::process::Signal;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const GARBLED: [&str; 2] = ["--rounds", "constant"];
const TIMEOUT: f64 = 3.0;
/// What a busy machine may add to it.
const BUSY: Duration = Duration::from_secs(15);

/// FIPS 180-4
const SHA256_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const HASH: [&str; 6] = ["hash", "--algorithm", "sha256", "--in", "abc", "--json"];

fn digest(harness: &ServersHarness) -> Option<String> {
    let output = harness.client("anna", &HASH);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["digest"].as_str().map(str::to_owned)
}

/// What a server says when it keeps something, and when a session is over.
const KEPT: &str = "made ahead are in stock";
const ENDED: &str = "session ended";

/// How often each server has said this.
fn said(harness: &ServersHarness, text: &str) -> [usize; 3] {
    [1, 2, 3].map(|party| harness.log(party).iter().filter(|line| line.contains(text)).count())
}

/// A digest, of which all servers keep a call afterwards. On a busy machine a session may end by itself,
/// before the digest or with the call: then another digest.
fn digest_and_stock(harness: &ServersHarness) {
    until("a digest and a call in stock", Duration::from_secs(60), || {
        let [kept, ended] = [KEPT, ENDED].map(|text| said(harness, text));
        let Some(digest) = digest(harness) else { return false };
        assert_eq!(digest, SHA256_ABC);
        let is_kept = || said(harness, KEPT).iter().zip(kept).all(|(now, before)| *now > before);
        let is_over = || said(harness, ENDED) != ended;
        until("a call in stock", Duration::from_secs(20), || is_kept() || is_over());
        is_kept()
    });
}

/// A client is told who does nothing more.
fn is_named(harness: &ServersHarness, victim: usize) {
    let begun = Instant::now();
    let output = harness.client("anna", &HASH);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = (output.status.code(), json["peer"].as_u64(), json["retry"].as_bool());
    assert_eq!(told, (Some(1), Some(victim as u64), Some(true)), "{json}");
    assert!(json["digest"].is_null() && begun.elapsed() < Duration::from_secs_f64(3.0 * TIMEOUT) + BUSY);
}

/// A server is killed, and stopped: what it had garbled ahead, and the others for it, is lost and serves
/// nobody, and after it has come back all garble again.
fn fails_with_calls_in_stock(victim: usize) {
    let mut harness = ServersHarness::with(TIMEOUT, &GARBLED, None);
    std::fs::write(harness.path("abc"), "abc").unwrap();
    digest_and_stock(&harness);
    harness.server(victim).kill().unwrap();
    harness.server(victim).wait().unwrap();
    is_named(&harness, victim);
    harness.start(victim);
    harness.wait_for(victim, "joined the other servers", 1);
    until("service", Duration::from_secs(20), || digest(&harness).is_some());

    digest_and_stock(&harness);
    signal(harness.server(victim), Signal::STOP);
    is_named(&harness, victim);
    signal(harness.server(victim), Signal::CONT);
    until("service", Duration::from_secs(20), || digest(&harness).is_some());
    digest_and_stock(&harness);
    // an operator who ends them wastes what they keep, and waits for nothing
    for party in 1..=3 {
        signal(harness.server(party), Signal::TERM);
        assert_eq!(super::wait(harness.server(party), Duration::from_secs(5)), 0);
    }
}

#[test]
fn the_first_fails_with_calls_in_stock() {
    fails_with_calls_in_stock(1);
}

#[test]
fn the_second_fails_with_calls_in_stock() {
    fails_with_calls_in_stock(2);
}

#[test]
fn the_third_fails_with_calls_in_stock() {
    fails_with_calls_in_stock(3);
}

/// In the middle of a message that takes thousands of calls: the client is told in one sentence who failed,
/// and has no digest.
fn fail_in_the_middle_of_a_message(which: Signal, victims: &[usize]) {
    let mut harness = ServersHarness::with(TIMEOUT, &GARBLED, None);
    std::fs::write(harness.path("abc"), "abc").unwrap();
    std::fs::write(harness.path("long"), random(4 << 20)).unwrap();
    for &victim in victims {
        let server = harness.server(victim).id();
        let mut command = harness.command_of("anna", "hash --algorithm sha256 --in long");
        let (mut child, mut before) = (command.spawn().unwrap(), ticks(server));
        until("work", 4 * BUSY, || {
            // on a busy machine a session may end by itself, and the command with it
            if child.try_wait().unwrap().is_some() {
                (child, before) = (command.spawn().unwrap(), ticks(server));
            }
            ticks(server) >= before + 20
        });
        let begun = Instant::now();
        signal(harness.server(victim), which);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(begun.elapsed() < Duration::from_secs_f64(2.0 * TIMEOUT) + BUSY, "{told}");
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        assert!(told.contains(&format!("party {victim}")) && told.lines().count() == 1, "{told}");
        match which {
            Signal::KILL => {
                harness.server(victim).wait().unwrap();
                harness.start(victim);
                harness.wait_for(victim, "joined the other servers", 1);
            }
            _ => signal(harness.server(victim), Signal::CONT),
        }
        until("service", Duration::from_secs(20), || digest(&harness).as_deref() == Some(SHA256_ABC));
    }
}

#[test]
fn servers_are_killed_in_the_middle_of_a_message() {
    fail_in_the_middle_of_a_message(Signal::KILL, &[1, 2, 3]);
}

#[test]
fn servers_are_stopped_in_the_middle_of_a_message() {
    fail_in_the_middle_of_a_message(Signal::STOP, &[1, 2]);
}

/// A message of this many bytes as a record of TLS has it.
fn record(bytes: usize) -> usize {
    20 + bytes + 17
}

/// What a call from stock sends, as a record of TLS: labels of 24 bits, z of 256 bits with a digest; and a
/// whole record of tables, of the next call.
fn places() -> [usize; 3] {
    [record(48 * 24 + 32), record(32 + 32), (1 << 14) + 17]
}

/// One is cut off, and another sends garbage, while something of this length is on its way: labels or z of a
/// call from stock, or the tables of the next call. Nobody has a wrong digest, and all find together again.
fn are_cut_off_and_send_garbage(at: usize) {
    let wires = Arc::new(Mutex::new(Wires::default()));
    let harness = ServersHarness::with(TIMEOUT, &GARBLED, Some(&wires));
    std::fs::write(harness.path("abc"), "abc").unwrap();
    digest_and_stock(&harness);
    let length = places()[at];
    // by default two victims at each place, each of the three once in each way
    for victim in repetitions(vec![at, (at + 1) % 3], vec![0, 1, 2]) {
        let fault = if victim == at { Fault::CutOff } else { Fault::Garbage };
        let when = format!("{fault:?} of party {} at {length} bytes", victim + 1);
        let before = said(&harness, ENDED);
        wires.lock().unwrap().then(Some(Plan { victim, when: When::Length(length), fault }));
        let digest_then = digest(&harness);
        assert!(digest_then.as_deref().is_none_or(|digest| digest == SHA256_ABC), "{when}");
        // behind labels all three have something to say; tables come when there is a digest
        assert!(at > 0 || digest_then.is_none(), "{when}");
        until(&when, Duration::from_secs(20), || {
            wires.lock().unwrap().has_struck()
                && said(&harness, ENDED).iter().zip(before).all(|(now, before)| *now > before)
        });
        wires.lock().unwrap().then(None);
        until("service", Duration::from_secs(20), || digest(&harness).is_some());
        digest_and_stock(&harness);
    }
}

#[test]
fn labels_from_stock_are_cut_off_and_garbage() {
    are_cut_off_and_send_garbage(0);
}

#[test]
fn z_of_a_call_from_stock_is_cut_off_and_garbage() {
    are_cut_off_and_send_garbage(1);
}

#[test]
fn tables_of_the_next_call_are_cut_off_and_garbage() {
    are_cut_off_and_send_garbage(2);
}
