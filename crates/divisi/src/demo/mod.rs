//! The whole of it on one machine: three servers as three processes over TLS, a key that none of them holds, a file encrypted
//! and decrypted, and the result opened with an ordinary library.
//!
//! That last step needs the key: the demonstration makes one that may be exported, says so, and wipes it. It uses nothing but
//! what any client of the servers can use, and leaves nothing behind.

use crate::cleanup::Cleanup;
use crate::failure::{Failure, Kind};
use crate::file::{Done, Input, Sink, Source, Way, transform};
use crate::local::{Processes, Room};
use crate::mode::Choice;
use crate::server::{Plan, ROLE};
use aes_gcm::aead::{Aead, KeyInit, Nonce};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use divisi_net::{Config, Identity, Machine, PartyId, World};
use divisi_node::{Client, KeyName, KeyType};
use divisi_symmetric::aes::KeySize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// What is encrypted if the caller names no file.
const TEXT: &str = include_str!("text.txt");
/// The ordinary library holds a file in memory, so there is a limit.
const LONGEST: u64 = 1 << 30;
/// How long the servers may take to find each other.
const READY: Duration = Duration::from_secs(30);
/// How long a server may take to end.
const END: Duration = Duration::from_secs(5);
/// The servers.
const SERVERS: usize = 3;

/// What to show.
#[derive(Clone, Debug)]
pub struct Options {
    /// A file of the caller's, or the text that is in the program.
    pub file: Option<PathBuf>,
    /// The key's size.
    pub key: KeySize,
    /// How S-boxes are computed.
    pub choice: Choice,
    /// The time limit of a receive.
    pub timeout: Option<Duration>,
}

/// What was shown.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub options: Options,
    /// The file's length.
    pub bytes: u64,
    /// From the first process to three servers that serve.
    pub start_seconds: f64,
    /// How long making the key took.
    pub key_seconds: f64,
    /// How long encryption took.
    pub encrypt_seconds: f64,
    /// How long decryption took.
    pub decrypt_seconds: f64,
}

impl Report {
    /// The object that `--json` prints. What is compared has been found equal, else there is no report.
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

/// Show it. `say` is told what happens, line by line.
///
/// # Errors
/// If a file cannot be read, a server fails, or a result is wrong.
pub fn run(
    options: &Options,
    program: &Path,
    cleanup: &Cleanup,
    say: &mut dyn FnMut(&str),
) -> Result<Report, Failure> {
    let room = Room::new(cleanup)?;
    let file = match &options.file {
        Some(file) => file.clone(),
        None => {
            let file = room.path().join("text");
            std::fs::write(&file, TEXT).map_err(|e| unwritten(&file, &e))?;
            file
        }
    };
    let bytes = Input::open(&Source::File(file.clone()), Way::Encrypt)?.length;
    if bytes > LONGEST {
        let error = format!(
            "{} has {bytes} bytes, more than the demonstration takes ({LONGEST}): give a smaller --file",
            file.display()
        );
        return Err(Failure::usage(error));
    }

    let start = Instant::now();
    let mut processes = Processes::start(program, ROLE, SERVERS, cleanup)?;
    let (config, identity) = set_up(&mut processes, &room, options)?;
    let world: Arc<dyn World> = Arc::new(Machine);
    let mut client = Client::connect(&config, &identity, world)?;
    client.use_protocol(options.choice.protocol())?;
    let name: KeyName = "demo".parse().map_err(|e| Failure::usage(format!("{e:?}")))?;
    let (key_seconds, start_seconds) = make_key(&mut client, &name, options, start)?;
    say(&format!(
        "Three servers run as three processes, joined by TLS 1.3 ({:.0} ms). They drew an AES-{} key in parts ({:.0} ms): none of \
         them has it, and neither does this program.",
        start_seconds * 1e3,
        options.key.bits(),
        key_seconds * 1e3
    ));

    let (sealed, opened) = (room.path().join("sealed"), room.path().join("opened"));
    let mut walk = |way, from: &Path, to: &Path| -> Result<Done, Failure> {
        let input = Input::open(&Source::File(from.to_owned()), way)?;
        transform(
            &mut client,
            way,
            &name,
            b"divisi demo",
            input,
            &Sink::File(to.to_owned()),
            cleanup,
            &mut |_| {},
        )
    };
    let encrypted = walk(Way::Encrypt, &file, &sealed)?;
    let shown = options
        .file
        .as_ref()
        .map_or("A text that comes with this program".into(), |file| file.display().to_string());
    say(&format!(
        "{shown} ({bytes} bytes) went to them in parts, and they encrypted it with AES-GCM: {}.",
        speed(bytes, encrypted.seconds)
    ));
    let decrypted = walk(Way::Decrypt, &sealed, &opened)?;
    let plain = Zeroizing::new(std::fs::read(&file).map_err(|e| unwritten(&file, &e))?);
    let back = Zeroizing::new(std::fs::read(&opened).map_err(|e| unwritten(&opened, &e))?);
    if plain != back {
        return Err(Failure::mismatch(
            "what the servers decrypted is not the file: report this with the output of `divisi --version`",
        ));
    }
    say(&format!("They decrypted it again: {}. It is the same file.", speed(bytes, decrypted.seconds)));

    say(
        "Now the servers are asked to give the key to this program, once, to check them. They do so because the key was made exportable, and only for its maker.",
    );
    let key = client.key_export(&name)?;
    let ciphertext = std::fs::read(&sealed).map_err(|e| unwritten(&sealed, &e))?;
    let ordinary = open_ordinarily(&key, &ciphertext);
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
    processes.close(END)?;
    room.close()?;
    Ok(Report {
        options: options.clone(),
        bytes,
        start_seconds,
        key_seconds,
        encrypt_seconds: encrypted.seconds,
        decrypt_seconds: decrypted.seconds,
    })
}

fn unwritten(path: &Path, e: &std::io::Error) -> Failure {
    Failure::usage(format!("{} cannot be used ({e}): see that the disk has room", path.display()))
}

fn speed(bytes: u64, seconds: f64) -> String {
    format!("{:.0} ms, {:.2} MB/s", seconds * 1e3, bytes as f64 / seconds / 1e6)
}

/// Give each server its identity and all of them one configuration, on the ports that they found free.
fn set_up(processes: &mut Processes, room: &Room, options: &Options) -> Result<(Config, Identity), Failure> {
    let usage = |e: String| Failure::usage(e);
    let ports: Vec<u16> = processes.reports("demo/listen", READY)?;
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let made =
        Config::create(SERVERS, &hosts, &["demo".into()], &Machine).map_err(|e| usage(e.to_string()))?;
    for (party, identity) in PartyId::all(SERVERS).zip(&made.parties) {
        let path = |what: &str| room.path().join(format!("{what}-{}", party.number()));
        identity.save(&path("identity")).map_err(|e| usage(e.to_string()))?;
        let plan = Plan {
            me: party.number(),
            room: room.path().display().to_string(),
            config: made.config.to_toml(),
            identity: path("identity").display().to_string(),
            data: path("data").display().to_string(),
            timeout_ms: options.timeout.map(|timeout| timeout.as_millis() as u64),
        };
        processes.order(party, &plan)?;
    }
    processes.reports::<()>("demo/open", READY)?;
    let identity = made.clients.into_iter().next();
    Ok((made.config, identity.ok_or_else(|| usage("no identity was made for the client: try again".into()))?))
}

/// Make the key, as soon as the servers have found each other.
fn make_key(
    client: &mut Client,
    name: &KeyName,
    options: &Options,
    start: Instant,
) -> Result<(f64, f64), Failure> {
    let kind = match options.key {
        KeySize::Aes128 => KeyType::Aes128,
        KeySize::Aes192 => KeyType::Aes192,
        KeySize::Aes256 => KeyType::Aes256,
    };
    let new = client.new_key(name.clone(), kind, true, Vec::new());
    loop {
        let begun = Instant::now();
        match client.key_new(&new) {
            Ok(_) => return Ok((begun.elapsed().as_secs_f64(), begun.duration_since(start).as_secs_f64())),
            Err(e) => {
                let failure = Failure::from(e);
                if failure.kind != Kind::Unavailable || !failure.retry || start.elapsed() > READY {
                    return Err(failure);
                }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Open `IV | ciphertext | tag` with the crate `aes-gcm`.
fn open_ordinarily(key: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    fn open<C: Aead + KeyInit>(key: &[u8], iv: &[u8], msg: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let cipher = C::new_from_slice(key).ok()?;
        let iv = <&Nonce<C>>::try_from(iv).ok()?;
        let payload = aes_gcm::aead::Payload { msg, aad: b"divisi demo" };
        cipher.decrypt(iv, payload).ok().map(Zeroizing::new)
    }
    let (iv, rest) = sealed.split_at_checked(12)?;
    match key.len() {
        16 => open::<Aes128Gcm>(key, iv, rest),
        24 => open::<AesGcm<aes_gcm::aes::Aes192, aes_gcm::aead::consts::U12>>(key, iv, rest),
        _ => open::<Aes256Gcm>(key, iv, rest),
    }
}
