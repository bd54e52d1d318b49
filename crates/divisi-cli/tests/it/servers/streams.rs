//! Pipes, standard input, and files whose size is not their content.

use super::harness::{ServersHarness, Words, random};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::JoinHandle;

/// A named pipe, and a thread that writes this into it.
fn pipe(path: &Path, content: &[u8]) -> JoinHandle<()> {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let (path, content) = (path.to_owned(), content.to_vec());
    std::thread::spawn(move || {
        // a reader that refuses the rest is its own affair
        let _ = OpenOptions::new().write(true).open(path).unwrap().write_all(&content);
    })
}

/// Run a client's command with this on standard input.
fn through(harness: &ServersHarness, args: &(impl Words + ?Sized), input: &[u8]) -> Output {
    let mut child = harness.command_of("anna", args).stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What can be read is read, whatever stands for it: the same digest, tag and plaintext as of an ordinary
/// file.
#[test]
fn whatever_can_be_read_is_read_to_its_end() {
    let harness = ServersHarness::new(10.0);
    harness.does("anna", "key new --key k --type aes-128");
    harness.does("anna", "key new --key h --type hmac-sha256");
    let line =
        |args: &[&str]| String::from_utf8(harness.does("anna", args).stdout).unwrap().trim().to_owned();
    let hash = |file: &str| line(&["hash", "--algorithm", "sha256", "--in", file]);
    let mac = |file: &str| line(&["mac", "--key", "h", "--algorithm", "hmac-sha256", "--in", file]);
    // FIPS 180-4: the digest of "abc"
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let writer = pipe(&harness.path("pipe"), b"abc");
    assert_eq!(hash("pipe"), abc);
    writer.join().unwrap();
    let standard = through(&harness, &["hash", "--algorithm", "sha256", "--in", "-"], b"abc");
    assert_eq!(String::from_utf8(standard.stdout).unwrap().trim(), abc);

    // a file that the system says to have no byte
    let known = "/proc/version";
    let Ok(content) = std::fs::read(known) else { return };
    assert!(std::fs::metadata(known).unwrap().len() == 0 && !content.is_empty());
    std::fs::write(harness.path("copy"), &content).unwrap();
    assert_eq!((hash(known), mac(known)), (hash("copy"), mac("copy")));
    harness.does("anna", &["encrypt", "--key", "k", "--in", known, "--out", "sealed"]);
    let sealed = std::fs::read(harness.path("sealed")).unwrap();
    let writer = pipe(&harness.path("ciphertext"), &sealed);
    harness.does("anna", "decrypt --key k --in ciphertext --out opened");
    writer.join().unwrap();
    assert_eq!(std::fs::read(harness.path("opened")).unwrap(), content);

    // a key, too
    let key = ["key", "import", "--key", "i", "--type", "aes-128", "--in", "-"];
    let imported = through(&harness, &key, &[7; 16]);
    assert!(imported.status.success(), "{imported:?}");

    // from standard input to standard output, and to a pipe
    let dashes = ["--key", "k", "--in", "-", "--out", "-"];
    let sealed = through(&harness, &[&["encrypt"][..], &dashes].concat(), b"a text");
    assert!(sealed.status.success() && sealed.stdout.len() == 6 + 28, "{sealed:?}");
    std::fs::write(harness.path("sealed"), &sealed.stdout).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(harness.path("out")).status().unwrap().success());
    let out = harness.path("out");
    let reader = std::thread::spawn(move || std::fs::read(out).unwrap());
    harness.does("anna", "decrypt --key k --in sealed --out out");
    assert_eq!(reader.join().unwrap(), b"a text");
    assert_eq!(harness.files(), ["ciphertext", "copy", "opened", "out", "pipe", "sealed"]);
}

/// A stream that memory does not hold: encrypted as it comes, to a file or to standard output; decrypted to a
/// file alone. The client's memory has a bound.
#[test]
#[ignore = "encrypts and decrypts 70 MiB four times"]
fn a_stream_of_any_length_goes_through() {
    let harness = ServersHarness::new(60.0);
    harness.does("anna", "key new --key k --type aes-128");
    let text = random(70 << 20);
    let to_file = "encrypt --key k --out sealed";
    let sealed = through(&harness, to_file, &text);
    assert!(sealed.status.success(), "{:?}", String::from_utf8_lossy(&sealed.stderr));
    let printed = through(&harness, &["encrypt", "--key", "k"], &text);
    assert!(printed.status.success(), "{:?}", String::from_utf8_lossy(&printed.stderr));
    let mut file = Vec::new();
    File::open(harness.path("sealed")).unwrap().read_to_end(&mut file).unwrap();
    for ciphertext in [file, printed.stdout] {
        assert_eq!(ciphertext.len(), text.len() + 28);
        let opened = through(&harness, &["decrypt", "--key", "k", "--out", "opened"], &ciphertext);
        assert!(opened.status.success(), "{:?}", String::from_utf8_lossy(&opened.stderr));
        assert!(std::fs::read(harness.path("opened")).unwrap() == text);
        let refused = through(&harness, &["decrypt", "--key", "k"], &ciphertext);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains("has more than 64 MiB, and a plaintext for standard output"), "{said}");
        // cut off: no plaintext
        std::fs::remove_file(harness.path("opened")).unwrap();
        let cut = through(&harness, &["decrypt", "--key", "k", "--out", "opened"], &ciphertext[..68 << 20]);
        assert_eq!(cut.status.code(), Some(1), "{cut:?}");
        assert_eq!(harness.files(), ["sealed"]);
    }
}
