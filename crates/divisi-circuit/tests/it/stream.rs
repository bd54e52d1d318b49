//! Circuits that stay in their file: the same results as in memory, the same words about bad files, and a
//! file that changes.

use crate::files::file;
use divisi_circuit::bristol::{self, Format};
use divisi_circuit::plain::{self, Unrun};
use divisi_circuit::stream::{CircuitFault, GateStep, Origin, Stream};
use proptest::prelude::*;
use std::io::{self, Read};
use std::sync::Mutex;

/// Checks what engines rely on: no step is a product or sum of a wire with itself, and none overwrites a slot
/// that a waiting product reads.
fn check_steps(stream: &Stream) {
    let (mut waiting, mut read, mut ands) = (0, Vec::new(), 0);
    stream
        .for_each_step(|step| -> Result<(), CircuitFault> {
            let out = match step {
                GateStep::Xor { out, x, y } => {
                    assert_ne!(x, y);
                    Some(out)
                }
                GateStep::Not { out, .. } => Some(out),
                GateStep::And { x, y } => {
                    assert_ne!(x, y);
                    (waiting, ands) = (waiting + 1, ands + 1);
                    read.extend([x, y]);
                    None
                }
                GateStep::Take { out } => {
                    waiting -= 1;
                    read.clear();
                    Some(out)
                }
            };
            assert!(out.is_none_or(|out| !read.contains(&out) && out.index() < stream.slots()));
            Ok(())
        })
        .unwrap();
    assert_eq!((waiting, ands), (0, stream.and_count()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_file_computes_what_its_program_does(
        older in any::<bool>(),
        inputs in 1..7_usize,
        gates in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..120),
        outputs in 0..40_usize,
        values in prop::collection::vec(any::<u64>(), 7),
    ) {
        let text = file(older, inputs, &gates, outputs);
        let source = bristol::read(text.as_bytes()).unwrap();
        prop_assert_eq!(source.format, if older { Format::Older } else { Format::Fashion });
        let stream = Stream::open(text.clone().into_bytes()).unwrap();
        prop_assert_eq!((stream.format(), stream.counts()), (source.format, source.counts));
        prop_assert_eq!(stream.and_depth(), source.program.and_depth());
        prop_assert_eq!(stream.inputs(), source.program.inputs());
        prop_assert_eq!(stream.outputs(), source.program.outputs());
        prop_assert!(stream.and_count() <= source.counts.and);
        check_steps(&stream);
        let lanes = values[..inputs].iter().map(|&word| vec![word, !word, word.rotate_left(7)]);
        let lanes: Vec<Vec<u64>> = lanes.collect();
        let want = plain::run(&source.program, &lanes).unwrap();
        for _ in 0..2 {
            prop_assert_eq!(plain::run_stream(&stream, &lanes).unwrap(), want.clone());
        }
    }

    /// Whatever a file says, the survey refuses it with the same message as the reader, or finds the same
    /// circuit.
    #[test]
    fn no_bytes_upset_a_survey(
        text in "([0-9]{1,2}|XOR|AND|INV|EQ|EQW|MAND|-1|\u{e9}| |\n){0,60}",
        lines in prop::collection::vec(("[0-4] [0-4]( [0-6]){0,5}", prop::sample::select(vec!["XOR", "AND", "INV", "EQ", "EQW", "MAND", "NOR", "LOR", "xnor", "MUX"])), 0..6),
        gates in 0..6_usize,
    ) {
        let body: String = lines.iter().map(|(numbers, name)| format!("{numbers} {name}\n")).collect();
        for file in [text, format!("{gates} 7\n2 1 2\n1 1\n{body}"), format!("{gates} 6\n1 2 1\n{body}")] {
            match (bristol::read(file.as_bytes()), Stream::open(file.clone().into_bytes())) {
                (Ok(source), Ok(stream)) => prop_assert_eq!(source.counts, stream.counts()),
                (Err(error), Err(fault)) => prop_assert_eq!(CircuitFault::Wrong(error), fault),
                (read, stream) => prop_assert!(false, "{:?} {:?}", read.map(|r| r.counts), stream),
            }
        }
    }
}

/// Gates on constants, and of a wire with itself, also behind copies and negations, leave no steps.
#[test]
fn what_everybody_knows_is_no_step() {
    let text = "16 18\n1 2\n1 5\n\n1 1 0 2 EQW\n1 1 2 3 INV\n1 1 3 4 INV\n2 1 0 4 5 XOR\n2 1 3 2 6 XOR\n\
        2 1 0 4 7 AND\n2 1 4 3 8 AND\n1 1 1 9 EQ\n2 1 9 5 10 AND\n2 1 9 7 11 AND\n2 1 6 11 12 XOR\n\
        2 1 5 1 13 XOR\n2 1 6 9 14 XOR\n1 1 12 15 INV\n2 1 8 1 16 AND\n1 1 13 17 EQW\n";
    let stream = Stream::open(text.as_bytes().to_vec()).unwrap();
    assert_eq!((stream.and_count(), stream.counts().and), (0, 5));
    stream.for_each_step(|step| -> Result<(), CircuitFault> { panic!("{step:?}") }).unwrap();
    let program = bristol::read(text.as_bytes()).unwrap().program;
    let inputs = [vec![0b1100], vec![0b1010]];
    assert_eq!(plain::run_stream(&stream, &inputs).unwrap(), plain::run(&program, &inputs).unwrap());
}

/// The streamed reader accepts and refuses what the reader into memory does, for circuits of other programs.
#[test]
fn circuits_in_the_wild_are_the_same_in_their_file() {
    let cases = [
        ("1 6\n2 2 2\n\n4 2 0 1 2 3 4 5 MAND\n", true),
        ("1 3\n2 1 1\n1 1\n2 1 0 1 2 LOR\n", true),
        ("2 9\n2 1 1\n1 1\n\n2 1 0 1 4 AND\n2 1 4 0 8 XOR\n", true),
        ("0 7\n2 1 1\n0\n", true),
        ("1 5\n1 1\n1 4\n\n1 1 0 1 INV\n", false),
        ("2 9\n2 1 1\n1 2\n\n2 1 0 1 4 AND\n2 1 4 0 8 XOR\n", false),
        ("2 4\n2 1 1\n1 2\n\n122 121 0 1 2 XOR\n122 121 0 1 3 AND\n", false),
        ("2\n2\n1 2\n\n0\n1\n", false),
        ("1 3\n2 1\n2 1 0 1 2 AND\n", false),
    ];
    for (text, is_right) in cases {
        match (bristol::read(text.as_bytes()), Stream::open(text.as_bytes().to_vec())) {
            (Ok(source), Ok(stream)) => {
                assert!(is_right, "{text}");
                check_steps(&stream);
                let inputs: Vec<Vec<u64>> =
                    (0..stream.input_bits() as u64).map(|i| vec![0xcaaa_5af0_3c3c_9669 << i]).collect();
                let want = plain::run(&source.program, &inputs).unwrap();
                assert_eq!(plain::run_stream(&stream, &inputs).unwrap(), want, "{text}");
            }
            (Err(error), Err(fault)) => {
                assert!(!is_right && CircuitFault::Wrong(error) == fault, "{text}: {fault}");
            }
            (read, _) => panic!("{text}: {:?}", read.err()),
        }
    }
}

/// A chain of gates needs only a few slots, however long it is, and products that do not depend on each other
/// are collected.
#[test]
fn slots_are_used_again_and_products_wait() {
    let gates = 20_000;
    let mut text = format!("{gates} {}\n1 40\n1 1\n\n", 40 + gates);
    for i in 0..gates {
        let (near, far) = (40 + i - 1 - i % 40, 40 + i - 40);
        text += &format!("2 1 {near} {far} {} {}\n", 40 + i, ["XOR", "AND"][i % 2]);
    }
    let stream = Stream::open(text.into_bytes()).unwrap();
    assert!(stream.slots() < 700, "{}", stream.slots());
    check_steps(&stream);
}

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

/// A wire that is read more often than readers are counted keeps its slot.
#[test]
fn wires_may_be_read_by_many() {
    for readers in [253, 254, 255, 256, 257, 511, 512, 1000] {
        // all of them read wire 2, among other wires that need slots
        let (mut text, mut wires, mut sum) = ("2 1 0 1 2 AND\n".to_owned(), 3, 0);
        for i in 0..readers {
            let gate = if i % 3 == 1 { "AND" } else { "XOR" };
            text += &format!("2 1 2 {sum} {wires} {gate}\n2 1 {wires} 1 {} XOR\n", wires + 1);
            (sum, wires) = (wires + 1, wires + 2);
        }
        let file = format!("{} {wires}\n1 2\n1 1\n{text}", 1 + 2 * readers);
        let stream = Stream::open(file.clone().into_bytes()).unwrap();
        check_steps(&stream);
        let program = bristol::read(file.as_bytes()).unwrap().program;
        let inputs = [vec![0b1100], vec![0b1010]];
        assert_eq!(
            plain::run_stream(&stream, &inputs).unwrap(),
            plain::run(&program, &inputs).unwrap(),
            "{readers}"
        );
    }
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

#[test]
fn the_digest_is_that_of_every_byte() {
    let text = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
    let digest = |text: &str| Stream::open(text.as_bytes().to_vec()).unwrap().digest();
    assert_eq!(digest(text), digest(text));
    for other in [text.replace("AND", "XOR"), text.replace("0 1 2", "1 0 2"), text.replace('\n', " \n")] {
        assert_ne!(digest(text), digest(&other));
    }
}

#[test]
fn a_long_line_is_refused_unless_a_product_of_many_needs_it() {
    let spaces = " ".repeat(70_000);
    for text in [format!("{spaces}1 3\n"), format!("1 3\n2 1 1\n1 1\n2 1 0 1 {spaces}2 AND\n")] {
        for error in [
            bristol::read(text.as_bytes()).unwrap_err(),
            bristol::survey(text.as_bytes(), text.len()).unwrap_err(),
        ] {
            assert!(error.reason().contains("lines of more than"), "{error}");
        }
    }
    let many = 20_000;
    let list = |from: usize| (from..from + many).map(|wire| format!(" {wire}")).collect::<String>();
    let text = format!(
        "1 {}\n1 {many}\n1 1\n\n{} {many}{}{}{} MAND\n",
        2 * many,
        2 * many,
        list(0),
        list(0),
        list(many)
    );
    let stream = Stream::open(text.clone().into_bytes()).unwrap();
    assert_eq!((stream.counts().and, stream.and_count()), (many, 0));
    assert_eq!(bristol::read(text.as_bytes()).unwrap().counts, stream.counts());
}
