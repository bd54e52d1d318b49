//! Input values: as digits on the command line, in a file (`1=@FILE`), or on standard input (`1=-`).
//!
//! Everybody can read arguments in the list of processes, but not files and standard input.

use divisi::failure::Failure;
use std::fs::File;
use std::io::Read;
use zeroize::Zeroizing;

/// So many bytes of digits are read at most.
const LONGEST: u64 = 16 << 20;

/// The values with their digits, in the order of the arguments.
///
/// # Errors
/// [`Failure`] if a file cannot be read, or if two values are to come from standard input.
pub fn inputs(given: &[String]) -> Result<Zeroizing<Vec<String>>, Failure> {
    let mut values = Zeroizing::new(Vec::with_capacity(given.len()));
    let mut stdin = Some(std::io::stdin());
    for (number, given) in (1..).zip(given) {
        let (owner, digits) = given.split_once('=').map_or(("", given.as_str()), |(o, d)| (o, d));
        let read = match digits.strip_prefix('@') {
            Some(path) => of_file(number, path)?,
            None if digits == "-" => {
                let twice = || usage(number, "is the second value from standard input: give it in a file");
                of_stream(number, "standard input", stdin.take().ok_or_else(twice)?.lock())?
            }
            None => {
                values.push(given.clone());
                continue;
            }
        };
        let prefix = if owner.is_empty() { String::new() } else { format!("{owner}=") };
        values.push(prefix + read.trim());
    }
    Ok(values)
}

fn usage(number: usize, what: &str) -> Failure {
    Failure::usage(format!("input {number} {what}"))
}

fn of_file(number: usize, path: &str) -> Result<Zeroizing<String>, Failure> {
    let unread = |e: std::io::Error| usage(number, &format!("cannot be read from {path} ({e}): give a file"));
    // Before it is opened: a pipe that nobody writes would be waited for.
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(unread(std::io::Error::other("it is no file")));
    }
    of_stream(number, path, File::open(path).map_err(unread)?)
}

fn of_stream(number: usize, name: &str, stream: impl Read) -> Result<Zeroizing<String>, Failure> {
    let mut text = Zeroizing::new(String::new());
    let read = stream.take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|e| usage(number, &format!("cannot be read from {name} ({e}): give digits as text")))?;
    if text.len() as u64 > LONGEST {
        let what = format!("has more than {} MiB in {name}: give the digits of one value", LONGEST >> 20);
        return Err(usage(number, &what));
    }
    Ok(text)
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
        assert_eq!(*inputs(&given).unwrap(), ["1=aa", "2=00ff", "3=", "00ff", "bb"]);
        for (wrong, expected) in [("1=@/nowhere/file", "cannot be read"), ("1=@/dev/zero", "no file")] {
            let error = inputs(&["1=00".into(), wrong.into()]).unwrap_err().error;
            assert!(error.contains(expected) && error.starts_with("input 2"), "{error}");
        }
    }
}
