//! Whether checks depend on what they compare: each shape is run once with comparisons that say that everything
//! differs, and goes on. Every execution of a check that compares something must fail then, and every check
//! that compares anything in honest runs must be among them. A check that is passed by what is short, comes
//! first or has some other form is found so, wherever a shape has that form.

use super::messages::MessageNet;
use super::plan::Honest;
use crate::draws::KnownDraws;
use crate::testing::many;
use std::collections::BTreeSet;

/// The world of these runs.
const WORLD: u64 = 3;

/// What is wrong: a line for each check and step that passes, and for each check that nobody doubts.
pub(super) fn judge(net: &MessageNet<'_>, honest: &[Honest]) -> BTreeSet<String> {
    let known = KnownDraws { seed: WORLD, session: WORLD, changed: None, part: None, doubt: true };
    let runs = many(net.shapes.len(), 2, |i| {
        let runs = net.shapes.get(i).map(|shape| shape.draw(&known));
        runs.into_iter().flatten().flat_map(|(_, _, draws)| draws.doubted).collect::<Vec<_>>()
    });
    let (mut faults, mut doubted) = (BTreeSet::new(), BTreeSet::new());
    for (shape, run) in net.shapes.iter().zip(&runs) {
        doubted.extend(run.iter().map(|found| found.check.id()));
        let passed = run.iter().filter(|found| found.passed);
        faults.extend(passed.map(|found| {
            let (check, step) = (found.check, found.step.name);
            format!("{}: the check {check} passes at {step} although what it compares differs", shape.name)
        }));
    }
    let outcomes = honest.iter().flat_map(|run| &run.outcomes);
    let compared: BTreeSet<&str> = outcomes.flat_map(|one| one.counted.comparing()).collect();
    let never = compared.difference(&doubted);
    faults.extend(never.map(|check| format!("the check {check} is never executed under doubt")));
    faults
}
