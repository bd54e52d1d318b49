//! A benchmark of one client with one file: how fast three servers encrypt and decrypt it.
//!
//! A file of random bytes is processed as by `divisi encrypt` and `divisi decrypt`, chunk by chunk from disk
//! to disk. The clock runs from the first byte read to the last byte written; it does not wait until the data
//! are on the disk. A single block is encrypted first, so that the servers have loaded the key. The decrypted
//! file is compared with the original, byte by byte.
//!
//! `rtt_ms` is the round-trip time between the client and each server (`proxy.rs`), without the time to
//! connect. The links among the servers are not emulated: `ServerOptions` has no option for that.

use super::proxy::Proxy;
use super::{Cost, key_name};
use crate::bench::calibration_json;
use crate::calibrate::Calibration;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::local::servers::Servers;
use crate::local::{PartyProgram, PrivateDir};
use crate::mode::Choice;
use divisi_net::{Config, Machine, World};
use divisi_node::{Client, KeyName, KeyType, OVERHEAD};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest text that AES-GCM encrypts under one IV, in bytes.
pub const MOST: u64 = (1 << 36) - 32;
/// The longest round-trip time that is emulated, in milliseconds: servers wait no longer for a handshake.
pub const LONGEST_RTT: f64 = 1000.0;

/// Associated data.
const AAD: &[u8] = b"divisi bench file";
/// The bytes of a file that are in memory at once.
const PIECE: usize = 1 << 20;
/// A file this long is its own ciphertext with probability 2^-128.
const TELLING: u64 = 16;

/// What to measure.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The protocol for S-boxes, or the performance mode that chooses it.
    pub choice: Choice,
    /// Emulated round-trip time between the client and the servers, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// How long a receive waits for a message.
    pub timeout: Option<Duration>,
}

impl FileOptions {
    /// Check that the options make sense.
    ///
    /// # Errors
    /// [`Failure`] with a sentence that says what to correct.
    pub fn check(&self) -> Result<(), Failure> {
        match self {
            FileOptions { bytes: 0, .. } => Err(Failure::usage("--bytes is 0: give at least 1")),
            FileOptions { bytes, .. } if *bytes > MOST => {
                Err(Failure::usage(format!("--bytes is more than AES-GCM encrypts ({MOST}): give less")))
            }
            FileOptions { rtt_ms: Some(rtt), .. } if !(*rtt > 0.0 && *rtt <= LONGEST_RTT) => {
                let most = LONGEST_RTT;
                let error =
                    format!("--rtt is not between 0 and {most}, the longest that servers wait: give less");
                Err(Failure::usage(error))
            }
            _ => Ok(()),
        }
    }
}

/// The result of the benchmark.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The options.
    pub options: FileOptions,
    /// How long encryption took.
    pub encrypt_seconds: f64,
    /// How long decryption took.
    pub decrypt_seconds: f64,
    /// The servers' costs for both.
    pub cost: Cost,
    /// The calibration of the machine just before.
    pub calibration: Calibration,
}

impl FileReport {
    /// Encryption, in 10^6 bytes of text a second.
    #[must_use]
    pub fn encrypt_mb_per_second(&self) -> f64 {
        self.options.bytes as f64 / self.encrypt_seconds / 1e6
    }

    /// Decryption, in 10^6 bytes of text a second.
    #[must_use]
    pub fn decrypt_mb_per_second(&self) -> f64 {
        self.options.bytes as f64 / self.decrypt_seconds / 1e6
    }

    /// The object that `--json` prints. There is a report only if the decrypted file was equal to the
    /// original.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "schema": 1,
            "bytes": self.options.bytes,
            "protocol": self.options.choice.protocol().name(),
            "mode": self.options.choice.mode_name(),
            "encrypt_mb_per_second": self.encrypt_mb_per_second(),
            "decrypt_mb_per_second": self.decrypt_mb_per_second(),
            "rtt_ms": self.options.rtt_ms,
            "rtt_links": self.options.rtt_ms.map(|_| "client-server"),
            "cpu_seconds_per_party": self.cost.cpu_seconds,
            "peak_rss_bytes_per_party": self.cost.peak_rss_bytes,
            "calibration": calibration_json(&self.calibration),
            "checked": true,
        })
    }
}

/// Run the benchmark. `progress` is called with the number of bytes done, of twice the file's length.
///
/// # Errors
/// [`Failure`] if an option makes no sense, a file cannot be written, a server fails, or the decrypted file
/// differs.
pub fn run(
    options: &FileOptions,
    program: &PartyProgram,
    calibration: Calibration,
    cleanup: &Cleanup,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport, Failure> {
    options.check()?;
    let folder = PrivateDir::new(cleanup)?;
    let [plain, sealed, opened] = ["plain", "sealed", "opened"].map(|name| folder.path().join(name));
    write_random(&plain, options.bytes).map_err(|e| unusable(&plain, &e))?;

    let mut servers = Servers::start(program, &folder, &["bench".into()], options.timeout, cleanup)?;
    let proxies = Proxies::new(&servers.config, options.rtt_ms)?;
    let key = key_name("bench")?;
    let client = client(&servers, &proxies.config, &key, options.choice);
    let mut client = client.map_err(|failure| servers.cause(failure))?;
    let mut transfer = |bytes: u64, progress: &mut dyn FnMut(u64)| {
        there_and_back(&mut client, &key, [&plain, &sealed, &opened], bytes, progress)
    };
    // first a few bytes, so that the servers have loaded the key
    transfer(options.bytes.min(TELLING), &mut |_| {}).map_err(|failure| servers.cause(failure))?;
    let before = servers.usage()?;
    let (encrypt_seconds, decrypt_seconds) =
        transfer(options.bytes, progress).map_err(|failure| servers.cause(failure))?;
    let after = servers.usage()?;
    compare(&plain, &sealed, &opened, options.bytes)?;
    drop(client);
    servers.close()?;
    folder.close()?;
    let cost = Cost::between(&before, &after);
    Ok(FileReport { options: options.clone(), encrypt_seconds, decrypt_seconds, cost, calibration })
}

/// The client, and the key that it made.
fn client(servers: &Servers, config: &Config, key: &KeyName, choice: Choice) -> Result<Client, Failure> {
    let mut client = servers.connect(config, 0)?;
    client.use_protocol(choice.protocol());
    let new = client.new_key(key.clone(), KeyType::Aes128, false, Vec::new());
    servers.first_key(&mut client, &new)?;
    Ok(client)
}

/// The proxies between the client and the servers; none without an emulated round-trip time.
struct Proxies {
    _proxies: Vec<Proxy>,
    /// The configuration with the addresses that the client dials.
    config: Config,
}

impl Proxies {
    fn new(config: &Config, rtt_ms: Option<f64>) -> Result<Proxies, Failure> {
        let Some(rtt) = rtt_ms else { return Ok(Proxies { _proxies: Vec::new(), config: config.clone() }) };
        let delay = Duration::try_from_secs_f64(rtt / 2e3)
            .map_err(|_| Failure::usage("--rtt is not a time: give milliseconds"))?;
        let (mut proxies, mut ways) = (Vec::new(), config.clone());
        for party in config.parties() {
            let proxy = Proxy::new(&party.address, delay)?;
            let address = proxy.address().to_string();
            let way = ways.add_party(party.id, Some(&address), party.pin);
            ways = way.map_err(|e| Failure::usage(e.to_string()))?;
            proxies.push(proxy);
        }
        Ok(Proxies { _proxies: proxies, config: ways })
    }
}

/// Encrypt the first `bytes` bytes of `plain` to `sealed`, and decrypt all of `sealed` to `opened`. Returns
/// how many seconds each took.
fn there_and_back(
    client: &mut Client,
    key: &KeyName,
    [plain, sealed, opened]: [&Path; 3],
    bytes: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(f64, f64), Failure> {
    let open = |path: &Path| File::open(path).map_err(|e| unusable(path, &e));
    let create = |path: &Path| File::create(path).map_err(|e| unusable(path, &e));
    let (mut from, mut to) = (open(plain)?, create(sealed)?);
    let start = Instant::now();
    client.encrypt(key, AAD, &mut from, bytes, &mut to, progress)?;
    let encrypted = start.elapsed().as_secs_f64();
    let (mut from, mut to) = (open(sealed)?, create(opened)?);
    let start = Instant::now();
    let mut second = |done| progress(bytes + done);
    client.decrypt(key, AAD, &mut from, bytes + OVERHEAD, &mut to, &mut second)?;
    Ok((encrypted, start.elapsed().as_secs_f64()))
}

fn write_random(path: &Path, bytes: u64) -> io::Result<()> {
    let (mut file, mut left, mut piece) = (File::create(path)?, bytes, vec![0; PIECE]);
    while left > 0 {
        let now = left.min(PIECE as u64);
        let piece = piece.get_mut(..now as usize).unwrap_or_default();
        Machine.entropy(piece);
        file.write_all(piece)?;
        left -= now;
    }
    Ok(())
}

/// Check that the decrypted file equals the original, and that the encrypted one does not.
fn compare(plain: &Path, sealed: &Path, opened: &Path, bytes: u64) -> Result<(), Failure> {
    let same = |path: &Path, skip: u64, bytes: u64| {
        same_bytes(plain, path, skip, bytes).map_err(|e| unusable(path, &e))
    };
    let length = |path: &Path| std::fs::metadata(path).map(|meta| meta.len()).map_err(|e| unusable(path, &e));
    if length(opened)? != bytes || !same(opened, 0, bytes)? {
        return Err(wrong("the decrypted file differs from the original"));
    }
    if length(sealed)? != bytes + OVERHEAD {
        return Err(wrong("the encrypted file has a wrong length"));
    }
    if bytes >= TELLING && same(sealed, IV, TELLING)? {
        return Err(wrong("the encrypted file equals the original"));
    }
    Ok(())
}

/// The number of bytes before the ciphertext.
const IV: u64 = 12;

fn wrong(what: &str) -> Failure {
    Failure::mismatch(format!("{what}: report this with the output of `divisi --version`"))
}

/// Whether the first `bytes` bytes of a file equal those of the other one after its first `skip` bytes.
fn same_bytes(one: &Path, other: &Path, skip: u64, bytes: u64) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?.take(bytes), File::open(other)?);
    io::copy(&mut (&mut other).take(skip), &mut io::sink())?;
    let (mut left, mut a, mut b) = (bytes, vec![0; PIECE], vec![0; PIECE]);
    while left > 0 {
        let now = left.min(PIECE as u64) as usize;
        let (Some(a), Some(b)) = (a.get_mut(..now), b.get_mut(..now)) else { return Ok(false) };
        one.read_exact(a)?;
        other.read_exact(b)?;
        if a != b {
            return Ok(false);
        }
        left -= now as u64;
    }
    Ok(true)
}

fn unusable(path: &Path, e: &io::Error) -> Failure {
    let error = format!(
        "{} cannot be used ({e}): check that the disk has space, or set TMPDIR to one that has",
        path.display()
    );
    Failure::usage(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_did_not_come_back_or_was_never_encrypted_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let (plain, sealed, opened) = (path("plain"), path("sealed"), path("opened"));
        let bytes = 2 * PIECE as u64 + 7;
        write_random(&plain, bytes).unwrap();
        let text = std::fs::read(&plain).unwrap();
        assert_eq!(text.len() as u64, bytes);
        std::fs::copy(&plain, &opened).unwrap();
        write_random(&sealed, bytes + OVERHEAD).unwrap();
        let check = || compare(&plain, &sealed, &opened, bytes).map_err(|failure| failure.error);
        assert_eq!(check(), Ok(()));

        for at in [0, PIECE, text.len() - 1] {
            let mut changed = text.clone();
            changed[at] ^= 1;
            std::fs::write(&opened, changed).unwrap();
            assert!(check().unwrap_err().contains("differs from the original"), "{at}");
        }
        std::fs::write(&opened, [&text[..], &[0]].concat()).unwrap();
        assert!(check().is_err(), "a byte too many");
        std::fs::write(&opened, &text).unwrap();

        std::fs::write(&sealed, [&[0; 12][..], &text, &[0; 16]].concat()).unwrap();
        assert!(check().unwrap_err().contains("equals the original"));
        write_random(&sealed, bytes).unwrap();
        assert!(check().unwrap_err().contains("a wrong length"));
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let good = FileOptions { bytes: 1, choice: Choice::default(), rtt_ms: Some(20.0), timeout: None };
        assert!(good.check().is_ok());
        for bad in [
            FileOptions { bytes: 0, ..good.clone() },
            FileOptions { bytes: MOST + 1, ..good.clone() },
            FileOptions { rtt_ms: Some(0.0), ..good.clone() },
            FileOptions { rtt_ms: Some(f64::NAN), ..good.clone() },
            FileOptions { rtt_ms: Some(1001.0), ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().kind.exit_code(), 2, "{bad:?}");
        }
    }
}
