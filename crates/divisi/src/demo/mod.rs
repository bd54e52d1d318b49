//! The demonstration on one machine: three servers as three processes over TLS, a key that none of them
//! holds, a file encrypted and decrypted, and the result decrypted with an ordinary library.
//!
//! The last step needs the key: the demonstration makes an exportable key, says so, and wipes it. It uses
//! only what any client of the servers can use, and leaves nothing behind.

mod joint;

pub use joint::{Joint, cipher, joint};

use crate::bench::ordinary;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::file::{Direction, Done, InputFile, MessageInput, MessageSource, Sink, transform};
use crate::local::servers::{FirstKey, SERVERS, Servers};
use crate::local::{PartyProgram, PrivateDir};
use crate::mode::Choice;
use crate::source;
use divisi_node::{KeyName, KeyType};
use divisi_symmetric::aes::KeySize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// The text that is encrypted if the caller names no file.
const TEXT: &str = include_str!("text.txt");
/// The most bytes of a file, because the ordinary library holds it in memory.
const LONGEST: u64 = 1 << 30;
/// Associated data.
const AAD: &[u8] = b"divisi demo";

/// The options of the demonstration.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// The caller's file; a built-in text by default.
    pub file: Option<PathBuf>,
    /// The size of the key.
    pub key: KeySize,
    /// The protocol for S-boxes, or the performance mode that chooses it.
    pub choice: Choice,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

/// The result of the demonstration.
#[derive(Clone, Debug)]
pub struct DemoReport {
    /// The options.
    pub options: DemoOptions,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The time from the start of the first process until the three servers serve.
    pub start_seconds: f64,
    /// How long making the key took.
    pub key_seconds: f64,
    /// How long encryption took.
    pub encrypt_seconds: f64,
    /// How long decryption took.
    pub decrypt_seconds: f64,
}

impl DemoReport {
    /// The object that `--json` prints. There is a report only if all comparisons were equal.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "schema": 1,
            "protocol": self.options.choice.protocol().name(),
            "mode": self.options.choice.mode_name(),
            "security": "malicious",
            "key_bits": self.options.key.bits(),
            "parties": SERVERS,
            "bytes": self.bytes,
            "start_seconds": self.start_seconds,
            "key_seconds": self.key_seconds,
            "encrypt_seconds": self.encrypt_seconds,
            "decrypt_seconds": self.decrypt_seconds,
            "decrypted_equals_file": true,
            "opened_by_ordinary_library": true,
        })
    }
}

/// Run the demonstration. `say` is called with lines of text.
///
/// # Errors
/// [`Failure`] if a file cannot be read, a server fails, or a result is wrong.
pub fn run(
    options: &DemoOptions,
    program: &PartyProgram,
    cleanup: &Cleanup,
    say: &mut dyn FnMut(&str),
) -> Result<DemoReport, Failure> {
    let folder = PrivateDir::new(cleanup)?;
    let plain = match &options.file {
        Some(file) => text_of(file, LONGEST)?,
        None => Zeroizing::new(TEXT.as_bytes().to_vec()),
    };
    let bytes = plain.len() as u64;

    let servers = Servers::start(program, &folder, &["demo".into()], options.timeout, cleanup)?;
    let mut client = servers.connect(&servers.config, 0)?;
    client.use_protocol(options.choice.protocol());
    let name: KeyName = "demo".parse().map_err(|e| Failure::usage(format!("{e:?}")))?;
    let new = client.new_key(name.clone(), key_type(options.key), true, Vec::new());
    let FirstKey { start_seconds, key_seconds } = servers.first_key(&mut client, &new)?;
    say(&format!(
        "Three servers run as three processes, joined by TLS 1.3 ({:.0} ms). They drew an AES-{} key in parts ({:.0} ms): none of \
         them has it, and neither does this program.",
        start_seconds * 1e3,
        options.key.bits(),
        key_seconds * 1e3
    ));

    let (sealed, opened) = (folder.path().join("sealed"), folder.path().join("opened"));
    let mut transfer = |way, input: MessageInput, to: &Path| -> Result<Done, Failure> {
        transform(&mut client, way, &name, AAD, input, &Sink::File(to.to_owned()), cleanup, &mut |_| {})
    };
    let encrypted = transfer(Direction::Encrypt, InputFile::of(plain.to_vec()).into(), &sealed)?;
    let shown = options
        .file
        .as_ref()
        .map_or("A text that comes with this program".into(), |file| file.display().to_string());
    say(&format!(
        "{shown} ({bytes} bytes) went to them in parts, and they encrypted it with AES-GCM: {}.",
        speed(bytes, encrypted.seconds)
    ));
    let (from, to) = (MessageSource::File(sealed.clone()), Sink::File(opened.clone()));
    let input = MessageInput::open(&from, Direction::Decrypt, &to)?;
    let decrypted = transfer(Direction::Decrypt, input, &opened)?;
    let back = Zeroizing::new(std::fs::read(&opened).map_err(|e| unwritten(&opened, &e))?);
    if plain != back {
        return Err(Failure::mismatch(
            "the decrypted file differs from the original: report this with the output of `divisi --version`",
        ));
    }
    say(&format!("They decrypted it again: {}. It is the same file.", speed(bytes, decrypted.seconds)));

    say(
        "Now the servers are asked to give the key to this program, once, to check them. They do so because the key was made exportable, and only for its maker.",
    );
    let key = client.key_export(&name)?;
    let ciphertext = std::fs::read(&sealed).map_err(|e| unwritten(&sealed, &e))?;
    let ordinary = ordinary::open(&key, AAD, &ciphertext);
    drop(key);
    if ordinary.as_ref() != Some(&plain) {
        return Err(Failure::mismatch(
            "an ordinary AES-GCM library does not open what the servers wrote: report this with the output of `divisi --version`",
        ));
    }
    client.key_destroy(&name)?;
    drop(client);
    say(
        "The crate aes-gcm, an ordinary library, opened the servers' file with that key: the same file again. The key is wiped here and destroyed there.",
    );
    servers.close()?;
    folder.close()?;
    Ok(DemoReport {
        options: options.clone(),
        bytes,
        start_seconds,
        key_seconds,
        encrypt_seconds: encrypted.seconds,
        decrypt_seconds: decrypted.seconds,
    })
}

/// The text in a file, a pipe or, by the name `-`, on standard input.
fn text_of(path: &Path, most: u64) -> Result<Zeroizing<Vec<u8>>, Failure> {
    source::read(path, most).map_err(|e| {
        let shown = path.display();
        Failure::usage(match e.kind() {
            std::io::ErrorKind::FileTooLarge => format!(
                "{shown} has more bytes than this demonstration takes ({most}): give a smaller --file"
            ),
            _ => format!("{shown} cannot be read ({e}): give another --file"),
        })
    })
}

fn unwritten(path: &Path, e: &std::io::Error) -> Failure {
    Failure::usage(format!("{} cannot be used ({e}): check that the disk has space", path.display()))
}

fn speed(bytes: u64, seconds: f64) -> String {
    format!("{:.0} ms, {:.2} MB/s", seconds * 1e3, bytes as f64 / seconds / 1e6)
}

fn key_type(key: KeySize) -> KeyType {
    match key {
        KeySize::Aes128 => KeyType::Aes128,
        KeySize::Aes192 => KeyType::Aes192,
        KeySize::Aes256 => KeyType::Aes256,
    }
}
