//! Chooses the layer in which each node runs. A node runs as early as it can; but if nothing needs its result
//! yet, it runs together with later nodes of its kind, which then share their messages.

use crate::node::{self, Id, Node, Sized};
use divisi_mixed::adders::{self, NumberAdder};

/// The number of layers in which a node looks for others of its kind: enough for programs whose rounds
/// matter.
const AHEAD: usize = 256;

/// The number of kinds of nodes that need messages. Nodes of one kind in one layer share rounds.
const KINDS: usize = 5;

/// The kind of a node that needs messages, and the number of rounds that it takes alone; `None` for a local
/// node. The array has the rounds of each adder.
fn kind(sized: &Sized, [low_depth, fewest_ands]: [usize; 2]) -> Option<(usize, usize)> {
    Some(match &sized.node {
        Node::ToBits(_) if node::adder(sized.lanes) == NumberAdder::LowDepth => (0, 2 + low_depth),
        Node::ToBits(_) => (0, 2 + fewest_ands),
        Node::Multiply(..) => (1, 2),
        Node::ToNumber(_) | Node::LookUp { .. } | Node::LookUpPrivate { .. } => (2, 2),
        Node::Run(circuit, _) => (3, circuit.and_depth()),
        Node::Garbled(..) => (4, 2),
        _ => return None,
    })
}

/// Two choices of a layer for each node that is used. In the first, every node runs as early as it can. In
/// the second, a node whose result is not needed yet waits for the layer in which it shares the most rounds
/// with nodes of its kind that must run there. The second has no more layers than the first. Numbers have
/// `width` bits.
pub(crate) fn depths(nodes: &[Sized], uses: &[usize], width: usize) -> (Vec<usize>, Vec<usize>) {
    let used = |id: &Id| uses[*id] > 0;
    let behind = |depths: &[usize], id: Id| {
        let after = |arg: &Id| depths[*arg] + usize::from(nodes[*arg].node.talks());
        nodes[id].node.args().iter().map(after).max().unwrap_or(0)
    };
    let mut early = vec![0; nodes.len()];
    for id in (0..nodes.len()).filter(used) {
        early[id] = behind(&early, id);
    }
    let last = (0..nodes.len()).filter(used).map(|id| early[id]).max().unwrap_or(0);
    let mut late = vec![last; nodes.len()];
    for id in (0..nodes.len()).rev().filter(used) {
        for arg in nodes[id].node.args() {
            let before = late[id].saturating_sub(usize::from(nodes[arg].node.talks()));
            late[arg] = late[arg].min(before);
        }
    }
    // for each layer and kind, the rounds of the longest node that must run in it
    let mut fixed = vec![[0; KINDS]; last + 1];
    let rounds = [NumberAdder::LowDepth, NumberAdder::FewestAnds].map(|adder| adders::cost(adder, width).1);
    let kinds: Vec<Option<(usize, usize)>> = nodes.iter().map(|sized| kind(sized, rounds)).collect();
    for id in (0..nodes.len()).filter(used).filter(|id| early[*id] == late[*id]) {
        if let Some((kind, rounds)) = kinds[id] {
            let most = &mut fixed[early[id]][kind];
            *most = rounds.max(*most);
        }
    }
    let mut together = vec![0; nodes.len()];
    for id in (0..nodes.len()).filter(used) {
        let first = behind(&together, id);
        together[id] = first;
        let Some((kind, rounds)) = kinds[id] else { continue };
        let mut saved = rounds.min(fixed[first][kind]);
        for layer in (first..=late[id]).take(AHEAD) {
            let here = rounds.min(fixed[layer][kind]);
            if here > saved {
                (saved, together[id]) = (here, layer);
            }
        }
    }
    (early, together)
}
