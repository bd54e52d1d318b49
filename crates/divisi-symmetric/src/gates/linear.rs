//! Linear maps on bits with few XORs: pairs that several outputs share are added once.

use divisi_circuit::Gates;

/// The XORs of a linear map, in order.
#[derive(Clone, Debug)]
pub(crate) struct LinearMap {
    inputs: usize,
    /// Sum `i` becomes wire `inputs + i`.
    sums: Vec<(usize, usize)>,
    /// The wire of each output; `None` stands for 0.
    outputs: Vec<Option<usize>>,
}

impl LinearMap {
    /// A map with `outputs` outputs. Input `i` is a summand of output `j` if bit `j` of `contains[i]` is set.
    /// A greedy method after C. Paar ("Optimized arithmetic for Reed-Solomon encoders"): the pair that most
    /// outputs share is added first.
    pub(crate) fn new(contains: &[u64], outputs: usize) -> Self {
        let mut contains = contains.to_vec();
        let inputs = contains.len();
        let mut sums = Vec::new();
        loop {
            let mut best = (0, 0, 0);
            for (i, x) in contains.iter().enumerate() {
                for (j, y) in contains[..i].iter().enumerate() {
                    let common = (x & y).count_ones();
                    if common > best.0 {
                        best = (common, i, j);
                    }
                }
            }
            let (common, i, j) = best;
            if common == 0 {
                break;
            }
            let both = contains[i] & contains[j];
            contains[i] ^= both;
            contains[j] ^= both;
            contains.push(both);
            sums.push((i, j));
        }
        // Now every output is a single wire.
        let outputs = (0..outputs).map(|j| contains.iter().position(|wire| wire >> j & 1 == 1)).collect();
        LinearMap { inputs, sums, outputs }
    }

    /// How many XORs it takes.
    #[cfg(test)]
    pub(crate) fn additions(&self) -> usize {
        self.sums.len()
    }

    /// The map's value at `x`.
    pub(crate) fn apply<G: Gates>(&self, g: &mut G, x: &[G::Bit]) -> Vec<G::Bit> {
        let mut wires = x[..self.inputs].to_vec();
        for &(i, j) in &self.sums {
            wires.push(g.xor(wires[i], wires[j]));
        }
        let zero = g.constant(false);
        self.outputs.iter().map(|wire| wire.map_or(zero, |wire| wires[wire])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::plain::Words;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_map_is_the_map(
            contains in prop::collection::vec(any::<u64>(), 1..32),
            outputs in 0..=64_usize,
            x in prop::collection::vec(any::<u64>(), 32),
        ) {
            let mask = if outputs == 64 { u64::MAX } else { (1 << outputs) - 1 };
            let contains: Vec<u64> = contains.iter().map(|row| row & mask).collect();
            let got = LinearMap::new(&contains, outputs).apply(&mut Words, &x);
            let want = |j: usize| {
                contains.iter().zip(&x).filter(|(row, _)| *row >> j & 1 == 1).fold(0, |sum, (_, x)| sum ^ x)
            };
            prop_assert_eq!(got, (0..outputs).map(want).collect::<Vec<_>>());
        }
    }
}
