//! Files that change, pipes, and what is held of them.

use super::*;

#[test]
fn all_is_read_whatever_its_size_is_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for length in [0, 1, FIRST - 1, FIRST, FIRST + 1, FIRST + PIECE, FIRST + PIECE + 1] {
        let bytes: Vec<u8> = (0..length).map(|i| (i / 7) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert!(*read(&path, length as u64).unwrap() == bytes, "{length}");
        if length > 0 {
            let error = read(&path, length as u64 - 1).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{length}");
        }
    }
    // the system says that it has no byte
    let known = "/proc/self/status";
    if let Ok(meta) = std::fs::metadata(known) {
        let content = read(Path::new(known), 1 << 20).unwrap();
        assert_eq!((meta.len(), content.starts_with(b"Name:")), (0, true));
    }
    assert!(read(dir.path(), 1).unwrap_err().to_string().contains("not a regular file"));
    let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "it has more than 1 MiB");
}

#[test]
fn a_file_that_changes_meanwhile_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let grow = || File::options().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    let shrink = || File::options().write(true).open(&path).unwrap().set_len(5).unwrap();
    let touch = || {
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    };
    for change in [&grow as &dyn Fn(), &shrink, &touch] {
        for all in [false, true] {
            std::fs::write(&path, [7; 100]).unwrap();
            let mut named = NamedSource::open(&path).unwrap();
            // whether it changes before or behind the place that was read
            let held = named.hold(if all { 100 } else { 50 }).unwrap();
            change();
            let rest = named.hold(1000).map(|rest| rest.length() + held.length());
            assert!(named.is_at_end().unwrap_err().to_string().contains("it changed"), "{rest:?}");

            std::fs::write(&path, [7; 100]).unwrap();
            let mut sized = NamedSource::open(&path).unwrap().sized().unwrap();
            assert_eq!(sized.length(), 100);
            sized.read_exact(&mut [0; 50]).unwrap();
            change();
            let mut rest = [0; 50];
            assert!(sized.read_exact(&mut rest).unwrap_err().to_string().contains("it changed"));
        }
    }
    // a large file too
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let mut large = NamedSource::open(&path).unwrap();
    assert_eq!(large.hold(1 << 20).unwrap().length(), 1 << 20);
    touch();
    assert!(large.is_at_end().unwrap_err().to_string().contains("it changed"));
    // nor is there more behind the end that was read
    std::fs::write(&path, [7; 100]).unwrap();
    let mut ended = NamedSource::open(&path).unwrap();
    ended.read_to_end(&mut Vec::new()).unwrap();
    grow();
    assert!(ended.read(&mut [0; 9]).unwrap_err().to_string().contains("it changed"));
    std::fs::write(&path, [7; 100]).unwrap();
    let mut same = NamedSource::open(&path).unwrap().sized().unwrap();
    same.seek(SeekFrom::Start(90)).unwrap();
    same.read_exact(&mut [0; 10]).unwrap();
    same.seek(SeekFrom::Start(0)).unwrap();
    assert_eq!(same.read(&mut [0; 1000]).unwrap(), 100);
}

/// What comes after the end of a pipe, from another writer, belongs to nothing that was asked for.
#[test]
fn an_end_is_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let to = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, b"all").unwrap());
    let mut source = NamedSource::open(&pipe).unwrap();
    let mut read = Vec::new();
    source.read_to_end(&mut read).unwrap();
    writer.join().unwrap();
    let mut other = File::options().write(true).open(&pipe).unwrap();
    other.write_all(b"more").unwrap();
    assert_eq!(read, b"all");
    (0..3).for_each(|_| assert_eq!(source.read(&mut [0; 4]).unwrap(), 0));
    (0..3).for_each(|_| assert!(source.is_at_end().unwrap()));
}

#[test]
fn what_is_held_is_read_again_from_any_place() {
    let bytes: Vec<u8> = (0..FIRST + PIECE + 5).map(|i| (i % 251) as u8).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, &bytes).unwrap();
    let mut held = NamedSource::open(&path).unwrap().hold(u64::MAX).unwrap();
    assert_eq!((held.pieces.len(), held.length()), (3, bytes.len() as u64));
    for place in [FIRST + PIECE - 1, 0, FIRST, bytes.len()] {
        held.seek(SeekFrom::Start(place as u64)).unwrap();
        let mut rest = Vec::new();
        held.read_to_end(&mut rest).unwrap();
        assert!(rest == bytes[place..], "{place}");
    }
    assert_eq!(held.seek(SeekFrom::End(-5)).unwrap(), bytes.len() as u64 - 5);
    assert!(held.seek(SeekFrom::Current(-(1 << 40))).is_err());
}

/// What is reserved is wiped, and 64 MiB of it take as long as forty requests.
#[test]
fn a_short_stream_takes_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, b"a text").unwrap();
    let held = NamedSource::open(&path).unwrap().hold(64 << 20).unwrap();
    let reserved: usize = held.pieces.iter().map(|piece| piece.capacity()).sum();
    assert!(held.length() == 6 && reserved <= FIRST, "{reserved}");
}

/// A pipe's content has a name under which it can be read twice.
#[test]
fn a_pipe_is_kept_for_later_readings() {
    let dir = tempfile::tempdir().unwrap();
    let (pipe, file) = (dir.path().join("pipe"), dir.path().join("file"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let to = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, b"a circuit").unwrap());
    let name = Name::from(pipe.clone().into_os_string());
    let kept = lasting(&name, 1 << 20).unwrap();
    writer.join().unwrap();
    assert_eq!(kept.to_string(), pipe.display().to_string());
    for _ in 0..2 {
        assert_eq!(std::fs::read(kept.path()).unwrap(), b"a circuit");
        // nobody writes to the pipe any more
        assert_eq!(lasting(&name, 1 << 20).unwrap(), kept);
        assert_eq!(lasting(&kept, 1 << 20).unwrap(), kept);
    }
    std::fs::write(&file, b"x").unwrap();
    let name = Name::from(file.into_os_string());
    assert_eq!(lasting(&name, 1 << 20).unwrap(), name);
}

/// Pipes of one name in two directories have contents of their own.
#[test]
fn pipes_are_known_by_their_whole_names() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = |place: &str| {
        let pipe = dir.path().join(place).join("pipe");
        std::fs::create_dir(dir.path().join(place)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        pipe
    };
    let names = ["a", "b"].map(|place| {
        let pipe = pipe(place);
        let (to, content) = (pipe.clone(), place.to_owned());
        // a pipe that nobody reads is left by its writer
        std::thread::spawn(move || std::fs::write(to, content));
        Name::from(pipe.into_os_string())
    });
    for _ in 0..2 {
        for (name, content) in names.iter().zip(["a", "b"]) {
            let kept = lasting(name, 1 << 20).unwrap();
            assert_eq!(std::fs::read(kept.path()).unwrap(), content.as_bytes());
        }
    }
}

#[test]
fn standard_input_has_four_names() {
    assert!(STDIN.iter().all(|name| is_stdin(Path::new(name))));
    assert!(!["--", "stdin", "/dev/stdin2", "./-", ""].into_iter().any(|name| is_stdin(Path::new(name))));
}

/// Bytes that follow others are read behind them, from any place, also in small pieces.
#[test]
fn bytes_in_memory_follow_each_other() {
    let all: Vec<u8> = (0..=255).chain(0..45).collect();
    let held = || {
        let pieces = [&all[..3], &[], &all[3..259], &all[259..]];
        pieces
            .into_iter()
            .map(|piece| HeldBytes::from(piece.to_vec()))
            .reduce(HeldBytes::followed_by)
            .unwrap()
    };
    assert_eq!((held().length(), &held().joined()[..]), (301, &all[..]));
    for (from, step) in [(0, 1), (2, 100), (3, 7), (258, 2), (300, 5), (301, 1), (400, 1)] {
        let (mut bytes, mut read) = (held(), Vec::new());
        bytes.seek(SeekFrom::Start(from)).unwrap();
        let mut piece = vec![0; step];
        loop {
            let count = bytes.read(&mut piece).unwrap();
            read.extend_from_slice(&piece[..count]);
            if count == 0 {
                break;
            }
        }
        assert_eq!(read, all.get(from as usize..).unwrap_or_default(), "{from}");
    }
}

/// A read that a signal interrupts is made again.
#[test]
fn what_is_interrupted_goes_on() {
    struct Interrupted<'f>(&'f [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut out[..1]) }
        }
    }
    let mut out = [0; 5];
    assert_eq!(fill(&mut Interrupted(b"text", false), &mut out).unwrap(), 4);
    assert_eq!(&out, b"text\0");
}
