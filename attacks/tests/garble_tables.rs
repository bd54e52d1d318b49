//! Attacks on tables: on each MAC that the evaluator compares, in every group of gates, of every garbler, in
//! both forms.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, Way, failed_check, many, party};
use divisi_core::{Abort, Check};
use divisi_garble::lab::{Lab, of_party};
use divisi_garble::{GarblingForm, GarbleOptions, Plan};

const TABLE: &str = "divisi_garble::run/4d.table";
const OUTPUTS: &str = "divisi_garble::streamed/8.masks";
const GATES: usize = 70;

/// Seventy products of one level: more than two groups that are hashed together.
fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(GATES), g.input(GATES));
    let out: Vec<_> = (0..GATES).map(|i| g.and(x[i], y[i])).collect();
    g.output(&out);
    g.finish()
}

/// P_1 evaluates, P_2 and P_3 garble, and one of them sends the `nth` table so.
fn play(
    form: GarblingForm,
    streamed: bool,
    liar: u8,
    nth: usize,
    how: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> (Vec<Result<Vec<Vec<u8>>, Abort>>, bool) {
    let program = program();
    let plan = Plan::for_all(&program, 3, &[party(1), party(2)]).unwrap();
    let options = GarbleOptions { form, batch: 30, ..GarbleOptions::default() };
    let lab = Lab { options, streamed, ..Lab::default() };
    let harness = Harness::new(3, &lab.parameters()).patient();
    let recording = harness.recording(party(1));
    harness.change(party(liar), party(1), TABLE, nth, how);
    let ends = harness.act(|mut session| {
        let mine = of_party(&plan, session.me(), &[(0..2 * GATES).map(|i| u8::from(i % 3 > 0)).collect()]);
        lab.play(&mut session, &plan, &mine).map(|(outputs, _)| outputs)
    });
    (ends, !recording.of(Way::Out, OUTPUTS).is_empty())
}

fn noticed(ends: &[Result<Vec<Vec<u8>>, Abort>]) -> bool {
    failed_check(&ends[0]) == Some(Check::W22)
}

/// Of half-gates every byte of a MAC is compared: 104 bytes a gate, of which the first ciphertext of P_1's
/// MAC, which is always read, has those from 80 to 87.
#[test]
fn every_byte_of_every_mac_is_compared() {
    let jobs: Vec<_> = [0, 31, 32, GATES - 1]
        .into_iter()
        .flat_map(|gate| (0..8).flat_map(move |byte| [2, 3].map(|liar| (gate, byte, liar))))
        .collect();
    many(jobs.len(), 3, |i| {
        let (gate, byte, liar) = jobs[i];
        let bit = 1 << (i % 8);
        let (ends, _) = play(GarblingForm::Improved, false, liar, 0, move |body| body[104 * gate + 80 + byte] ^= bit);
        assert!(noticed(&ends), "{gate} {byte} {liar}: {:?}", ends[0]);
    });
}

/// Of rows of four every byte of the sixteen, in each row: one of four is read, so all are spoiled.
#[test]
fn every_byte_of_every_row_is_compared() {
    let jobs: Vec<_> = [0, 32, GATES - 1]
        .into_iter()
        .flat_map(|gate| (0..16).map(move |byte| (gate, byte, 2 + (byte % 2) as u8)))
        .collect();
    many(jobs.len(), 3, |i| {
        let (gate, byte, liar) = jobs[i];
        let (ends, _) = play(GarblingForm::Paper, false, liar, 0, move |body| {
            // three words a row, that of P_1's MAC first
            (0..4).for_each(|row| body[192 * gate + 48 * row + byte] ^= 0x10);
        });
        assert!(noticed(&ends), "{gate} {byte} {liar}: {:?}", ends[0]);
    });
}

/// Two wrong MACs that differ from what they must be by the same.
#[test]
fn wrong_macs_do_not_make_up_for_each_other() {
    for (a, b) in [(3, 4), (3, 40), (31, 32)] {
        let (ends, _) = play(GarblingForm::Improved, false, 2, 0, move |body| {
            [a, b].iter().for_each(|gate| body[104 * gate + 84] ^= 1);
        });
        assert!(noticed(&ends), "{a} {b}");
        let (ends, _) = play(GarblingForm::Paper, false, 2, 0, move |body| {
            [a, b].iter().for_each(|gate| (0..4).for_each(|row| body[192 * gate + 48 * row + 9] ^= 1));
        });
        assert!(noticed(&ends), "rows {a} {b}");
    }
}

/// In the streamed mode every batch is looked at before anything of the next one, and no mask of an output
/// leaves when one was wrong.
#[test]
fn every_streamed_batch_is_looked_at() {
    // 30, 30 and 10 gates
    for nth in 0..3 {
        for form in [GarblingForm::Improved, GarblingForm::Paper] {
            let (ends, told) = play(form, true, 3, nth, move |body| match form {
                GarblingForm::Improved => body[104 * 5 + 87] ^= 1,
                GarblingForm::Paper => (0..4).for_each(|row| body[192 * 5 + 48 * row + 15] ^= 1),
            });
            assert!(noticed(&ends) && !told, "{form:?} {nth}: {:?}", ends[0]);
        }
    }
}

/// Nobody is named, whoever it was: another garbler's part of a label may have been at fault.
#[test]
fn nobody_is_named_for_a_wrong_row() {
    for liar in [2, 3] {
        let (ends, _) = play(GarblingForm::Improved, false, liar, 0, |body| body[104 * 9 + 83] ^= 1);
        assert!(matches!(ends[0], Err(Abort::CheckFailed { check: Check::W22, culprit: None, .. })));
    }
}

/// Seventy products of the same two wires: with one tweak for two of them a garbler's ciphertexts for its own
/// label would be the same. In one table, and in those of streamed batches.
#[test]
fn no_two_gates_hash_alike() {
    let mut g = Build::verbatim();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let out: Vec<_> = (0..GATES).map(|_| g.and(x, y)).collect();
    g.output(&out);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &[party(1), party(2)]).unwrap();
    assert_eq!(plan.and_count(), GATES);
    for streamed in [false, true] {
        let options = GarbleOptions { batch: 30, ..GarbleOptions::default() };
        let lab = Lab { options, streamed, ..Lab::default() };
        let harness = Harness::new(2, &lab.parameters()).patient();
        let recording = harness.recording(party(2));
        let ends = harness.act(|mut session| {
            let mine = of_party(&plan, session.me(), &[vec![1, 1]]);
            lab.play(&mut session, &plan, &mine).map(|_| ())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let mut seen = std::collections::HashSet::new();
        for table in recording.of(Way::Out, TABLE) {
            // 56 bytes a gate, and three bits
            let body = table.frame.body;
            for gate in body[..body.len() / 56 * 56].chunks_exact(56) {
                assert!(seen.insert(gate[..16].to_vec()) && seen.insert(gate[16..32].to_vec()), "{streamed}");
            }
        }
        assert_eq!(seen.len(), 2 * GATES);
    }
}

/// Of four instances P_1 evaluates the first and the last: it looks at both.
#[test]
fn every_instance_is_looked_at() {
    let program = program();
    let plan = Plan::for_all(&program, 3, &[party(1), party(2)]).unwrap();
    for (form, nth) in [(GarblingForm::Improved, 0), (GarblingForm::Improved, 1), (GarblingForm::Paper, 0), (GarblingForm::Paper, 1)] {
        let lab = Lab { options: GarbleOptions { form, ..GarbleOptions::default() }, ..Lab::default() };
        let harness = Harness::new(3, &lab.parameters()).patient();
        harness.change(party(2), party(1), TABLE, nth, move |body| match form {
            GarblingForm::Improved => body[104 * 40 + 80] ^= 1,
            GarblingForm::Paper => (0..4).for_each(|row| body[192 * 40 + 48 * row] ^= 1),
        });
        let ends = harness.act(|mut session| {
            let all = vec![vec![1; 2 * GATES]; 4];
            let mine = of_party(&plan, session.me(), &all);
            lab.play(&mut session, &plan, &mine).map(|(outputs, _)| outputs)
        });
        assert!(noticed(&ends), "{form:?} {nth}: {:?}", ends[0].as_ref().err());
    }
}

/// A product of two wires that carry the same value and the same label, which nobody folds: x, and (x + z) +
/// z. With one tweak for both sides the ciphertexts for either side would be the same.
#[test]
fn both_sides_of_a_gate_hash_otherwise() {
    let mut g = Build::verbatim();
    let (x, z) = (g.input(1)[0], g.input(1)[0]);
    let xz = g.xor(x, z);
    let again = g.xor(xz, z);
    let xx = g.and(x, again);
    g.output(&[xx]);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &[party(1), party(2)]).unwrap();
    let lab = Lab::default();
    let harness = Harness::new(2, &lab.parameters()).patient();
    let recording = harness.recording(party(2));
    let ends = harness.act(|mut session| {
        let mine = of_party(&plan, session.me(), &[vec![1, 1]]);
        lab.play(&mut session, &plan, &mine).map(|(outputs, _)| outputs)
    });
    assert!(ends.iter().all(|end| end.as_ref().is_ok_and(|outputs| outputs[0] == [1])), "{ends:?}");
    // two ciphertexts for the garbler's label, and of P_1's MAC the constant, what a one of either side adds
    let table = recording.of(Way::Out, TABLE).pop().unwrap().frame.body;
    assert_eq!(table.len(), 57);
    assert_ne!(table[40..48], table[48..56]);
}
