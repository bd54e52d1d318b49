//! Encryption and decryption of files and streams by three servers.
//!
//! The output appears under its name only when it is complete and verified: a file is written without a name,
//! or under another name beside it, and then renamed; standard output is held in memory. An incomplete output
//! is removed.

mod using;

use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::output::OutputFile;
pub use divisi_core::Direction;
use divisi_node::{Client, KeyName, Mode, OVERHEAD};
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
pub use using::Using;
use zeroize::Zeroizing;

/// The largest stream that is held in memory, in bytes.
pub const IN_MEMORY: u64 = 64 << 20;

/// The source of a text.
#[derive(Clone, Debug)]
pub enum TextSource {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// The destination of a text.
#[derive(Clone, Debug)]
pub enum Sink {
    /// A file; an existing one is replaced.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

impl TextSource {
    /// The source that `--in` names: standard input, if it is left out or names that device.
    #[must_use]
    pub fn named(path: Option<&Path>) -> TextSource {
        match path {
            Some(path) if !STDIN.iter().any(|name| path == Path::new(name)) => TextSource::File(path.into()),
            _ => TextSource::Stdin,
        }
    }
}

impl Sink {
    /// The destination that `--out` names: standard output, if it is left out or names that device.
    #[must_use]
    pub fn named(path: Option<&Path>) -> Sink {
        match path {
            Some(path) if !STDOUT.iter().any(|name| path == Path::new(name)) => Sink::File(path.into()),
            _ => Sink::Stdout,
        }
    }
}

/// The names by which the system knows standard input and standard output.
const STDIN: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// The result of a transformation.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Seconds from the opened input to the output in its place.
    pub seconds: f64,
}

/// An input whose length is known.
pub struct InputFile {
    reader: Reader,
    /// The length in bytes.
    pub length: u64,
}

enum Reader {
    File(File),
    Memory(Cursor<Zeroizing<Vec<u8>>>),
}

impl InputFile {
    /// Open the input; standard input is read to its end.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read, or is too long for memory.
    pub fn open(source: &TextSource, way: Direction) -> Result<InputFile, Failure> {
        let input = match source {
            TextSource::File(path) => {
                let unread = |e: std::io::Error| {
                    Failure::usage(format!(
                        "the input {} cannot be read ({e}): give a file with --in",
                        path.display()
                    ))
                };
                let no_file = || unread(std::io::Error::other("it is not a regular file"));
                // This check comes before the file is opened, because opening a pipe waits for a writer.
                if !std::fs::metadata(path).map_err(unread)?.is_file() {
                    return Err(no_file());
                }
                let file = File::open(path).map_err(unread)?;
                let meta = file.metadata().map_err(unread)?;
                if !meta.is_file() {
                    return Err(no_file());
                }
                InputFile { length: meta.len(), reader: Reader::File(file) }
            }
            TextSource::Stdin => Self::from_stream(std::io::stdin().lock(), way)?,
        };
        Ok(input)
    }

    /// An input in memory.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> InputFile {
        InputFile { length: bytes.len() as u64, reader: Reader::Memory(Cursor::new(Zeroizing::new(bytes))) }
    }

    /// Read a stream to its end.
    fn from_stream(stream: impl Read, way: Direction) -> Result<InputFile, Failure> {
        let limit = IN_MEMORY + if way == Direction::Decrypt { OVERHEAD } else { 0 };
        // The whole capacity is reserved at once, so that no copy is left in memory when the vector grows;
        // untouched pages cost nothing.
        let mut bytes = Zeroizing::new(Vec::with_capacity(limit as usize + 1));
        let read = stream.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|e| {
            Failure::usage(format!("standard input cannot be read ({e}): give a file with --in"))
        })?;
        let length = bytes.len() as u64;
        if length > limit {
            let error =
                format!("standard input has more than {} MiB: give a file with --in", IN_MEMORY >> 20);
            return Err(Failure::usage(error));
        }
        Ok(InputFile { length, reader: Reader::Memory(Cursor::new(bytes)) })
    }

    /// The reader of the input.
    pub fn reader(&mut self) -> &mut dyn Read {
        match &mut self.reader {
            Reader::File(file) => file,
            Reader::Memory(bytes) => bytes,
        }
    }

    /// Check that this algorithm, or any if none is given, takes an input of this length.
    ///
    /// # Errors
    /// [`Failure`] if it does not.
    pub fn check(&self, way: Direction, using: Option<Using>) -> Result<(), Failure> {
        let least = match using {
            Some(Using::Gcm) => OVERHEAD,
            // the length of an IV, and of two semiblocks
            _ => 16,
        };
        if way == Direction::Decrypt && self.length < least {
            let error = format!(
                "the input has {} bytes, too few for an encrypted file, which has at least {least}: give what `encrypt` wrote",
                self.length
            );
            return Err(Failure::usage(error));
        }
        let Some(Using::Mode(mode)) = using else { return Ok(()) };
        let encrypts = way == Direction::Encrypt;
        // CBC encrypts texts of every length, because the client pads them
        if encrypts && mode == Mode::Cbc {
            return Ok(());
        }
        mode.misfit(encrypts, self.length).map_or(Ok(()), |why| Err(Failure::usage(why)))
    }
}

/// Encrypt or decrypt with GCM. `progress` is called with the number of bytes of text done.
///
/// # Errors
/// [`Failure`] if input or output cannot be used, or the servers fail or refuse.
pub fn transform(
    client: &mut Client,
    way: Direction,
    key: &KeyName,
    aad: &[u8],
    mut input: InputFile,
    sink: &Sink,
    cleanup: &Cleanup,
    progress: &mut dyn FnMut(u64),
) -> Result<Done, Failure> {
    input.check(way, Some(Using::Gcm))?;
    let (length, start) = (input.length, Instant::now());
    let mut run = |output: &mut dyn Write| -> Result<(), Failure> {
        let done = match (&mut input.reader, way) {
            (Reader::File(file), Direction::Encrypt) => {
                client.encrypt(key, aad, file, length, output, progress)
            }
            (Reader::Memory(bytes), Direction::Encrypt) => {
                client.encrypt(key, aad, bytes, length, output, progress)
            }
            (Reader::File(file), Direction::Decrypt) => {
                client.decrypt(key, aad, file, length, output, progress)
            }
            (Reader::Memory(bytes), Direction::Decrypt) => {
                client.decrypt(key, aad, bytes, length, output, progress)
            }
        };
        Ok(done?)
    };
    let bytes_out = match way {
        Direction::Encrypt => length + OVERHEAD,
        Direction::Decrypt => length - OVERHEAD,
    };
    match sink {
        Sink::File(path) => {
            // Only its owner may read a plaintext; a ciphertext has the permissions of other new files.
            let mode = if way == Direction::Encrypt { 0o666 } else { 0o600 };
            let mut output = OutputFile::beside(path, mode, cleanup)?;
            run(output.writer())?;
            output.put_in_place(path)?;
        }
        Sink::Stdout => {
            check_stdout(bytes_out)?;
            let mut bytes = Zeroizing::new(Vec::with_capacity(bytes_out as usize));
            run(&mut *bytes)?;
            to_stdout(&bytes)?;
        }
    }
    Ok(Done { bytes_in: length, bytes_out, seconds: start.elapsed().as_secs_f64() })
}

/// Encrypt or decrypt in a mode other than GCM, with the whole text in memory. CBC is padded by PKCS #7 here,
/// at the client. Whoever can change a ciphertext and see whether its padding is valid can learn the text; so
/// ciphertexts from strangers must not be decrypted by CBC.
///
/// # Errors
/// [`Failure`] if input or output cannot be used, if the servers fail or refuse, or if a text decrypted by
/// CBC has no valid padding.
pub fn transform_whole(
    client: &mut Client,
    way: Direction,
    mode: Mode,
    key: &KeyName,
    aad: &[u8],
    mut input: InputFile,
    sink: &Sink,
    cleanup: &Cleanup,
    progress: &mut dyn FnMut(u64),
) -> Result<Done, Failure> {
    input.check(way, Some(Using::Mode(mode)))?;
    let (length, start) = (input.length, Instant::now());
    if length > IN_MEMORY {
        return Err(Failure::usage(format!(
            "the input has {length} bytes, and {mode} takes at most {} MiB: use a GCM key for longer texts",
            IN_MEMORY >> 20
        )));
    }
    let mut text = Zeroizing::new(Vec::with_capacity(length as usize + 16));
    input.reader().take(length).read_to_end(&mut text).map_err(|e| {
        Failure::usage(format!(
            "the input cannot be read to its end ({e}): give a file that no other program changes"
        ))
    })?;
    let out = match way {
        Direction::Encrypt => {
            if mode == Mode::Cbc {
                text = Zeroizing::new(crate::padding::add(&text, 16));
            }
            client.encrypt_whole(key, mode, aad, &text, progress)?
        }
        Direction::Decrypt => {
            let plain = client.decrypt_whole(key, mode, aad, &text, progress)?;
            match mode {
                Mode::Cbc => Zeroizing::new(crate::padding::remove(&plain, 16).ok_or_else(|| {
                    Failure::mismatch("the decrypted text has no valid padding: the file is not a CBC ciphertext of this key")
                })?),
                _ => plain,
            }
        }
    };
    let bytes_out = out.len() as u64;
    match sink {
        Sink::File(path) => {
            let mode = if way == Direction::Encrypt { 0o666 } else { 0o600 };
            let mut output = OutputFile::beside(path, mode, cleanup)?;
            output.writer().write_all(&out).map_err(|e| {
                Failure::usage(format!("{} cannot be written ({e}): make room", path.display()))
            })?;
            output.put_in_place(path)?;
        }
        Sink::Stdout => to_stdout(&out)?,
    }
    Ok(Done { bytes_in: length, bytes_out, seconds: start.elapsed().as_secs_f64() })
}

fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|e| {
        Failure::usage(format!("standard output cannot be written ({e}): give a file with --out"))
    })
}

fn check_stdout(bytes: u64) -> Result<(), Failure> {
    if bytes > IN_MEMORY + OVERHEAD {
        let error = format!(
            "{bytes} bytes are too many for standard output, which is held in memory until it is verified: give a file with --out"
        );
        return Err(Failure::usage(error));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_a_limit_and_a_file_may_be_longer() {
        let input = InputFile::from_stream(&b"a text"[..], Direction::Encrypt).unwrap();
        assert_eq!(input.length, 6);
        assert!(input.check(Direction::Encrypt, None).is_ok());
        assert!(input.check(Direction::Decrypt, Some(Using::Gcm)).unwrap_err().error.contains("at least 28"));
        assert!(input.check(Direction::Decrypt, None).unwrap_err().error.contains("at least 16"));
        let limit = IN_MEMORY + OVERHEAD;
        for (way, limit) in [(Direction::Decrypt, limit), (Direction::Encrypt, IN_MEMORY)] {
            assert!(InputFile::from_stream(std::io::repeat(0).take(limit), way).is_ok());
            let too_long = InputFile::from_stream(std::io::repeat(0).take(limit + 1), way).err().unwrap();
            assert!(too_long.error.contains("--in"), "{too_long}");
        }
        assert!(check_stdout(limit).is_ok() && check_stdout(limit + 1).is_err());
    }

    #[test]
    fn a_mode_tells_the_lengths_that_it_takes() {
        let check =
            |bytes: usize, way, mode| InputFile::of(vec![0; bytes]).check(way, Some(Using::Mode(mode)));
        let kw = check(21, Direction::Encrypt, Mode::Kw).unwrap_err();
        assert_eq!(kw.kind.exit_code(), 2);
        assert!(kw.error.contains("use --algorithm kwp"), "{kw}");
        assert!(check(21, Direction::Encrypt, Mode::Kwp).is_ok());
        assert!(
            check(21, Direction::Encrypt, Mode::Cbc).is_ok()
                && check(0, Direction::Encrypt, Mode::Cbc).is_ok()
        );
        assert!(check(21, Direction::Decrypt, Mode::Cbc).unwrap_err().error.contains("not 21 bytes"));
    }

    #[test]
    fn streams_are_known_by_the_names_of_their_devices() {
        for name in STDIN {
            assert!(matches!(TextSource::named(Some(Path::new(name))), TextSource::Stdin));
        }
        for name in STDOUT {
            assert!(matches!(Sink::named(Some(Path::new(name))), Sink::Stdout));
        }
        assert!(
            matches!(TextSource::named(None), TextSource::Stdin) && matches!(Sink::named(None), Sink::Stdout)
        );
        assert!(matches!(TextSource::named(Some(Path::new("stdin"))), TextSource::File(_)));
        assert!(matches!(Sink::named(Some(Path::new("/dev/stdin"))), Sink::File(_)));
    }
}
