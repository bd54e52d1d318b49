//! Whatever is sent to either face of a gateway, it answers, keeps its memory, and serves afterwards. A few
//! thousand requests to each face; a hundred thousand every night.

mod http;
mod kms;

use crate::kms::Kms;
use crate::stay::Stay;
use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The token of random requests: for one key, so that they make no others.
const NOISY: &str = "noisy";
/// At how many places at a time requests are sent.
const AT_ONCE: usize = 4;
/// By how much the memory may grow after the first tenth of the requests, in KiB.
const GROWTH: u64 = 24 << 10;

/// Numbers that look random, and are the same each time.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: usize) -> Noise {
        Noise(0x9e37_79b9_7f4a_7c15 ^ (seed as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    pub fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    /// A text after a few changes.
    pub fn changed(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.next() as u8),
                2 => {
                    let piece = bytes[..at].to_vec();
                    bytes.extend(piece);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        bytes
    }
}

/// A size of a process in KiB; `None` once it is gone.
fn kib(process: u32, what: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(what))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Send so many requests with `send`, which gets a number and randomness, and says whether the servers
/// answered in time, as they do for all but a few on a busy machine; memory is bounded, and the gateway
/// serves afterwards.
fn bear(
    requests: usize,
    prepare: impl Fn(&Stay, &Kms),
    send: impl Fn(&Stay, &Kms, usize, &mut Noise) -> bool + Sync,
) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("kms.sock");
    let stay = Stay::start(&["--kms", socket.to_str().unwrap()]);
    let hash = HEXLOWER.encode(&Sha256::digest(NOISY));
    let file = stay.folder.join("tokens.toml");
    let mut tokens = std::fs::read_to_string(&file).unwrap();
    tokens.push_str(&format!(
        "[[token]]\nname = \"noisy\"\nsha256 = \"{hash}\"\nkeys = [\"transit/k\"]\noperations = [\"*\"]\n"
    ));
    std::fs::write(&file, tokens).unwrap();
    stay.order("stop gateway");
    stay.order("start gateway");
    let kms = Kms::at(&socket);
    let serves = || {
        let (status, sealed) = stay.json("POST", "/v1/transit/encrypt/k", &json!({"plaintext": "YWJj"}));
        assert_eq!(status, 200, "{sealed}");
        let body = json!({"ciphertext": sealed["data"]["ciphertext"]});
        assert_eq!(stay.json("POST", "/v1/transit/decrypt/k", &body).1["data"]["plaintext"], "YWJj");
        let (ciphertext, key_id) = kms.encrypt(b"a text").unwrap();
        assert_eq!(kms.decrypt(&ciphertext, &key_id).unwrap(), b"a text");
    };
    serves();
    prepare(&stay, &kms);
    let process = stay.process("gateway.toml");
    let (next, late, first) = (AtomicUsize::new(0), AtomicUsize::new(0), requests / 10);
    let begun = Instant::now();
    let run = |end: usize| {
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    let kms = Kms::at(&socket);
                    while let Some(number) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|n| *n < end) {
                        let answered = send(&stay, &kms, number, &mut Noise::new(number));
                        late.fetch_add(usize::from(!answered), Ordering::SeqCst);
                    }
                });
            }
        });
        next.store(end, Ordering::SeqCst);
        kib(process, "VmRSS:").expect("the gateway runs still")
    };
    let before = run(first);
    let after = run(requests);
    serves();
    let most = kib(process, "VmHWM:").unwrap();
    println!(
        "{requests} requests in {:?}: {before} KiB, then {after} KiB, at most {most} KiB",
        begun.elapsed()
    );
    let late = late.into_inner();
    assert!(late <= requests / 100, "{late} of {requests} requests found the servers late");
    assert!(after < before + GROWTH, "{before} KiB after {first} requests, {after} KiB after {requests}");
    let log = std::fs::read_to_string(stay.folder.join("gateway.log")).unwrap();
    for what in ["panicked", "\"status\":500"] {
        assert!(!log.contains(what), "{what} in the log");
    }
}

/// What the peer answered before it closed; it does so in time.
fn until_closed(stream: &mut (impl std::io::Read + std::io::Write)) -> Vec<u8> {
    let mut answer = Vec::new();
    let begun = Instant::now();
    // a connection that is reset is closed, too
    let _ = stream.read_to_end(&mut answer);
    assert!(begun.elapsed() < Duration::from_secs(20), "it was not closed");
    answer
}
