//! Optimised circuits compute the same, with at most as many gates, ANDs and levels.

use crate::files::{file, turned};
use divisi_circuit::bristol::{self, Format, Transcript, Untranscribed, Unwritable};
use divisi_circuit::optimise::optimise;
use divisi_circuit::{Build, Gates, Program, plain};
use proptest::prelude::*;

fn size(program: &Program) -> usize {
    program.linear_count() + program.and_count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_same_function_with_no_more_gates(
        inputs in 2..7_usize,
        gates in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..200),
        outputs in 1..40_usize,
        values in prop::collection::vec(any::<u64>(), 7),
    ) {
        let before = bristol::read(file(false, inputs, &gates, outputs).as_bytes()).unwrap().program;
        let after = optimise(&before);
        prop_assert!(after.and_count() <= before.and_count() && after.and_depth() <= before.and_depth());
        prop_assert!(size(&after) <= size(&before));
        prop_assert_eq!((after.inputs(), after.outputs()), (before.inputs(), before.outputs()));
        let lane = |word: &u64| vec![*word, !word.rotate_left(5)];
        let lanes: Vec<Vec<u64>> = values[..inputs].iter().map(lane).collect();
        prop_assert_eq!(plain::run(&after, &lanes).unwrap(), plain::run(&before, &lanes).unwrap());
    }

    /// A file that is transcribed in any way computes the same, and has the gates that were counted.
    #[test]
    fn transcribed_gate_by_gate(
        inputs in 2..7_usize,
        gates in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 10..100),
        values in prop::collection::vec(any::<u64>(), 7),
        older in any::<bool>(),
    ) {
        let file = file(older, inputs, &gates, 9);
        let source = bristol::read(file.as_bytes()).unwrap();
        let lanes: Vec<Vec<u64>> = values[..inputs].iter().map(|&word| vec![word]).collect();
        let want = plain::run(&source.program, &lanes).unwrap();
        for (to, turn, keeps_names) in [
            (Format::Fashion, false, true), (Format::Fashion, true, false), (Format::Older, false, false),
            (Format::Older, true, true),
        ] {
            let mut text = Vec::new();
            let how = Transcript { to, turned: turn, keeps_names };
            let made = bristol::transcribe(file.as_bytes(), how, &mut text);
            let Ok(counts) = made else {
                prop_assert!(to == Format::Older && !older);
                continue;
            };
            let read = bristol::read(&text).unwrap();
            prop_assert_eq!((read.format, read.counts), (to, counts));
            if to == Format::Fashion && keeps_names {
                prop_assert_eq!(counts, source.counts);
            }
            prop_assert_eq!(read.program.and_count(), source.program.and_count());
            let widths = (source.program.inputs(), source.program.outputs());
            let got = if turn {
                turned(widths.1, &plain::run(&read.program, &turned(widths.0, &lanes)).unwrap())
            } else {
                plain::run(&read.program, &lanes).unwrap()
            };
            prop_assert_eq!(&got, &want);
        }
    }

    /// A file whose gates are in any order, sorted: it computes the same, with the same gates, and is sorted.
    #[test]
    fn sorted_from_any_order(
        inputs in 2..7_usize,
        gates in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..60),
        keys in prop::collection::vec(any::<u8>(), 60),
        values in prop::collection::vec(any::<u64>(), 7),
        older in any::<bool>(),
    ) {
        let file = file(older, inputs, &gates, 9);
        let (head, body) = file.split_once("\n\n").unwrap();
        let mut lines: Vec<(u8, &str)> = keys.into_iter().zip(body.lines()).collect();
        lines.sort_unstable();
        let any: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        let (sorted, is_other) = bristol::sort(format!("{head}\n\n{any}").as_bytes()).unwrap();
        prop_assert_eq!(is_other, sorted != format!("{head}\n\n{any}").into_bytes());
        let (again, is_other) = bristol::sort(&sorted).unwrap();
        prop_assert!(again == sorted && !is_other);
        let (source, made) = (bristol::read(file.as_bytes()).unwrap(), bristol::read(&sorted).unwrap());
        prop_assert_eq!((made.format, made.counts), (source.format, source.counts));
        let lanes: Vec<Vec<u64>> = values[..inputs].iter().map(|&word| vec![word]).collect();
        let [got, want] = [&made, &source].map(|source| plain::run(&source.program, &lanes).unwrap());
        prop_assert_eq!(got, want);
    }

    /// A program from a file in the older format, written in either format, computes the same.
    #[test]
    fn converted_there_and_back(
        inputs in 2..7_usize,
        gates in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..100),
        values in prop::collection::vec(any::<u64>(), 7),
    ) {
        let older = bristol::read(file(true, inputs, &gates, 9).as_bytes()).unwrap().program;
        let lanes: Vec<Vec<u64>> = values[..inputs].iter().map(|&word| vec![word]).collect();
        let want = plain::run(&older, &lanes).unwrap();
        for format in [Format::Fashion, Format::Older] {
            let mut text = Vec::new();
            bristol::write_as(&older, format, &mut text).unwrap();
            let read = bristol::read(&text).unwrap();
            prop_assert_eq!(read.format, format);
            prop_assert_eq!(plain::run(&read.program, &lanes).unwrap(), want.clone());
        }
    }
}

/// Sums that have terms in common, each made by itself: the pair that occurs in most of them is made once.
#[test]
fn sums_share_their_terms() {
    // (a b c d), (b c d), (e b c d) by chains that have nothing in common: eight gates, of which four are
    // left
    let text = "8 13\n1 5\n1 3\n\n2 1 0 1 5 XOR\n2 1 5 2 6 XOR\n2 1 1 3 7 XOR\n2 1 4 3 8 XOR\n2 1 8 2 9 XOR\n\
        2 1 6 3 10 XOR\n2 1 7 2 11 XOR\n2 1 9 1 12 XOR\n";
    let before = bristol::read(text.as_bytes()).unwrap().program;
    assert_eq!((before.linear_count(), optimise(&before).linear_count()), (8, 4));
}

/// The number of local gates of a file, before and after.
fn sums(text: &str) -> (usize, usize) {
    let before = bristol::read(text.as_bytes()).unwrap().program;
    (before.linear_count(), optimise(&before).linear_count())
}

/// Sums that only products read are made of the same pairs, too.
#[test]
fn sums_under_products_share_their_terms() {
    let text = "10 15\n1 5\n1 2\n\n2 1 0 1 5 XOR\n2 1 5 2 6 XOR\n2 1 1 3 7 XOR\n2 1 4 3 8 XOR\n\
        2 1 8 2 9 XOR\n\
        2 1 6 3 10 XOR\n2 1 7 2 11 XOR\n2 1 9 1 12 XOR\n2 1 10 11 13 AND\n2 1 11 12 14 AND\n";
    assert_eq!(sums(text), (8, 4));
}

/// A sum that a product and other sums read is made once, however many sums read it: its terms do not get
/// into theirs. Beside it are the sums of the test above, so that something is gained.
#[test]
fn a_sum_that_many_read_is_made_once() {
    for readers in 1..5 {
        // wires 0 to 4 for the other sums; 5 to 8 are added to the sum of 9, 10 and 11, which is wire 21
        let mut lines: Vec<String> =
            ["0 1 12", "12 2 13", "1 3 14", "4 3 15", "15 2 16", "13 3 17", "14 2 18"]
                .into_iter()
                .chain(["16 1 19", "10 11 20", "20 9 21"])
                .map(|wires| format!("2 1 {wires} XOR"))
                .collect();
        let product = 22 + readers;
        (0..readers).for_each(|i| lines.push(format!("2 1 {} 21 {} XOR", 5 + i, 22 + i)));
        // products that read these sums come before the one that reads the sum of three
        (0..readers).for_each(|i| lines.push(format!("2 1 {} {} {} AND", 22 + i, 5 + i, product + i)));
        lines.push(format!("2 1 21 {product} {} AND", product + readers));
        (1..4).for_each(|i| lines.push(format!("1 1 {} {} EQW", 16 + i, product + readers + i)));
        let (gates, wires) = (lines.len(), product + readers + 4);
        let text = format!("{gates} {wires}\n1 12\n1 {}\n{}\n", 4 + readers, lines.join("\n"));
        assert_eq!(sums(&text), (10 + readers, 6 + readers));
    }
}

/// A sum in which all terms but one cancel, two gates further down, needs no gate.
#[test]
fn a_sum_that_is_one_wire_is_no_gate() {
    let text = "4 7\n1 3\n1 1\n2 1 0 1 3 XOR\n2 1 1 2 4 XOR\n2 1 3 4 5 XOR\n2 1 5 2 6 XOR\n";
    assert_eq!(sums(text), (4, 0));
}

/// Two sums of the same wires in the opposite order are one, up to 48 wires; of more all but the last wire of
/// each are taken apart.
#[test]
fn long_sums_are_left_as_they_are() {
    for (terms, want) in [(47, 46), (48, 47), (49, 50)] {
        let (mut text, mut wires) = (String::new(), terms);
        for wire in [|i: usize, _: usize| i, |i, n| n - 1 - i] {
            for i in 1..terms {
                let before = if i == 1 { wire(0, terms) } else { wires - 1 };
                text += &format!("2 1 {before} {} {wires} XOR\n", wire(i, terms));
                wires += 1;
            }
        }
        text += &format!("1 1 {} {wires} EQW\n1 1 {} {} EQW\n", wires - terms, wires - 1, wires + 1);
        let text = format!("{} {}\n1 {terms}\n1 2\n{text}", 2 * terms, wires + 2);
        assert_eq!(sums(&text), (2 * (terms - 1), want));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Many sums of few wires, in which pairs occur often and are taken from each other.
    #[test]
    fn many_sums_of_few_wires_stay_the_same(
        masks in prop::collection::vec(1..1_u32 << 10, 4..24),
        turns in prop::collection::vec(0..10_usize, 24),
    ) {
        let mut g = Build::verbatim();
        let x = g.input(10);
        let zero = g.constant(false);
        let mut all = Vec::new();
        for (mask, turn) in masks.iter().zip(turns) {
            let terms = (0..10).map(|i| (i + turn) % 10).filter(|i| mask >> i & 1 == 1);
            all.push(terms.fold(zero, |sum, i| g.xor(sum, x[i])));
        }
        let product = g.and(all[0], all[1]);
        all.push(product);
        g.output(&all);
        let before = g.finish();
        let after = optimise(&before);
        let lanes: Vec<Vec<u64>> = (0..10).map(|i| (0..16).map(|lane| word(lane, i)).collect()).collect();
        prop_assert!(size(&after) <= size(&before));
        prop_assert_eq!(plain::run(&after, &lanes).unwrap(), plain::run(&before, &lanes).unwrap());
    }
}

/// Bit `i` of the numbers from `64 lane` on.
fn word(lane: u64, i: u32) -> u64 {
    (0..64).fold(0, |word, at| word | ((64 * lane + at) >> i & 1) << at)
}

/// Each kind of gate alone, in each way: it computes the same, and the gates are those that were counted.
#[test]
fn each_kind_of_gate_is_transcribed() {
    let kinds = ["2 1 0 1 2 XOR", "2 1 0 1 2 XNOR", "2 1 0 1 2 AND", "2 1 0 1 2 NAND", "2 1 0 1 2 OR"]
        .into_iter()
        .chain(["2 1 0 1 2 NOR", "1 1 0 2 INV", "1 1 0 2 EQW", "1 1 0 2 EQ", "1 1 1 2 EQ", "2 1 0 1 2 MAND"]);
    let lanes = [vec![0b1100], vec![0b1010]];
    for kind in kinds {
        for widths in ["2 1 1\n1 1\n", "1 1 1\n"] {
            let text = format!("2 4\n{widths}{kind}\n2 1 2 1 3 XOR\n");
            let source = bristol::read(text.as_bytes()).unwrap();
            for to in [Format::Fashion, Format::Older] {
                for keeps_names in [false, true] {
                    let mut made = Vec::new();
                    let how = Transcript { to, turned: false, keeps_names };
                    let counts = bristol::transcribe(text.as_bytes(), how, &mut made).unwrap();
                    let read = bristol::read(&made).unwrap();
                    assert_eq!((read.format, read.counts), (to, counts), "{kind}");
                    assert!(to == Format::Fashion || counts.eq + counts.eqw == 0, "{kind}");
                    let (got, want) =
                        (plain::run(&read.program, &lanes), plain::run(&source.program, &lanes));
                    assert_eq!(got, want, "{kind}");
                    let names = ["XNOR", "NAND", "OR\n", "NOR"];
                    let made = String::from_utf8(made).unwrap().replace("XOR", "");
                    assert!(keeps_names || !names.iter().any(|name| made.contains(name)), "{made}");
                }
            }
        }
    }
}

/// What no format has room for, up to the last that it has: values of inputs and outputs, a circuit without
/// inputs, outputs that are inputs.
#[test]
fn what_cannot_be_transcribed_is_refused() {
    let transcribed = |to: Format, inputs: &[usize], outputs: &[usize]| {
        let width: usize = inputs.iter().sum();
        // three wires more than those of the inputs, each of a gate
        let gates: String = (0..3).map(|i| format!("1 1 1 {} EQ\n", width + i)).collect();
        let list =
            |widths: &[usize]| widths.iter().fold(widths.len().to_string(), |all, w| format!("{all} {w}"));
        let text = format!("3 {}\n{}\n{}\n{gates}", width + 3, list(inputs), list(outputs));
        let mut out = Vec::new();
        bristol::transcribe(text.as_bytes(), Transcript { to, turned: false, keeps_names: true }, &mut out)
    };
    let (fashion, older) = (Format::Fashion, Format::Older);
    for inputs in 0..5 {
        for outputs in 0..4 {
            let made = transcribed(older, &vec![1; inputs], &vec![1; outputs]);
            let fits = (1..=2).contains(&inputs) && outputs == 1;
            match made {
                Ok(_) => assert!(fits, "{inputs} {outputs}"),
                Err(Untranscribed::Unwritable(Unwritable::Values { inputs: i, outputs: o })) => {
                    assert!(!fits && (i, o) == (inputs, outputs));
                }
                Err(other) => panic!("{other:?}"),
            }
            let made = transcribed(fashion, &vec![1; inputs], &vec![1; outputs]);
            assert!(if inputs == 0 { matches!(made, Err(Untranscribed::Overlap)) } else { made.is_ok() });
        }
    }
    for to in [fashion, older] {
        for width in 0..5 {
            let made = transcribed(to, &[2], &[width]);
            assert!(if width > 3 { matches!(made, Err(Untranscribed::Overlap)) } else { made.is_ok() });
            assert!(matches!(transcribed(to, &[0], &[width.min(3)]), Err(Untranscribed::Overlap)));
        }
    }
}

/// A product of a wire with itself, the same product the other way round, one with a constant, and one that
/// nothing reads are left out.
#[test]
fn products_that_are_none_go() {
    let text = "7 9\n1 2\n1 1\n\n2 1 0 0 2 AND\n2 1 2 1 3 AND\n2 1 1 0 4 AND\n2 1 3 4 5 OR\n1 1 1 6 EQ\n2 1 5 6 7 AND\n2 1 7 1 8 XOR\n";
    let before = bristol::read(text.as_bytes()).unwrap().program;
    let after = optimise(&before);
    assert_eq!((before.and_count(), after.and_count(), after.and_depth()), (5, 1, 1));
}
