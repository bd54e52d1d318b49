//! What is drawn is used: a run in which the draws of one purpose are changed, and nothing else, sends or
//! puts out something else. A purpose of layers below is for their nets.

use super::{DrawNet, DrawRun, DrawShape};
use crate::KnownTo;
use crate::testing::many;
use std::collections::BTreeSet;

/// The seed of all these runs.
const SEED: u64 = 0x1dea;

pub(super) fn judge(net: &DrawNet) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut faults = Vec::new();
    for shape in &net.shapes {
        let run = shape.run(SEED, None);
        let own = |name: &&str| net.purposes.iter().any(|of| of.name() == *name);
        let new: Vec<&'static str> = names(&run).filter(own).filter(|name| known.insert(*name)).collect();
        let again = shape.run(SEED, None);
        if !same(&run, &again) {
            faults.push(format!("{}: known randomness gives two runs", shape.name));
            continue;
        }
        let idle = many(new.len(), 2, |i| is_idle(shape, &run, new[i]));
        let idle = new.iter().zip(idle).filter(|(_, idle)| *idle);
        faults.extend(idle.map(|(name, _)| format!("{name}: nothing depends on its draws ({})", shape.name)));
    }
    faults
}

/// The purposes that come through a door at which draws can be changed.
fn names(run: &DrawRun) -> impl Iterator<Item = &'static str> {
    let of_values = |party: &crate::draws::PartyDraws| {
        let changed = |value: &&crate::draws::DrawnValue| value.door != crate::draws::DrawDoor::Value;
        party.values.iter().filter(changed).map(|value| value.of).collect::<Vec<_>>()
    };
    run.parties
        .iter()
        .flat_map(move |party| {
            let streams = party.pairs.iter().chain(&party.streams).filter(|stream| stream.bytes() > 0);
            streams.map(|stream| stream.of).chain(of_values(party)).collect::<Vec<_>>()
        })
        .filter(|of| of.known_to() != KnownTo::Anyone)
        .map(|of| of.name())
}

fn same(one: &DrawRun, other: &DrawRun) -> bool {
    let sent = |run: &DrawRun| run.parties.iter().map(|party| party.sent.clone()).collect::<Vec<_>>();
    one.ends == other.ends && sent(one) == sent(other)
}

fn is_idle(shape: &DrawShape, run: &DrawRun, name: &str) -> bool {
    same(run, &shape.run(SEED, Some(name)))
}
