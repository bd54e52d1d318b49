//! An engine that this program did not know: one folder, one line, and every command knows it. This test is
//! its own program: with a command's name as its first argument it is the command line, and its processes are
//! that of each party.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod engine;

use divisi::prep::{self, PrepOptions};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

const COMMANDS: [&str; 7] = ["run", "bench", "kat", "prep", "demo", "party", "help"];

fn main() -> ExitCode {
    divisi::engine::add(&engine::Toy);
    let first = std::env::args().nth(1).unwrap_or_default();
    if COMMANDS.contains(&first.as_str()) {
        return divisi_cli::main();
    }
    let dir = tempfile::tempdir().unwrap();
    // z = x + y of three bits each without carries, and y's first bit turned
    let xors = "4 10\n2 3 3\n2 3 1\n\n2 1 0 3 6 XOR\n2 1 1 4 7 XOR\n2 1 2 5 8 XOR\n1 1 3 9 INV\n";
    std::fs::write(dir.path().join("xors"), xors).unwrap();
    std::fs::write(dir.path().join("and"), "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n").unwrap();
    let tests: [(&str, fn(&Path)); 7] = [
        ("a circuit is run", a_circuit_is_run),
        ("a circuit is measured", a_circuit_is_measured),
        ("what it cannot do is refused, and counted", what_it_cannot_do_is_refused_and_counted),
        ("its own option is its own", its_own_option_is_its_own),
        ("options of others are others'", options_of_others_are_others),
        ("stocks and demonstrations are its own", stocks_and_demonstrations_are_its_own),
        ("help tells of it", help_tells_of_it),
    ];
    for (name, test) in tests {
        test(dir.path());
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn toy(dir: &Path, arguments: &[&str]) -> Output {
    let program = std::env::current_exe().unwrap();
    Command::new(program).current_dir(dir).args(arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn a_circuit_is_run(dir: &Path) {
    let inputs = ["--input", "4=5", "--input", "2=3", "--output", "1,3"];
    let arguments = ["run", "--json", "--engine", "toy", "--parties", "4", "--circuit", "xors"];
    let output = toy(dir, &[&arguments[..], &inputs].concat());
    let told = json(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!((told["engine"].as_str(), told["parties"].as_u64()), (Some("toy"), Some(4)));
    assert_eq!((&told["outputs"][0], &told["outputs"][1]), (&"6".into(), &"0".into()));
    assert_eq!((&told["output_to"], &told["form"]), (&serde_json::json!([1, 3]), &Value::Null));
    assert!(told["bytes_sent_per_party"].as_u64().unwrap() > 0);
}

fn a_circuit_is_measured(dir: &Path) {
    let arguments = ["bench", "circuit", "--json", "--engine", "toy", "--parties", "3", "--circuit", "xors"];
    let output = toy(dir, &[&arguments[..], &["--count", "8", "--reps", "2", "--warmup", "1"]].concat());
    let told = json(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!((&told["engine"], &told["count"], &told["checked"]), (&"toy".into(), &8.into(), &true.into()));
    // eight evaluations of three bits to two others, in three repetitions of one session: the meter continues
    let online = &told["phases"][0];
    assert_eq!(
        (&online["name"], &online["bits_sent_per_party"]),
        (&"online".into(), &(3 * 8 * 3 * 2).into())
    );
    let output = toy(dir, &["bench", "circuit", "--engine", "toy", "--circuit", "xors", "--reps", "1"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("toy, 3 parties") && text.contains("online"), "{output:?}");
}

fn what_it_cannot_do_is_refused_and_counted(dir: &Path) {
    let output =
        toy(dir, &["run", "--engine", "toy", "--circuit", "and", "--input", "1=1", "--input", "2=1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("toys have no ANDs"), "{output:?}");
    let output = toy(dir, &["bench", "hash", "--engine", "toy"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let vectors = serde_json::json!({ "algorithm": "SHA2-256", "testGroups": [{ "testType": "AFT", "tests": [
        { "tcId": 1, "msg": "61", "len": 8, "md": "00".repeat(32) },
        { "tcId": 2, "msg": "6162", "len": 16, "md": "00".repeat(32) },
    ] }] });
    std::fs::write(dir.join("v.json"), vectors.to_string()).unwrap();
    let output = toy(dir, &["kat", "--engine", "toy", "--parties", "5", "v.json", "--json"]);
    let told = json(&output);
    assert_eq!(
        (output.status.code(), &told["engine"], &told["parties"]),
        (Some(1), &"toy".into(), &5.into())
    );
    let tally = &told["algorithms"][0];
    assert_eq!((&tally["passed"], &tally["failed"]), (&0.into(), &0.into()));
    assert_eq!(tally["unsupported"]["the engine toy has no known answers: give --engine rep3"], 2);
}

fn its_own_option_is_its_own(dir: &Path) {
    let run = ["run", "--json", "--circuit", "xors", "--input", "1=5", "--input", "2=3"];
    let of = |engine: &str, times: &[&str]| toy(dir, &[&run[..], &["--engine", engine], times].concat());
    let sent = |times: &[&str]| {
        let told = json(&of("toy", times));
        assert_eq!(told["outputs"], serde_json::json!(["6", "0"]), "{told}");
        (told["times"].clone(), told["bits_sent_per_party"].as_u64().unwrap())
    };
    let (once, bits) = sent(&[]);
    assert_eq!((once, sent(&["--times", "3"])), (1.into(), (3.into(), 3 * bits)));
    for (engine, times, why) in [
        ("toy", "10", "toys tell everything 1 to 9 times"),
        ("toy", "x", "x is not a whole number"),
        ("garble", "2", "--times belongs to the engine toy: give --engine toy"),
    ] {
        let output = of(engine, &["--times", times]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{why}: {output:?}");
    }
    let bench = ["bench", "circuit", "--json", "--engine", "toy", "--circuit", "xors", "--reps", "1"];
    let told = json(&toy(dir, &[&bench[..], &["--warmup", "0", "--times", "2"]].concat()));
    assert_eq!(told["phases"][0]["bits_sent_per_party"], 2 * 3 * 2);
}

fn options_of_others_are_others(dir: &Path) {
    let arguments = ["--circuit", "xors", "--input", "1=1", "--input", "2=1"];
    let with = |more: &[&str]| toy(dir, &[&["run", "--engine", "toy"], &arguments[..], more].concat());
    for (more, why) in [
        (&["--form", "paper"][..], "--form belongs to the engine garble"),
        (&["--parties", "8"], "the engine toy has 2 to 7 parties, not 8"),
        (&["--output", "4"], "there is no party 4: the engine toy has the parties 1 to 3"),
    ] {
        let output = with(more);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{why}: {output:?}");
    }
}

/// No other engine takes the place of the one that is asked.
fn stocks_and_demonstrations_are_its_own(dir: &Path) {
    let make = ["prep", "make", "--engine", "toy", "--protocol", "aes-lt", "--blocks", "1", "--out", "stock"];
    for (arguments, why) in [
        (&make[..], "--protocol belongs to the engine rep3"),
        (&["demo", "--engine", "toy"], "toys encrypt no file"),
        (&["demo", "--engine", "garble"], "has no demonstration: leave --engine out, or give --engine spdz"),
    ] {
        let output = toy(dir, arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{why}: {output:?}");
    }
    let engine = divisi::engine::named("toy").unwrap();
    let settings = divisi::engine::EngineSettings::default();
    let options =
        PrepOptions { engine, settings, blocks: 1, out: dir.join("stock"), key_file: None, timeout: None };
    let failure = prep::make(&options, &|_, _| {}).map(drop).unwrap_err();
    assert_eq!((failure.to_string().as_str(), dir.join("stock").exists()), ("toys keep nothing", false));
}

fn help_tells_of_it(dir: &Path) {
    for command in [&["run"][..], &["bench", "circuit"]] {
        let output = toy(dir, &[command, &["--help"]].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("toy:") && text.contains("Nothing is secret"), "{text}");
        // as one line, without the breaks of the terminal's width
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("2 to 32 with spdz, 2 to 7 with toy [default: 3]"), "{text}");
        let times = "Engine toy: --times <N> How often everything is told, 1 to 9 [default: 1]";
        assert!(text.contains(times), "{text}");
    }
    // it has no known answers
    let text = String::from_utf8_lossy(&toy(dir, &["kat", "--help"]).stdout).into_owned();
    assert!(!text.contains("toy:") && !text.contains("with toy") && !text.contains("--times"), "{text}");
    let output = toy(dir, &["bench", "circuit", "--help"]);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("evaluations [default: 10000; with other engines 1]"), "{text}");
    let output = toy(dir, &["kat", "--engine", "abacus", "v.json"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("spdz, plain or toy"), "{output:?}");
}
