//! A result that cannot be written is lost, and the exit code says so: every command that prints one, with
//! `/dev/full` for standard output. Commands that need servers are in `servers/full.rs`.
#![cfg(target_os = "linux")]

use crate::program::{PROGRAM, gate};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Commands with results, in an order in which each finds what it needs.
const COMMANDS: &[&str] = &[
    "--help",
    "help",
    "--version",
    "encrypt --help",
    "mesh new --parties 3 --clients me --out MESH",
    "mesh identity --out MINE",
    "mesh add --config mesh/mesh.toml --client you --fingerprint PRINT",
    "mesh remove --config mesh/mesh.toml --client me",
    "circuit emit aes128",
    "circuit emit aes128 --out c.txt --json",
    "circuit info c.txt",
    "circuit convert and.txt --to bristol",
    "circuit optimise and.txt",
    "circuit eval and.txt --input 1 --input 1",
    "program info gauss",
    "program eval double.txt --input x=1",
    "params --op triple-arith --parties 2 --danger-insecure-parameters",
    "kat kat.json --engine plain",
    "run --engine mixed --parties 2 --circuit and.txt --input 1=1 --input 2=1",
    "bench calibrate",
    "demo --engine spdz --parties 2",
    "prep make --protocol bit-products --blocks 8 --parties 2 --out stock",
    "prep info stock",
    "prep drop stock --yes",
];

const DOUBLE: &str = "divisi program 1\ninput x 1 num 1 in 0..9\ny = add x x\noutput y 1\n";
const KAT: &str = r#"{"algorithm": "AES-GCM", "numberOfTests": 1, "testGroups": [{"type": "AeadTest", "keySize": 128,
"ivSize": 96, "tagSize": 128, "tests": [{"tcId": 1, "comment": "", "flags": [],
"key": "000102030405060708090a0b0c0d0e0f",
"iv": "000102030405060708090a0b", "aad": "616164", "msg": "68656c6c6f", "ct": "fb09cba209",
"tag": "977841a36b7e50a33428ab4f5c15b002", "result": "valid"}]}]}"#;

fn divisi(dir: &Path, words: &[&str], out: Stdio) -> Output {
    Command::new(PROGRAM).args(words).current_dir(dir).stdin(Stdio::null()).stdout(out).output().unwrap()
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (name, text) in [("and.txt", &*gate("AND")), ("double.txt", DOUBLE), ("kat.json", KAT)] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let mesh = ["mesh", "new", "--parties", "3", "--clients", "me", "--out", "mesh"];
    assert!(divisi(dir, &mesh, Stdio::piped()).status.success());
    let print = "ab".repeat(32);
    for command in COMMANDS {
        // JSON as well, unless the command prints no object, takes a second, or needs what it has used up
        let text_only = "help version json emit convert optimise stock remove demo calibrate";
        let once = text_only.split(' ').any(|word| command.contains(word));
        let forms: &[bool] = if once { &[false] } else { &[false, true] };
        for json in forms {
            let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            for word in &mut words {
                *word = word.replace("PRINT", &print).replace("MESH", &format!("mesh-{json}"));
                *word = word.replace("MINE", &format!("mine-{json}"));
            }
            if *json {
                words.push("--json".into());
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let full = File::options().write(true).open("/dev/full").unwrap();
            let output = divisi(dir, &words, full.into());
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
            assert!(told.contains("standard output cannot be written"), "{words:?}: {told}");
            assert!(!told.contains("panicked"), "{words:?}: {told}");
        }
    }
}

/// A reader that wants no more has what it wants.
#[test]
fn a_closed_pipe_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    for words in [&["--help"][..], &["circuit", "emit", "aes128"], &["circuit", "info", "aes128", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = divisi(dir.path(), words, writer.into());
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    }
}

/// Standard error that cannot be written ends no command.
#[test]
fn a_warning_that_cannot_be_written_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("and.txt"), gate("AND")).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let words = ["run", "--engine", "mixed", "--parties", "2", "--circuit", "and.txt"];
    let status = Command::new(PROGRAM)
        .args(words)
        .args(["--input", "1=1", "--input", "2=1"])
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(full)
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
}
