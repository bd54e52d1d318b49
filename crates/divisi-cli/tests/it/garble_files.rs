//! Circuits that stay in their file, through the command line: `run`, `bench circuit` and `circuit info`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn divisi(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_divisi"))
        .env(divisi::calibrate::VARIABLE, "50")
        .current_dir(dir)
        .arg("--json")
        .args(arguments)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// All gates, operands that are one wire, constants, an input at an output: 9 gates over two inputs of two
/// bits and one of one.
const GATES: &str = "10 16\n3 2 2 1\n2 4 2\n\n\
    1 1 1 5 EQ\n1 1 0 6 EQW\n2 1 0 3 7 AND\n1 1 7 8 INV\n2 1 8 5 9 XOR\n4 2 0 1 2 3 10 11 MAND\n\
    2 1 10 10 12 AND\n2 1 6 12 13 XOR\n2 1 4 5 14 AND\n1 1 0 15 EQW\n";

#[test]
fn a_run_gives_what_it_gives_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    for digits in [["3", "1", "0"], ["2", "3", "1"]] {
        let inputs: Vec<String> =
            (1..).zip(digits).map(|(i, digit)| format!("{}={digit}", i % 2 + 1)).collect();
        let run = |streamed: bool| {
            let mut arguments = vec!["run", "--engine", "garble", "--parties", "2", "--circuit", "gates.txt"];
            inputs.iter().for_each(|input| arguments.extend(["--input", input]));
            arguments.extend(streamed.then_some("--streamed"));
            let output = divisi(dir.path(), &arguments);
            assert!(output.status.success(), "{output:?}");
            json(&output)
        };
        let (ahead, streamed) = (run(false), run(true));
        assert_eq!((ahead["streamed"].as_bool(), streamed["streamed"].as_bool()), (Some(false), Some(true)));
        for field in ["outputs", "circuit", "and", "and_depth", "k", "output_to"] {
            assert_eq!(ahead[field], streamed[field], "{field}");
        }
        let mut eval = vec!["circuit", "eval", "gates.txt"];
        digits.iter().for_each(|digit| eval.extend(["--input", digit]));
        assert_eq!(json(&divisi(dir.path(), &eval))["outputs"], streamed["outputs"]);
    }
}

#[test]
fn a_benchmark_checks_its_outputs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    let arguments = ["bench", "circuit", "--engine", "garble", "--circuit", "gates.txt", "--parties", "3"];
    let more = ["--streamed", "--count", "70", "--reps", "2", "--warmup", "0"];
    let told = json(&divisi(dir.path(), &[&arguments[..], &more].concat()));
    // two of four products have one operand twice or a constant
    assert_eq!((told["and_gates"].as_u64(), told["checked"].as_bool()), (Some(3), Some(true)), "{told}");
    assert_eq!((told["streamed"].as_bool(), told["circuit"].as_str()), (Some(true), Some("gates.txt")));
    let names: Vec<&str> =
        told["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["setup", "streamed"]);
    assert!(told["checks"]["W29"].as_u64().unwrap() > 1, "{told}");
}

#[test]
fn info_is_that_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    let told = json(&divisi(dir.path(), &["circuit", "info", "gates.txt"]));
    let want = serde_json::json!({
        "schema": 1, "circuit": "gates.txt", "format": "bristol-fashion", "order": null,
        "inputs": [2, 2, 1], "outputs": [4, 2],
        "gates": 11, "and": 5, "xor": 2, "inv": 1, "eq": 1, "eqw": 2, "and_depth": 2, "sums_of_products": 5,
    });
    assert_eq!(told, want);
}

/// Bad files are refused alike, with the line, whether they would stay where they are or not; and by `info`.
#[test]
fn bad_files_are_refused_with_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let bad = GATES.replace("2 1 6 12 13 XOR", "2 1 6 14 13 XOR");
    std::fs::write(dir.path().join("bad.txt"), bad).unwrap();
    let usual = ["run", "--engine", "garble", "--parties", "2", "--circuit"];
    for (name, what) in [
        ("bad.txt", "bad.txt, line 12: wire 14 is read before a line writes it"),
        ("none.txt", "none.txt cannot be read"),
        (".", ". cannot be read (it is not a regular file)"),
    ] {
        let run = [&usual[..], &[name]].concat();
        let streamed = [&run[..], &["--streamed"]].concat();
        for arguments in [&run[..], &streamed, &["circuit", "info", name]] {
            let output = divisi(dir.path(), arguments);
            let told = json(&output);
            assert_eq!((output.status.code(), told["kind"].as_str()), (Some(2), Some("usage")), "{told}");
            assert!(told["error"].as_str().unwrap().starts_with(what), "{arguments:?} {told}");
        }
    }
}
