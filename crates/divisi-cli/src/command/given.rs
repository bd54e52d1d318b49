//! Input values: as digits on the command line, in a file (`1=@FILE`), or on standard input (`1=-`).
//!
//! Everybody on the machine can see arguments in the list of processes; files and standard input are not
//! shown there.

use divisi::failure::Failure;
use divisi::name::Name;
use divisi::source;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use zeroize::Zeroizing;

/// The largest number of bytes of digits that is read.
const LONGEST: u64 = 16 << 20;

/// The values in the order of the arguments, with the digits of files and of standard input in place of their
/// names.
///
/// # Errors
/// [`Failure`] if a file cannot be read, or if two values are to come from standard input.
pub fn inputs(given: &[OsString]) -> Result<Zeroizing<Vec<String>>, Failure> {
    let mut values = Zeroizing::new(Vec::with_capacity(given.len()));
    let mut from_stdin = false;
    for (number, given) in (1..).zip(given) {
        // whatever is not Unicode can only be the name of a file
        let bytes = given.as_bytes();
        let (owner, digits) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default()),
            None => (&[][..], bytes),
        };
        let is_text = || usage(number, "is no text: give digits, or @ and the name of a file");
        let owner = std::str::from_utf8(owner).map_err(|_| is_text())?;
        let read = match digits.strip_prefix(b"@") {
            Some(path) if !source::is_stdin(Path::new(OsStr::from_bytes(path))) => {
                let path = Name::from(OsStr::from_bytes(path).to_owned());
                of_file(number, &path, path.path())?
            }
            named if named.is_some() || digits == b"-" => {
                if std::mem::replace(&mut from_stdin, true) {
                    return Err(usage(number, "is the second value from standard input: give it in a file"));
                }
                of_file(number, "standard input", Path::new("-"))?
            }
            _ => {
                values.push(given.to_str().ok_or_else(is_text)?.to_owned());
                continue;
            }
        };
        let prefix = if owner.is_empty() { String::new() } else { format!("{owner}=") };
        values.push(prefix + &read);
    }
    Ok(values)
}

fn usage(number: usize, what: &str) -> Failure {
    Failure::usage(format!("input {number} {what}"))
}

/// The digits in a file, a pipe or, by the name `-`, on standard input.
fn of_file(number: usize, name: &str, path: &Path) -> Result<Zeroizing<String>, Failure> {
    let bytes = source::read(path, LONGEST).map_err(|e| match e.kind() {
        std::io::ErrorKind::FileTooLarge => {
            let most = LONGEST >> 20;
            usage(number, &format!("has more than {most} MiB in {name}: give the digits of one value"))
        }
        _ => usage(number, &format!("cannot be read from {name} ({e}): give digits as text")),
    })?;
    let digits = std::str::from_utf8(&bytes).map_err(|_| {
        usage(number, &format!("cannot be read from {name} (it is not UTF-8): give digits as text"))
    })?;
    Ok(Zeroizing::new(digits.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn digits_come_from_files_as_from_arguments() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        std::fs::write(&path, " 00ff\n").unwrap();
        let path = path.display();
        let given = ["1=aa".to_owned(), format!("2=@{path}"), "3=".into(), format!("@{path}"), "bb".into()];
        assert_eq!(*inputs(&given.map(OsString::from)).unwrap(), ["1=aa", "2=00ff", "3=", "00ff", "bb"]);
        let odd = dir.path().join(OsStr::from_bytes(b"key\xff"));
        std::fs::write(&odd, "0102").unwrap();
        let mut given = OsString::from("7=@");
        given.push(&odd);
        assert_eq!(*inputs(&[given]).unwrap(), ["7=0102"]);
        for wrong in [&b"1=\xff"[..], b"\xff=@x", b"\xff"] {
            let error = inputs(&[OsStr::from_bytes(wrong).to_owned()]).unwrap_err().error;
            assert!(error.contains("no text"), "{error}");
        }
        for (wrong, expected) in [
            ("1=@/nowhere/file", "cannot be read"),
            ("1=@/dev/zero", "has more than 16 MiB"),
            ("1=@/", "not a regular file"),
        ] {
            let error = inputs(&["1=00".into(), wrong.into()]).unwrap_err().error;
            assert!(error.contains(expected) && error.starts_with("input 2"), "{error}");
        }
    }
}
