//! Attacks on tables, labels and their evaluation.

use super::{attacked, parameters, tampered};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::{Abort, Check};
use divisi_garble::lab::GarbleLab;
use divisi_garble::{Plan, checks};

const TABLE: &str = "divisi_garble::run/4d.table";
const LABELS: &str = "divisi_garble::online/6.labels";
const RESULT: &str = "divisi_garble::online/8.result";

/// P_2 flips the bit of every row of the last gate in P_1's first table, at whose end the bits are.
pub fn flipped_row(check: Option<Check>) -> bool {
    tampered(3, check, &[1], &[0], |harness| {
        harness.change(party(2), party(1), TABLE, 0, |body| {
            let n = body.len();
            // c_0 of the last gate: bit 33 of 36
            body[n - 1] ^= 1 << 1;
        });
    })
}

/// The same, where all receive: whether P_1 tells the others what came of a wrong row.
pub fn result_of_wrong_rows(check: Option<Check>) -> bool {
    // the bits of all rows of all twelve gates, so that some changed one is read
    let (_, seen) = attacked(3, check, &[1, 2, 3], |harness| {
        harness.change(party(2), party(1), TABLE, 0, |body| {
            let bits = body.len() - 36_usize.div_ceil(8);
            body[bits..bits + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
        });
    });
    !seen[0].of(MessageDirection::Out, RESULT).is_empty()
}

/// P_2 spoils its share of P_3's label in P_1's first table: whether P_1 blames P_3.
pub fn framed_garbler(check: Option<Check>) -> bool {
    // the first ciphertext of the MAC for P_3, of all twelve gates
    let (ends, _) = attacked(3, check, &[1, 2, 3], |harness| {
        let spoil = |body: &mut Vec<u8>| (0..12).for_each(|gate| body[104 * gate + 32] ^= 1);
        harness.change(party(2), party(1), TABLE, 0, spoil);
    });
    matches!(&ends[0], Err(Abort::CheckFailed { culprit: Some(culprit), .. }) if *culprit == party(3))
}

/// Two gates with the same operands: with one tweak for both, a garbler's ciphertexts for its own label are
/// the same.
pub fn one_tweak(check: Option<Check>) -> bool {
    let mut g = Build::verbatim();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let both = [g.and(x, y), g.and(x, y)];
    g.output(&both);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &[party(1), party(2)]).unwrap();
    let lab = GarbleLab::default();
    let harness = Harness::new(2, &parameters(&lab, check));
    let recording = harness.recording(party(2));
    harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 1]]));
    let table = recording.of(MessageDirection::Out, TABLE).pop().unwrap().frame.body;
    table[..32] == table[56..88]
}

/// Only the labels of the masked inputs open the tables. With other labels the MACs are wrong from the
/// evaluator's first gate on, and W22 fails.
pub fn blind_label(check: Option<Check>) -> bool {
    let (ends, seen) = attacked(2, check, &[1], |_| {});
    let sent = !seen[1].of(MessageDirection::Out, LABELS).is_empty();
    sent && ends.iter().any(|end| matches!(end, Err(Abort::CheckFailed { check: checks::W22, .. })))
}
