//! Attacks on inputs, outputs and plans.

use super::{attacked, inputs, parameters, plan, small, tampered};
use divisi_circuit::{Build, Gates};
use divisi_core::Check;
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_garble::Plan;
use divisi_garble::lab::GarbleLab;

const D: &str = "divisi_garble::run/4a.d";
const TABLE: &str = "divisi_garble::run/4d.table";
const MASKED: &str = "divisi_garble::online/5.masked";
const LABELS: &str = "divisi_garble::online/6.labels";
const RESULT: &str = "divisi_garble::online/8.result";

/// P_2 sends P_1 wrong shares of the masks of P_1's input bits: P_1's input would be another.
pub fn wrong_input_mask(check: Option<Check>) -> bool {
    let private = 32 + (2 * small().and_count() * inputs().len()).div_ceil(8) + 32;
    tampered(3, check, &[1, 2, 3], &[0, 2], |harness| {
        harness.change(party(2), party(1), D, 0, move |body| body[private] ^= 0xff);
    })
}

/// P_2 sends P_3 a wrong share of the mask of the first output bit.
pub fn wrong_output_mask(check: Option<Check>) -> bool {
    // P_3 evaluates the third instance, whose labels of twelve wires stand first
    tampered(3, check, &[1, 2, 3], &[0, 2], |harness| {
        harness.change(party(2), party(3), LABELS, 0, |body| body[12 * 16] ^= 1);
    })
}

/// P_1 sends P_3 another masked output than it found.
pub fn wrong_result(check: Option<Check>) -> bool {
    tampered(3, check, &[1, 2, 3], &[1, 2], |harness| {
        harness.change(party(1), party(3), RESULT, 0, |body| body[0] ^= 1);
    })
}

/// P_2 sends P_1 another masked input than P_3: whether a label leaves after that.
pub fn split_inputs(check: Option<Check>) -> bool {
    let (_, seen) = attacked(3, check, &[1, 2, 3], |harness| {
        harness.change(party(2), party(1), MASKED, 0, |body| body[0] ^= 1);
    });
    [0, 2].iter().any(|i| !seen[*i].of(MessageDirection::Out, LABELS).is_empty())
}

/// P_2 garbles for other receivers: whether anybody's table leaves.
pub fn other_plan(check: Option<Check>) -> bool {
    let (lab, program) = (GarbleLab::default(), small());
    let plans = [plan(&program, 2, &[1, 2]), plan(&program, 2, &[1])];
    let harness = Harness::new(2, &parameters(&lab, check));
    let recordings = harness.recordings();
    harness.act(|mut session| {
        let plan = &plans[session.me().index()];
        lab.outputs(&mut session, plan, &inputs())
    });
    recordings.iter().any(|seen| !seen.of(MessageDirection::Out, TABLE).is_empty())
}

/// A circuit whose constants were not folded: what comes out is wrong.
pub fn constants(check: Option<Check>) -> bool {
    let mut g = Build::verbatim();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let one = g.constant(true);
    let (nx, xx) = (g.xor(x, one), g.and(y, one));
    let z = g.and(nx, xx);
    g.output(&[z]);
    let program = g.finish();
    let plan = Plan::for_all(&program, 2, &[party(1), party(2)]).unwrap().unfolded(&program);
    let lab = GarbleLab::default();
    let inputs: Vec<Vec<u8>> = (0..4).map(|i| vec![i & 1, i >> 1]).collect();
    let harness = Harness::new(2, &parameters(&lab, check));
    let ends = harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs));
    super::wrong(&program, &inputs, &[0, 1], &ends)
}
