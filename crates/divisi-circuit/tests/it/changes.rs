//! Circuits in files that change while they are used.

use divisi_circuit::bristol;
use divisi_circuit::plain::{self, Unrun};
use divisi_circuit::stream::{CircuitFault, GateStep, LONGEST, Origin, Stream};
use std::io::{self, Read};
use std::sync::Mutex;

/// A file that is replaced by another one from some reading on.
#[derive(Debug)]
struct Changing {
    first: Vec<u8>,
    then: Vec<u8>,
    readings: Mutex<usize>,
    length: Option<u64>,
}

impl Origin for Changing {
    fn open(&self) -> io::Result<(u64, Box<dyn Read + '_>)> {
        let mut readings = self.readings.lock().unwrap();
        let now = if *readings > 0 { &self.first } else { &self.then };
        if now.is_empty() {
            return Err(io::Error::other("gone"));
        }
        let length = self.length.unwrap_or(now.len() as u64);
        *readings = readings.saturating_sub(1);
        Ok((length, Box::new(&now[..])))
    }
}

#[test]
fn a_file_that_changes_is_noticed() {
    let first = "4 6\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n2 1 2 1 3 XOR\n1 1 3 4 INV\n2 1 4 2 5 AND\n";
    let other = |from: &str, to: &str| first.replacen(from, to, 1).into_bytes();
    let mut changes = vec![
        other("2 1 0 1 2 AND", "2 1 0 1 2 XOR"),
        other("2 1 4 2 5 AND", "2 1 4 0 5 AND"),
        other("2 1 4 2 5 AND", "2 1 4 9 5 AND"),
        other("2 1 4 2 5 AND", "2 1 4 2 9 AND"),
        other("2 1 4 2 5 AND", "2 1 4 2 3 AND"),
        other("2 1 2 1 3 XOR", "2 1 5 1 3 XOR"),
        other("2 1 2 1 3 XOR", "2 1 2 1 3 NOR"),
        other("2 1 2 1 3 XOR", "2 1 2 1\u{a0}XOR"),
        other("4 6", "4 5"),
        other("4 6", "3 6"),
        other("2 1 1", "2 2 0"),
        other("INV", "EQW"),
        other("INV", "INV "),
        other("INV\n", "INV"),
        other("\n\n", "\n \n"),
        first.as_bytes()[..first.len() - 1].to_vec(),
        first.as_bytes()[..first.len() - 14].to_vec(),
        [first.as_bytes(), b"\n"].concat(),
        [first.as_bytes(), b"2 1 4 2 6 AND\n"].concat(),
    ];
    // any two lines swapped
    let lines: Vec<&str> = first.lines().collect();
    for i in 0..lines.len() {
        for j in 0..lines.len() {
            let mut lines = lines.clone();
            lines.swap(i, j);
            changes.push((lines.join("\n") + "\n").into_bytes());
        }
    }
    let inputs = [vec![0b1100], vec![0b1010]];
    let mut refused = 0;
    for then in changes.into_iter().filter(|then| then != first.as_bytes()) {
        for readings in 0..4 {
            for length in [None, Some(first.len() as u64)] {
                let told = String::from_utf8_lossy(&then).into_owned();
                let (then, readings) = (then.clone(), Mutex::new(readings));
                let changing = Changing { first: first.as_bytes().to_vec(), then, readings, length };
                let Ok(stream) = Stream::open(changing) else {
                    refused += 1;
                    continue;
                };
                let mut ends = (0..3).map(|_| plain::run_stream(&stream, &inputs));
                let right = bristol::read(&told.clone().into_bytes())
                    .map(|s| plain::run(&s.program, &inputs).unwrap());
                match ends.find_map(Result::err) {
                    Some(Unrun::Fault(fault)) => {
                        assert_eq!(fault, CircuitFault::Changed, "{told}");
                    }
                    Some(other) => panic!("{other} {told}"),
                    // changed before the first reading: another circuit
                    None => {
                        assert_eq!(right.unwrap(), plain::run_stream(&stream, &inputs).unwrap(), "{told}")
                    }
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

/// A stream over a file of which so many readings find the first version.
fn open(first: &[u8], then: &[u8], readings: usize, length: Option<u64>) -> Result<Stream, CircuitFault> {
    let (first, then, readings) = (first.to_vec(), then.to_vec(), Mutex::new(readings));
    Stream::open(Changing { first, then, readings, length })
}

/// The change is noticed at the second reading of an opening, and at those of a run.
fn changes(first: &[u8], then: &[u8]) {
    assert_eq!(open(first, then, 1, None).unwrap_err(), CircuitFault::Changed);
    let stream = open(first, then, 3, None).unwrap();
    assert_eq!(steps(&stream).1, Ok(()));
    assert_eq!(steps(&stream).1, Err(CircuitFault::Changed));
}

const GATES: &str = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
/// The bytes that are compared at once.
const PIECE: usize = 1 << 16;

/// The gates, and comments up to a length.
fn commented(length: usize) -> Vec<u8> {
    let comment = format!("#{}\n", "c".repeat(98)).into_bytes();
    GATES.bytes().chain(comment.into_iter().cycle()).take(length).collect()
}

fn with_another_byte(first: &[u8], at: usize) -> Vec<u8> {
    let mut then = first.to_vec();
    then[at] = if then[at] == b'c' { b'd' } else { b'c' };
    then
}

/// Any byte of any piece, a length other than the one that is stated, and pieces that come or go, also if no
/// gate stands in them.
#[test]
fn a_file_that_changes_in_any_byte_is_noticed() {
    let piece = PIECE;
    for length in [2 * piece - 1, 2 * piece, 2 * piece + 1] {
        let first = commented(length);
        let ends = [0, 1, piece / 2, piece - 1, piece, 3 * piece / 2, 2 * piece - 1, length - 1];
        for at in ends.into_iter().filter(|at| *at < length) {
            changes(&first, &with_another_byte(&first, at));
        }
        for other in [0, 1, GATES.len(), piece, 2 * piece - 1, 2 * piece, 2 * piece + 1, 3 * piece] {
            if other != length && other > 0 {
                changes(&first, &commented(other));
            }
            // less or more than what is stated comes at the first reading, again and again
            let stated = open(&first, &first, 3, Some(other as u64));
            assert!(if other == length {
                stated.is_ok()
            } else {
                stated.unwrap_err() == CircuitFault::Changed
            });
        }
    }
}

/// Also behind the first MiB; and the digest, which parties compare, is of all pieces.
#[test]
fn a_long_file_is_compared_to_its_end() {
    let first = commented(33 * PIECE + 5);
    let digest = |file: &[u8]| Stream::open(file.to_vec()).unwrap().digest();
    let own = digest(&first);
    for at in [8 * PIECE, 16 * PIECE, 32 * PIECE - 1, first.len() - 1] {
        let then = with_another_byte(&first, at);
        changes(&first, &then);
        assert_ne!(digest(&then), own, "{at}");
    }
}

/// The steps of a stream, until the reading ends.
fn steps(stream: &Stream) -> (Vec<GateStep>, Result<(), CircuitFault>) {
    let mut steps = Vec::new();
    let end = stream.for_each_step(|step| -> Result<(), CircuitFault> {
        steps.push(step);
        Ok(())
    });
    (steps, end)
}

/// Wherever a file changes, no step of the new one is given: the steps that come are the beginning of those
/// of the old one.
#[test]
fn no_step_of_another_file_is_given() {
    let gates = 12_000;
    let line = |i: usize| format!("2 1 {i} {} {} {}\n", i + 1, i + 2, ["AND", "XOR"][i % 2]);
    let body: String = (0..gates).map(line).collect();
    let first = format!("{gates} {}\n2 1 1\n1 1\n{body}", gates + 2);
    assert!(first.len() > 4 << 16);
    let changing = |then: String| {
        let (first, then) = (first.clone().into_bytes(), then.into_bytes());
        Stream::open(Changing { first, then, readings: Mutex::new(2), length: None }).unwrap()
    };
    let (all, end) = steps(&changing(first.clone()));
    assert_eq!(end, Ok(()));
    let mut last = 0;
    for gate in [0, 3_000, 6_000, 9_000, gates - 1] {
        let (old, new) =
            (line(gate), line(gate).replace("AND", "NOR").replace("XOR", "AND").replace("NOR", "XOR"));
        let (some, end) = steps(&changing(first.replace(&old, &new)));
        assert_eq!(end, Err(CircuitFault::Changed));
        assert!(some.len() < all.len() && all.starts_with(&some), "{gate}");
        assert!(some.len() > last || gate == 0 && some.is_empty(), "{gate}");
        last = some.len();
    }
}

/// A file that is said to be longer than any that is read is not; one of that length is begun.
#[test]
fn a_file_that_is_too_long_is_refused() {
    let first = b"1 3\n1 2\n1 1\n2 1 0 1 2 AND\n".to_vec();
    let of = |length| {
        let then = first.clone();
        Stream::open(Changing { first: then.clone(), then, readings: Mutex::new(0), length: Some(length) })
    };
    assert_eq!(of(LONGEST).unwrap_err(), CircuitFault::Changed);
    let fault = of(LONGEST + 1).unwrap_err();
    assert!(matches!(&fault, CircuitFault::Wrong(error) if error.reason().contains("files of more than")));
}

#[test]
fn a_file_that_is_gone_is_noticed() {
    let first = b"1 3\n1 2\n1 1\n2 1 0 1 2 AND\n".to_vec();
    let gone = |readings| Changing {
        first: first.clone(),
        then: Vec::new(),
        readings: Mutex::new(readings),
        length: None,
    };
    let unreadable = CircuitFault::Unreadable { reason: "gone".to_owned() };
    assert_eq!(Stream::open(gone(0)).unwrap_err(), unreadable);
    assert_eq!(Stream::open(gone(1)).unwrap_err(), unreadable);
    let stream = Stream::open(gone(3)).unwrap();
    assert_eq!(plain::run_stream(&stream, &[vec![1], vec![1]]), Ok(vec![vec![1]]));
    assert_eq!(plain::run_stream(&stream, &[vec![1], vec![1]]), Err(Unrun::Fault(unreadable)));
}
