//! Nothing that is sent has a period, however long it is: what one mask hides twice would come twice.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{MessageDirection, party};
use divisi_garble::lab::GarbleLab;
use divisi_garble::{GarbleOptions, GarblingForm, Plan};
use std::collections::HashSet;

/// ANDs, more than are made, sent or hashed together anywhere.
const WIDTH: usize = 5000;

/// The ANDs of one bit with each of many, so that only masks make their operands different.
fn one_with_many() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(1)[0], g.input(WIDTH));
    let out: Vec<_> = y.into_iter().map(|y| g.and(x, y)).collect();
    g.output(&out);
    g.finish()
}

/// Messages of bits, in each mode, and the bytes at their beginning and at their end that are none: the
/// plan's digest, and digests of MACs and labels.
const AHEAD: [(&str, usize, usize); 5] = [
    ("divisi_garble::laand/3.e", 0, 0),
    ("divisi_garble::aand/3.d", 0, 32),
    ("divisi_garble::run/4a.d", 32, 32),
    ("divisi_garble::online/5.masked", 0, 0),
    ("divisi_garble::online/8.result", 0, 32),
];
const STREAMED: [(&str, usize, usize); 7] = [
    ("divisi_garble::laand/3.e", 0, 0),
    ("divisi_garble::aand/3.d", 0, 32),
    ("divisi_garble::run/4a.d", 32, 32),
    ("divisi_garble::streamed/5.owners", 32, 32),
    ("divisi_garble::online/5.masked", 0, 0),
    ("divisi_garble::streamed/8.masks", 0, 32),
    ("divisi_garble::online/8.result", 0, 32),
];
/// Messages of words.
const WORDS: [&str; 2] = ["divisi_garble::laand/5.u", "divisi_garble::run/4d.table"];

/// All inputs are zero, and what the parties send is still random: no 64 bits that follow each other come
/// twice in all that a party sends in a session, of two instances, in any distance; nor do eight bytes of
/// what consists of words.
#[test]
fn nothing_that_is_sent_comes_again() {
    let program = one_with_many();
    let plan = Plan::for_all(&program, 2, &[party(1), party(2)]).unwrap();
    let inputs = vec![vec![0; 1 + WIDTH]; 2];
    for (form, streamed) in [(GarblingForm::Improved, false), (GarblingForm::Paper, true)] {
        // two batches at least
        let options = GarbleOptions { form, batch: 6000, ..GarbleOptions::default() };
        let lab = GarbleLab { options, streamed, ..GarbleLab::default() };
        let harness = lab.harness(2);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs));
        assert!(ends.iter().all(|end| end == &Ok(vec![vec![0; WIDTH]; 2])));
        let steps: &[_] = if streamed { &STREAMED } else { &AHEAD };
        let mut told = vec![0; steps.len()];
        for (peer, recording) in [party(2), party(1)].into_iter().zip(&recordings) {
            let bodies = |step| recording.bodies(MessageDirection::Out, peer, step).into_iter();
            let mut seen = HashSet::new();
            for (&(step, before, behind), told) in steps.iter().zip(&mut told) {
                for body in bodies(step) {
                    let mut window = 0_u64;
                    for (at, byte) in body[before..body.len() - behind].iter().enumerate() {
                        for bit in (0..8).filter(|bit| at < body.len() - before - behind - 1 || *bit < 1) {
                            window = window << 1 | u64::from(byte >> bit & 1);
                            *told += 1;
                            assert!(8 * at + bit < 63 || seen.insert(window), "{form:?} {step}: bit {told}");
                        }
                    }
                }
            }
            for step in WORDS {
                let all: Vec<u8> = bodies(step).flatten().collect();
                let mut eight =
                    all.windows(8).map(|eight| eight.iter().fold(0, |w, b| w << 8 | u64::from(*b)));
                assert!(all.len() > WIDTH && eight.all(|word| seen.insert(word)), "{form:?} {step}");
            }
        }
        // a step of one party alone tells of every AND, or of every input
        assert!(told.iter().all(|bits| *bits > WIDTH), "{form:?}: {told:?}");
    }
}
