//! The input of an encryption or decryption, a hash or a MAC.

use super::{IN_MEMORY, MessageSource, Sink, Using};
use crate::{Mode, OVERHEAD};
use divisi_core::Direction;
use divisi_engine::failure::Failure;
use divisi_engine::source::{HeldBytes, NamedSource, SizedFile, is_stdin};
use std::io::{self, Read};
use std::path::Path;

/// Files of at most this many bytes are read to their end at once, whatever size the system reports.
const SMALL: u64 = 1 << 20;

/// A message to be encrypted or decrypted.
#[non_exhaustive]
pub enum MessageInput {
    /// Its length is known.
    Sized(InputFile),
    /// It is longer than memory may hold, and how long is not known.
    Stream(StreamInput),
}

/// A stream that is longer than memory may hold.
pub struct StreamInput {
    pub(super) reader: io::Chain<HeldBytes, NamedSource>,
    shown: String,
}

/// An input whose length is known.
pub struct InputFile {
    pub(super) reader: Reader,
    /// The length in bytes.
    pub length: u64,
}

pub(super) enum Reader {
    File(SizedFile),
    Memory(HeldBytes),
}

impl InputFile {
    /// Open a message to be hashed or authenticated. A large file is read when it is used; everything else is
    /// read to its end, up to the length that servers accept at most.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read, or is too long.
    pub fn open_message(source: &MessageSource) -> Result<InputFile, Failure> {
        match open_within(source, crate::MESSAGE)? {
            MessageInput::Sized(input) => Ok(input),
            MessageInput::Stream(stream) => {
                let (shown, most) = (&stream.shown, crate::MESSAGE);
                Err(Failure::usage(format!(
                    "{shown} has more than {most} bytes, the most that servers accept: give a shorter one"
                )))
            }
        }
    }

    fn read_later(file: SizedFile) -> InputFile {
        InputFile { length: file.length(), reader: Reader::File(file) }
    }

    /// An input in memory.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> InputFile {
        InputFile { length: bytes.len() as u64, reader: Reader::Memory(bytes.into()) }
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
        // CBC encrypts messages of every length, because the client pads them
        if encrypts && mode == Mode::Cbc {
            return Ok(());
        }
        mode.misfit(encrypts, self.length).map_or(Ok(()), |why| Err(Failure::usage(why)))
    }
}

/// Open a source. A large file is read when it is used; everything else is read to its end, as long as it has
/// at most `most` bytes.
fn open_within(source: &MessageSource, most: u64) -> Result<MessageInput, Failure> {
    let (shown, path) = match source {
        MessageSource::File(path) => (format!("the input {}", path.display()), path.as_path()),
        MessageSource::Stdin => ("standard input".into(), Path::new("-")),
    };
    let unread = |e| unread(&shown, &e);
    let mut named = NamedSource::open(path).map_err(unread)?;
    if !is_stdin(path) && named.reported().is_some_and(|length| length > SMALL) {
        return Ok(MessageInput::Sized(InputFile::read_later(named.sized().map_err(unread)?)));
    }
    let held = named.hold(most).map_err(unread)?;
    // one byte more says whether this is all
    let next = named.hold(1).map_err(unread)?;
    if next.length() > 0 {
        let reader = held.followed_by(next).chain(named);
        return Ok(MessageInput::Stream(StreamInput { reader, shown }));
    }
    named.is_at_end().map_err(unread)?;
    Ok(MessageInput::Sized(InputFile { length: held.length(), reader: Reader::Memory(held) }))
}

fn unread(shown: &str, e: &io::Error) -> Failure {
    Failure::usage(format!("{shown} cannot be read ({e}): give a file with --in"))
}

impl MessageInput {
    /// Open a message. A large file is read when it is used; everything else is read to its end, up to 64
    /// MiB. A longer stream of plaintext is read as it is encrypted. A longer stream of ciphertext is copied
    /// to a file without a name beside the output, because the servers read it twice; for standard output it
    /// is refused, because its plaintext would have to be held in memory until it is verified.
    ///
    /// # Errors
    /// [`Failure`] if the source cannot be read, or not be decrypted to this destination.
    pub fn open(source: &MessageSource, way: Direction, sink: &Sink) -> Result<MessageInput, Failure> {
        Self::open_with(source, way, sink, IN_MEMORY)
    }

    fn open_with(
        source: &MessageSource,
        way: Direction,
        sink: &Sink,
        in_memory: u64,
    ) -> Result<MessageInput, Failure> {
        let overhead = if way == Direction::Decrypt { OVERHEAD } else { 0 };
        let input = open_within(source, in_memory + overhead)?;
        let MessageInput::Stream(mut stream) = input else { return Ok(input) };
        if way == Direction::Encrypt {
            return Ok(MessageInput::Stream(stream));
        }
        let Sink::File(path) = sink else {
            let (shown, most) = (stream.shown, in_memory >> 20);
            return Err(Failure::usage(format!(
                "{shown} has more than {most} MiB, and a plaintext for standard output or a pipe is held in memory \
                 until it is verified: give a file with --out"
            )));
        };
        let unkept = |e| {
            let shown = &stream.shown;
            Failure::usage(format!(
                "{shown} cannot be copied beside {} ({e}): free some space, or give another place with --out",
                path.display()
            ))
        };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut copy = tempfile::tempfile_in(dir).map_err(unkept)?;
        io::copy(&mut stream.reader, &mut copy).map_err(unkept)?;
        io::Seek::rewind(&mut copy).map_err(unkept)?;
        let copy = NamedSource::of(copy).and_then(NamedSource::sized).map_err(unkept)?;
        Ok(MessageInput::Sized(InputFile::read_later(copy)))
    }

    /// The length, if it is known.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match self {
            MessageInput::Sized(input) => Some(input.length),
            MessageInput::Stream(_) => None,
        }
    }

    /// Check that this algorithm, or any if none is given, takes such an input.
    ///
    /// # Errors
    /// [`Failure`] if it does not.
    pub fn check(&self, way: Direction, using: Option<Using>) -> Result<(), Failure> {
        match (self, using) {
            (MessageInput::Sized(input), _) => input.check(way, using),
            (MessageInput::Stream(stream), Some(Using::Mode(mode))) => Err(stream.too_long(mode)),
            (MessageInput::Stream(_), _) => Ok(()),
        }
    }

    /// The input for a mode that takes the message as a whole.
    ///
    /// # Errors
    /// [`Failure`] for a stream that is too long for it.
    pub fn all(self, mode: Mode) -> Result<InputFile, Failure> {
        match self {
            MessageInput::Sized(input) => Ok(input),
            MessageInput::Stream(stream) => Err(stream.too_long(mode)),
        }
    }
}

impl StreamInput {
    fn too_long(&self, mode: Mode) -> Failure {
        let (shown, most) = (&self.shown, IN_MEMORY >> 20);
        Failure::usage(format!(
            "{shown} has more than {most} MiB, the most that {mode} takes: use a GCM key for longer texts"
        ))
    }
}

impl From<InputFile> for MessageInput {
    fn from(input: InputFile) -> MessageInput {
        MessageInput::Sized(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;

    /// Opens what a pipe brings.
    fn piped<T>(bytes: u64, open: impl FnOnce(&MessageSource) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let to = pipe.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(to).unwrap();
            // the reader of a stream that is too long goes before its end
            let _ = io::copy(&mut io::repeat(7).take(bytes), &mut pipe);
        });
        let opened = open(&MessageSource::File(pipe));
        writer.join().unwrap();
        opened
    }

    fn content(reader: &mut dyn Read) -> Vec<u8> {
        let mut message = Vec::new();
        reader.read_to_end(&mut message).unwrap();
        message
    }

    fn sized(input: MessageInput) -> InputFile {
        let MessageInput::Sized(input) = input else { panic!("its length is not known") };
        input
    }

    #[test]
    fn a_stream_of_any_length_is_encrypted_and_a_long_one_decrypted_to_a_file_alone() {
        let most: u64 = 1 << 20;
        let dir = tempfile::tempdir().unwrap();
        let (file, here) = (Sink::File(dir.path().join("out")), Sink::Stdout);
        for sink in [&file, &here] {
            for bytes in [0, 6, most, most + 28] {
                let open =
                    |way| piped(bytes, |source| MessageInput::open_with(source, way, sink, most)).unwrap();
                let mut input = sized(open(Direction::Decrypt));
                assert_eq!((input.length, content(input.reader())), (bytes, vec![7; bytes as usize]));
                if bytes <= most {
                    assert_eq!(sized(open(Direction::Encrypt)).length, bytes);
                }
            }
            // as it comes, and all of it
            for bytes in [most + 1, 2 * most + 5] {
                let (length, message) = piped(bytes, |source| {
                    let input = MessageInput::open_with(source, Direction::Encrypt, sink, most).unwrap();
                    let length = input.length();
                    let MessageInput::Stream(mut stream) = input else { panic!("it is in memory") };
                    (length, content(&mut stream.reader))
                });
                assert!(length.is_none() && message == vec![7; bytes as usize], "{} bytes", message.len());
            }
        }
        let open =
            |sink| piped(most + 29, |source| MessageInput::open_with(source, Direction::Decrypt, sink, most));
        let mut kept = sized(open(&file).unwrap());
        assert_eq!((kept.length, content(kept.reader())), (most + 29, vec![7; most as usize + 29]));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the copy has a name");
        let refused = open(&here).err().unwrap();
        assert!(
            refused.error.contains("has more than 1 MiB, and a plaintext for standard output"),
            "{refused}"
        );
        let nowhere = open(&Sink::File("/nowhere/out".into())).err().unwrap();
        assert!(nowhere.error.contains("cannot be copied beside /nowhere/out"), "{nowhere}");
        let stream = piped(most + 1, |source| {
            MessageInput::open_with(source, Direction::Encrypt, &file, most)
                .map(|input| input.all(Mode::Siv).err())
        });
        let too_long = stream.unwrap().unwrap();
        assert!(too_long.error.contains("the most that siv takes"), "{too_long}");
    }

    #[test]
    fn a_ciphertext_has_at_least_its_overhead_and_a_file_any_length() {
        let input = InputFile::of(vec![7; 6]);
        assert!(input.check(Direction::Encrypt, None).is_ok());
        assert!(input.check(Direction::Decrypt, Some(Using::Gcm)).unwrap_err().error.contains("at least 28"));
        assert!(input.check(Direction::Decrypt, None).unwrap_err().error.contains("at least 16"));
        for (bytes, using) in [(OVERHEAD, Some(Using::Gcm)), (16, None), (32, Some(Using::Mode(Mode::Cbc)))] {
            let fits = |bytes: u64| InputFile::of(vec![7; bytes as usize]).check(Direction::Decrypt, using);
            assert!(fits(bytes).is_ok() && fits(bytes - 1).is_err(), "{bytes}");
        }
        // only CBC takes six bytes, because the client pads them; KW does not, also after CBC has
        for (mode, good) in [(Mode::Cbc, true), (Mode::Kw, false), (Mode::Cbc, true), (Mode::Kw, false)] {
            assert_eq!(input.check(Direction::Encrypt, Some(Using::Mode(mode))).is_ok(), good, "{mode}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let input =
            MessageInput::open(&MessageSource::File(file.path().into()), Direction::Decrypt, &Sink::Stdout);
        assert_eq!(input.unwrap().length(), Some(1 << 40));
        // a message that no server takes
        let open = |source: &MessageSource| InputFile::open_message(source).map(|input| input.length);
        assert_eq!(piped(100, open).unwrap(), 100);
    }

    /// The system says that the file has no byte.
    #[test]
    fn the_size_of_a_file_is_not_its_content() {
        let path = PathBuf::from("/proc/self/status");
        if std::fs::metadata(&path).is_ok_and(|known| known.len() == 0) {
            let mut input = InputFile::open_message(&MessageSource::File(path)).unwrap();
            let message = content(input.reader());
            assert!(
                message.starts_with(b"Name:") && message.len() as u64 == input.length,
                "{}",
                message.len()
            );
        }
    }

    /// A file too large to be read at once is read when it is used, and must then end where it did.
    #[test]
    fn a_file_that_grows_meanwhile_is_an_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(SMALL + 1).unwrap();
        let open = || InputFile::open_message(&MessageSource::File(file.path().into())).unwrap();
        let (mut same, mut grown) = (open(), open());
        let mut message = vec![1; SMALL as usize + 1];
        same.reader().read_exact(&mut message).unwrap();
        assert!(message.iter().all(|byte| *byte == 0));
        io::Seek::seek(file.as_file_mut(), io::SeekFrom::End(0)).unwrap();
        file.as_file_mut().write_all(b"more").unwrap();
        assert!(grown.reader().read_exact(&mut message).unwrap_err().to_string().contains("it changed"));
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
}
