//! Random circuits: the gates that the builder leaves out, the levels and the slots change no result.

use divisi_circuit::plain::{self, Words};
use divisi_circuit::{Build, BuildBit, Gates, LinearGate, Program, bristol};
use proptest::prelude::*;
use std::borrow::Cow;

/// A step of a random circuit; wires are chosen by these numbers, modulo the number of wires that exist.
#[derive(Clone, Debug)]
enum Step {
    Constant(bool),
    Not(usize),
    Xor(usize, usize),
    Dot(Vec<(usize, usize)>),
    Choose(usize, usize, usize),
    Majority(usize, usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let wire = 0..1_000_usize;
    prop_oneof![
        1 => any::<bool>().prop_map(Step::Constant),
        2 => wire.clone().prop_map(Step::Not),
        6 => (wire.clone(), wire.clone()).prop_map(|(x, y)| Step::Xor(x, y)),
        4 => prop::collection::vec((wire.clone(), wire.clone()), 0..4).prop_map(Step::Dot),
        1 => (wire.clone(), wire.clone(), wire.clone()).prop_map(|(c, x, y)| Step::Choose(c, x, y)),
        1 => (wire.clone(), wire.clone(), wire).prop_map(|(x, y, z)| Step::Majority(x, y, z)),
    ]
}

fn circuit<G: Gates>(g: &mut G, inputs: &[G::Bit], steps: &[Step]) -> Vec<G::Bit> {
    let mut wires = inputs.to_vec();
    for step in steps {
        // Near wires are taken more often, so that circuits become deep and full of repetitions.
        let at = |i: usize| wires[wires.len() - 1 - (i * i / 1_000) % wires.len()];
        let result = match step {
            Step::Constant(value) => g.constant(*value),
            Step::Not(x) => g.not(at(*x)),
            Step::Xor(x, y) => g.xor(at(*x), at(*y)),
            Step::Dot(terms) => g.dot(&terms.iter().map(|&(x, y)| (at(x), at(y))).collect::<Vec<_>>()),
            Step::Choose(c, x, y) => g.choose(at(*c), at(*x), at(*y)),
            Step::Majority(x, y, z) => g.majority(at(*x), at(*y), at(*z)),
        };
        wires.push(result);
    }
    let last = wires.len().saturating_sub(20);
    wires.split_off(last)
}

fn build(mut g: Build, widths: [usize; 2], steps: &[Step]) -> Program {
    let inputs = widths.map(|width| g.input(width)).concat();
    let outputs = circuit(&mut g, &inputs, steps);
    let (first, second) = outputs.split_at(outputs.len() / 3);
    g.output(first);
    g.output(second);
    g.finish()
}

/// The invariants that engines rely on.
fn check_shape(program: &Program) {
    let mut written = vec![false; program.slots()];
    written[..program.input_bits()].fill(true);
    let (last, before) = program.levels().split_last().unwrap();
    assert!(before.iter().all(|level| level.dot_count() > 0) && last.dot_count() == 0);
    for level in program.levels() {
        for gate in level.linear() {
            use divisi_circuit::LinearGate::{Constant, Not, Xor};
            let out = match gate {
                Constant { out, .. } => out,
                Not { out, x } => {
                    assert!(written[x.index()]);
                    out
                }
                Xor { out, x, y } => {
                    assert!(written[x.index()] && written[y.index()]);
                    out
                }
            };
            written[out.index()] = true;
        }
        for (_, terms) in level.dots() {
            assert!(!terms.is_empty() && terms.iter().all(|(x, y)| written[x.index()] && written[y.index()]));
        }
        let mut results: Vec<usize> = level.dots().map(|(out, _)| out.index()).collect();
        results.iter().for_each(|&out| written[out] = true);
        results.sort_unstable();
        results.dedup();
        assert_eq!(results.len(), level.dot_count(), "two results in one slot");
    }
    assert!(program.results().iter().all(|slot| written[slot.index()]));
    assert_eq!(program.results().len(), program.outputs().iter().sum::<usize>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn programs_compute_what_was_recorded(
        steps in prop::collection::vec(step(), 0..150),
        widths in [0..6_usize, 1..6_usize],
        values in prop::collection::vec(any::<u64>(), 10),
    ) {
        let inputs = &values[..widths[0] + widths[1]];
        let want = circuit(&mut Words, inputs, &steps);
        let lanes: Vec<Vec<u64>> = inputs.iter().map(|&word| vec![word, !word]).collect();
        let folded = build(Build::new(), widths, &steps);
        let verbatim = build(Build::verbatim(), widths, &steps);
        prop_assert!(folded.and_count() <= verbatim.and_count() && folded.slots() <= verbatim.slots() + 20);
        for program in [folded, verbatim] {
            check_shape(&program);
            let got = plain::run(&program, &lanes).unwrap();
            prop_assert_eq!(got.iter().map(|wire| wire[0]).collect::<Vec<_>>(), want.clone());
            prop_assert_eq!(program.replay(&mut Words, inputs).unwrap(), want.clone());

            // once more through the builder, and through a file
            let mut g = Build::verbatim();
            let wires = widths.map(|width| g.input(width)).concat();
            let outputs = program.replay(&mut g, &wires).unwrap();
            g.output(&outputs);
            let again = g.finish();
            prop_assert_eq!(plain::run(&again, &lanes).unwrap(), got.clone());
            let ands = |p: &Program| (p.and_count(), p.and_depth());
            prop_assert_eq!(ands(&again), ands(&program));

            let mut text = Vec::new();
            let counts = bristol::write(&program, &mut text).unwrap();
            let read = bristol::read(&text).unwrap();
            prop_assert_eq!(read.counts, counts);
            prop_assert_eq!(read.program.and_count(), program.and_count());
            prop_assert_eq!(read.program.and_depth(), program.and_depth());
            prop_assert_eq!(read.program.inputs(), program.inputs());
            prop_assert_eq!(read.program.outputs(), program.outputs());
            prop_assert_eq!(plain::run(&read.program, &lanes).unwrap(), got);
        }
    }

    #[test]
    fn no_bytes_upset_the_reader(
        text in "([0-9]{1,2}|XOR|AND|INV|EQ|EQW|MAND|-1|\u{e9}| |\n){0,60}",
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        for file in [text.into_bytes(), bytes] {
            let lines = 1 + file.iter().filter(|&&byte| byte == b'\n').count();
            match bristol::read(&file) {
                Ok(source) => check_shape(&source.program),
                Err(error) => prop_assert!(error.line() >= 1 && error.line() <= lines + 1),
            }
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let program = build(Build::new(), [1, 2], &[]);
    assert_eq!(plain::run(&program, &[]), Err(plain::Misfit::Wires { want: 3, got: 0 }));
    for wire in 1..3 {
        let mut uneven = [vec![1], vec![2], vec![3]];
        uneven[wire].push(4);
        assert_eq!(plain::run(&program, &uneven), Err(plain::Misfit::Lanes { wire, want: 1, got: 2 }));
    }
    assert!(program.replay(&mut Words, &[1]).is_none());
}

/// A gate of each kind whose result is public or that of another wire, and no other, in the first level or
/// in a late one: engines never see it.
#[test]
fn each_kind_of_public_gate_is_folded_alone() {
    type Kind = fn(&mut Build, [BuildBit; 4]) -> BuildBit;
    let kinds: [(&str, Kind); 7] = [
        ("x + x", |g, [x, ..]| g.xor(x, x)),
        ("x + (x + 1)", |g, [x, _, not, _]| g.xor(x, not)),
        ("x x", |g, [x, ..]| g.and(x, x)),
        ("x y + y y", |g, [x, y, ..]| g.dot(&[(x, y), (y, y)])),
        ("1 x", |g, [x, _, _, one]| g.and(one, x)),
        ("x y + x 1", |g, [x, y, _, one]| g.dot(&[(x, y), (x, one)])),
        ("x + 0", |g, [x, _, _, one]| {
            let zero = g.not(one);
            g.xor(x, zero)
        }),
    ];
    for ((kind, gate), depth) in kinds.iter().flat_map(|kind| [(kind, 0), (kind, 70)]) {
        let mut g = Build::verbatim();
        let [x, y] = g.input(2)[..] else { panic!("two wires") };
        let x = (0..depth).fold(x, |x, _| g.and(x, y));
        let (not, one) = (g.not(x), g.constant(true));
        let result = gate(&mut g, [x, y, not, one]);
        let reader = g.and(result, y);
        let sum = g.xor(reader, x);
        [&[sum][..], &[], &[x, sum]].into_iter().for_each(|value| g.output(value));
        let program = g.finish();
        let folded = program.folded();
        assert_eq!(folded.outputs(), [1, 0, 2], "{kind}");
        assert!(matches!(folded, Cow::Owned(_)), "{kind}");
        assert!(matches!(folded.folded(), Cow::Borrowed(_)), "{kind}: folded twice");
        for level in folded.levels() {
            let public = |gate| match gate {
                LinearGate::Constant { .. } => true,
                LinearGate::Xor { x, y, .. } => x == y,
                LinearGate::Not { .. } => false,
            };
            assert!(!level.linear().any(public) && level.terms().iter().all(|(x, y)| x != y), "{kind}");
        }
        let lanes = [vec![0b0011], vec![0b0101]];
        assert_eq!(plain::run(&folded, &lanes), plain::run(&program, &lanes), "{kind}");
    }
}

/// A chain of wires, each of which only the next gate reads, needs a handful of slots, however long it is.
#[test]
fn slots_are_used_again() {
    let mut g = Build::new();
    let x = g.input(8);
    let mut last = x[0];
    for i in 0..10_000 {
        let sum = g.xor(last, x[1 + i % 7]);
        last = g.and(sum, x[1 + (i + 3) % 7]);
    }
    g.output(&[last]);
    let program = g.finish();
    assert_eq!((program.and_count(), program.and_depth()), (10_000, 10_000));
    assert!(program.slots() <= 9, "{} slots", program.slots());
}

/// Whatever makes a wire, and however many gates read it, its slot holds it until the last one.
#[test]
fn wires_may_be_read_by_many() {
    type Kind = fn(&mut Build, &[BuildBit]) -> BuildBit;
    let kinds: [Kind; 4] = [
        |_, x| x[0],
        |g, x| g.and(x[0], x[1]),
        |g, x| g.xor(x[0], x[1]),
        |g, x| g.dot(&[(x[0], x[1]), (x[2], x[3])]),
    ];
    let words = [0x3c, 0x5a, 0x99, 0x0f];
    let want =
        [words[0], words[0] & words[1], words[0] ^ words[1], words[0] & words[1] ^ words[2] & words[3]];
    for (kind, want) in kinds.into_iter().zip(want) {
        for readers in [255, 256, 257, 511, 512, 513, 65_536] {
            let mut g = Build::verbatim();
            let x = g.input(4);
            let wire = kind(&mut g, &x);
            // two chains, of which some wires are outputs, so that others need new slots
            let (mut last, mut outputs) = ([x[2], x[3]], Vec::new());
            for i in 0..readers {
                let of = &mut last[i % 2];
                *of = if i % 5 == 3 { g.and(wire, *of) } else { g.xor(wire, *of) };
                outputs.extend((i % 16 < 2).then_some(*of));
            }
            g.output(&outputs);
            let program = g.finish();
            let (mut last, mut outputs) = ([words[2], words[3]], Vec::new());
            for i in 0..readers {
                let of = &mut last[i % 2];
                *of = if i % 5 == 3 { want & *of } else { want ^ *of };
                outputs.extend((i % 16 < 2).then(|| vec![*of]));
            }
            assert_eq!(plain::run(&program, &words.map(|word| vec![word])).unwrap(), outputs, "{readers}");
        }
    }
}

/// Products that could all be made at once, but are read one after the other, are made one after the other.
#[test]
fn what_is_read_late_is_made_late() {
    let mut g = Build::new();
    let x = g.input(40);
    let mut last = x[0];
    for i in 0..40 {
        for j in 0..i {
            let early = g.and(x[i], x[j]);
            let sum = g.xor(last, early);
            last = g.and(sum, x[(i + 7 * j) % 40]);
        }
    }
    g.output(&[last]);
    let program = g.finish();
    assert_eq!((program.dot_count(), program.and_depth()), (2 * 780, 781));
    assert!(program.slots() <= 44, "{} slots", program.slots());
}

/// Products that take fewer slots than their operands are made early, and sums, which take more, late.
#[test]
fn what_saves_slots_is_made_early() {
    let mut g = Build::verbatim();
    let (x, y) = (g.input(20), g.input(8));
    let products: Vec<BuildBit> = x.chunks(2).map(|x| g.and(x[0], x[1])).collect();
    // many outputs of the second level, which the third reads; then a chain with a sum at every link
    let first = g.and(y[0], y[1]);
    let outputs: Vec<BuildBit> = (0..30).map(|i| g.and(first, y[i % 8])).collect();
    g.output(&outputs);
    let mut last = g.dot(&outputs.iter().copied().zip(outputs[1..].iter().copied()).collect::<Vec<_>>());
    for i in 0..28 {
        let sum = g.xor(y[i % 8], y[(i + 1 + i / 8) % 8]);
        let link = g.xor(last, sum);
        last = g.and(link, y[i % 8]);
    }
    // the early products come last
    let last = products.iter().fold(last, |last, product| g.and(last, *product));
    g.output(&[last]);
    // ten products, eight inputs, the outputs, and what a chain needs
    let program = g.finish();
    assert!(program.slots() <= 10 + 8 + 30 + 2, "{} slots", program.slots());
}

/// The slot of a gate that is kept although nothing reads it is free again at once.
#[test]
fn gates_that_nothing_reads_hold_no_slot() {
    let mut g = Build::verbatim();
    let x = g.input(2);
    let mut last = x[0];
    for _ in 0..100 {
        g.and(last, x[1]);
        g.xor(last, x[1]);
        last = g.and(last, x[1]);
    }
    g.output(&[last]);
    let program = g.finish();
    assert_eq!((program.and_count(), program.linear_count()), (200, 100));
    assert!(program.slots() <= 4, "{} slots", program.slots());
}
