//! Whether checks depend on what they compare: each shape is run once with comparisons that say that
//! everything differs, and goes on. Every execution of a check that compares something must fail then, and
//! every check of the crate that compares anything in honest runs must be among them. A check that is passed
//! by what is short, comes first or has some other form is found so, wherever a shape has that form.
//!
//! A comparison that does more than fail a check, as that of inputs that may be refused, must not end a
//! party's run: what comes later would not be seen.

use super::messages::MessageNet;
use super::plan::Honest;
use crate::draws::{CheckUnderDoubt, KnownDraws};
use crate::testing::many;
use std::collections::BTreeSet;

/// The world of these runs.
const WORLD: u64 = 3;

/// What is wrong: a line for each check and step that passes, and for each check that nobody doubts.
pub(super) fn judge(net: &MessageNet<'_>, honest: &[Honest]) -> BTreeSet<String> {
    let known = KnownDraws { seed: WORLD, session: WORLD, changed: None, part: None, doubt: true };
    let runs = many(net.shapes.len(), 2, |i| net.shapes.get(i).map(|shape| shape.draw(&known, WORLD)));
    let (mut faults, mut doubted, mut executions) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (shape, run) in net.shapes.iter().zip(runs) {
        for (end, _, draws) in run.into_iter().flatten() {
            let told = |what: String| format!("{}: {what}", shape.name);
            faults.extend(end.err().map(|abort| told(format!("a run under doubt ends early: {abort}"))));
            doubted.extend(draws.doubted.iter().map(|found| found.check.id()));
            executions += draws.doubted.len();
            for CheckUnderDoubt { check, step, .. } in draws.doubted.iter().filter(|found| found.passed) {
                let step = step.name;
                faults.insert(told(format!(
                    "the check {check} passes at {step} although what it compares differs"
                )));
            }
        }
    }
    let outcomes = honest.iter().flat_map(|run| &run.outcomes);
    let compared: BTreeSet<&str> = outcomes.flat_map(|one| one.counted.comparing()).collect();
    let never = net.checks.iter().map(|check| check.id());
    let never = never.filter(|check| compared.contains(check) && !doubted.contains(check));
    println!("doubts: {executions} executions of {} checks", doubted.len());
    faults.extend(never.map(|check| format!("the check {check} is never executed under doubt")));
    faults
}
