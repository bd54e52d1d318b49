//! Optimised circuits compute the same, with at most as many gates, ANDs and levels.

use crate::files::{file, turned};
use divisi_circuit::bristol::{self, Format, Transcript};
use divisi_circuit::optimise::optimise;
use divisi_circuit::{Program, plain};
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

/// A product of a wire with itself, the same product the other way round, one with a constant, and one that
/// nothing reads are left out.
#[test]
fn products_that_are_none_go() {
    let text = "7 9\n1 2\n1 1\n\n2 1 0 0 2 AND\n2 1 2 1 3 AND\n2 1 1 0 4 AND\n2 1 3 4 5 OR\n1 1 1 6 EQ\n2 1 5 6 7 AND\n2 1 7 1 8 XOR\n";
    let before = bristol::read(text.as_bytes()).unwrap().program;
    let after = optimise(&before);
    assert_eq!((before.and_count(), after.and_count(), after.and_depth()), (5, 1, 1));
}
