//! One client of many: it sends one request after the other, checks the answers, and records how long each
//! took.

use super::mix::RequestKind;
use crate::bench::ordinary;
use crate::cleanup::lock;
use crate::failure::Failure;
use divisi_net::{Config, Identity, Machine, World};
use divisi_node::{Client, Error, ErrorKind, KeyName};
use divisi_symmetric::algorithm::Settings;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The time that a client waits before it repeats a request that servers refused.
const AGAIN: Duration = Duration::from_millis(10);
/// The bytes of a block.
const BLOCK: usize = 16;
/// Associated data.
const AAD: &[u8] = b"divisi bench serve";

/// The results of the requests of one kind that began and ended while the clock ran.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// The latencies of requests that were done, in milliseconds.
    pub latencies: Vec<f64>,
    /// How many requests were refused, or had to be tried again.
    pub refused: u64,
}

/// What the clients of one benchmark have in common.
pub(super) struct Shared {
    /// The interval in which requests count; unset before the clock starts.
    window: OnceLock<(Instant, Instant)>,
    over: AtomicBool,
    wrong: AtomicBool,
    tallies: Mutex<BTreeMap<RequestKind, Tally>>,
    /// The channel for the failure that ends the benchmark.
    failed: Sender<Failure>,
}

impl Shared {
    pub fn new(failed: Sender<Failure>) -> Shared {
        Shared {
            window: OnceLock::new(),
            over: AtomicBool::new(false),
            wrong: AtomicBool::new(false),
            tallies: Mutex::default(),
            failed,
        }
    }

    /// Start the clock, which runs for `lasting`.
    pub fn start(&self, lasting: Duration) {
        let now = Instant::now();
        // the clock is started only once
        let _ = self.window.set((now, now + lasting));
    }

    /// Send no more requests: those in progress do not count.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// The results of all requests that count.
    pub fn take(&self) -> BTreeMap<RequestKind, Tally> {
        std::mem::take(&mut lock(&self.tallies))
    }

    /// Whether a result was wrong, before the clock started or while it ran.
    pub fn was_wrong(&self) -> bool {
        self.wrong.load(Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Record the end of a request: whether its result was right, or `None` if it was refused.
    fn tell(&self, kind: RequestKind, began: Instant, ended: Instant, right: Option<bool>) {
        if right == Some(false) {
            self.wrong.store(true, Ordering::SeqCst);
            return;
        }
        let Some((start, stop)) = self.window.get() else { return };
        if began < *start || ended > *stop {
            return;
        }
        let mut tallies = lock(&self.tallies);
        let tally = tallies.entry(kind).or_default();
        if right.is_some() {
            tally.latencies.push(ended.duration_since(began).as_secs_f64() * 1e3);
        } else {
            tally.refused += 1;
        }
    }
}

/// What a client sends, again and again.
pub(super) enum Job {
    /// A block to be encrypted, whose ciphertext is then decrypted.
    OneBlock {
        /// The plaintext and ciphertext of the block that is to be decrypted next.
        sealed: Option<([u8; BLOCK], Vec<u8>)>,
    },
    /// A file to be encrypted.
    File {
        /// Its text.
        text: Arc<Vec<u8>>,
        /// The key, with which an ordinary library decrypts the result.
        key: Arc<Zeroizing<Vec<u8>>>,
    },
    /// A file of zeros to be encrypted, too long to be held in memory: only the length of the result is
    /// checked.
    LongFile(u64),
    /// A message to be hashed.
    Hash {
        /// The message.
        message: Arc<Vec<u8>>,
        /// Its digest by an ordinary library.
        digest: Arc<Vec<u8>>,
        /// The hash.
        settings: Settings,
    },
}

impl Job {
    fn kind(&self) -> RequestKind {
        match self {
            Job::OneBlock { .. } => RequestKind::OneBlock,
            Job::File { .. } | Job::LongFile(_) => RequestKind::File,
            Job::Hash { .. } => RequestKind::Hash,
        }
    }

    /// Send one request; returns whether its result is right.
    fn request(&mut self, client: &mut Client, key: &KeyName) -> Result<bool, Error> {
        let quiet = &mut |_| {};
        match self {
            Job::OneBlock { sealed } => match sealed.take() {
                None => {
                    let (text, file) = encrypt_block(client, key)?;
                    let changed = file.get(12..12 + BLOCK).is_some_and(|block| block != text);
                    *sealed = Some((text, file));
                    Ok(changed)
                }
                Some((text, file)) => {
                    let mut back = Zeroizing::new(Vec::with_capacity(BLOCK));
                    let length = file.len() as u64;
                    let result = client.decrypt(key, AAD, &mut Cursor::new(&file), length, &mut *back, quiet);
                    if result.is_err() {
                        // refused: decrypt the same block again
                        *sealed = Some((text, file));
                    }
                    result.map(|()| back[..] == text)
                }
            },
            Job::File { text, key: known } => {
                let mut file = Vec::new();
                client.encrypt(key, AAD, &mut &text[..], text.len() as u64, &mut file, quiet)?;
                Ok(ordinary::open(known, AAD, &file).is_some_and(|opened| *opened == **text))
            }
            Job::LongFile(bytes) => {
                let (mut text, mut out) = (io::repeat(0).take(*bytes), Counted(0));
                client.encrypt(key, AAD, &mut text, *bytes, &mut out, quiet)?;
                Ok(out.0 == *bytes + divisi_node::OVERHEAD)
            }
            Job::Hash { message, digest, settings } => {
                let made = client.hash(settings, &mut &message[..], message.len() as u64, quiet)?;
                Ok(*made == **digest)
            }
        }
    }
}

/// Encrypt a random block; returns the block and the encrypted file.
fn encrypt_block(client: &mut Client, key: &KeyName) -> Result<([u8; BLOCK], Vec<u8>), Error> {
    let (mut text, mut file) = ([0; BLOCK], Vec::new());
    Machine.entropy(&mut text);
    client.encrypt(key, AAD, &mut &text[..], BLOCK as u64, &mut file, &mut |_| {})?;
    Ok((text, file))
}

/// Counts the bytes that are written, and discards them.
struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client and what it does.
pub(super) struct Worker {
    /// The connection, unless a failure has closed it.
    pub client: Option<Client>,
    pub config: Arc<Config>,
    pub identity: Identity,
    pub key: KeyName,
    pub job: Job,
    pub shared: Arc<Shared>,
}

impl Worker {
    /// Send a request before the clock starts, so that the key and the connection are ready. A refusal is
    /// ignored here; if it persists, it is counted once the clock runs.
    ///
    /// # Errors
    /// [`Failure`] if the request fails other than by a refusal.
    pub fn warm_up(&mut self) -> Result<(), Failure> {
        let Some(client) = &mut self.client else { return Ok(()) };
        match encrypt_block(client, &self.key) {
            Err(error) if !self.goes_on(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Send requests until the clock has stopped, or a request fails in a way that ends the benchmark.
    pub fn run(mut self) {
        let kind = self.job.kind();
        while !self.shared.is_over() {
            let mut began = Instant::now();
            let result = self.connection().and_then(|mut client| {
                // the time to make a new connection does not count for the request
                began = Instant::now();
                let result = self.job.request(&mut client, &self.key);
                self.client = Some(client);
                result
            });
            let ended = Instant::now();
            if self.shared.is_over() {
                // the servers may be gone by now
                return;
            }
            match result {
                Ok(right) => self.shared.tell(kind, began, ended, Some(right)),
                Err(error) if self.goes_on(&error) => {
                    self.shared.tell(kind, began, ended, None);
                    std::thread::sleep(AGAIN);
                }
                Err(error) => {
                    // the receiver may have ended already, because of another client's failure
                    let _ = self.shared.failed.send(error.into());
                    return;
                }
            }
        }
    }

    /// Whether the client continues after this error. If servers refused, it keeps the connection; otherwise
    /// it makes a new one, because the old one may be closed.
    fn goes_on(&mut self, error: &Error) -> bool {
        if error.kind != ErrorKind::Refused {
            self.client = None;
        }
        is_refusal(error)
    }

    /// The connection, or a new one.
    fn connection(&mut self) -> Result<Client, Error> {
        match self.client.take() {
            Some(client) => Ok(client),
            None => Client::connect(&self.config, &self.identity, Arc::new(Machine)),
        }
    }
}

/// Whether the servers refused the request, for now or for ever.
fn is_refusal(error: &Error) -> bool {
    error.kind == ErrorKind::Refused || error.retry
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn what_counts_began_and_ended_while_the_clock_ran() {
        let shared = Shared::new(channel().0);
        let ms = Duration::from_millis;
        let early = Instant::now();
        shared.tell(RequestKind::OneBlock, early, early, Some(true));
        assert!(shared.take().is_empty(), "the clock has not started");

        shared.start(ms(1000));
        let (start, stop) = *shared.window.get().unwrap();
        assert_eq!(stop - start, ms(1000));
        shared.tell(RequestKind::OneBlock, start + ms(1), start + ms(5), Some(true));
        shared.tell(RequestKind::OneBlock, start + ms(5), stop, Some(true));
        shared.tell(RequestKind::OneBlock, start + ms(6), start + ms(7), None);
        shared.tell(RequestKind::Hash, start, stop, Some(true));
        for how in [Some(true), None] {
            shared.tell(RequestKind::OneBlock, early, start + ms(1), how);
            shared.tell(RequestKind::OneBlock, start + ms(999), stop + ms(1), how);
        }
        assert!(!shared.was_wrong());
        let tallies = shared.take();
        let blocks = &tallies[&RequestKind::OneBlock];
        assert_eq!((&blocks.latencies[..], blocks.refused), (&[4.0, 995.0][..], 1));
        assert_eq!(tallies[&RequestKind::Hash].latencies, [1000.0]);
        assert_eq!(tallies.len(), 2);
    }

    /// A wrong result is no figure, and never forgotten, also if the clock did not run.
    #[test]
    fn a_wrong_result_is_told() {
        for started in [false, true] {
            let shared = Shared::new(channel().0);
            started.then(|| shared.start(Duration::from_secs(60)));
            let now = Instant::now();
            for right in [false, true] {
                shared.tell(RequestKind::Hash, now, now, Some(right));
                assert!(shared.was_wrong());
                assert_eq!(shared.take().len(), usize::from(started && right));
            }
        }
    }

    /// An error is a refusal if the servers refused, or if the request may succeed later; a result that does
    /// not fit is never one.
    #[test]
    fn refusals_are_told_from_failures() {
        let error = |kind, retry| {
            let (step, message) = ("step".into(), "message".into());
            is_refusal(&Error { kind, retry, peer: None, by_all: false, step, message })
        };
        assert!(error(ErrorKind::Refused, false) && error(ErrorKind::Unavailable, true));
        assert!(error(ErrorKind::Abort, true) && !error(ErrorKind::Abort, false));
        assert!(!error(ErrorKind::Unavailable, false) && !error(ErrorKind::Mismatch, false));
    }
}
