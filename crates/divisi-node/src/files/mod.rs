//! Encryption and decryption of files and streams by three servers.
//!
//! The output appears under its name only when it is complete and verified: a file is written without a name,
//! or under another name beside it, and then renamed; what goes to standard output or a pipe is held in
//! memory, or, if it is a longer ciphertext, in a file without a name. An incomplete output is removed. No
//! plaintext is written to a disk but to the output itself.

mod input;
mod using;

use crate::{Client, KeyName, Mode, OVERHEAD};
pub use divisi_core::Direction;
use divisi_engine::cleanup::Cleanup;
use divisi_engine::failure::Failure;
use divisi_engine::output::{self, OutputFile};
use divisi_engine::source::is_stdin;
use input::Reader;
pub use input::{InputFile, MessageInput, StreamInput};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;
pub use using::Using;
use zeroize::Zeroizing;

/// The largest stream that is held in memory, in bytes.
pub const IN_MEMORY: u64 = 64 << 20;

/// The source of a message.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum MessageSource {
    /// A file, a pipe or a device.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// The destination of a message.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Sink {
    /// A file; an existing one is replaced.
    File(PathBuf),
    /// A pipe or a device, which is written to, not replaced.
    Stream(PathBuf),
    /// Standard output.
    Stdout,
}

impl MessageSource {
    /// The source that `--in` names: standard input, if it is left out, `-`, or names that device.
    #[must_use]
    pub fn named(path: Option<&Path>) -> MessageSource {
        match path {
            Some(path) if !is_stdin(path) => MessageSource::File(path.into()),
            _ => MessageSource::Stdin,
        }
    }

    /// Check that the destination is not the source, by whatever name: nothing could replace what was in it.
    ///
    /// # Errors
    /// [`Failure`] if both are one file.
    pub fn differs_from(&self, sink: &Sink) -> Result<(), Failure> {
        let Sink::File(out) = sink else { return Ok(()) };
        let input = match self {
            MessageSource::File(path) => path.as_path(),
            MessageSource::Stdin => Path::new("/dev/stdin"),
        };
        // what cannot be looked at is refused when it is opened
        let file = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        if file(out).is_some_and(|out| file(input) == Some(out)) {
            return Err(Failure::usage(format!(
                "{} is the input itself, which would be lost: give another file with --out",
                out.display()
            )));
        }
        Ok(())
    }
}

impl Sink {
    /// The destination that `--out` names: standard output, if it is left out, `-`, or names that device.
    #[must_use]
    pub fn named(path: Option<&Path>) -> Sink {
        let is_stream = |path: &Path| {
            let kind = std::fs::metadata(path).map(|known| known.file_type());
            kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device())
        };
        match path {
            Some(path) if STDOUT.iter().any(|name| path == Path::new(name)) => Sink::Stdout,
            Some(path) if is_stream(path) => Sink::Stream(path.into()),
            Some(path) => Sink::File(path.into()),
            None => Sink::Stdout,
        }
    }
}

/// The names by which users and the system know standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

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

/// Encrypt or decrypt with GCM. `progress` is called with the number of bytes of the message that are done.
///
/// # Errors
/// [`Failure`] if input or output cannot be used, or the servers fail or refuse.
pub fn transform(
    client: &mut Client,
    way: Direction,
    key: &KeyName,
    aad: &[u8],
    mut input: MessageInput,
    sink: &Sink,
    cleanup: &Cleanup,
    progress: &mut dyn FnMut(u64),
) -> Result<Done, Failure> {
    input.check(way, Some(Using::Gcm))?;
    let start = Instant::now();
    let bytes_out = input.length().map(|length| match way {
        Direction::Encrypt => length + OVERHEAD,
        Direction::Decrypt => length - OVERHEAD,
    });
    // returns the length of the input
    let mut run = |output: &mut dyn Write| -> Result<u64, Failure> {
        let input = match (&mut input, way) {
            (MessageInput::Sized(input), _) => input,
            (MessageInput::Stream(input), Direction::Encrypt) => {
                return Ok(client.encrypt_stream(key, aad, &mut input.reader, output, progress)?);
            }
            (MessageInput::Stream(_), Direction::Decrypt) => {
                let error = "a ciphertext of unknown length is not decrypted: give a file with --in";
                return Err(Failure::usage(error));
            }
        };
        let length = input.length;
        match (&mut input.reader, way) {
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
        }?;
        Ok(length)
    };
    let bytes_in = match (sink, bytes_out) {
        (Sink::File(path), _) => {
            // Only its owner may read a plaintext; a ciphertext has the permissions of other new files.
            let mode = if way == Direction::Encrypt { 0o666 } else { 0o600 };
            let mut output = OutputFile::beside(path, mode, cleanup)?;
            let bytes_in = run(output.writer())?;
            output.put_in_place(path)?;
            bytes_in
        }
        (Sink::Stream(_) | Sink::Stdout, Some(bytes)) if bytes <= IN_MEMORY + OVERHEAD => {
            let mut output = Zeroizing::new(Vec::with_capacity(bytes as usize));
            let bytes_in = run(&mut *output)?;
            to_stream(sink, |out| out.write_all(&output))?;
            bytes_in
        }
        (Sink::Stream(_) | Sink::Stdout, _) if way == Direction::Encrypt => {
            let unkept = |e| {
                let dir = std::env::temp_dir();
                let error = format!("the ciphertext cannot be kept in {} ({e})", dir.display());
                Failure::usage(format!("{error}: free some space there, or give a file with --out"))
            };
            let mut output = tempfile::tempfile().map_err(unkept)?;
            let bytes_in = run(&mut output)?;
            output.rewind().map_err(unkept)?;
            to_stream(sink, |out| io::copy(&mut output, out).map(drop))?;
            bytes_in
        }
        (Sink::Stream(_) | Sink::Stdout, bytes) => {
            return Err(Failure::usage(format!(
                "{} bytes of plaintext are too many for standard output or a pipe, because they are held in memory \
                 until they are verified: give a file with --out",
                bytes.unwrap_or(u64::MAX)
            )));
        }
    };
    let bytes_out = bytes_out.unwrap_or(bytes_in + OVERHEAD);
    Ok(Done { bytes_in, bytes_out, seconds: start.elapsed().as_secs_f64() })
}

/// Encrypt or decrypt in a mode other than GCM, with the whole message in memory. CBC is padded by PKCS #7
/// here, at the client. Whoever can change a ciphertext and see whether its padding is valid can learn the
/// message; so ciphertexts from strangers must not be decrypted by CBC.
///
/// # Errors
/// [`Failure`] if input or output cannot be used, if the servers fail or refuse, or if a message decrypted by
/// CBC has no valid padding.
pub fn transform_whole(
    client: &mut Client,
    way: Direction,
    mode: Mode,
    key: &KeyName,
    aad: Option<&[u8]>,
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
    let mut message = Zeroizing::new(Vec::with_capacity(length as usize + 16));
    input.reader().take(length).read_to_end(&mut message).map_err(|e| {
        Failure::usage(format!(
            "the input cannot be read to its end ({e}): give a file that no other program changes"
        ))
    })?;
    let out = match way {
        Direction::Encrypt => {
            if mode == Mode::Cbc {
                message = Zeroizing::new(divisi_engine::padding::add(&message, 16));
            }
            client.encrypt_in_mode(key, mode, aad, &message, progress)?
        }
        Direction::Decrypt => {
            let plain = client.decrypt_in_mode(key, mode, aad, &message, progress)?;
            match mode {
                Mode::Cbc => Zeroizing::new(divisi_engine::padding::remove(&plain, 16).ok_or_else(|| {
                    Failure::mismatch("the decrypted message has no valid padding: the file is not a CBC ciphertext of this key")
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
                Failure::usage(format!("{} cannot be written ({e}): free some space", path.display()))
            })?;
            output.put_in_place(path)?;
        }
        Sink::Stream(_) | Sink::Stdout => to_stream(sink, |to| to.write_all(&out))?,
    }
    Ok(Done { bytes_in: length, bytes_out, seconds: start.elapsed().as_secs_f64() })
}

/// Write what is complete to standard output, a pipe or a device. `write` takes a plaintext from where it
/// lies: a copy on its way would lie in a buffer that nobody wipes.
fn to_stream(sink: &Sink, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let written = match sink {
        Sink::Stream(path) | Sink::File(path) => {
            let file = std::fs::OpenOptions::new().write(true).open(path);
            file.and_then(|mut file| write(&mut file))
        }
        Sink::Stdout => {
            let mut out = io::stdout().lock();
            write(&mut out).and_then(|()| out.flush())
        }
    };
    match (sink, written) {
        (Sink::Stream(path) | Sink::File(path), Err(e)) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("{} cannot be written ({e}): give a file with --out", path.display())))
        }
        (_, written) => output::written(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_destination_of_itself() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, hard, other] = ["file", "link", "hard", "other"].map(|name| dir.path().join(name));
        std::fs::write(&file, b"a text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        std::fs::hard_link(&file, &hard).unwrap();
        let dotted = dir.path().join(".").join("file");
        let differs =
            |from: &Path, to: &Path| MessageSource::File(from.into()).differs_from(&Sink::File(to.into()));
        for (from, to) in [(&file, &file), (&link, &file), (&file, &link), (&file, &hard), (&dotted, &file)] {
            assert!(differs(from, to).unwrap_err().error.contains("another file with --out"));
        }
        assert!(differs(&file, &other).is_ok() && differs(&other, &file).is_ok());
        std::fs::write(&other, b"a text").unwrap();
        assert!(differs(&file, &other).is_ok());
    }

    #[test]
    fn streams_are_known_by_the_names_of_their_devices() {
        for name in divisi_engine::source::STDIN {
            assert!(matches!(MessageSource::named(Some(Path::new(name))), MessageSource::Stdin));
        }
        for name in STDOUT {
            assert!(matches!(Sink::named(Some(Path::new(name))), Sink::Stdout));
        }
        assert!(
            matches!(MessageSource::named(None), MessageSource::Stdin)
                && matches!(Sink::named(None), Sink::Stdout)
        );
        assert!(matches!(MessageSource::named(Some(Path::new("stdin"))), MessageSource::File(_)));
        assert!(matches!(Sink::named(Some(Path::new("./-"))), Sink::File(_)));
        assert!(matches!(Sink::named(Some(Path::new("/dev/null"))), Sink::Stream(_)));
    }

    /// A reader that has enough is no error, and a device that is full is one, which names it.
    #[test]
    fn who_reads_a_pipe_may_go() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let from = pipe.clone();
        let reader = std::thread::spawn(move || drop(std::fs::File::open(from).unwrap()));
        // more than a pipe holds, so that the writer is there when the reader goes
        let content = vec![7; 1 << 20];
        assert!(to_stream(&Sink::Stream(pipe), |out| out.write_all(&content)).is_ok());
        reader.join().unwrap();
        let full = to_stream(&Sink::Stream("/dev/full".into()), |out| out.write_all(&content)).unwrap_err();
        assert!(full.error.contains("/dev/full cannot be written"), "{full}");
    }
}
