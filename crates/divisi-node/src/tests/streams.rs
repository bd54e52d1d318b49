//! Messages whose length is not known before their end.

use super::attacks::{harness, parts, refused, unharmed};
use super::gcm::open;
use super::harness::{ServersHarness, decrypt, fails, import, text, with_alice};
use super::rogue::Rogue;
use crate::files::{Direction, IN_MEMORY, InputFile, MessageInput, MessageSource, Sink};
use crate::files::{transform, transform_whole};
use crate::request::{Item, SboxChoice, ToClient, ToServer};
use crate::wire::Blob;
use crate::{CHUNK, ErrorKind, KeyType, Mode, OVERHEAD};
use divisi_engine::cleanup::Cleanup;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A stream of unknown length, which brings as little as it likes at a time, and is interrupted in between.
struct Dripping<'a>(&'a [u8], bool);

impl std::io::Read for Dripping<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let most = out.len().min(1 + self.0.len() / 2);
        std::io::Read::read(&mut self.0, &mut out[..most])
    }
}

/// A stream is encrypted as a message of known length is, whatever its length; one that cannot be read to its
/// end has no tag.
#[test]
fn a_stream_of_any_length_is_opened_by_an_ordinary_library() {
    let (harness, mut alice) = with_alice();
    let key = harness.key(&mut alice, "k", true, &[]);
    let plain = alice.key_export(&key).unwrap();
    for len in [0, 1, 16, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 17] {
        let (aad, text, mut file) = (&b"associated"[..len % 11], text(len), Vec::new());
        let done =
            alice.encrypt_stream(&key, aad, &mut Dripping(&text, false), &mut file, &mut |_| {}).unwrap();
        assert_eq!((done, file.len() as u64), (len as u64, len as u64 + OVERHEAD));
        assert!(alice.last_key().is_some_and(|key| key.maker == "alice"));
        assert_eq!(open(&plain, aad, &file).unwrap(), text, "{len}");
        assert_eq!(decrypt(&mut alice, &key, aad, &file).0, text, "{len}");
    }
    assert!(harness.logged("client alice: encrypt key k, a stream: done"));
    // cut off: an error, and a file that nobody takes for a whole one
    struct Broken(usize);
    impl std::io::Read for Broken {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let most = out.len().min(self.0);
            self.0 -= most;
            if most > 0 { Ok(most) } else { Err(std::io::ErrorKind::ConnectionReset.into()) }
        }
    }
    let mut cut = Vec::new();
    let error = alice.encrypt_stream(&key, b"", &mut Broken(4 * CHUNK), &mut cut, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(open(&plain, b"", &cut).is_none());
    drop(alice);
    harness.await_logged(1, "a stream: its client left");
}

/// A client's limits hold for a stream as it comes.
#[test]
fn a_stream_is_counted_as_it_comes() {
    let limits = |text_bytes, bytes_an_hour| {
        ServersHarness::patient(|options| {
            options.limits.text_bytes = text_bytes;
            options.limits.bytes_an_hour = bytes_an_hour;
        })
    };
    let most = CHUNK as u64;
    for (harness, words) in [
        (limits(most, u64::MAX), "the text has more than 131072 bytes, the most that this server accepts"),
        (limits(u64::MAX, most), "client alice has used 131072 of its 131072 bytes within the hour"),
    ] {
        let mut alice = harness.connect("alice");
        let key = harness.key(&mut alice, "k", false, &[]);
        let mut out = Vec::new();
        let mut seal = |len: usize| {
            alice.encrypt_stream(&key, b"", &mut Dripping(&text(len), false), &mut out, &mut |_| {})
        };
        assert_eq!(seal(CHUNK).unwrap(), most);
        fails(seal(CHUNK + 1), words);
    }
}

/// What is longer than memory may hold goes to a pipe or a device as a ciphertext alone: a plaintext is never
/// kept in another file before it is verified, and is refused before the servers are asked.
#[test]
fn no_plaintext_is_kept_on_its_way_to_a_stream() {
    let harness = ServersHarness::patient(|options| options.limits.text_bytes = 1);
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    let (file, sink) = (tempfile::NamedTempFile::new().unwrap(), Sink::named(Some(Path::new("/dev/null"))));
    file.as_file().set_len(IN_MEMORY + 2 * OVERHEAD + 1).unwrap();
    let source = MessageSource::File(file.path().into());
    for (way, words) in [
        (Direction::Encrypt, "and this server accepts at most 1: split it"),
        (Direction::Decrypt, "67108893 bytes of plaintext are too many for standard output or a pipe"),
    ] {
        let input = MessageInput::open(&source, way, &sink).unwrap();
        let done = transform(&mut alice, way, &key, b"", input, &sink, &Cleanup::default(), &mut |_| {});
        let failure = done.err().unwrap();
        assert!(failure.error.contains(words), "{failure}");
    }
    // modes without pieces have the whole message in memory, and take no longer one
    let MessageInput::Sized(input) = MessageInput::open(&source, Direction::Encrypt, &sink).unwrap() else {
        panic!("a file has a length");
    };
    let (cleanup, at) = (Cleanup::default(), &mut |_| {});
    let (way, mode) = (Direction::Encrypt, Mode::Cbc);
    let done = transform_whole(&mut alice, way, mode, &key, None, input, &sink, &cleanup, at);
    let failure = done.err().unwrap();
    assert!(failure.error.contains("takes at most 64 MiB: use a GCM key for longer texts"), "{failure}");
}

/// A file with a plaintext is its owner's alone, whichever mode decrypts it.
#[test]
fn nobody_else_reads_what_is_decrypted_to_a_file() {
    let (_harness, mut alice) = with_alice();
    let (dir, cleanup, secret) = (tempfile::tempdir().unwrap(), Cleanup::default(), text(32));
    for (kind, mode) in [
        (KeyType::Aes128, None),
        (KeyType::Aes128Kw, Some(Mode::Kw)),
        (KeyType::Aes128Kw, Some(Mode::Kwp)),
        (KeyType::Aes128Cbc, Some(Mode::Cbc)),
        (KeyType::Aes128Siv, Some(Mode::Siv)),
    ] {
        let name = mode.map_or("gcm", Mode::name);
        let key = import(&mut alice, name, kind, &text(kind.bytes()));
        let mut content = secret.clone();
        for (way, ending) in [(Direction::Encrypt, "sealed"), (Direction::Decrypt, "opened")] {
            let path = dir.path().join(format!("{name}.{ending}"));
            let (input, sink, at) = (InputFile::of(content), Sink::File(path.clone()), &mut |_| {});
            let done = match mode {
                None => transform(&mut alice, way, &key, b"", input.into(), &sink, &cleanup, at),
                Some(mode) => transform_whole(&mut alice, way, mode, &key, None, input, &sink, &cleanup, at),
            };
            done.unwrap();
            content = std::fs::read(&path).unwrap();
            if way == Direction::Decrypt {
                let permissions = std::fs::metadata(&path).unwrap().permissions();
                assert_eq!((permissions.mode() & 0o777, &content), (0o600, &secret), "{name}");
            }
        }
    }
}

/// A25: the end of a stream. What one server takes for the last piece, or for a last piece of another length,
/// is not the last one at the others: nothing of it is computed, and there is no tag. A server that takes a
/// piece for another than it received is in the same place.
#[test]
fn the_end_of_a_stream_is_the_same_at_all_three() {
    let (harness, key) = harness();
    let mut rogue = Rogue::connect(&harness, "alice");
    let item = Item::EncryptStream { key: key.clone(), aad: Blob(Vec::new()), way: SboxChoice::DEFAULT };
    let parts = parts(&text(CHUNK));
    let body = |i: usize, bytes: usize| Blob([&parts[i][..bytes], &parts[i][CHUNK..][..bytes]].concat());
    let mut number = 0;
    // which of the servers is told something else, and how many bytes it is told are the last piece
    for (odd, bytes) in [(0, CHUNK), (1, CHUNK), (2, CHUNK), (0, 16), (1, 16), (2, 16)] {
        number += 1;
        let begun = rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
        assert!(begun.iter().all(|a| matches!(a, Some(ToClient::Sealing { .. }))), "{begun:?}");
        let answers = rogue.exchange(|i| match i == odd {
            true => ToServer::Last { number, index: 0, body: body(i, bytes) },
            false => ToServer::Data { number, index: 0, body: body(i, CHUNK) },
        });
        refused(&answers, "client alice told the servers different things", "plaintext");
        // two lengths of a last piece
        number += 1;
        rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
        let answers = rogue.exchange(|i| {
            let bytes = if i == odd { bytes } else { 32 };
            ToServer::Last { number, index: 0, body: body(i, bytes) }
        });
        refused(&answers, "client alice told the servers different things", "plaintext");
    }
    // a tag before the mark, a piece after it, and one that is neither full nor marked
    let wrong: [&dyn Fn(u64, usize) -> [ToServer; 2]; 3] = [
        &|number, i| [ToServer::Data { number, index: 0, body: body(i, CHUNK) }, ToServer::Finish { number }],
        &|number, i| {
            let last = ToServer::Last { number, index: 0, body: body(i, CHUNK) };
            [last, ToServer::Last { number, index: 1, body: body(i, 16) }]
        },
        &|number, i| {
            let data = ToServer::Data { number, index: 0, body: body(i, CHUNK) };
            [data, ToServer::Data { number, index: 1, body: body(i, 16) }]
        },
    ];
    for messages in wrong {
        number += 1;
        rogue.exchange(|_| ToServer::Request { number, item: item.clone() });
        let answers = rogue.exchange(|i| messages(number, i)[0].clone());
        let sealed = |a: &Option<ToClient>| matches!(a, Some(ToClient::Ciphertext(_) | ToClient::Digest(_)));
        assert!(answers.iter().all(sealed), "{answers:?}");
        let answers = rogue.exchange(|i| messages(number, i)[1].clone());
        for answer in &answers {
            let Some(ToClient::Failed(failed)) = answer else { panic!("answered: {answer:?}") };
            assert_eq!(failed.kind, ErrorKind::Refused);
        }
    }
    unharmed(&harness, &key);
}
