//! Names and streams as the system has them: not always Unicode, and known by the names of their devices.

use super::harness::{ServersHarness, Words, random, signal, wait};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};
use std::time::Duration;

/// A file name that is not UTF-8.
fn odd(stem: &str) -> OsString {
    let mut name = stem.as_bytes().to_vec();
    name.push(0xff);
    OsStr::from_bytes(&name).to_owned()
}

fn run(harness: &ServersHarness, args: &(impl Words + ?Sized), paths: &[(&str, &OsString)]) -> Output {
    let mut command = harness.command(args);
    paths.iter().for_each(|(option, path)| {
        command.arg(option).arg(path);
    });
    let output = command.output().unwrap();
    assert!(output.status.success(), "{:?}: {output:?}", args.words());
    output
}

/// Every command that takes a file takes one whose name is not Unicode, and writes JSON of it.
#[test]
fn file_names_need_not_be_unicode() {
    let harness = ServersHarness::new(10.0);
    let text = random(1000);
    let (plain, sealed, opened) = (odd("plain"), odd("sealed"), odd("opened"));
    let path = |name: &OsString| harness.dir.path().join(name);
    std::fs::write(path(&plain), &text).unwrap();
    let (config, identity) = (odd("config"), odd("identity"));
    std::fs::copy(harness.path("mesh/mesh.toml"), path(&config)).unwrap();
    std::fs::copy(harness.path("mesh/client-anna.key"), path(&identity)).unwrap();
    let client = |args: &str, more: &[(&str, &OsString)]| {
        let membership = [("--config", &config), ("--identity", &identity)];
        let output = run(&harness, &format!("{args} --json"), &[&membership, more].concat());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    client("key new --key k --type aes-128 --exportable", &[]);
    client("key new --key m --type hmac-sha256", &[]);
    client("encrypt --key k", &[("--in", &plain), ("--out", &sealed)]);
    let json = client("decrypt --key k", &[("--in", &sealed), ("--out", &opened)]);
    assert_eq!(json["out"], "opened\u{fffd}");
    assert_eq!(std::fs::read(path(&opened)).unwrap(), text);
    client("hash --algorithm sha3-256", &[("--in", &plain)]);
    client("mac --key m --algorithm hmac-sha256", &[("--in", &plain)]);
    let exported = odd("exported");
    client("key export --key k", &[("--out", &exported)]);
    client("key import --key j --type aes-128", &[("--in", &exported)]);
    client("mesh check", &[]);
    let (mesh, own) = (odd("mesh"), odd("own"));
    run(&harness, "mesh new --parties 3 --clients me --json", &[("--out", &mesh)]);
    let made = run(&harness, "mesh identity --json", &[("--out", &own)]);
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let fingerprint = made["fingerprint"].as_str().unwrap();
    let add = ["mesh", "add", "--client", "ida", "--fingerprint", fingerprint, "--json"];
    run(&harness, &add, &[("--config", &config)]);
    run(&harness, "mesh remove --client ida --json", &[("--config", &config)]);
    run(&harness, "circuit emit keccak-f --json", &[("--out", &odd("circuit"))]);
    client("key list", &[]);
    client("key destroy --key j --yes", &[]);
}

/// A server serves with its configuration, identity and data under such names, and takes the orders of its
/// operator there.
#[test]
fn a_server_and_its_operator_need_no_unicode() {
    let mut harness = ServersHarness::new(10.0);
    let (config, identity, data) = (odd("config"), odd("identity"), odd("data"));
    let path = |harness: &ServersHarness, name: &OsString| harness.dir.path().join(name);
    std::fs::copy(harness.path("mesh/mesh.toml"), path(&harness, &config)).unwrap();
    std::fs::copy(harness.path("mesh/party-1.key"), path(&harness, &identity)).unwrap();
    harness.does("anna", "key new --key k --type aes-128");
    signal(harness.server(1), Signal::TERM);
    assert_eq!(wait(harness.server(1), Duration::from_secs(20)), 0);
    std::fs::rename(harness.path("data-1"), path(&harness, &data)).unwrap();
    harness.start_at(1, [&config, &identity, &data]);
    harness.wait_for(1, "joined the other servers", 1);
    std::fs::write(harness.path("text"), "hers").unwrap();
    harness.does("anna", "encrypt --key k --in text --out sealed");
    let order = |words: &[&str], party: usize, state: &str| {
        let own = (format!("mesh/party-{party}.key").into(), format!("data-{party}").into());
        let (of, at) = if party == 1 { (&identity, &data) } else { (&own.0, &own.1) };
        let number = party.to_string();
        let args = [words, &["--key", "k", "--party", &number, "--json"]].concat();
        let told = run(&harness, &args, &[("--config", &config), ("--identity", of), ("--data", at)]);
        let json: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!(json["state"], state, "{json}");
    };
    for words in [&["key", "chown", "--to", "ben"][..], &["key", "destroy"]] {
        order(words, 2, "asked");
        order(words, 3, "asked");
        order(words, 1, "done");
    }
    harness.fails("ben", "decrypt --key k --in sealed --out no", 1, &["destroyed"]);
    // hangup: it reads its configuration again
    signal(harness.server(1), Signal::HUP);
    harness.wait_for(1, "took over config\u{fffd} again", 1);
}

/// What `demo`, `kat`, `prep` and `reproduce` read and write.
#[test]
fn names_of_vectors_stocks_and_pages_need_not_be_unicode() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&dyn AsRef<OsStr>]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_divisi"));
        args.iter().for_each(|argument| {
            command.arg(argument);
        });
        let output = command.args(["--json", "--timeout", "60"]).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let at = |stem: &str| dir.path().join(odd(stem));
    let (text, vectors, stock, seal, page) = (at("text"), at("vectors"), at("stock"), at("seal"), at("page"));
    std::fs::write(&text, random(1000)).unwrap();
    run(&[&"demo", &"--file", &text]);
    let test = r#"{"tcId": 1, "key": "00000000000000000000000000000000", "iv": "000000000000000000000000", "aad": "",
        "msg": "00000000000000000000000000000000", "ct": "0388dace60b6a392f328c2b971b2fe78",
        "tag": "ab6e47d42cec13bdf53a67b21257bddf", "result": "valid"}"#;
    let file = format!("{{\"algorithm\": \"AES-GCM\", \"testGroups\": [{{\"tests\": [{test}]}}]}}");
    std::fs::write(&vectors, file).unwrap();
    run(&[&"kat", &vectors]);
    let make = |out: &dyn AsRef<OsStr>| {
        let what: [&dyn AsRef<OsStr>; 6] = [&"prep", &"make", &"--protocol", &"aes-lt", &"--blocks", &"2"];
        run(&[&what[..], &[&"--parties", &"2", &"--out", out, &"--key-file", &seal]].concat())
    };
    assert!(make(&stock)["dir"].as_str().unwrap().ends_with("stock\u{fffd}"));
    let parts = run(&[&"prep", &"info", &stock, &"--key-file", &seal]);
    assert_eq!(parts["parts"].as_array().unwrap().len(), 2);
    let spdz: [&dyn AsRef<OsStr>; 9] =
        [&"bench", &"aes", &"--engine", &"spdz", &"--parties", &"2", &"--blocks", &"1", &"--reps"];
    run(&[&spdz[..], &[&"1", &"--warmup", &"0", &"--prep-from", &stock, &"--key-file", &seal]].concat());
    assert_eq!(run(&[&"prep", &"drop", &stock, &"--yes"])["dropped"], 2);
    let table: [&dyn AsRef<OsStr>; 6] =
        [&"reproduce", &"--quick", &"--paper", &"maestro", &"--table", &"table-1"];
    let written = run(&[&table[..], &[&"--out", &page]].concat());
    assert!(written["html"].as_str().unwrap().ends_with("page\u{fffd}/report.html"));
    assert!(page.join("report.html").is_file() && page.join("report.json").is_file());
}

/// The same of circuits, programs and their inputs, which need no servers.
#[test]
fn names_of_circuits_and_programs_need_not_be_unicode() {
    let dir = tempfile::tempdir().unwrap();
    let at = |stem: &str| dir.path().join(odd(stem));
    let run = |args: &[&dyn AsRef<OsStr>]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_divisi"));
        args.iter().for_each(|argument| {
            command.arg(argument);
        });
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let with = |prefix: &str, path: &std::path::Path| {
        let mut text = OsString::from(prefix);
        text.push(path);
        text
    };
    let (circuit, key, block) = (at("circuit"), at("key"), at("block"));
    std::fs::write(&key, "000102030405060708090a0b0c0d0e0f\n").unwrap();
    std::fs::write(&block, "00112233445566778899aabbccddeeff\n").unwrap();
    run(&[&"circuit", &"emit", &"aes128", &"--out", &circuit]);
    assert!(run(&[&"circuit", &"info", &circuit]).contains("circuit\u{fffd}: "));
    run(&[&"circuit", &"convert", &"--to", &"bristol", &circuit, &"--out", &at("converted")]);
    run(&[&"circuit", &"optimise", &circuit, &"--out", &at("smaller")]);
    let input = |prefix: &str| [with(&format!("{prefix}@"), &key), with(&format!("{prefix}@"), &block)];
    let [one, two] = input("");
    let told = run(&[&"circuit", &"eval", &circuit, &"--input", &one, &"--input", &two]);
    assert_eq!(told.trim(), "69c4e0d86a7b0430d8cdb78070b4c55a");
    // the parties of a run find the file, too
    let (one, two) = (with("1=@", &key), with("2=@", &block));
    let json = run(&[&"run", &"--json", &"--circuit", &circuit, &"--input", &one, &"--input", &two]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["outputs"][0], "69c4e0d86a7b0430d8cdb78070b4c55a");
    assert!(json["circuit"].as_str().unwrap().ends_with("circuit\u{fffd}"));
    run(&[&"bench", &"circuit", &"--circuit", &circuit, &"--count", &"1", &"--reps", &"1"]);
    let (program, numbers) = (at("program"), at("numbers"));
    let text = "divisi program 1\ninput a 1 num in 0..9\nb = add a a\noutput b 1\n";
    std::fs::write(&program, text).unwrap();
    std::fs::write(&numbers, "5").unwrap();
    run(&[&"program", &"info", &program]);
    let values = with("a=@", &numbers);
    assert!(run(&[&"program", &"eval", &program, &"--input", &values]).contains("10"));
    let args: [&dyn AsRef<OsStr>; 6] = [&"run", &"--engine", &"mixed", &"--program", &program, &"--input"];
    let values: &dyn AsRef<OsStr> = &values;
    assert!(run(&[&args[..], &[values, &"--parties", &"2"]].concat()).contains("10"));
    // and what no option prints is printed by the name of the device
    let printed = run(&[&"circuit", &"emit", &"keccak-f"]);
    assert!(run(&[&"circuit", &"emit", &"keccak-f", &"--out", &"/dev/stdout"]) == printed);
    assert!(!run(&[&"circuit", &"optimise", &circuit, &"--out", &"/dev/stdout"]).is_empty());
    let older = run(&[&"circuit", &"convert", &"--to", &"bristol", &circuit, &"--out", &"/dev/stdout"]);
    assert_eq!(older.as_bytes(), std::fs::read(at("converted")).unwrap());
}

#[test]
fn devices_stand_for_the_streams_that_they_are() {
    let harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    let through = |args: &[&str], input: &[u8]| {
        let mut child = harness.command_of("anna", args).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let streams = ["--key", "k", "--in", "/dev/stdin", "--out", "/dev/stdout"];
    let sealed = through(&[&["encrypt"][..], &streams].concat(), b"a text");
    assert_eq!(through(&[&["decrypt"][..], &streams].concat(), &sealed), b"a text");
    let wrong = "encrypt --key k --in /dev/stdin --out /dev/stdout --json";
    harness.fails("anna", wrong, 2, &["--json uses standard output"]);
}
