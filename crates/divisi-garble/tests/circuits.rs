//! Circuits of all shapes, against the plain engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program, plain};
use divisi_core::PartyId;
use divisi_garble::lab::Lab;
use divisi_garble::{Form, Options, Plan};

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

/// What the plain engine says, one bit to a byte.
fn expected(program: &Program, input: &[u8]) -> Vec<u8> {
    let words: Vec<Vec<u64>> = input.iter().map(|b| vec![u64::from(*b)]).collect();
    plain::run(program, &words).unwrap().iter().map(|w| (w[0] & 1) as u8).collect()
}

fn right(lab: &Lab, program: &Program, parties: usize, inputs: &[Vec<u8>]) {
    let owners: Vec<PartyId> =
        (0..program.inputs().len()).map(|i| PartyId::all(parties).nth(i % parties).unwrap()).collect();
    let plan = Plan::for_all(program, parties, &owners).unwrap();
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
    for form in [Form::Improved, Form::Paper] {
        for streamed in [false, true] {
            let options = Options { form, batch: 7, ..Options::default() };
            let lab = Lab { options, streamed, ..Lab::default() };
            for parties in [2, 3, 5] {
                right(&lab, &program, parties, &inputs);
            }
        }
    }
}
