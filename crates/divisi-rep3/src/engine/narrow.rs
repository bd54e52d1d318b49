//! Wires of at most 64 lanes: a word for each component. In messages and in the ledger the lanes of one product follow those of
//! another without a gap.

use super::boolean::Wires;
use crate::ands::{Ands, FACTORS, GROUP, Run, get, put};
use crate::bit::Bit;
use crate::wire::Shape;
use divisi_circuit::{Level, Linear, Program, Slot};
use divisi_core::Job;
use divisi_field::Plane;
use divisi_field::plane::LANES;
use zeroize::Zeroizing;

/// A program on a few lanes.
pub(super) struct Narrow<'p> {
    program: &'p Program,
    lanes: usize,
    /// Slot by slot.
    held: Zeroizing<Vec<[u64; 2]>>,
    /// The shares of a level's products, and both components of its results, without gaps.
    packed: [Zeroizing<Vec<u64>>; 2],
}

impl<'p> Narrow<'p> {
    /// All lanes of a job.
    pub(super) fn new(job: &Job<'p, Bit>, lanes: usize) -> Self {
        let mut held = Zeroizing::new(vec![[0; 2]; job.program.slots()]);
        for (place, bit) in held.iter_mut().zip(&job.wires) {
            if let Some(tile) = bit.tiles.first() {
                // one lane serves all
                let word = |words: [u64; 8]| {
                    if bit.lanes == lanes { words[0] } else { (words[0] & 1).wrapping_neg() & used(lanes) }
                };
                *place = tile.map(word);
            }
        }
        // room for the widest level: what a vector leaves behind when it grows is not wiped
        let widest = job.program.levels().iter().map(Level::dot_count).max().unwrap_or(0);
        let words = 8 * (widest * lanes).div_ceil(LANES);
        let packed = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(words)));
        Narrow { program: job.program, lanes, held, packed }
    }

    fn sums(&mut self, level: &Level, constant: Option<usize>) {
        let mut one = [0; 2];
        if let Some(c) = constant {
            one[c] = used(self.lanes);
        }
        let held = &mut self.held;
        for gate in level.linear() {
            let (out, value) = match *gate {
                Linear::Xor { out, x, y } => {
                    let (x, y) = (held[x.index()], held[y.index()]);
                    (out, [x[0] ^ y[0], x[1] ^ y[1]])
                }
                Linear::Not { out, x } => {
                    let x = held[x.index()];
                    (out, [x[0] ^ one[0], x[1] ^ one[1]])
                }
                Linear::Constant { out, value } => (out, if value { one } else { [0; 2] }),
            };
            held[out.index()] = value;
        }
    }

    fn products(&mut self, level: &Level, z: &mut [[Plane; 1]], ands: &mut Ands, runs: &[Run]) {
        let (held, lanes) = (&self.held, self.lanes);
        let words = &mut self.packed[0];
        words.clear();
        words.resize(8 * z.len(), 0);
        let mut message = (0..).map(|i| i * lanes).zip(level.dots());
        // those that enter the ledger
        for run in runs {
            let factors = ands.shared_factors(*run);
            for (j, (at, (_, terms))) in message.by_ref().take(run.dots).enumerate() {
                let sum = products(held, terms, |k, both| {
                    for (plane, factor) in factors[k * GROUP + j].iter_mut().zip(both) {
                        put(&mut plane.0, run.lane(), factor, lanes);
                    }
                });
                put(words, at, sum, lanes);
            }
        }
        for (at, (_, terms)) in message {
            put(words, at, products(held, terms, |_, _| ()), lanes);
        }
        for (plane, words) in z.as_flattened_mut().iter_mut().zip(words.as_chunks().0) {
            plane.0 = *words;
        }
    }
}

/// Our additive share of a sum of products; each term's factors are `seen`.
#[inline(always)]
fn products(held: &[[u64; 2]], terms: &[(Slot, Slot)], mut seen: impl FnMut(usize, [u64; FACTORS])) -> u64 {
    let mut sum = 0;
    for (k, (x, y)) in terms.iter().enumerate() {
        let ([x0, x1], [y0, y1]) = (held[x.index()], held[y.index()]);
        // MultLocal: x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})
        sum ^= (x0 & y0) ^ ((x0 ^ x1) & (y0 ^ y1));
        seen(k, [x0, x1, y0, y1]);
    }
    sum
}

/// The lanes in use.
fn used(lanes: usize) -> u64 {
    u64::MAX >> (64 - lanes)
}

impl Wires for Narrow<'_> {
    fn planes(&self, dots: usize) -> usize {
        (dots * self.lanes).div_ceil(LANES)
    }

    fn shape(&self, dots: usize, shape: &mut Shape) {
        let lanes = dots * self.lanes;
        shape.0.extend((0..self.planes(dots)).map(|t| crate::bit::used(lanes, t)));
    }

    fn begin(
        &mut self,
        level: &Level,
        constant: Option<usize>,
        z: &mut [[Plane; 1]],
        ands: &mut Ands,
        runs: &[Run],
    ) {
        self.sums(level, constant);
        self.products(level, z, ands, runs);
    }

    fn store(&mut self, level: &Level, z: [&[[Plane; 1]]; 2], ands: &mut Ands, runs: &[Run]) {
        for (words, z) in self.packed.iter_mut().zip(z) {
            words.clear();
            z.as_flattened().iter().for_each(|plane| words.extend_from_slice(&plane.0));
        }
        let (lanes, [first, second]) = (self.lanes, &self.packed);
        let mut results = (0..).map(|i| [get(first, i * lanes, lanes), get(second, i * lanes, lanes)]);
        let mut outs = level.dots().map(|(out, _)| out);
        for run in runs {
            let records = ands.shared_results(*run).iter_mut();
            for ((record, out), result) in records.zip(outs.by_ref()).zip(results.by_ref()) {
                for (plane, word) in record.iter_mut().zip(result) {
                    put(&mut plane.0, run.lane(), word, lanes);
                }
                self.held[out.index()] = result;
            }
        }
        for (out, result) in outs.zip(results) {
            self.held[out.index()] = result;
        }
    }

    fn results(&self, outputs: &mut [Bit]) {
        for (out, slot) in outputs.iter_mut().zip(self.program.results()) {
            out.lanes += self.lanes;
            let [first, second] = self.held[slot.index()];
            out.tiles.push([[first, 0, 0, 0, 0, 0, 0, 0], [second, 0, 0, 0, 0, 0, 0, 0]]);
        }
    }
}
