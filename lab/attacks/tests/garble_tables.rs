//! Attacks on tables: on each MAC that the evaluator compares, in every group of gates, of every garbler, in
//! both forms.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{MessageDirection, Recording, failed_check, many, party};
use divisi_core::{Abort, PartyId};
use divisi_garble::checks;
use divisi_garble::lab::GarbleLab;
use divisi_garble::{GarbleOptions, GarblingForm, Plan};
use divisi_ot::record;
use std::sync::LazyLock;

const TABLE: &str = "divisi_garble::run/4d.table";
const PRODUCTS: &str = "divisi_garble::run/4a.d";
const OUTPUTS: &str = "divisi_garble::streamed/8.masks";
const RESULT: &str = "divisi_garble::online/8.result";
const GATES: usize = 70;

/// Seventy products of one level: more than two groups that are hashed together.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let mut g = Build::new();
    let (x, y) = (g.input(GATES), g.input(GATES));
    let out: Vec<_> = (0..GATES).map(|i| g.and(x[i], y[i])).collect();
    g.output(&out);
    g.finish()
});

/// P_1 and P_2 own a value each, among three.
fn plan() -> Plan<'static> {
    Plan::for_all(&PROGRAM, 3, &[party(1), party(2)]).unwrap()
}

/// How each party ended: its outputs of each instance.
type Ends = Vec<Result<Vec<Vec<u8>>, Abort>>;

/// A run in which P_1 evaluates, P_2 and P_3 garble, and `how` changes one message: the `nth` of a step on a
/// link. Returns how it ended, and the recording of P_1.
fn changed(
    form: GarblingForm,
    streamed: bool,
    (from, to): (PartyId, PartyId),
    step: &'static str,
    nth: usize,
    how: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> (Ends, Recording) {
    let options = GarbleOptions { form, batch: 30, ..GarbleOptions::default() };
    let lab = GarbleLab { options, streamed, ..GarbleLab::default() };
    let harness = lab.harness(3).patient();
    let recording = harness.recording(party(1));
    harness.change(from, to, step, nth, how);
    let inputs = [(0..2 * GATES).map(|i| u8::from(i % 3 > 0)).collect()];
    (harness.act(|mut session| lab.outputs(&mut session, &plan(), &inputs)), recording)
}

/// The same for the `nth` table that a garbler sends.
fn play(
    form: GarblingForm,
    streamed: bool,
    liar: u8,
    nth: usize,
    how: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> (Ends, Recording) {
    changed(form, streamed, (party(liar), party(1)), TABLE, nth, how)
}

/// Changes a byte of P_1's MAC of one gate. With half-gates a gate has 104 bytes; those from 80 to 87 are the
/// first ciphertext of that MAC, which is always read. In the paper's form P_1 reads one of four rows, of
/// three words each, that of the MAC first, so that all four are changed.
fn spoil(form: GarblingForm, gate: usize, byte: usize, by: u8) -> impl Fn(&mut Vec<u8>) + Send + 'static {
    move |body| match form {
        GarblingForm::Improved => body[104 * gate + 80 + byte] ^= by,
        GarblingForm::Paper => (0..4).for_each(|row| body[192 * gate + 48 * row + byte] ^= by),
        other => panic!("{other:?}"),
    }
}

const FORMS: [GarblingForm; 2] = [GarblingForm::Improved, GarblingForm::Paper];

fn noticed(ends: &[Result<Vec<Vec<u8>>, Abort>]) -> bool {
    failed_check(&ends[0]) == Some(checks::W22)
}

/// With half-gates every byte of a MAC is compared.
#[test]
fn every_byte_of_every_mac_is_compared() {
    let jobs: Vec<_> = [0, 31, 32, GATES - 1]
        .into_iter()
        .flat_map(|gate| (0..8).flat_map(move |byte| [2, 3].map(|liar| (gate, byte, liar))))
        .collect();
    many(jobs.len(), 3, |i| {
        let (gate, byte, liar) = jobs[i];
        let form = GarblingForm::Improved;
        let (ends, _) = play(form, false, liar, 0, spoil(form, gate, byte, 1 << (i % 8)));
        assert!(noticed(&ends), "{gate} {byte} {liar}: {:?}", ends[0]);
    });
}

/// In the paper's form each of the sixteen bytes of a MAC is compared.
#[test]
fn every_byte_of_every_row_is_compared() {
    let jobs: Vec<_> = [0, 32, GATES - 1]
        .into_iter()
        .flat_map(|gate| (0..16).map(move |byte| (gate, byte, 2 + (byte % 2) as u8)))
        .collect();
    many(jobs.len(), 3, |i| {
        let (gate, byte, liar) = jobs[i];
        let form = GarblingForm::Paper;
        let (ends, _) = play(form, false, liar, 0, spoil(form, gate, byte, 0x10));
        assert!(noticed(&ends), "{gate} {byte} {liar}: {:?}", ends[0]);
    });
}

/// Two wrong MACs with the same error do not cancel.
#[test]
fn wrong_macs_do_not_make_up_for_each_other() {
    for (a, b) in [(3, 4), (3, 40), (31, 32)] {
        for (form, byte) in [(GarblingForm::Improved, 4), (GarblingForm::Paper, 9)] {
            let (ends, _) = play(form, false, 2, 0, move |body| {
                [a, b].iter().for_each(|gate| spoil(form, *gate, byte, 1)(body));
            });
            assert!(noticed(&ends), "{form:?} {a} {b}");
        }
    }
}

/// In the streamed mode every batch is checked before anything of the next one leaves, and no mask of an
/// output leaves after a wrong MAC.
#[test]
fn every_streamed_batch_is_looked_at() {
    // 30, 30 and 10 gates
    for nth in 0..3 {
        // the last byte of a MAC
        for (form, byte) in FORMS.into_iter().zip([7, 15]) {
            let (ends, said) = play(form, true, 3, nth, spoil(form, 5, byte, 1));
            assert!(noticed(&ends), "{form:?} {nth}: {:?}", ends[0]);
            assert!(said.of(MessageDirection::Out, OUTPUTS).is_empty(), "{form:?} {nth}");
            // d and e of this batch and of those before, to either peer
            assert_eq!(said.of(MessageDirection::Out, PRODUCTS).len(), 2 * (nth + 1), "{form:?} {nth}");
        }
    }
}

/// Of three batches the second and the last are checked as the first is: U and e of leaky triples, what their
/// check tells and opens, the differences of buckets, d and e of products.
#[test]
fn every_batch_is_checked_as_the_first() {
    const U: &str = "divisi_garble::laand/5.u";
    let steps = [
        (U, 0, checks::W15),
        ("divisi_garble::laand/3.e", 0, checks::W13),
        ("divisi_garble::zero/6.product", 0, checks::W15),
        ("divisi_garble::zero/6.open", 0, checks::W14),
        ("divisi_garble::aand/3.d", 0, checks::W17),
        (PRODUCTS, 32, checks::W27),
    ];
    let jobs: Vec<_> = steps.into_iter().flat_map(|step| [0, 1, 2].map(|nth| (step, nth))).collect();
    many(jobs.len(), 3, |i| {
        let ((step, at, check), nth) = jobs[i];
        let (ends, _) = changed(GarblingForm::Improved, true, (party(2), party(1)), step, nth, move |body| {
            // a changed U has an effect where the bit of x is one, so that of every triple is changed
            let every = if step == U { 16 } else { body.len() };
            (at..body.len()).step_by(every).for_each(|at| body[at] ^= 1);
        });
        assert!(ends[0].is_err(), "{step} {nth}");
        assert!(ends.iter().any(|end| failed_check(end) == Some(check)), "{step} {nth}: {ends:?}");
    });
}

/// A wrong row names nobody, whoever sent it, in either form and mode: another garbler's part of a label may
/// have been at fault.
#[test]
fn nobody_is_named_for_a_wrong_row() {
    let jobs: Vec<_> = FORMS
        .into_iter()
        .flat_map(|form| [(false, 0), (true, 0), (true, 2)].map(|(streamed, nth)| (form, streamed, nth)))
        .flat_map(|(form, streamed, nth)| [2, 3].map(|liar| (form, streamed, nth, liar)))
        .collect();
    many(jobs.len(), 3, |i| {
        let (form, streamed, nth, liar) = jobs[i];
        let (ends, _) = play(form, streamed, liar, nth, spoil(form, 9, 0, 1));
        assert!(
            matches!(ends[0], Err(Abort::CheckFailed { check: checks::W22, culprit: None, .. })),
            "{form:?} {streamed} {nth} {liar}: {:?}",
            ends[0]
        );
    });
}

/// The gate at which the evaluator finds the first wrong MAC depends on labels of honest garblers. Its
/// working time must not: it hashes as much when the first gate is wrong as when none is.
#[test]
fn all_is_evaluated_though_the_first_gate_is_wrong() {
    for form in FORMS {
        let hashed = |gate: Option<usize>| {
            let lab = GarbleLab::of(form, false);
            let harness = lab.harness(3).patient();
            if let Some(gate) = gate {
                harness.change(party(2), party(1), TABLE, 0, spoil(form, gate, 0, 1));
            }
            let ends = harness.act(|mut session| {
                record::begin();
                let end = lab.outputs(&mut session, &plan(), &[vec![1; 2 * GATES]]);
                Ok((end, record::end().calls.len()))
            });
            let (end, calls) = ends.into_iter().next().unwrap().unwrap();
            assert_eq!(end.is_err(), gate.is_some(), "{form:?} {gate:?}");
            calls
        };
        let all = hashed(None);
        assert!([0, 40, GATES - 1].into_iter().all(|gate| hashed(Some(gate)) == all), "{form:?}");
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
        let lab = GarbleLab { streamed, ..GarbleLab::in_batches(30) };
        let harness = lab.harness(2).patient();
        let recording = harness.recording(party(2));
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let mut seen = std::collections::HashSet::new();
        for table in recording.of(MessageDirection::Out, TABLE) {
            // 56 bytes a gate, and three bits
            let body = table.frame.body;
            for gate in body[..body.len() / 56 * 56].chunks_exact(56) {
                assert!(seen.insert(gate[..16].to_vec()) && seen.insert(gate[16..32].to_vec()), "{streamed}");
            }
        }
        assert_eq!(seen.len(), 2 * GATES);
    }
}

/// P_1 evaluates the first and the last of four instances. It checks both, and sends no result of either if
/// one was wrong.
#[test]
fn every_instance_is_looked_at() {
    for (form, nth) in FORMS.into_iter().flat_map(|form| [(form, 0), (form, 1)]) {
        let lab = GarbleLab::of(form, false);
        let harness = lab.harness(3).patient();
        let recording = harness.recording(party(1));
        harness.change(party(2), party(1), TABLE, nth, spoil(form, 40, 0, 1));
        let all = vec![vec![1; 2 * GATES]; 4];
        let ends = harness.act(|mut session| lab.outputs(&mut session, &plan(), &all));
        assert!(noticed(&ends), "{form:?} {nth}: {:?}", ends[0].as_ref().err());
        assert!(recording.of(MessageDirection::Out, RESULT).is_empty(), "{form:?} {nth}");
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
    let lab = GarbleLab::default();
    let harness = lab.harness(2).patient();
    let recording = harness.recording(party(2));
    let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
    assert!(ends.iter().all(|end| end.as_ref().is_ok_and(|outputs| outputs[0] == [1])), "{ends:?}");
    // two ciphertexts for the garbler's label; for P_1's MAC the constant, and what a one on either side adds
    let table = recording.of(MessageDirection::Out, TABLE).pop().unwrap().frame.body;
    assert_eq!(table.len(), 57);
    assert_ne!(table[40..48], table[48..56]);
}
