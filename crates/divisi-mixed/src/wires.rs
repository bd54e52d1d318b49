//! The wires of circuits while they run: the linear gates of a level, and the factors and results of its
//! products.

use crate::bit::{Dense, GmwBit, last};
use divisi_circuit::program::{LinearGate, Program};
use divisi_core::ProgramRun;
use zeroize::Zeroizing;

/// The wires of a job in a window of lanes: one slot after the other, each of `width` words.
pub(crate) struct Wires<'p> {
    pub program: &'p Program,
    pub lanes: usize,
    width: usize,
    held: Zeroizing<Vec<u64>>,
}

impl<'p> Wires<'p> {
    pub fn new(job: &ProgramRun<'p, GmwBit>, first: usize, lanes: usize) -> Wires<'p> {
        let width = lanes.div_ceil(64);
        let mut held = Zeroizing::new(vec![0; width * job.program.slots().max(job.wires.len())]);
        for (bit, slot) in job.wires.iter().zip(held.chunks_exact_mut(width)) {
            bit.window(first, lanes, slot);
        }
        Wires { program: job.program, lanes, width, held }
    }

    pub fn slot(&self, at: usize) -> &[u64] {
        &self.held[at * self.width..(at + 1) * self.width]
    }

    /// Evaluates the linear gates of a level. The first party's share of a public constant is the constant,
    /// and the shares of the others are zero.
    pub fn linear(&mut self, level: usize, first: bool) {
        let Some(level) = self.program.levels().get(level) else { return };
        let (width, ones) = (self.width, last(self.lanes));
        let one = |w: usize| {
            if !first {
                0
            } else if w + 1 == width {
                ones
            } else {
                u64::MAX
            }
        };
        for gate in level.linear() {
            match gate {
                LinearGate::Constant { out, value } => {
                    let slot = &mut self.held[out.index() * width..(out.index() + 1) * width];
                    slot.iter_mut().enumerate().for_each(|(w, word)| *word = if value { one(w) } else { 0 });
                }
                LinearGate::Not { out, x } => {
                    for w in 0..width {
                        self.held[out.index() * width + w] = self.held[x.index() * width + w] ^ one(w);
                    }
                }
                LinearGate::Xor { out, x, y } => {
                    for w in 0..width {
                        self.held[out.index() * width + w] =
                            self.held[x.index() * width + w] ^ self.held[y.index() * width + w];
                    }
                }
            }
        }
    }

    /// Appends the factors of a level's products to x and y.
    pub fn factors(&self, level: usize, x: &mut Dense, y: &mut Dense) {
        let Some(level) = self.program.levels().get(level) else { return };
        for (left, right) in level.dots().flat_map(|(_, terms)| terms) {
            x.push(self.slot(left.index()), self.lanes);
            y.push(self.slot(right.index()), self.lanes);
        }
    }

    /// Stores the outputs of a level, which are sums of products. Its products are in z from the position
    /// `at` on; returns the position behind them.
    pub fn store(&mut self, level: usize, z: &Dense, mut at: usize) -> usize {
        let Some(level) = self.program.levels().get(level) else { return at };
        let mut product = Zeroizing::new(vec![0; self.width]);
        for (out, terms) in level.dots() {
            let slot = &mut self.held[out.index() * self.width..(out.index() + 1) * self.width];
            slot.fill(0);
            for _ in terms {
                z.pull(at, self.lanes, &mut product);
                at += self.lanes;
                slot.iter_mut().zip(product.iter()).for_each(|(slot, product)| *slot ^= product);
            }
        }
        at
    }
}
