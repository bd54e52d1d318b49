//! What commands do with their results: none is lost without a word, and no input.

use super::harness::{ServersHarness, random};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// With `/dev/full` for standard output every command that prints a result ends with exit code 2.
#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let harness = ServersHarness::new(10.0);
    std::fs::write(harness.path("text"), random(16)).unwrap();
    std::fs::write(harness.path("key"), random(32)).unwrap();
    harness.does("anna", "key new --key k --type aes-128 --exportable");
    harness.does("anna", "key new --key c --type cmac-aes128");
    harness.does("anna", "encrypt --key k --in text --out sealed");
    for command in [
        "hash --algorithm sha256 --in text",
        "mac --key c --in text",
        "mac --key c --in text --json",
        "encrypt --key k --in text",
        "encrypt --key k --in text --out other",
        "decrypt --key k --in sealed",
        "key list",
        "key list --json",
        "key new --key n --type aes-128",
        "key import --key i --type aes-256 --in key",
        "key export --key k --out exported",
        "mesh check",
        "key destroy --key k --yes",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let child = harness.command_of("anna", &words).stdout(Stdio::from(full)).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
        assert!(told.contains("standard output cannot be written"), "{command}: {told}");
    }
    // a reader that wants no more has what it wants
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = harness.command_of("anna", "hash --algorithm sha256 --in text");
    assert!(command.stdout(writer).status().unwrap().success());
}

/// `mac` takes the algorithm from the type of the key.
#[test]
fn a_key_knows_its_algorithm() {
    let harness = ServersHarness::new(10.0);
    std::fs::write(harness.path("key"), [0x2b; 16]).unwrap();
    std::fs::write(harness.path("text"), "a text").unwrap();
    harness.does("anna", "key import --key c --type cmac-aes128 --exportable --in key");
    harness.does("anna", "key new --key k --type aes-128 --exportable");
    let tag = |more: &[&str]| {
        let words = [&["mac", "--key", "c", "--in", "text"], more].concat();
        String::from_utf8(harness.does("anna", &words).stdout).unwrap()
    };
    let made = tag(&[]);
    assert_eq!(made, tag(&["--algorithm", "cmac-aes128"]));
    assert_eq!(tag(&["--verify", &format!("0x{}", made.trim())]), "the tag is right\n");
    let refused = ["mac", "--key", "k", "--in", "text"];
    harness.fails("anna", &refused, 2, &["key k is of type aes-128, which makes no tags"]);
    let refused = "mac --key none --in text";
    harness.fails("anna", refused, 1, &["there is no key none that serves you"]);
    let other = "mac --key c --in text --algorithm hmac-sha256";
    harness.fails("anna", other, 2, &["a key serves one algorithm"]);

    // each kind of key says what its reader can do
    let told = |key: &str| {
        let words = ["key", "export", "--key", key, "--out", key];
        String::from_utf8(harness.does("anna", &words).stdout).unwrap()
    };
    assert!(told("c").contains("can make and verify every tag that the key makes"));
    assert!(told("k").contains("can decrypt everything that the key encrypted"));

    // a file that is replaced keeps its permissions, and none replaces its own input
    let open = std::fs::Permissions::from_mode(0o640);
    std::fs::write(harness.path("out"), "old").unwrap();
    std::fs::set_permissions(harness.path("out"), open).unwrap();
    harness.does("anna", "encrypt --key k --in text --out out");
    assert_eq!(std::fs::metadata(harness.path("out")).unwrap().permissions().mode() & 0o777, 0o640);
    std::os::unix::fs::symlink("text", harness.path("link")).unwrap();
    for (from, to) in [("text", "text"), ("link", "text"), ("text", "link")] {
        let words = ["encrypt", "--key", "k", "--in", from, "--out", to];
        harness.fails("anna", &words, 2, &["is the input itself"]);
    }
    assert_eq!(std::fs::read(harness.path("text")).unwrap(), b"a text");
}
