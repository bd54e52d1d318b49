//! What the evaluator compares of many labels, and what it tells of many.

use super::super::plan::{Handles, Role, When};
use super::*;
use divisi_circuit::Build;
use divisi_core::PublicParameters;
use divisi_core::testing::run;
use std::collections::HashSet;

/// Calls `act` with the evaluator of a call.
fn with(act: impl Fn(&mut Evaluator<'_, '_>) + Sync) {
    let ends = run(3, &PublicParameters::new("compared"), |session| {
        let mut g = Build::new();
        let wires = g.input(1);
        g.output(&wires);
        let (program, mut trio) = (g.finish(), Trio::new(session)?);
        let plan = CallPlan::next(&mut trio.session, &mut Handles::default(), When::Now, &[(&program, 1)])?;
        if plan.roles.role(trio.me()) == Role::Evaluator {
            let hash = secrets::hash(&trio.session, &plan, &[0; 16]);
            act(&mut Evaluator::resume(&mut trio, &hash, &plan, 0));
        }
        Ok(())
    });
    assert!(ends.iter().any(Result::is_ok), "{ends:?}");
}

/// \[Y3\] Equal differences of two labels do not make up for each other, wherever they are.
#[test]
fn equal_differences_are_two() {
    const WIRES: usize = CHUNK;
    with(|evaluator| {
        let labels: Vec<u128> = (1..=WIRES as u128).map(|i| i.wrapping_mul(u128::MAX / 0x1357)).collect();
        let mut compare = |wrong: &[usize]| {
            let mut hashed = labels.clone();
            evaluator.oracle.pairs.hash_units::<1, 1>(&mut hashed, 0);
            evaluator.oracle.wire = 0;
            let of_wire = |(wire, hash): (usize, &u128)| [hash ^ u128::from(wrong.contains(&wire)) << 77, 5];
            let mut pairs = Vec::new();
            bits::write(hashed.iter().enumerate().flat_map(of_wire), &mut pairs);
            let from = evaluator.first;
            evaluator.compare_labels(LABELS, &labels, &pairs, &[0; WIRES], from)
        };
        assert!(compare(&[]).is_ok());
        for wrong in [&[0][..], &[WIRES - 1], &[0, 1], &[0, 64], &[7, 512], &[3, WIRES - 1]] {
            assert!(matches!(compare(wrong), Err(Abort::CheckFailed { check: checks::Y3, .. })), "{wrong:?}");
        }
    });
}

/// \[Y5\] The digest of a result depends on each label, wherever it is, and on z.
#[test]
fn all_labels_of_a_result_are_told() {
    const LABELS: usize = 70_000;
    with(|evaluator| {
        let digest = |at: usize, z: u8| {
            let mut digest = evaluator.begin_result();
            (0..LABELS).for_each(|i| digest.add(i as u128 ^ u128::from(i == at) << 100));
            digest.finish(&[z])
        };
        let ends = (0..17).flat_map(|bit| [(1 << bit) - 1, 1 << bit]).chain([LABELS - 1]);
        let places: HashSet<usize> = ends.collect();
        let mut seen = HashSet::from([digest(LABELS, 0), digest(LABELS, 1)]);
        assert!(places.into_iter().all(|at| seen.insert(digest(at, 0))));
        assert!(seen.len() > 30);
    });
}
