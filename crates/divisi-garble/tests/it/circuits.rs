//! Circuits of all shapes, against the plain engine.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::PartyId;
use divisi_garble::lab::{GarbleLab, expected, in_turn};
use divisi_garble::{GarbleOptions, GarblingForm, Plan};
use proptest::collection::vec;
use proptest::prelude::*;

fn three_gates() -> Program {
    let mut g = Build::new();
    let (x, y, z) = (g.input(1)[0], g.input(1)[0], g.input(1)[0]);
    let xy = g.and(x, y);
    let nz = g.not(z);
    let s = g.xor(xy, nz);
    let t = g.and(s, x);
    let u = g.and(t, nz);
    g.output(&[s, t]);
    g.output(&[u, x]);
    g.finish()
}

fn right(lab: &GarbleLab, program: &Program, parties: usize, inputs: &[Vec<u8>]) {
    let plan = Plan::for_all(program, parties, &in_turn(program.inputs().len(), parties)).unwrap();
    for (outputs, _) in lab.run(&plan, inputs).unwrap() {
        for (input, output) in inputs.iter().zip(outputs) {
            assert_eq!(output, expected(program, input), "{lab:?} {parties} {input:?}");
        }
    }
}

#[test]
fn three_gates_on_all_inputs() {
    let program = three_gates();
    let inputs: Vec<Vec<u8>> = (0..8).map(|i| vec![i & 1, i >> 1 & 1, i >> 2]).collect();
    for form in [GarblingForm::Improved, GarblingForm::Paper] {
        for streamed in [false, true] {
            let options = GarbleOptions { form, batch: 7, ..GarbleOptions::default() };
            let lab = GarbleLab { options, streamed, ..GarbleLab::default() };
            for parties in [2, 3, 5] {
                right(&lab, &program, parties, &inputs);
            }
        }
    }
}

/// Of many garblers, and of many products at once, not all labels are hashed together.
#[test]
fn labels_of_many_garblers_are_hashed_in_turn() {
    let mut g = Build::new();
    let inputs = g.input(12);
    let pairs = (0..12).flat_map(|i| (0..i).map(move |j| (i, j)));
    let out: Vec<_> = pairs.map(|(i, j)| g.and(inputs[i], inputs[j])).collect();
    g.output(&out);
    let program = g.finish();
    for form in [GarblingForm::Improved, GarblingForm::Paper] {
        let lab =
            GarbleLab { options: GarbleOptions { form, ..GarbleOptions::default() }, ..GarbleLab::default() };
        right(&lab, &program, 10, &[(0..12).map(|i| u8::from(i % 3 != 1)).collect()]);
    }
}

/// A circuit from a string of choices: constants, repeated operands, sums of products, inputs wired to
/// outputs, outputs twice.
fn circuit(widths: &[usize], choices: &[(u8, u16, u16, u16)], verbatim: bool) -> Program {
    let mut g = if verbatim { Build::verbatim() } else { Build::new() };
    let mut wires: Vec<_> = widths.iter().flat_map(|width| g.input(*width)).collect();
    for &(kind, x, y, z) in choices {
        let at = |i: u16| wires[usize::from(i) % wires.len()];
        let (x, y, z) = (at(x), at(y), at(z));
        let wire = match kind % 8 {
            0 => g.constant(kind & 8 == 0),
            1 => g.not(x),
            2 => g.xor(x, x),
            3 | 4 => g.xor(x, y),
            5 => g.and(x, y),
            6 => g.dot(&[(x, y), (y, z), (z, x)]),
            _ => g.and(x, x),
        };
        wires.push(wire);
    }
    let half = wires.len() / 2;
    g.output(&wires[half..]);
    g.output(&[wires[0], wires[wires.len() - 1], wires[0]]);
    g.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_circuits(
        widths in vec(1..4_usize, 1..5),
        choices in vec(any::<(u8, u16, u16, u16)>(), 1..40),
        bits in vec(vec(0..2_u8, 16), 1..4),
        parties in 2..6_usize,
        paper in any::<bool>(),
        streamed in any::<bool>(),
        verbatim in any::<bool>(),
        batch in 1..30_usize,
        receivers in any::<u8>(),
    ) {
        let program = circuit(&widths, &choices, verbatim);
        let form = if paper { GarblingForm::Paper } else { GarblingForm::Improved };
        let options = GarbleOptions { form, batch, memory: 1 << 16, ..GarbleOptions::default() };
        let lab = GarbleLab { options, streamed, ..GarbleLab::default() };
        let all: Vec<PartyId> = PartyId::all(parties).collect();
        let owners: Vec<PartyId> = (0..widths.len()).map(|i| all[(i * 3 + 1) % parties]).collect();
        let subset: Vec<PartyId> = all.iter().copied().filter(|p| receivers >> p.index() & 1 == 1).collect();
        let plan = Plan::new(&program, parties, &owners, &[subset.clone(), all.clone()]).unwrap();
        let inputs: Vec<Vec<u8>> = bits.iter().map(|b| b[..widths.iter().sum()].to_vec()).collect();
        let ends = lab.run(&plan, &inputs).unwrap();
        for (party, (outputs, _)) in all.iter().zip(ends) {
            for (input, output) in inputs.iter().zip(outputs) {
                let whole = expected(&program, input);
                let want = if subset.contains(party) { &whole[..] } else { &whole[whole.len() - 3..] };
                prop_assert_eq!(&output[..], want);
            }
        }
    }
}

/// All gates of Bristol Fashion, with inputs that are read twice and outputs that are inputs, copies and
/// constants.
#[test]
fn every_gate_of_a_file() {
    let file = "10 16\n2 3 2\n2 4 2\n\n\
        1 1 1 5 EQ\n1 1 0 6 EQW\n2 1 0 3 7 AND\n1 1 7 8 INV\n2 1 8 5 9 XOR\n\
        4 2 0 1 2 3 10 11 MAND\n2 1 10 10 12 AND\n2 1 6 12 13 XOR\n2 1 4 5 14 AND\n1 1 0 15 EQW\n";
    let source = divisi_circuit::bristol::read(file.as_bytes()).unwrap();
    assert_eq!((source.counts.eq, source.counts.eqw, source.counts.inv), (1, 2, 1));
    let inputs: Vec<Vec<u8>> = (0..32).map(|i| (0..5).map(|w| i >> w & 1).collect()).collect();
    for streamed in [false, true] {
        right(&GarbleLab { streamed, ..GarbleLab::default() }, &source.program, 3, &inputs);
    }
}
