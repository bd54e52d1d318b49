//! Tests of input and output files.

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
