//! The meter's rounds against the clock, for every phase of every protocol and engine: over emulated links a
//! phase takes its rounds times half a round-trip time longer.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The emulated round-trip time, in milliseconds.
const RTT: f64 = 20.0;

/// Of each phase its rounds, and the least seconds of three runs.
fn phases(arguments: &[&str], rtt: bool) -> BTreeMap<String, (f64, f64)> {
    let mut least: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for _ in 0..3 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_divisi"));
        command.arg("bench").args(arguments).args(["--reps", "3", "--warmup", "0", "--json"]);
        if rtt {
            command.args(["--rtt", &RTT.to_string()]);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
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
fn differing(arguments: &[&str]) -> Vec<String> {
    let (near, far) = (phases(arguments, false), phases(arguments, true));
    let mut lines = Vec::new();
    for (name, (rounds, seconds)) in &far {
        let meter = rounds * RTT / 2.0;
        let clock = 1e3 * (seconds - near.get(name).map_or(0.0, |(_, seconds)| *seconds));
        println!(
            "{arguments:?} {name}: {rounds} rounds, {meter:.1} ms by the meter, {clock:.1} by the clock"
        );
        if (meter - clock).abs() > 0.15 * meter.max(clock) + 3.0 {
            lines.push(format!("{arguments:?} {name}: {meter:.1} ms by the meter, {clock:.1} by the clock"));
        }
    }
    lines
}

/// What is measured, engine by engine.
fn all(engine: &str) -> Vec<Vec<&'static str>> {
    let spdz = |command: &'static str, protocol: &'static str, parties: &'static str| {
        vec![command, "--engine", "spdz", "--parties", parties, "--protocol", protocol, "--blocks", "1"]
    };
    match engine {
        "spdz" => {
            let mut all = Vec::new();
            for parties in ["2", "3"] {
                for protocol in ["aes-lt", "aes-tinytable", "aes-rp", "aes-bd"] {
                    all.push(spdz("aes", protocol, parties));
                }
                for protocol in ["3des-lt", "3des-tinytable", "3des-pv", "3des-raw"] {
                    all.push(spdz("des3", protocol, parties));
                }
                all.push(vec![
                    "lookup",
                    "--engine",
                    "spdz",
                    "--parties",
                    parties,
                    "--entries",
                    "128",
                    "--count",
                    "4",
                ]);
                all.push(vec![
                    "circuit",
                    "--engine",
                    "spdz",
                    "--parties",
                    parties,
                    "--circuit",
                    "aes128",
                    "--count",
                    "1",
                ]);
            }
            all
        }
        "rep3" => {
            let protocols = ["gf4-circuit", "gf8-circuit", "lut16", "lut256", "lut256-additive"];
            let mut all: Vec<Vec<&str>> = protocols
                .iter()
                .map(|protocol| vec!["aes", "--protocol", protocol, "--blocks", "64"])
                .collect();
            all.push(vec!["hash", "--count", "8"]);
            all.push(vec!["mac", "--count", "8"]);
            all.push(vec!["lookup", "--entries", "256", "--count", "64"]);
            all
        }
        "garble" => {
            vec![vec![
                "circuit",
                "--engine",
                "garble",
                "--parties",
                "3",
                "--circuit",
                "aes128",
                "--count",
                "1",
            ]]
        }
        _ => vec![vec![
            "circuit",
            "--engine",
            "mixed",
            "--parties",
            "3",
            "--circuit",
            "aes128",
            "--count",
            "4",
        ]],
    }
}

/// Tests that run beside each other would measure each other.
static ALONE: Mutex<()> = Mutex::new(());

fn agree(engine: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let lines: Vec<String> = all(engine).iter().flat_map(|arguments| differing(arguments)).collect();
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
