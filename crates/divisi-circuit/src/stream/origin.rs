//! Where a circuit's file is, and readings of it that know at their end whether it is still the same.

use crate::bristol;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// The longest file, in bytes: its wires have numbers of 30 bits.
pub const LONGEST: u64 = 1 << 30;

/// What was read at once.
const BUFFER: usize = 1 << 16;

/// Where a file can be read from its beginning, as often as needed.
pub trait Origin: fmt::Debug + Send + Sync {
    /// Its length in bytes, and its bytes.
    ///
    /// # Errors
    /// Those of the system.
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)>;
}

impl Origin for PathBuf {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        // before it is opened: a pipe would be waited for
        let known = std::fs::metadata(self)?;
        if !known.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let file = File::open(self)?;
        Ok((file.metadata()?.len(), Box::new(file)))
    }
}

impl Origin for Vec<u8> {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        Ok((self.len() as u64, Box::new(&self[..])))
    }
}

/// Why a circuit cannot be run from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is no circuit.
    Wrong(bristol::Error),
    /// The system does not give it.
    Unreadable {
        /// What the system says.
        reason: String,
    },
    /// It is not what it was when it was first read.
    Changed,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Wrong(error) => error.fmt(f),
            Fault::Unreadable { reason } => write!(f, "the file cannot be read ({reason})"),
            Fault::Changed => f.write_str(
                "the file has changed since it was first read: leave it as it is until all is done",
            ),
        }
    }
}

impl std::error::Error for Fault {}

impl From<bristol::Error> for Fault {
    fn from(error: bristol::Error) -> Self {
        if error.is_unreadable() {
            return Fault::Unreadable { reason: error.to_string() };
        }
        Fault::Wrong(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Unreadable { reason: error.to_string() }
    }
}

/// One reading of a file: what came, as a digest. No more is read than the length that the file had, and one byte.
pub(super) struct Reading<'o> {
    input: BufReader<Hashed<'o>>,
    length: u64,
}

struct Hashed<'o> {
    input: io::Take<Box<dyn Read + 'o>>,
    hasher: blake3::Hasher,
    came: u64,
}

impl Read for Hashed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.hasher.update(out.get(..read).unwrap_or_default());
        self.came += read as u64;
        Ok(read)
    }
}

impl<'o> Reading<'o> {
    /// From the beginning; `known` is the length that it had before.
    pub fn new(origin: &'o dyn Origin, known: Option<u64>) -> Result<Self, Fault> {
        let (length, input) = origin.open()?;
        if known.is_some_and(|known| known != length) {
            return Err(Fault::Changed);
        }
        if length > LONGEST {
            let reason = format!("files of more than {LONGEST} bytes are not read");
            return Err(Fault::Wrong(bristol::Error::new(1, reason)));
        }
        let hasher = blake3::Hasher::new_derive_key("divisi 2026 circuit file v1");
        let input = Hashed { input: input.take(length + 1), hasher, came: 0 };
        Ok(Reading { input: BufReader::with_capacity(BUFFER, input), length })
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// The digest of all that came, if that was the whole file and no more.
    pub fn finish(mut self) -> Result<[u8; 32], Fault> {
        let rest = self.input.fill_buf()?.len();
        let Hashed { hasher, came, .. } = self.input.get_ref();
        if rest > 0 || *came != self.length {
            return Err(Fault::Changed);
        }
        Ok(*hasher.finalize().as_bytes())
    }
}

impl Read for Reading<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.input.read(out)
    }
}

impl BufRead for Reading<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.input.consume(amount);
    }
}
