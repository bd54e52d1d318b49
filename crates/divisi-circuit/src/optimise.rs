//! Reduces the gates of a circuit without changing its function.
//!
//! There are two steps; neither adds ANDs or increases the AND depth. First the circuit is passed to a
//! [`Build`] again, which leaves out gates with a known result, duplicates, and gates that no output needs.
//! Then its XORs are rebuilt. Every sum that an AND, an output, or several other sums read is written as a
//! list of *leaves* (inputs, ANDs, other such sums). The pair of terms that occurs in most lists becomes a
//! gate, until all lists have one term (C. Paar, "Optimized arithmetic for Reed-Solomon encoders", ISIT
//! 1997). A list of n leaves needs n - 1 gates without this, and every pair that several lists share saves
//! some; so there are never more gates than before. A new gate adds terms that all of its lists need anyway,
//! so no sum depends on a leaf that it did not depend on before.

use crate::build::{Build, BuildBit};
use crate::gates::Gates;
use crate::program::Program;
use crate::recorded::{Node, Recorded};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The longest list of leaves. A longer sum is itself a leaf, because the number of pairs grows with the
/// square.
const LONGEST: usize = 48;

/// The largest number of pairs that are counted at a time, about 40 bytes each. The lists of a large circuit
/// are processed in parts.
const PAIRS: usize = 1 << 22;

/// The same function of the same inputs, with at most as many ANDs, AND depth and gates.
#[must_use]
pub fn optimise(program: &Program) -> Program {
    let Some(shared) = recorded(program) else { return program.clone() };
    let resynthesised = Linear::new(&shared.recorded, PAIRS).build();
    let shared = shared.finish();
    let size = |program: &Program| program.linear_count() + program.and_count();
    let is_worse = |than: &Program, new: &Program| {
        new.and_count() > than.and_count()
            || new.and_depth() > than.and_depth()
            || new.dot_count() > than.dot_count()
            || size(new) > size(than)
    };
    let mut best = program;
    for new in [&shared, &resynthesised] {
        if !is_worse(best, new) {
            best = new;
        }
    }
    best.clone()
}

/// The program, passed to a builder that leaves out superfluous gates.
fn recorded(program: &Program) -> Option<Build> {
    let mut build = Build::new();
    let inputs: Vec<BuildBit> = program.inputs().iter().flat_map(|&width| build.input(width)).collect();
    let mut results = &program.replay(&mut build, &inputs)?[..];
    for &width in program.outputs() {
        let (value, rest) = results.split_at_checked(width)?;
        build.output(value);
        results = rest;
    }
    Some(build)
}

/// The XORs of a circuit while they are rebuilt. Numbers below the number of nodes stand for nodes, larger
/// ones for pairs.
struct Linear<'r> {
    recorded: &'r Recorded,
    /// For each XOR that is needed and is no leaf: its leaves, sorted. Empty for all other nodes.
    leaves: Vec<Vec<u32>>,
    /// Whether an AND or an output reads the XOR, or another sum has it as a leaf.
    target: Vec<bool>,
    /// Whether anything needs the node.
    needed: Vec<bool>,
    /// The two summands of each rebuilt node, and of each pair.
    sums: HashMap<u32, (u32, u32)>,
    pairs: u32,
}

impl<'r> Linear<'r> {
    /// Rebuilds the sums, of which at most so many pairs are counted at a time.
    fn new(recorded: &'r Recorded, most: usize) -> Self {
        let nodes = recorded.nodes.len();
        let mut linear = Linear {
            recorded,
            leaves: vec![Vec::new(); nodes],
            target: vec![false; nodes],
            needed: vec![false; nodes],
            sums: HashMap::new(),
            pairs: nodes as u32,
        };
        linear.mark();
        linear.flatten();
        let targets: Vec<u32> =
            (0..nodes as u32).filter(|n| linear.is_sum(*n) && linear.target[*n as usize]).collect();
        let (mut part, mut pairs) = (Vec::new(), 0);
        for target in targets {
            let leaves = linear.leaves[target as usize].len();
            pairs += leaves * leaves / 2;
            if pairs > most {
                linear.resynthesise(&std::mem::take(&mut part));
                pairs = leaves * leaves / 2;
            }
            part.push(target);
        }
        linear.resynthesise(&part);
        linear
    }

    fn is_sum(&self, n: u32) -> bool {
        self.needed.get(n as usize) == Some(&true)
            && matches!(self.recorded.nodes.get(n as usize), Some(Node::Xor(..)))
    }

    /// Marks the nodes that are needed, and the XORs that are read by anything but a single XOR.
    fn mark(&mut self) {
        let mut sums = vec![0_u32; self.recorded.nodes.len()];
        let mut read = |bit: BuildBit| {
            self.needed[bit.node()] = true;
            self.target[bit.node()] = true;
        };
        self.recorded.results.iter().for_each(|&bit| read(bit));
        for (n, node) in self.recorded.nodes.iter().enumerate().rev() {
            match *node {
                Node::Xor(x, y) if self.needed[n] => {
                    for bit in [x, y] {
                        self.needed[bit.node()] = true;
                        sums[bit.node()] = sums[bit.node()].saturating_add(1);
                        self.target[bit.node()] |= sums[bit.node()] > 1;
                    }
                }
                Node::Dot(start, end) if self.needed[n] => {
                    for &(x, y) in &self.recorded.terms[start as usize..end as usize] {
                        for bit in [x, y] {
                            self.needed[bit.node()] = true;
                            self.target[bit.node()] = true;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds the leaves of every sum.
    fn flatten(&mut self) {
        for (n, node) in self.recorded.nodes.iter().enumerate() {
            let Node::Xor(x, y) = *node else { continue };
            if !self.needed[n] {
                continue;
            }
            let own = |bit: BuildBit| match &self.leaves[bit.node()][..] {
                leaves if leaves.is_empty() || self.target[bit.node()] => vec![bit.0 >> 1],
                leaves => leaves.to_vec(),
            };
            let mut leaves = difference(&own(x), &own(y));
            if leaves.len() > LONGEST || leaves.len() < 2 {
                // a list that is too long: the sum stays as it was, with its two operands as leaves
                leaves = vec![x.0 >> 1, y.0 >> 1];
                leaves.sort_unstable();
                self.target[x.node()] = true;
                self.target[y.node()] = true;
            }
            self.leaves[n] = leaves;
        }
    }

    /// Rebuilds these sums from their leaves.
    fn resynthesise(&mut self, targets: &[u32]) {
        let mut lists: Vec<Vec<u32>> = targets.iter().map(|t| self.leaves[*t as usize].clone()).collect();
        let mut counts: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for (i, list) in (0_u32..).zip(&lists) {
            for (at, x) in list.iter().enumerate() {
                list[at + 1..].iter().for_each(|y| counts.entry((*x, *y)).or_default().push(i));
            }
        }
        // an entry of the heap may be out of date, so its count is looked up
        let mut heap: BinaryHeap<(usize, std::cmp::Reverse<(u32, u32)>)> =
            counts.iter().map(|(pair, of)| (of.len(), std::cmp::Reverse(*pair))).collect();
        let (mut made, mut next) = (Vec::new(), self.pairs);
        while let Some((count, std::cmp::Reverse((x, y)))) = heap.pop() {
            let has = |list: &[u32], x: u32| list.binary_search(&x).is_ok();
            let of: Vec<u32> = counts.get(&(x, y)).into_iter().flatten().copied().collect();
            let of: Vec<u32> = of
                .into_iter()
                .filter(|i| lists.get(*i as usize).is_some_and(|list| has(list, x) && has(list, y)))
                .collect();
            if of.is_empty() {
                continue;
            }
            if of.len() < count {
                heap.push((of.len(), std::cmp::Reverse((x, y))));
                counts.insert((x, y), of);
                continue;
            }
            counts.remove(&(x, y));
            let sum = next;
            next += 1;
            made.push((sum, (x, y)));
            let mut fresh: HashSet<(u32, u32)> = HashSet::new();
            for i in of {
                let Some(list) = lists.get_mut(i as usize) else { continue };
                list.retain(|leaf| *leaf != x && *leaf != y);
                for leaf in list.iter() {
                    // later pairs have larger numbers: the sum is the larger one
                    counts.entry((*leaf, sum)).or_default().push(i);
                    fresh.insert((*leaf, sum));
                }
                list.push(sum);
            }
            let mut fresh: Vec<(u32, u32)> = fresh.into_iter().collect();
            fresh.sort_unstable();
            heap.extend(
                fresh
                    .into_iter()
                    .map(|pair| (counts.get(&pair).map_or(0, Vec::len), std::cmp::Reverse(pair))),
            );
        }
        self.pairs = next;
        let made: HashMap<u32, (u32, u32)> = made.into_iter().collect();
        for (target, list) in targets.iter().zip(lists) {
            // the last pair of a list is the sum itself
            if let Some(sum) = list.first().and_then(|last| made.get(last)) {
                self.sums.insert(*target, *sum);
            }
        }
        self.sums.extend(made);
    }

    /// The circuit with the rebuilt XORs.
    fn build(&self) -> Program {
        let mut build = Build::new();
        let inputs: Vec<BuildBit> =
            self.recorded.inputs.iter().flat_map(|&width| build.input(width)).collect();
        let mut made: HashMap<u32, BuildBit> = HashMap::from([(0, BuildBit::FALSE)]);
        let mut results = Vec::with_capacity(self.recorded.results.len());
        for &result in &self.recorded.results {
            let bit = self.make(result.0 >> 1, &inputs, &mut build, &mut made);
            results.push(bit.negated_if(result.negated()));
        }
        let mut rest = &results[..];
        for &width in &self.recorded.outputs {
            let (value, after) = rest.split_at(width.min(rest.len()));
            build.output(value);
            rest = after;
        }
        build.finish()
    }

    /// Adds a node or pair to the builder, after its operands. It is not recursive, because chains may be
    /// long.
    fn make(
        &self,
        wanted: u32,
        inputs: &[BuildBit],
        build: &mut Build,
        made: &mut HashMap<u32, BuildBit>,
    ) -> BuildBit {
        let mut stack = vec![wanted];
        while let Some(&n) = stack.last() {
            if made.contains_key(&n) {
                stack.pop();
                continue;
            }
            let node = self.recorded.nodes.get(n as usize).copied();
            let terms = match node {
                Some(Node::Dot(start, end)) => &self.recorded.terms[start as usize..end as usize],
                _ => &[],
            };
            let sum = self.sums.get(&n).copied().or(match node {
                Some(Node::Xor(x, y)) => Some((x.0 >> 1, y.0 >> 1)),
                _ => None,
            });
            let operands = terms.iter().flat_map(|(x, y)| [x.0 >> 1, y.0 >> 1]);
            let before = stack.len();
            stack.extend(
                operands.chain(sum.into_iter().flat_map(|(x, y)| [x, y])).filter(|x| !made.contains_key(x)),
            );
            if stack.len() > before {
                continue;
            }
            let got = |bit: BuildBit| {
                made.get(&(bit.0 >> 1)).copied().unwrap_or(BuildBit::FALSE).negated_if(bit.negated())
            };
            let bit = match (sum, node) {
                (Some((x, y)), _) => build.xor(got(BuildBit(x << 1)), got(BuildBit(y << 1))),
                (None, Some(Node::Input(i))) => inputs.get(i as usize).copied().unwrap_or(BuildBit::FALSE),
                (None, Some(Node::Dot(..))) => {
                    let terms: Vec<(BuildBit, BuildBit)> =
                        terms.iter().map(|(x, y)| (got(*x), got(*y))).collect();
                    build.dot(&terms)
                }
                _ => BuildBit::FALSE,
            };
            made.insert(n, bit);
            stack.pop();
        }
        made.get(&wanted).copied().unwrap_or(BuildBit::FALSE)
    }
}

/// The elements of one sorted list that the other does not have, or the other way round.
fn difference(x: &[u32], y: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = x.iter().chain(y).copied().collect();
    all.sort_unstable();
    let mut left: Vec<u32> = Vec::with_capacity(all.len());
    for leaf in all {
        if left.pop_if(|last| *last == leaf).is_none() {
            left.push(leaf);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain;

    /// Sums that are rebuilt in parts, however small, are the same sums.
    #[test]
    fn sums_are_the_same_in_parts() {
        let mut g = Build::new();
        let x = g.input(9);
        let sum = |g: &mut Build, from: usize, step: usize| {
            let some = x[from..].iter().step_by(step).copied();
            some.reduce(|a, b| g.xor(a, b)).unwrap_or(BuildBit::FALSE)
        };
        let sums: Vec<BuildBit> = (0..12).map(|i| sum(&mut g, i % 4, 1 + i / 4)).collect();
        let product = g.and(sums[0], sums[5]);
        let last = g.xor(product, sums[9]);
        g.output(&sums);
        g.output(&[last]);
        let whole = g.finish();
        let shared = recorded(&whole).unwrap();
        let inputs: Vec<Vec<u64>> = (0..9)
            .map(|i| (0..8).map(|at| 0x9e37_79b9_7f4a_7c15_u64.rotate_left(7 * i + at)).collect())
            .collect();
        for most in [0, 10, 40, 100, PAIRS] {
            let rebuilt = Linear::new(&shared.recorded, most).build();
            assert_eq!(plain::run(&rebuilt, &inputs), plain::run(&whole, &inputs), "{most}");
        }
    }
}
