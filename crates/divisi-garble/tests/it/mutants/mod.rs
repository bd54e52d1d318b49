//! A mutant for each check: with the check in place a named attack is stopped, without it the same attack
//! succeeds.

mod openings;
mod tables;
mod triples;

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, Recording, party};
use divisi_core::{Abort, Check, PartyId, PublicParameters};
use divisi_garble::lab::{GarbleLab, expected, in_turn};
use divisi_garble::{Plan, checks};

/// How each party ended, with the outputs of each instance.
type Ends = Vec<Result<Vec<Vec<u8>>, Abort>>;

/// The parameters of a session, without one check.
fn parameters(lab: &GarbleLab, check: Option<Check>) -> PublicParameters {
    divisi_core::testing::without(lab.parameters(), check)
}

/// (x y) (y z) + x, and y z: three parties have one input each.
fn small() -> Program {
    let mut g = Build::new();
    let (x, y, z) = (g.input(4), g.input(4), g.input(4));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for i in 0..4 {
        let (xy, yz) = (g.and(x[i], y[i]), g.and(y[i], z[(i + 1) % 4]));
        let both = g.and(xy, yz);
        first.push(g.xor(both, x[i]));
        second.push(yz);
    }
    g.output(&first);
    g.output(&second);
    g.finish()
}

/// A plan of that circuit for n parties.
fn plan<'p>(program: &'p Program, n: usize, receivers: &[u8]) -> Plan<'p> {
    let list: Vec<PartyId> = receivers.iter().map(|number| party(*number)).collect();
    Plan::new(program, n, &in_turn(3, n), &[list.clone(), list]).unwrap()
}

/// Inputs in which every AND has something to do.
fn inputs() -> Vec<Vec<u8>> {
    vec![vec![1; 12], vec![0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1], vec![1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]]
}

/// Whether one of these honest parties, which are all receivers, accepted a wrong output.
fn wrong(program: &Program, inputs: &[Vec<u8>], honest: &[usize], ends: &Ends) -> bool {
    let right: Vec<Vec<u8>> = inputs.iter().map(|input| expected(program, input)).collect();
    honest.iter().any(|i| matches!(&ends[*i], Ok(outputs) if *outputs != right))
}

/// Runs n parties whose messages `prepare` tampers with: how they end, and what each sends and receives.
fn attacked(
    n: usize,
    check: Option<Check>,
    receivers: &[u8],
    prepare: impl Fn(&Harness),
) -> (Ends, Vec<Recording>) {
    let (lab, program) = (GarbleLab::default(), small());
    let plan = plan(&program, n, receivers);
    let harness = Harness::new(n, &parameters(&lab, check));
    prepare(&harness);
    let recordings = harness.recordings();
    (harness.act(|mut session| lab.outputs(&mut session, &plan, &inputs())), recordings)
}

/// The same: whether one of these honest parties accepted a wrong output.
fn tampered(
    n: usize,
    check: Option<Check>,
    receivers: &[u8],
    honest: &[usize],
    prepare: impl Fn(&Harness),
) -> bool {
    let (ends, _) = attacked(n, check, receivers, prepare);
    wrong(&small(), &inputs(), honest, &ends)
}

divisi_core::mutants! {
    nothing_leaves_unverified: M0_7, "sends results before it looked at the rows' MACs", tables::result_of_wrong_rows;
    the_two_hashes_differ: W12, "hashes in HaAND as in LaAND", triples::one_hash_for_two;
    split_e_ends_the_session: W13, "does not compare the echoes of e", triples::split_e;
    an_opening_is_not_reflected: W14, "takes any opening", triples::reflected_opening;
    wrong_triples_are_noticed: W15, "does not look at the sum", triples::wrong_triples;
    nobody_foresees_the_buckets: W16, "takes a partition that is known before", triples::foreseen_partition;
    flipped_differences_are_noticed: W17, "does not compare the MACs of d", triples::flipped_bucket;
    buckets_are_large_enough: W18, "takes one triple less a bucket", triples::small_buckets;
    no_two_gates_hash_alike: W19, "gives all gates one tweak", tables::one_tweak;
    an_owner_learns_its_mask: W20, "does not compare the MACs of input masks", openings::wrong_input_mask;
    a_label_is_that_of_the_broadcast: W21, "sends the label of zero", tables::blind_label;
    a_wrong_row_is_noticed: W22, "does not look at the rows' MACs", tables::flipped_row;
    nobody_is_framed: W23, "stops at the first wrong row and names its garbler", tables::framed_garbler;
    an_output_has_its_mask: W24, "does not compare the MACs of output masks", openings::wrong_output_mask;
    a_receiver_knows_its_labels: W25, "takes any masked output", openings::wrong_result;
    all_garble_one_circuit: W26, "does not compare what is garbled", openings::other_plan;
    flipped_d_is_noticed: W27, "does not compare the MACs of d and e", triples::flipped_d;
    flipped_e_is_noticed: W27, "does not compare the MACs of d and e", triples::flipped_e;
    split_inputs_get_no_label: W28, "does not compare the echoes of masked inputs", openings::split_inputs;
    no_public_wires: W29, "garbles constants as wires", openings::constants;
}

#[test]
fn every_check_of_garbling_has_a_mutant() {
    for check in checks::ALL {
        let named =
            |(c, what, name): &(Check, &str, &str)| c == check && !what.is_empty() && !name.is_empty();
        assert!(MUTANTS.iter().any(named), "{check}");
    }
}

/// docs/garbling.md names every check of this crate with the tests that kill its mutants.
#[test]
fn the_table_of_checks_is_complete() {
    let table = include_str!("../../../../../docs/garbling.md");
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")) && line.contains(name));
        assert!(row.is_some(), "docs/garbling.md lacks {check}: {name}");
    }
}
