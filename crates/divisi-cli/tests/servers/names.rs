//! Names and streams as the system has them: not always Unicode, and known by the names of their devices.

use crate::house::{House, random};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::{Output, Stdio};

/// A file name that is not UTF-8.
fn odd(stem: &str) -> OsString {
    let mut name = stem.as_bytes().to_vec();
    name.push(0xff);
    OsStr::from_bytes(&name).to_owned()
}

fn run(house: &House, args: &[&str], paths: &[(&str, &OsString)]) -> Output {
    let mut command = house.command(args);
    paths.iter().for_each(|(option, path)| {
        command.arg(option).arg(path);
    });
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

/// Every command that takes a file takes one whose name is not Unicode, and writes JSON of it.
#[test]
fn file_names_need_not_be_unicode() {
    let house = House::new(10.0);
    let text = random(1000);
    let (plain, sealed, opened) = (odd("plain"), odd("sealed"), odd("opened"));
    let path = |name: &OsString| house.dir.path().join(name);
    std::fs::write(path(&plain), &text).unwrap();
    let (config, identity) = (odd("config"), odd("identity"));
    std::fs::copy(house.path("mesh/mesh.toml"), path(&config)).unwrap();
    std::fs::copy(house.path("mesh/client-anna.key"), path(&identity)).unwrap();
    let client = |args: &[&str], more: &[(&str, &OsString)]| {
        let membership = [("--config", &config), ("--identity", &identity)];
        let output = run(&house, &[args, &["--json"]].concat(), &[&membership, more].concat());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    client(&["key", "new", "--key", "k", "--type", "aes-128", "--exportable"], &[]);
    client(&["key", "new", "--key", "m", "--type", "hmac-sha256"], &[]);
    client(&["encrypt", "--key", "k"], &[("--in", &plain), ("--out", &sealed)]);
    let json = client(&["decrypt", "--key", "k"], &[("--in", &sealed), ("--out", &opened)]);
    assert_eq!(json["out"], "opened\u{fffd}");
    assert_eq!(std::fs::read(path(&opened)).unwrap(), text);
    client(&["hash", "--algorithm", "sha3-256"], &[("--in", &plain)]);
    client(&["mac", "--key", "m", "--algorithm", "hmac-sha256"], &[("--in", &plain)]);
    let exported = odd("exported");
    client(&["key", "export", "--key", "k"], &[("--out", &exported)]);
    client(&["key", "import", "--key", "j", "--type", "aes-128"], &[("--in", &exported)]);
    client(&["mesh", "check"], &[]);
    let (mesh, own) = (odd("mesh"), odd("own"));
    run(&house, &["mesh", "new", "--parties", "3", "--clients", "me", "--json"], &[("--out", &mesh)]);
    let made = run(&house, &["mesh", "identity", "--json"], &[("--out", &own)]);
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let fingerprint = made["fingerprint"].as_str().unwrap();
    let add = ["mesh", "add", "--client", "ida", "--fingerprint", fingerprint, "--json"];
    run(&house, &add, &[("--config", &config)]);
    run(&house, &["mesh", "remove", "--client", "ida", "--json"], &[("--config", &config)]);
    run(&house, &["circuit", "emit", "keccak-f", "--json"], &[("--out", &odd("circuit"))]);
}

#[test]
fn devices_stand_for_the_streams_that_they_are() {
    let house = House::new(10.0);
    house.does("anna", &["key", "new", "--key", "k", "--type", "aes-128"]);
    let through = |args: &[&str], input: &[u8]| {
        let mut child = house.command_of("anna", args).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let streams = ["--key", "k", "--in", "/dev/stdin", "--out", "/dev/stdout"];
    let sealed = through(&[&["encrypt"][..], &streams].concat(), b"a text");
    assert_eq!(through(&[&["decrypt"][..], &streams].concat(), &sealed), b"a text");
    let wrong = ["encrypt", "--key", "k", "--in", "/dev/stdin", "--out", "/dev/stdout", "--json"];
    house.fails("anna", &wrong, 2, &["--json uses standard output"]);
}
