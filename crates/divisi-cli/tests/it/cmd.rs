//! The command line, case by case: `tests/cmd/*.toml` say the arguments, what is there, and what must come.
//!
//! Each case runs in an empty directory of its own, `{dir}`, which is also its user's home. `{port}` is a
//! port that somebody else has taken, `{fingerprint:FILE}` the fingerprint of an identity. A failure must be
//! one sentence on standard error, and with `--json` also one object on standard output.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    /// What is refused with exit code 2: a name, the words of a command, and what the sentence on standard
    /// error contains.
    #[serde(default)]
    refused: Vec<(String, String, Vec<String>)>,
    case: Vec<Case>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Commands that run before, and succeed.
    #[serde(default)]
    setup: Vec<Vec<String>>,
    /// Files that are there, and their modes.
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    modes: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    status: i32,
    /// What standard error, or standard output, must contain.
    #[serde(default)]
    stderr: Vec<String>,
    #[serde(default)]
    stdout: Vec<String>,
    /// Members that the JSON object on standard output must have.
    #[serde(default)]
    json: BTreeMap<String, toml::Value>,
    /// Files that must be there afterwards, and no others.
    leaves: Option<Vec<String>>,
}

fn divisi(dir: &Path, args: &[String], env: &BTreeMap<String, String>, stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_divisi"))
        .args(args)
        .current_dir(dir)
        .env_remove("DIVISI_KERNEL")
        .env_remove("DIVISI_CONFIG")
        .env_remove("DIVISI_IDENTITY")
        .env_remove("XDG_CONFIG_HOME")
        .env("HOME", dir)
        // no case looks at the figures of this machine
        .env(divisi::calibrate::VARIABLE, "50")
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// Fill in what the case leaves open.
fn fill(dir: &Path, port: u16, text: &str) -> String {
    let mut text = text.replace("{port}", &port.to_string()).replace("{dir}", dir.to_str().unwrap());
    while let Some((before, rest)) = text.split_once("{fingerprint:") {
        let (file, after) = rest.split_once('}').unwrap();
        let identity = divisi_net::Identity::load(&dir.join(file)).unwrap();
        text = format!("{before}{}{after}", identity.fingerprint());
    }
    text
}

fn run(case: &Case) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let filled = |args: &[String]| args.iter().map(|arg| fill(dir, port, arg)).collect::<Vec<_>>();
    // a file that a command of the set-up reads is there before
    let early = |name: &String| case.setup.iter().flatten().any(|argument| argument == name);
    for (name, text) in case.files.iter().filter(|(name, _)| early(name)) {
        std::fs::write(dir.join(name), fill(dir, port, text)).unwrap();
    }
    for setup in &case.setup {
        let output = divisi(dir, &filled(setup), &BTreeMap::new(), "");
        assert!(output.status.success(), "{}: setup {setup:?}: {output:?}", case.name);
    }
    for (name, text) in &case.files {
        let parent = dir.join(name).parent().unwrap().to_path_buf();
        // as the program makes its own: open to nobody else
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).unwrap();
        std::fs::write(dir.join(name), fill(dir, port, text)).unwrap();
    }
    for (name, mode) in &case.modes {
        let mode = std::fs::Permissions::from_mode(u32::from_str_radix(mode, 8).unwrap());
        std::fs::set_permissions(dir.join(name), mode).unwrap();
    }
    let env = case.env.iter().map(|(name, value)| (name.clone(), fill(dir, port, value))).collect();
    let output = divisi(dir, &filled(&case.args), &env, &case.stdin);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let told = format!("{}:\nstdout: {stdout}\nstderr: {stderr}", case.name);
    assert_eq!(output.status.code(), Some(case.status), "{told}");
    for part in &case.stderr {
        assert!(stderr.contains(&fill(dir, port, part)), "no {part:?} in {told}");
    }
    // a help breaks its lines where they end
    let unbroken = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in &case.stdout {
        let part = fill(dir, port, part);
        assert!(stdout.contains(&part) || unbroken.contains(&part), "no {part:?} in {told}");
    }
    if case.status != 0 {
        // below it a tip of the parser may stand
        let sentences = stderr.lines().filter(|line| !line.starts_with("  tip: "));
        assert_eq!(sentences.count(), 1, "more than one sentence: {told}");
        assert!(stderr.starts_with("divisi: ") && stderr.len() < 700, "{told}");
        assert!(!stderr.contains("panicked") && !stderr.contains("Err("), "{told}");
    }
    if case.args.iter().any(|arg| arg == "--json") {
        let object: serde_json::Value =
            serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {told}"));
        assert_eq!(object["schema"], 1, "{told}");
        for (name, value) in &case.json {
            assert_eq!(object[name], serde_json::to_value(value).unwrap(), "{name}: {told}");
        }
        if case.status != 0 {
            assert!(object["error"].is_string() && object["retry"].is_boolean(), "{told}");
        }
    } else if case.status != 0 && case.stdout.is_empty() {
        assert_eq!(stdout, "", "{told}");
    }
    if let Some(leaves) = &case.leaves {
        let mut left: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(&left, leaves, "{told}");
    }
}

fn run_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd").join(name);
    let cases: Cases =
        toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(!cases.case.is_empty());
    let refused = cases.refused.into_iter().map(|(name, words, stderr)| {
        let args = words.split_whitespace().map(str::to_owned).collect();
        Case { name, args, status: 2, stderr, ..Case::default() }
    });
    let all: Vec<Case> = refused.chain(cases.case).collect();
    // all cases run: whoever changes a message sees at once which of them tell of it
    let fails = |case: &&Case| std::panic::catch_unwind(|| run(case)).is_err();
    let failed: Vec<&str> = all.iter().filter(fails).map(|case| case.name.as_str()).collect();
    assert!(failed.is_empty(), "{name}: {failed:?}");
}

macro_rules! files {
    ($($test:ident = $file:literal),* $(,)?) => {
        $(#[test] fn $test() { run_file($file); })*

        #[test]
        fn every_file_of_cases_is_run() {
            let mut named = vec![$($file.to_owned()),*];
            named.sort();
            let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
            let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string();
            let mut there: Vec<String> = std::fs::read_dir(dir).unwrap().map(|e| name(e).unwrap()).collect();
            there.sort();
            assert_eq!(named, there);
        }
    };
}

files!(
    usage = "usage.toml",
    wrong = "wrong.toml",
    mesh = "mesh.toml",
    server = "server.toml",
    client = "client.toml",
    kat = "kat.toml",
    bench = "bench.toml",
    garbled = "garbled.toml",
    circuits = "circuit.toml",
    circuits_run = "run.toml",
    programs = "program.toml",
    mixed = "mixed.toml",
    spdz = "spdz.toml"
);
