//! The reader and the writer of Bristol Fashion, and the reader of the format before it.

use divisi_circuit::bristol::{self, FileCounts, Format, Unwritable, read, write, write_as};
use divisi_circuit::{Build, Gates, Program, plain};

/// `adder_32bit.txt`: the 32-bit adder of Tillich and Smart ("Circuits of basic functions suitable for MPC
/// and FHE") as emp-toolkit/emp-tool ships it (commit 00f7552, `emp-tool/circuits/files`).
const ADDER: &[u8] = include_bytes!("../vectors/adder_32bit.txt");

fn bits(x: u64, width: usize) -> Vec<Vec<u64>> {
    (0..width).map(|i| vec![x >> i & 1]).collect()
}

fn number(bits: &[Vec<u64>]) -> u64 {
    bits.iter().rev().fold(0, |sum, bit| 2 * sum + (bit[0] & 1))
}

fn written(program: &Program) -> (String, FileCounts) {
    let mut text = Vec::new();
    let counts = write(program, &mut text).unwrap();
    (String::from_utf8(text).unwrap(), counts)
}

#[test]
fn a_published_adder_adds() {
    let adder = read(ADDER).unwrap();
    assert_eq!(
        (adder.format, adder.program.inputs(), adder.program.outputs()),
        (Format::Older, &[32, 32][..], &[33][..])
    );
    assert_eq!(adder.counts, FileCounts { xor: 61, and: 127, inv: 187, eq: 0, eqw: 0 });
    assert_eq!(adder.program.and_count(), 127);
    let text = str::from_utf8(ADDER).unwrap();
    assert_eq!(read(text.replace('\n', " \r\n").as_bytes()).unwrap(), adder);
    let again = read(written(&adder.program).0.as_bytes()).unwrap();
    assert_eq!((again.format, again.program.and_count()), (Format::Fashion, 127));
    for (x, y) in [(0, 0), (1, 1), (0xffff_ffff, 1), (0xffff_ffff, 0xffff_ffff), (0x1234_5678, 0x9abc_def0)] {
        let inputs = [bits(x, 32), bits(y, 32)].concat();
        for program in [&adder.program, &again.program] {
            assert_eq!(number(&plain::run(program, &inputs).unwrap()), x + y);
        }
    }
}

#[test]
fn every_gate_of_the_format_is_read() {
    let text = "8 12\n2 2 2\n2 1 3\n\n1 1 1 4 EQ\n1 1 0 5 EQ\n4 2 0 1 2 3 6 7 MAND\n1 1 6 8 EQW\n\
                2 1 7 4 9 XOR\n2 1 0 3 10 AND\n1 1 5 11 INV\n";
    let error = read(text.as_bytes()).unwrap_err();
    assert_eq!((error.line(), error.reason()), (11, "8 gates were declared, the file has 7"));
    let source = read(text.replacen('8', "7", 1).as_bytes()).unwrap();
    assert_eq!(source.counts, FileCounts { xor: 1, and: 3, inv: 1, eq: 2, eqw: 1 });
    assert_eq!(source.program.outputs(), [1, 3]);
    for x in 0..16_u64 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| x >> i & 1);
        let want = [a & c, (b & d) ^ 1, a & d, 1];
        let got = plain::run(&source.program, &bits(x, 4)).unwrap();
        assert_eq!(got.iter().map(|wire| wire[0] & 1).collect::<Vec<_>>(), want);
        // a program written and read again computes the same
        let again = read(written(&source.program).0.as_bytes()).unwrap();
        assert_eq!(plain::run(&again.program, &bits(x, 4)).unwrap(), got);
    }
}

#[test]
fn outputs_stand_last_in_their_order() {
    let mut g = Build::new();
    let x = g.input(3);
    let sum = g.xor(x[0], x[1]);
    let dot = g.dot(&[(x[0], x[1]), (x[1], x[2]), (sum, x[2])]);
    let one = g.constant(true);
    g.output(&[dot, x[2], sum]);
    g.output(&[one, dot]);
    let (text, counts) = written(&g.finish());
    assert_eq!(counts, FileCounts { xor: 3, and: 3, inv: 0, eq: 1, eqw: 2 });
    let (header, gates) = text.split_once("\n\n").unwrap();
    assert_eq!(header, "9 12\n1 3\n2 3 2");
    let result = |gate: &str| gate.split(' ').rev().nth(1).unwrap().parse::<usize>().unwrap();
    let mut results: Vec<usize> = gates.lines().map(result).collect();
    assert!(
        gates.contains("1 1 1 10 EQ\n")
            && gates.contains("1 1 2 8 EQW\n")
            && gates.contains("1 1 7 11 EQW\n")
    );
    results.sort_unstable();
    assert_eq!(results, (3..12).collect::<Vec<_>>());
}

#[test]
fn a_circuit_without_gates_is_one() {
    let source = read(b"0 3\n1 3\n1 2\n").unwrap();
    let got = plain::run(&source.program, &bits(0b101, 3)).unwrap();
    assert_eq!(number(&got), 0b10);
    let older = read(b"0 2\n1 1 2\n").unwrap();
    assert_eq!((older.format, older.program.inputs()), (Format::Older, &[1, 1][..]));
}

const UNORDERED_2: &str = "wire 2 is read before a line writes it: if a later line does, sort the gates with `divisi circuit convert --sort`";

/// A file, the number of its wrong line, and the error message about it.
const WRONG: &[(&str, usize, &str)] = &[
    ("", 1, "the file ends before the numbers of gates and wires"),
    ("\n\n3\n", 3, "the first line has two numbers: gates and wires"),
    ("2\n2\n1 x\n", 1, "the first line has two numbers: gates and wires"),
    ("2\n2 2\n1 2\n", 1, "the first line has two numbers: gates and wires"),
    ("2\nx2\n1 2\n", 1, "the first line has two numbers: gates and wires"),
    ("2 2 2\n2\n1 2\n", 1, "the first line has two numbers: gates and wires"),
    ("x2\n2\n1 2\n", 1, "the first line has two numbers: gates and wires"),
    ("1 x\n", 1, "`x` is not a number that a circuit can have"),
    ("1 +3\n", 1, "`+3` is not a number that a circuit can have"),
    ("1 99999999999999999999\n", 1, "`99999999999999999999` is not a number that a circuit can have"),
    ("1 3\n", 2, "the file ends before the widths of the inputs"),
    ("1 3\n1 2\n", 3, "the file ends before the widths of the outputs"),
    ("1 3\n2 1 1\n", 3, "the file ends before the widths of the outputs"),
    ("1 3\n\u{feff}2 1 1\n1 1\n", 2, "`\u{feff}2` is not a number that a circuit can have"),
    ("1 3\n3 1 1\n1 1\n", 2, "3 input values, but 2 widths"),
    ("1 3\n2 1 1\n2 1\n", 3, "2 output values, but 1 widths"),
    ("1 3\n1 4\n1 1\n", 2, "the input values are wider than the 3 wires"),
    ("1 3\n2 18446744073709551615 2\n1 1\n", 2, "the input values are wider than the 3 wires"),
    ("1 3\n2 1 1\n1 4\n", 2, "the output values are wider than the 3 wires"),
    ("2 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n", 4, "2 gates were declared, the file has 1"),
    ("1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 AND\n", 5, "only 1 gates were declared"),
    (
        "1 5\n1 1\n1 4\n\n1 1 0 1 INV\n",
        5,
        "no gate writes wire 2, which is an output: the outputs are the last 4 of the 5 wires, from 1 on",
    ),
    ("1 4\n2 1 1\n1 1\n2 1 0 2 3 AND\n", 4, UNORDERED_2),
    ("2 4\n2 1 1\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 XOR\n", 5, "wire 2 is written a second time"),
    ("1 3\n2 1 1\n1 1\n2 1 0 1 1 AND\n", 4, "wire 1 is written a second time"),
    (
        "1 3\n2 1 1\n1 1\n2 1 0 1 3 AND\n",
        4,
        "wire 3 is not one of the 3: the header's second number must be larger than the number of every wire",
    ),
    (
        "1 3\n2 1 1\n1 1\n2 1 0 7 2 AND\n",
        4,
        "wire 7 is not one of the 3: the header's second number must be larger than the number of every wire",
    ),
    ("1 3\n2 1 1\n1 1\n2 1 0 2 2 AND\n", 4, UNORDERED_2),
    (
        "2 4\n2 1 1\n1 1\n2 1 0 3 2 AND\n2 1 2 1 3 XOR\n",
        4,
        "wire 3 is read before a line writes it: if a later line does, sort the gates with `divisi circuit convert --sort`",
    ),
    ("1 3\n2 1 1\n1 1\n2 1 0 1 2 MUX\n", 4, "`MUX` is no gate of this format"),
    ("1 3\n2 1 1\n1 1\n2 1 0 1 2\n", 4, "a gate of 2 and 1 wires, but 2 are named"),
    ("1 3\n2 1 1\n1 1\n2 1 0 1 AND\n", 4, "a gate of 2 and 1 wires, but 2 are named"),
    ("1 3\n2 1 1\n1 1\n1 1 0 2 AND\n", 4, "AND does not read 1 wires and write 1"),
    ("1 3\n2 1 1\n1 1\n3 1 0 1 0 2 MAND\n", 4, "MAND does not read 3 wires and write 1"),
    ("1 3\n2 1 1\n1 1\n0 0 MAND\n", 4, "MAND does not read 0 wires and write 0"),
    ("1 3\n2 1 1\n1 1\n1000000000 1 0 2 AND\n", 4, "a gate of 1000000000 and 1 wires, but 2 are named"),
    ("1 3\n2 1 1\n1 1\n1 1 2 2 EQ\n", 4, "the constant of EQ is 0 or 1"),
    ("1 3\n1 1 1\n2 1 0 1 2 AND\n1 1 2 2 EQW\n", 4, "only 1 gates were declared"),
    (
        "1 3\n2 1 1\n1 1\n2 1 0 1 2 AMul\n",
        4,
        "`AMul` is a gate of arithmetic circuits: only Boolean ones are read",
    ),
    (
        "2 4\n2 1 1\n1 2\n\n122 121 0 1 2 XOR\n122 121 0 1 3 AND\n",
        5,
        "the line's first two numbers are 122 and 121, and XOR reads 2 wires and writes 1: write `2 1` before the wires",
    ),
    (
        "1 2\n1 1\n1 1\n2 1 0 1 inv\n",
        4,
        "the line's first two numbers are 2 and 1, and inv reads 1 wires and writes 1: write `1 1` before the wires",
    ),
    (
        "1 3\n2 1\n2 1 0 1 2 AND\n",
        2,
        "a gate follows this line, as in the format before Bristol Fashion, whose widths are three (two inputs and one \
         output), and here are 2; for one input of 2 bits and an output of 1 write `2 0 1`; in Bristol Fashion a line \
         with the widths of the outputs is missing",
    ),
    (
        "1 3\n1 1 0 1\n\n2 1 0 1 2 AND\n",
        2,
        "a gate follows this line, as in the format before Bristol Fashion, whose widths are three (two inputs and one \
         output), and here are 4; in Bristol Fashion a line with the widths of the outputs is missing",
    ),
    (
        "1 3\n2 1 0 1 2 AND\n",
        2,
        "a gate follows the first line: the header has no widths; write the widths of the inputs and those of the \
         outputs before the gates, each line with the number of values first",
    ),
    (
        "2\n2\n1 2\n\n0\n1\n\n2 2\n\n2\n3\n\n2\n4\n5\n\n2 1 0 2 4 0110\n2 1 1 3 5 0110\n",
        1,
        "this looks like a circuit of SCAPI; Bristol Fashion and the format before it are read",
    ),
];

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for &(text, line, reason) in WRONG {
        let error = read(text.as_bytes()).expect_err(text);
        assert_eq!((error.line(), error.reason()), (line, reason), "{text:?}");
        assert_eq!(error.to_string(), format!("line {line}: {reason}"));
    }
    assert_eq!(read(b"1 3\n\xff\n").unwrap_err().to_string(), "line 2: this is not text");
}

/// What one lane of each wire of a circuit gives for these inputs.
fn outputs(program: &Program, inputs: &[u64]) -> Vec<u64> {
    let inputs: Vec<Vec<u64>> = inputs.iter().map(|word| vec![*word]).collect();
    plain::run(program, &inputs).unwrap().iter().map(|wire| wire[0] & 15).collect()
}

/// Two ANDs of one gate under the header of the older format, and `LOR`.
#[test]
fn gates_of_other_programs_are_read() {
    let mand = read(b"1 6\n2 2 2\n\n4 2 0 1 2 3 4 5 MAND\n").unwrap();
    assert_eq!((mand.format, mand.counts.and), (Format::Older, 2));
    assert_eq!(outputs(&mand.program, &[0b1100, 0b1111, 0b1010, 0b0110]), [0b1000, 0b0110]);
    let or = read(b"1 3\n2 1 1\n1 1\n2 1 0 1 2 LOR\n").unwrap();
    assert_eq!((outputs(&or.program, &[0b1100, 0b1010]), or.counts.and), (vec![0b1110], 1));
}

/// Numbers of wires with gaps: no gate writes 2, 3 and 5, and the output is still the last wire.
#[test]
fn wires_may_have_gaps_between_their_numbers() {
    let text = "2 7\n2 1 1\n1 1\n\n2 1 0 1 4 AND\n2 1 4 0 6 XOR\n";
    let sparse = read(text.as_bytes()).unwrap();
    let dense = read(b"2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n2 1 2 0 3 XOR\n").unwrap();
    assert_eq!(sparse.program, dense.program);
    assert_eq!(outputs(&sparse.program, &[0b1100, 0b1010]), [0b0100]);
    // nothing with gaps is written
    let how = bristol::Transcript { to: Format::Fashion, turned: false, keeps_names: true };
    for text in [text, "2 5\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n2 1 2 0 4 XOR\n"] {
        let unwritten = bristol::transcribe(text.as_bytes(), how, &mut Vec::new());
        assert!(matches!(unwritten, Err(bristol::Untranscribed::Sparse)), "{text}");
    }
}

#[test]
fn gates_out_of_order_are_sorted() {
    let sorted = |text: &str| bristol::sort(text.as_bytes());
    // an order that is right stays, also with comments and in the older format
    let right = "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND # first\n2 1 2 0 3 XOR\n";
    let (text, is_other) = sorted(right).unwrap();
    assert_eq!(String::from_utf8(text.clone()).unwrap(), right.replace(" # first", ""));
    assert!(!is_other && read(&text).unwrap() == read(right.as_bytes()).unwrap());
    let older = "2 5\n1 1 1\n\n1 1 3 4 INV\n2 1 0 1 3 NAND\n".replace("2 5", "3 5") + "1 1 0 2 EQW\n";
    let (text, is_other) = sorted(&older).unwrap();
    assert_eq!(text, b"3 5\n1 1 1\n\n2 1 0 1 3 NAND\n1 1 3 4 INV\n1 1 0 2 EQW\n");
    assert!(is_other && read(older.as_bytes()).is_err());
    assert_eq!(outputs(&read(&text).unwrap().program, &[0b1100, 0b1010]), [0b1000]);
    // backwards, as deep as it is long
    let gates = 30_000;
    let line = |i: usize| format!("2 1 {} 0 {} XOR\n", i - 1, i);
    let backwards: String = (2..2 + gates).rev().map(line).collect();
    let (text, _) = sorted(&format!("{gates} {}\n2 1 1\n1 1\n{backwards}", gates + 2)).unwrap();
    assert_eq!(outputs(&read(&text).unwrap().program, &[0b1100, 0b1010]), [0b1010]);
    // what no order can mend
    for (text, line, reason) in [
        (
            "2 4\n2 1 1\n1 1\n2 1 3 0 2 AND\n2 1 2 1 3 XOR\n",
            5,
            "wire 2 depends on itself: a circuit has no cycles",
        ),
        ("1 3\n2 1 1\n1 1\n2 1 2 0 2 AND\n", 4, "wire 2 depends on itself: a circuit has no cycles"),
        ("1 4\n2 1 1\n1 1\n2 1 2 0 3 AND\n", 4, "no line writes wire 2, which is read"),
        ("1 3\n2 1 1\n1 1\n2 1 0 1 1 AND\n", 4, "wire 1 is written a second time"),
        ("2 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 XOR\n", 5, "wire 2 is written a second time"),
        ("1 3\n2 1 1\n1 1\n2 1 0 1 2\n", 4, "a gate of 2 and 1 wires, but 2 are named"),
        ("2 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n", 4, "2 gates were declared, the file has 1"),
    ] {
        let error = sorted(text).unwrap_err();
        assert_eq!((error.line(), error.reason()), (line, reason), "{text:?}");
    }
    assert!(
        sorted("1 3\n2 1 1\n1 1\n2 1 0 1 9 AND\n")
            .unwrap_err()
            .reason()
            .starts_with("wire 9 is not one of the 3")
    );
}

#[test]
fn what_is_declared_is_not_believed() {
    for text in [
        "1000000000 1000000003\n2 1 1\n1 1\n2 1 0 1 2 AND\n",
        "1 1000000000\n1 999999999\n1 1\n2 1 0 1 2 AND\n",
        "1 1000000000\n500000000 499999999 1\n2 1 0 1 2 AND\n",
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.line(), 1);
        assert!(error.reason().contains("are more than a file of"), "{error}");
    }
    // as many wires as the length of the file allows, and one more
    for wires in 65_536..65_556 {
        let text = format!("0 {wires}\n1 {wires}\n0\n");
        assert_eq!(read(text.as_bytes()).is_ok(), wires <= 65_536 + text.len() / 2, "{wires}");
    }
    let error = read(b"1000000000 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n").unwrap_err();
    assert_eq!(error.to_string(), "line 4: 1000000000 gates were declared, the file has 1");
    // a wide input that hardly anything reads is fine
    let wide = read(b"1 60001\n1 60000\n1 1\n2 1 0 59999 60000 XOR\n").unwrap();
    assert_eq!(wide.program.input_bits(), 60_000);
}

/// All gates that other programs write, in any case, between comments, blank lines and line ends of other
/// systems, in both formats: their results for all four inputs.
#[test]
fn files_in_the_wild_are_read() {
    let gates = "2 1 0 1 2 OR\n2 1 0 1 3 nand\n# and so on\n\n2 1 0 1 4 Nor\n2 1 0 1 5 XNOR\n  // last\n1 1 5 6 inv  \n";
    let gates = format!("{gates}2 1 2 3 7 And\n2 1 4 6 8 xor\n\n# the end");
    for header in ["7 9\n2 1 1\n1 7\n\n\n\n", "\u{feff}// one\n\n7 9 \n# two\n1   1 7\n", "7 9\n\n1 1 7\n"] {
        for text in [format!("{header}{gates}"), format!("{header}{gates}").replace('\n', "\t \r\n")] {
            let source = read(text.as_bytes()).unwrap();
            assert_eq!(source.counts, FileCounts { xor: 2, and: 4, inv: 1, eq: 0, eqw: 0 });
            let got = outputs(&source.program, &[0b1100, 0b1010]);
            assert_eq!(got, [0b1110, 0b0111, 0b0001, 0b1001, 0b0110, 0b0110, 0b0111]);
        }
    }
    // gates of the newer format in the older one, another name, comments behind gates
    let text = "4 6 # header\n1 1 1\n1 1 0 2 NOT // x + 1\n1 1 1 3 EQ# one\n1 1 2 4 eqw //\n2 1 4 1 5 AND # \u{e9}\n";
    let source = read(text.as_bytes()).unwrap();
    assert_eq!(
        (source.format, source.counts),
        (Format::Older, FileCounts { xor: 0, and: 1, inv: 1, eq: 1, eqw: 1 })
    );
    assert_eq!(outputs(&source.program, &[0b1100, 0b1010]), [0b0010]);
    // a comment need not be text
    assert!(read(b"# \xff\n0 2\n1 1 2\n").is_ok());
}

#[test]
fn other_forms_are_named() {
    for (text, looks) in [
        ("aag 3 2 0 1 1\n", "AIGER"),
        ("// by a tool\n\nmodule top(a, b);\n", "Verilog"),
        (".model top\n", "BLIF"),
        ("INPUT(G1)\n", "ISCAS"),
        ("0 input\n1 input\n2 gate arity 2 table [0 1 1 0] inputs [0 1]\n", "Fairplay"),
        ("{\"gates\": 3}\n", "JSON"),
        ("2 1 0 1 2 AND\n", "without a header"),
        ("AND 0 1 2\n", "names come first"),
        ("G10 = NAND(G1, G3)\n", "ISCAS"),
        ("1 sort bitvec 1\n", "BTOR2"),
        (".i 2\n.o 1\n", "PLA"),
        ("version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        ("hello\n", "text that describes no circuit"),
        ("number of gates: 3\n", "text that describes no circuit"),
        ("1\u{1} 3\n", "binary data"),
        ("1 3\u{1}", "binary data"),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert!(error.reason().contains("looks like") && error.reason().contains(looks), "{error}");
    }
    // words of letters and digits are neither names nor numbers, and one number alone is no list of them
    for text in
        ["2 1a 0 1 AND\n", "2 1 0 1 A1\n", "A1 0 1 2\n", "AND 0 1a 2\n", "2 1 0\n2\n1 2\n", "2\n2\n1 2 3\n"]
    {
        let error = read(text.as_bytes()).unwrap_err();
        let wrong = ["a header", "names come first", "SCAPI"];
        assert!(!wrong.iter().any(|form| error.reason().contains(form)), "{text}: {error}");
    }
    let error = read(b"\x1f\x8b\x08\xff\n").unwrap_err();
    assert_eq!(error.to_string(), "line 1: this is not text: it looks like a file compressed by gzip");
    let error = read(b"\xff\xfe1\0 \x003\0\n\0").unwrap_err();
    assert!(error.to_string().contains("line 1") && error.reason().contains("UTF-16"), "{error}");
    let error = read(b"\x80\x81\n1 3\n").unwrap_err();
    assert_eq!(error.to_string(), "line 1: this is not text: it looks like binary data");
}

/// In the format before Bristol Fashion, constants and copies are written with gates that it has.
#[test]
fn a_program_is_written_in_the_older_format() {
    let text = "5 9\n2 2 2\n1 5\n\n1 1 1 4 EQ\n1 1 0 5 EQ\n1 1 2 6 EQW\n2 1 0 3 7 NOR\n1 1 6 8 EQW\n";
    let program = read(text.as_bytes()).unwrap().program;
    let mut older = Vec::new();
    let counts = write_as(&program, Format::Older, &mut older).unwrap();
    let again = read(&older).unwrap();
    assert_eq!((again.format, again.counts, counts.eq, counts.eqw), (Format::Older, counts, 0, 0));
    for x in 0..16 {
        let want = plain::run(&program, &bits(x, 4)).unwrap();
        assert_eq!(plain::run(&again.program, &bits(x, 4)).unwrap(), want);
    }
    for values in 0..16 {
        let (inputs, outputs) = (values / 4, values % 4);
        let mut g = Build::new();
        let one = g.constant(true);
        (0..inputs).for_each(|_| drop(g.input(1)));
        (0..outputs).for_each(|_| g.output(&[one]));
        match write_as(&g.finish(), Format::Older, &mut Vec::new()) {
            Ok(_) => assert!((1..3).contains(&inputs) && outputs == 1),
            Err(Unwritable::Values { inputs: i, outputs: o }) => {
                assert!((i, o) == (inputs, outputs) && ([0, 3].contains(&inputs) || outputs != 1));
            }
            Err(other) => panic!("{other}"),
        }
    }
    // what the older format has no place for is written in the other one, and 256 bits in both
    let text = "1 257\n2 128 128\n1 1\n\n2 1 0 255 256 AND\n";
    let three = "1 4\n3 1 1 1\n1 1\n\n2 1 0 2 3 AND\n";
    for (text, format) in [(text, Format::Older), (text, Format::Fashion), (three, Format::Fashion)] {
        let (program, mut out) = (read(text.as_bytes()).unwrap().program, Vec::new());
        write_as(&program, format, &mut out).unwrap();
        assert_eq!(read(&out).unwrap().program, program);
    }
    let none = read(b"1 1\n2 0 0\n1 1\n1 1 1 0 EQ\n").unwrap().program;
    let unfit = write_as(&none, Format::Older, &mut Vec::new()).unwrap_err();
    assert!(matches!(unfit, Unwritable::NoInput), "{unfit}");
}
