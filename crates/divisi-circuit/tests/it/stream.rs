//! Circuits that stay in their file: the same results as in memory, and the same words about bad files.

use crate::files::file;
use divisi_circuit::bristol::{self, Format};
use divisi_circuit::plain;
use divisi_circuit::stream::{CircuitFault, GateStep, Stream};
use proptest::prelude::*;

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

/// Nor do they behind thousands of products.
#[test]
fn what_everybody_knows_is_no_step_however_late() {
    let ands = 5000;
    let mut text = format!("{} {}\n2 1 1\n1 1\n\n", ands + 2, ands + 4);
    (0..ands).for_each(|i| text += &format!("2 1 {} 0 {} AND\n", i + 1, i + 2));
    // the last product with itself, and that with the other input
    text += &format!("2 1 {0} {0} {1} XOR\n2 1 {1} 0 {2} AND\n", ands + 1, ands + 2, ands + 3);
    let stream = Stream::open(text.into_bytes()).unwrap();
    assert_eq!((stream.and_count(), stream.counts().and), (ands, ands + 1));
    check_steps(&stream);
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

/// What is no regular file is not opened, because this would wait for a pipe's other end: a socket's file,
/// which nobody can open, is refused with the words for what is no file.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_opened() {
    let directory = std::env::temp_dir();
    let socket = directory.join(format!("divisi-circuit-{}.socket", std::process::id()));
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let refused = [&socket, &directory].map(|path| Stream::open(path.clone()).unwrap_err());
    std::fs::remove_file(&socket).unwrap();
    let reason = "it is not a regular file".to_owned();
    assert_eq!(refused, [(); 2].map(|()| CircuitFault::Unreadable { reason: reason.clone() }));
}

/// Wires whose slots' numbers have the same last bits are other wires, in sums and products.
#[test]
fn wires_that_are_far_apart_are_not_the_same() {
    for apart in [256, 4_096, 65_536] {
        let (width, product, sum) = (apart + 2, apart + 2, apart + 3);
        let text = format!(
            "2 {}\n1 {width}\n1 2\n2 1 1 {} {product} AND\n2 1 0 {apart} {sum} XOR\n",
            sum + 1,
            apart + 1
        );
        let stream = Stream::open(text.clone().into_bytes()).unwrap();
        let program = bristol::read(text.as_bytes()).unwrap().program;
        let mut lanes = vec![vec![0]; width];
        (lanes[0][0], lanes[1][0], lanes[apart][0], lanes[apart + 1][0]) = (0b0011, 0b0011, 0b0101, 0b0101);
        let want = vec![vec![0b0001], vec![0b0110]];
        assert_eq!(plain::run_stream(&stream, &lanes).unwrap(), want);
        assert_eq!(plain::run(&program, &lanes).unwrap(), want);
        assert_eq!((stream.and_count(), program.and_count()), (1, 1));
    }
}

/// A wire that is read often under several names frees its slot after its last reader.
#[test]
fn a_wire_of_several_names_frees_its_slot() {
    for readers in [8, 254, 255, 256, 257, 510, 511, 512] {
        // wire 2 has four names, 2 to 5, and what reads them nothing reads
        let (mut text, mut wires) = ("2 1 0 1 2 AND\n1 1 2 3 EQW\n1 1 2 4 EQW\n1 1 2 5 INV\n".to_owned(), 6);
        for i in 0..readers - 3 {
            text += &format!("2 1 {} 0 {wires} XOR\n", 2 + i % 4);
            wires += 1;
        }
        for last in 0..3 {
            text += &format!("2 1 0 1 {} XOR\n", wires + last);
        }
        let text = format!("{} {}\n1 2\n1 3\n{text}", 4 + readers, wires + 3);
        let stream = Stream::open(text.into_bytes()).unwrap();
        // one of the outputs has the wire's slot, another one an input's
        assert_eq!(stream.slots(), 4, "{readers}");
        check_steps(&stream);
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
fn the_digest_is_that_of_every_byte() {
    let text = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
    let digest = |text: &str| Stream::open(text.as_bytes().to_vec()).unwrap().digest();
    assert_eq!(digest(text), digest(text));
    for other in [text.replace("AND", "XOR"), text.replace("0 1 2", "1 0 2"), text.replace('\n', " \n")] {
        assert_ne!(digest(text), digest(&other));
    }
    // and no bit of it is always the same
    let (mut ones, mut zeros) = ([0; 32], [0; 32]);
    for spaces in 0..64 {
        for (i, byte) in digest(&(text.to_owned() + &" ".repeat(spaces))).iter().enumerate() {
            ones[i] |= byte;
            zeros[i] |= !byte;
        }
    }
    assert_eq!((ones, zeros), ([255; 32], [255; 32]));
}

/// A line may be as long as the longest that is read, and no longer.
#[test]
fn the_longest_line_is_read() {
    let long = |line: String, length: usize| " ".repeat(length - line.len()) + &line;
    for wires in [3, 40_000] {
        let inputs = wires - 1;
        let [head, gate] = [format!("1 {wires}"), format!("2 1 0 1 {inputs} AND")];
        for more in 0..2 {
            let heads = format!("{}\n1 {inputs}\n1 1\n{gate}\n", long(head.clone(), (1 << 16) + more));
            let line = long(gate.clone(), (1 << 16) + 36 * wires + more);
            for text in [heads, format!("{head}\n1 {inputs}\n1 1\n{line}\n")] {
                assert_eq!(bristol::read(text.as_bytes()).is_ok(), more == 0, "{wires}");
                assert_eq!(Stream::open(text.into_bytes()).is_ok(), more == 0, "{wires}");
            }
        }
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
