//! Circuits that stay in their file, through the command line: `run`, `bench circuit` and `circuit info`.

use crate::has;
use crate::program::{good, phases, refused};
use serde_json::json;

/// All gates, operands that are one wire, constants, an input at an output: 9 gates over two inputs of two
/// bits and one of one.
const GATES: &str = "10 16\n3 2 2 1\n2 4 2\n\n\
    1 1 1 5 EQ\n1 1 0 6 EQW\n2 1 0 3 7 AND\n1 1 7 8 INV\n2 1 8 5 9 XOR\n4 2 0 1 2 3 10 11 MAND\n\
    2 1 10 10 12 AND\n2 1 6 12 13 XOR\n2 1 4 5 14 AND\n1 1 0 15 EQW\n";

#[test]
fn a_run_gives_what_it_gives_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    for [x, y, z] in [[3, 1, 0], [2, 3, 1]] {
        let run = format!(
            "run --engine garble --parties 2 --circuit gates.txt --input 2={x} --input 1={y} --input 2={z}"
        );
        let (ahead, streamed) = (good(dir.path(), &run), good(dir.path(), &format!("{run} --streamed")));
        has!(ahead, "streamed": false);
        has!(streamed, "streamed": true);
        for field in ["outputs", "circuit", "and", "and_depth", "k", "output_to"] {
            assert_eq!(ahead[field], streamed[field], "{field}");
        }
        let eval = format!("circuit eval gates.txt --input {x} --input {y} --input {z}");
        assert_eq!(good(dir.path(), &eval)["outputs"], streamed["outputs"]);
    }
}

#[test]
fn a_benchmark_checks_its_outputs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    let bench = "bench circuit --engine garble --circuit gates.txt --parties 3 --streamed --count 70";
    let told = good(dir.path(), &format!("{bench} --reps 2 --warmup 0"));
    // two of four products have one operand twice or a constant
    has!(told, "and_gates": 3, "checked": true, "streamed": true, "circuit": "gates.txt");
    assert_eq!(phases(&told), ["setup", "streamed"]);
    assert!(told["checks"]["W29"].as_u64().unwrap() > 1, "{told}");
}

#[test]
fn info_is_that_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("gates.txt"), GATES).unwrap();
    let told = good(dir.path(), "circuit info gates.txt");
    let want = json!({
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
    let run = "run --engine garble --parties 2 --circuit";
    for (name, what) in [
        ("bad.txt", "bad.txt, line 12: wire 14 is read before a line writes it"),
        ("none.txt", "none.txt cannot be read"),
        (".", ". cannot be read (it is not a regular file)"),
    ] {
        for words in
            [format!("{run} {name}"), format!("{run} {name} --streamed"), format!("circuit info {name}")]
        {
            refused(dir.path(), &words, what);
        }
    }
}
