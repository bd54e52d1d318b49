//! Where a circuit's file is, and readings of it that detect changes.

use crate::bristol;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

/// The largest length of a file in bytes: then its wires' numbers have at most 30 bits.
pub const LONGEST: u64 = 1 << 30;

/// The number of bytes that are read and compared at once.
const PIECE: usize = 1 << 16;

/// A source from which a file can be read from its beginning, as often as needed.
pub trait Origin: fmt::Debug + Send + Sync {
    /// The file's length in bytes, and a reader that begins at its first byte.
    ///
    /// # Errors
    /// The error of the system, if it cannot open the file.
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)>;
}

impl Origin for PathBuf {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        // checked before it is opened: opening a pipe would block
        let known = std::fs::metadata(self)?;
        if !known.is_file() {
            return Err(io::Error::other("it is not a regular file"));
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
pub enum CircuitFault {
    /// It is not a valid circuit.
    Wrong(bristol::BristolError),
    /// The system cannot read it.
    Unreadable {
        /// The system's error message.
        reason: String,
    },
    /// It has changed since it was first read.
    Changed,
}

impl fmt::Display for CircuitFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CircuitFault::Wrong(error) => error.fmt(f),
            CircuitFault::Unreadable { reason } => write!(f, "the file cannot be read ({reason})"),
            CircuitFault::Changed => f.write_str(
                "the file has changed since it was first read: do not change it before the run has ended",
            ),
        }
    }
}

impl std::error::Error for CircuitFault {}

impl From<bristol::BristolError> for CircuitFault {
    fn from(error: bristol::BristolError) -> Self {
        if error.is_unreadable() {
            return CircuitFault::Unreadable { reason: error.to_string() };
        }
        CircuitFault::Wrong(error)
    }
}

impl From<io::Error> for CircuitFault {
    fn from(error: io::Error) -> Self {
        CircuitFault::Unreadable { reason: error.to_string() }
    }
}

/// The length of a file, and a digest of each piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    pub length: u64,
    digests: Vec<[u8; 32]>,
}

impl Pieces {
    /// A digest of the file, byte for byte.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 circuit file v2");
        hasher.update(&self.length.to_le_bytes()).update(self.digests.as_flattened());
        *hasher.finalize().as_bytes()
    }
}

/// One reading of a file. From the second reading on, no byte is returned before the digest of its piece was
/// compared.
pub(super) struct Reading<'o> {
    input: io::Take<Box<dyn Read + 'o>>,
    /// The result of the first reading; `None` in the first one.
    known: Option<&'o Pieces>,
    now: Pieces,
    piece: Vec<u8>,
    /// How many bytes of the piece have been returned.
    taken: usize,
    came: u64,
    fault: Option<CircuitFault>,
}

impl<'o> Reading<'o> {
    /// Begins a reading. `known` is the result of the first reading, or `None` if this is it.
    pub fn new(origin: &'o dyn Origin, known: Option<&'o Pieces>) -> Result<Self, CircuitFault> {
        let (length, input) = origin.open()?;
        if known.is_some_and(|known| known.length != length) {
            return Err(CircuitFault::Changed);
        }
        if length > LONGEST {
            let reason = format!("files of more than {LONGEST} bytes are not read");
            return Err(CircuitFault::Wrong(bristol::BristolError::new(1, reason)));
        }
        let now = Pieces { length, digests: Vec::new() };
        // one byte more than the length is read, to detect a file that has grown
        let input = input.take(length + 1);
        Ok(Reading { input, known, now, piece: Vec::new(), taken: 0, came: 0, fault: None })
    }

    /// The file's length in bytes.
    pub fn length(&self) -> usize {
        usize::try_from(self.now.length).unwrap_or(usize::MAX)
    }

    /// Why the reading ended early. The parser only sees the end of the file.
    pub fn fault(&mut self) -> Option<CircuitFault> {
        self.fault.take()
    }

    /// The file's length and digests, after all of it was read.
    pub fn finish(mut self) -> Result<Pieces, CircuitFault> {
        while self.piece.len() > self.taken || self.next()? {
            self.taken = self.piece.len();
        }
        Ok(self.now)
    }

    /// Reads the next piece, if there is one, and compares it.
    fn next(&mut self) -> Result<bool, CircuitFault> {
        self.piece.clear();
        self.taken = 0;
        io::Read::take(&mut self.input, PIECE as u64).read_to_end(&mut self.piece)?;
        self.came += self.piece.len() as u64;
        if self.piece.is_empty() {
            return if self.came == self.now.length { Ok(false) } else { Err(CircuitFault::Changed) };
        }
        let digest = *blake3::hash(&self.piece).as_bytes();
        let number = self.now.digests.len();
        if self.known.is_some_and(|known| known.digests.get(number) != Some(&digest)) {
            self.piece.clear();
            return Err(CircuitFault::Changed);
        }
        self.now.digests.push(digest);
        Ok(true)
    }
}

impl BufRead for Reading<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.piece.len()
            && let Err(fault) = self.next()
        {
            let error = io::Error::other(fault.to_string());
            self.fault = Some(fault);
            return Err(error);
        }
        Ok(self.piece.get(self.taken..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.taken = self.piece.len().min(self.taken + amount);
    }
}

impl Read for Reading<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::{CircuitFault, Pieces, Reading};
    use std::io::Read;

    /// However much of a file was used, the end of a reading has seen all of it.
    #[test]
    fn the_end_of_a_reading_is_that_of_the_file() {
        for length in [0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 3 << 16] {
            let file: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let read = |amount: usize| {
                let mut reading = Reading::new(&file, None).unwrap();
                reading.read_exact(&mut vec![0; amount]).unwrap();
                reading.finish().unwrap()
            };
            let all = read(length);
            assert_eq!((all.length, all.digests.len()), (length as u64, length.div_ceil(1 << 16)));
            for amount in [0, 1, length / 2, length.saturating_sub(1)] {
                assert_eq!(read(amount.min(length)), all, "{amount} of {length}");
            }
        }
    }

    /// A piece is compared by its whole digest, whichever piece it is.
    #[test]
    fn each_byte_of_each_digest_is_compared() {
        let file = vec![7; (2 << 16) + 1];
        let first = Reading::new(&file, None).unwrap().finish().unwrap();
        for at in 0..3 * 32 {
            let mut known = first.clone();
            known.digests[at / 32][at % 32] ^= 1 << (at % 8);
            let end = Reading::new(&file, Some(&known)).unwrap().finish();
            assert_eq!(end, Err(CircuitFault::Changed), "{at}");
        }
        assert_eq!(Reading::new(&file, Some(&first)).unwrap().finish(), Ok(first.clone()));
    }

    /// A file's length, and each of its pieces at its own place: all of it is digested.
    #[test]
    fn each_piece_counts_at_its_place() {
        let piece = |number: u8| {
            let mut digest = [7; 32];
            digest[31] = number;
            digest
        };
        let files: [(u64, &[u8]); 9] = [
            (9, &[1, 2, 3]),
            (10, &[1, 2, 3]),
            (9 | 1 << 63, &[1, 2, 3]),
            (9, &[2, 1, 3]),
            (9, &[1, 3, 2]),
            (9, &[3, 2, 1]),
            (9, &[1, 1, 3]),
            (9, &[2, 2, 3]),
            (9, &[1, 2]),
        ];
        let digest = |(length, pieces): (u64, &[u8])| {
            Pieces { length, digests: pieces.iter().copied().map(piece).collect() }.digest()
        };
        let digests: std::collections::BTreeSet<_> = files.map(digest).into_iter().collect();
        assert_eq!(digests.len(), files.len());
    }
}
