//! The meter's rounds against the clock, for every phase of every protocol and engine: over emulated links a
//! phase takes its rounds times half a round-trip time longer.

use crate::program::good;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The emulated round-trip time, in milliseconds.
const RTT: f64 = 20.0;

/// Of each phase its rounds, and the least seconds of three runs.
fn phases(work: &str, rtt: bool) -> BTreeMap<String, (f64, f64)> {
    let mut least: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for _ in 0..3 {
        let far = if rtt { format!("--rtt {RTT}") } else { String::new() };
        let told = good(Path::new("."), &format!("bench {work} --reps 3 --warmup 0 {far}"));
        for phase in told["phases"].as_array().unwrap() {
            let (name, rounds) = (phase["name"].as_str().unwrap(), phase["rounds"].as_f64().unwrap());
            let seconds = phase["seconds"].as_f64().unwrap();
            let all = least.entry(name.to_owned()).or_insert((rounds, seconds));
            all.1 = all.1.min(seconds);
        }
    }
    least
}

/// What does not agree: a line for each phase whose clock differs by more than 15 % from the meter.
fn differing(work: &str) -> Vec<String> {
    let (near, far) = (phases(work, false), phases(work, true));
    let mut lines = Vec::new();
    for (name, (rounds, seconds)) in &far {
        let meter = rounds * RTT / 2.0;
        let clock = 1e3 * (seconds - near.get(name).map_or(0.0, |(_, seconds)| *seconds));
        println!("{work} {name}: {rounds} rounds, {meter:.1} ms by the meter, {clock:.1} by the clock");
        if (meter - clock).abs() > 0.15 * meter.max(clock) + 3.0 {
            lines.push(format!("{work} {name}: {meter:.1} ms by the meter, {clock:.1} by the clock"));
        }
    }
    lines
}

/// What is measured, engine by engine.
fn all(engine: &str) -> Vec<String> {
    match engine {
        "spdz" => {
            let aes = ["aes-lt", "aes-tinytable", "aes-rp", "aes-bd"].map(|protocol| ("aes", protocol));
            let des = ["3des-lt", "3des-tinytable", "3des-pv", "3des-raw"].map(|protocol| ("des3", protocol));
            let blocks =
                |(cipher, protocol): &(&str, &str)| format!("{cipher} --protocol {protocol} --blocks 1");
            let mut works: Vec<String> = aes.iter().chain(&des).map(blocks).collect();
            works.extend(
                ["lookup --entries 128 --count 4", "circuit --circuit aes128 --count 1"].map(Into::into),
            );
            let among =
                |parties| works.iter().map(move |work| format!("{work} --engine spdz --parties {parties}"));
            among(2).chain(among(3)).collect()
        }
        "rep3" => {
            let protocols = ["gf4-circuit", "gf8-circuit", "lut16", "lut256", "lut256-additive"];
            let aes = protocols.map(|protocol| format!("aes --protocol {protocol} --blocks 64"));
            let others = ["hash --count 8", "mac --count 8", "lookup --entries 256 --count 64"];
            aes.into_iter().chain(others.map(Into::into)).collect()
        }
        "garble" => vec!["circuit --engine garble --parties 3 --circuit aes128 --count 1".into()],
        _ => vec!["circuit --engine mixed --parties 3 --circuit aes128 --count 4".into()],
    }
}

/// Tests that run beside each other would measure each other.
static ALONE: Mutex<()> = Mutex::new(());

fn agree(engine: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let lines: Vec<String> = all(engine).iter().flat_map(|work| differing(work)).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
#[ignore = "minutes, and needs a machine without other work"]
fn rounds_of_masked_tables_agree_with_the_clock() {
    agree("spdz");
}

#[test]
#[ignore = "minutes, and needs a machine without other work"]
fn rounds_of_three_parties_agree_with_the_clock() {
    agree("rep3");
}

#[test]
#[ignore = "minutes, and needs a machine without other work"]
fn rounds_of_garbling_agree_with_the_clock() {
    agree("garble");
}

#[test]
#[ignore = "minutes, and needs a machine without other work"]
fn rounds_of_curious_parties_agree_with_the_clock() {
    agree("mixed");
}
