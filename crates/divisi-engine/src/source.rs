//! What a user names to be read: a file, a pipe, or standard input (`-`).
//!
//! The size that the system reports is not the length of the content: files of /proc report 0, pipes have no
//! size, and a file may change while it is read. So everything is read to its end, and a file whose size or
//! time of change differs afterwards is an error, never a shorter or mixed content.

use crate::name::Name;
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;
use zeroize::Zeroizing;

/// The names by which users and the system know standard input.
pub const STDIN: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// The first piece of a content in memory has this many bytes, each later one as many as [`PIECE`] says.
const FIRST: usize = 1 << 16;
const PIECE: usize = 1 << 20;

/// Whether a name stands for standard input.
#[must_use]
pub fn is_stdin(path: &Path) -> bool {
    STDIN.iter().any(|name| path == Path::new(name))
}

/// All bytes of what a user named. They are wiped when they are dropped.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::FileTooLarge`] for more than `most` bytes; an error for a
/// directory, and for a file that changes meanwhile.
pub fn read(path: &Path, most: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut named = NamedSource::open(path)?;
    let bytes = match named.reported() {
        // in one piece, which the end must follow
        Some(length) if length > 0 && length <= most => {
            let mut bytes = Zeroizing::new(vec![0; length as usize]);
            let read = named.fill(&mut bytes)?;
            bytes.truncate(read);
            bytes
        }
        _ => named.hold(most)?.joined(),
    };
    match named.is_at_end()? {
        true => Ok(bytes),
        false if bytes.len() as u64 == most => Err(too_long(most)),
        false => Err(changed()),
    }
}

/// The error for a content of more than `most` bytes.
fn too_long(most: u64) -> io::Error {
    let most =
        if most.is_multiple_of(1 << 20) { format!("{} MiB", most >> 20) } else { format!("{most} bytes") };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most}"))
}

fn changed() -> io::Error {
    io::Error::other("it changed while it was read: give a file that no other program changes")
}

/// What the system says of an ordinary file, by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of an ordinary file; `None` for anything else.
    fn of(known: &Metadata) -> Option<Stamp> {
        // the files of /proc have no size, and may have another time of change whenever they are opened
        let modified = if known.len() == 0 { None } else { known.modified().ok() };
        known.is_file().then_some(Stamp { length: known.len(), modified })
    }
}

/// What a user named, opened.
pub struct NamedSource {
    file: File,
    stamp: Option<Stamp>,
    /// Whether its end was met: a terminal may go on after that.
    ended: bool,
}

impl NamedSource {
    /// Opens it. Opening a named pipe waits for its writer.
    pub fn open(path: &Path) -> io::Result<NamedSource> {
        if is_stdin(path) {
            return Self::of(File::from(io::stdin().as_fd().try_clone_to_owned()?));
        }
        Self::of(File::open(path)?)
    }

    /// A file that is open already.
    ///
    /// # Errors
    /// If the system does not tell what it is, or if it is a directory.
    pub fn of(file: File) -> io::Result<NamedSource> {
        let known = file.metadata()?;
        if known.is_dir() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(NamedSource { stamp: Stamp::of(&known), file, ended: false })
    }

    /// The length that the system reports of an ordinary file; `None` for anything else.
    pub fn reported(&self) -> Option<u64> {
        self.stamp.map(|stamp| stamp.length)
    }

    /// An ordinary file of the reported length.
    pub fn sized(self) -> io::Result<SizedFile> {
        let stamp = self.stamp.ok_or_else(|| io::Error::other("it is not a regular file"))?;
        Ok(SizedFile { file: self.file, stamp, at: 0 })
    }

    /// The next bytes, at most `most`: all of them, unless the end is behind them.
    pub fn hold(&mut self, most: u64) -> io::Result<HeldBytes> {
        let mut held = HeldBytes::default();
        while held.length < most {
            let capacity = if held.pieces.is_empty() { FIRST } else { PIECE } as u64;
            let mut piece = Zeroizing::new(vec![0; capacity.min(most - held.length) as usize]);
            let read = self.fill(&mut piece)?;
            piece.truncate(read);
            held.length += read as u64;
            held.pieces.push(piece);
            if self.ended {
                break;
            }
        }
        Ok(held)
    }

    /// Whether nothing is left.
    ///
    /// # Errors
    /// The error of the system; an error if nothing is left and the file changed while it was read.
    pub fn is_at_end(&mut self) -> io::Result<bool> {
        if self.fill(&mut [0])? > 0 {
            return Ok(false);
        }
        self.is_same().map(|()| true)
    }

    /// Reads until `out` is full or the end is met.
    fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = if self.ended { 0 } else { fill(&mut self.file, out)? };
        self.ended |= read < out.len();
        Ok(read)
    }

    fn is_same(&self) -> io::Result<()> {
        if self.stamp.is_some() && Stamp::of(&self.file.metadata()?) != self.stamp {
            return Err(changed());
        }
        Ok(())
    }
}

impl Read for NamedSource {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = if self.ended { 0 } else { self.file.read(out)? };
        if read == 0 && !out.is_empty() {
            self.ended = true;
            self.is_same()?;
        }
        Ok(read)
    }
}

/// Reads until `out` is full or the stream has ended; returns the number of bytes.
fn fill(stream: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// A file of known length. The read that reaches the length fails unless the file ends there and is
/// unchanged; so does a read that finds the end before.
pub struct SizedFile {
    file: File,
    stamp: Stamp,
    at: u64,
}

impl SizedFile {
    /// Its length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.stamp.length
    }
}

impl Read for SizedFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.at = self.at.saturating_add(read as u64);
        if out.is_empty() || (read > 0 && self.at < self.stamp.length) {
            return Ok(read);
        }
        let ends = self.at == self.stamp.length && fill(&mut self.file, &mut [0])? == 0;
        if ends && Stamp::of(&self.file.metadata()?) == Some(self.stamp) { Ok(read) } else { Err(changed()) }
    }
}

impl Seek for SizedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

/// Bytes in memory, in pieces that never grow: no copy of them is left behind, and nothing is wiped that was
/// never written.
#[derive(Default)]
pub struct HeldBytes {
    pieces: Vec<Zeroizing<Vec<u8>>>,
    length: u64,
    at: u64,
}

impl HeldBytes {
    /// Their number.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// These bytes, and then others; both from their beginnings.
    pub fn followed_by(mut self, next: HeldBytes) -> HeldBytes {
        self.length += next.length;
        self.pieces.extend(next.pieces);
        self
    }

    fn joined(mut self) -> Zeroizing<Vec<u8>> {
        if self.pieces.len() == 1 {
            return self.pieces.pop().unwrap_or_default();
        }
        let mut all = Zeroizing::new(Vec::with_capacity(self.length as usize));
        self.pieces.drain(..).for_each(|piece| all.extend_from_slice(&piece));
        all
    }
}

impl From<Vec<u8>> for HeldBytes {
    fn from(bytes: Vec<u8>) -> HeldBytes {
        HeldBytes { length: bytes.len() as u64, pieces: vec![Zeroizing::new(bytes)], at: 0 }
    }
}

impl Read for HeldBytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut before = 0;
        for piece in &self.pieces {
            let from = self.at.saturating_sub(before) as usize;
            if let Some(mut rest) = piece.get(from..).filter(|rest| !rest.is_empty()) {
                let read = rest.read(out)?;
                self.at += read as u64;
                return Ok(read);
            }
            before += piece.len() as u64;
        }
        Ok(0)
    }
}

impl Seek for HeldBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A name of the same content that can be read as often as needed, also by the parties' processes that this
/// one starts. A pipe can be read once, so its content is copied to a file without a name, which stands for
/// the pipe as long as this process runs; this is for public data alone, such as circuits and programs.
///
/// # Errors
/// Those of [`read`], and of the file that holds the copy.
pub fn lasting(name: &Name, most: u64) -> io::Result<Name> {
    /// The names of what was copied, with the names of the copies, which stay open.
    static COPIES: Mutex<Vec<(Name, Name, File)>> = Mutex::new(Vec::new());
    let mut copies = COPIES.lock().map_err(|_| io::Error::other("another thread failed"))?;
    if let Some((_, copy, _)) = copies.iter().find(|(of, copy, _)| [of, copy].contains(&name)) {
        return Ok(copy.clone());
    }
    let mut named = NamedSource::open(name.path())?;
    if named.reported().is_some_and(|length| length > 0) && !is_stdin(name.path()) {
        return Ok(name.clone());
    }
    let mut content = named.hold(most)?;
    if !named.is_at_end()? {
        return Err(too_long(most));
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut content, &mut copy)?;
    copy.flush()?;
    // processes that are started inherit it
    fcntl_setfd(&copy, FdFlags::empty())?;
    let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
    if !std::fs::metadata(&path)?.is_file() {
        return Err(io::Error::other("it can be read only once here: copy it to a file"));
    }
    let lasting = name.at(path.into());
    copies.push((name.clone(), lasting.clone(), copy));
    Ok(lasting)
}

#[cfg(test)]
mod tests;
