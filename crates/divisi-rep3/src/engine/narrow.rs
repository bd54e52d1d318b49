//! Wires of at most 64 lanes: a word for each component, or one for both if they fit. In messages and in the
//! ledger the lanes of one product follow those of another without a gap.

use super::wires::Wires;
use crate::ands::{Ands, FACTORS, GROUP, Run, get, put};
use crate::bit::Bit;
use crate::wire::Shape;
use divisi_circuit::{Level, Program, Slot};
use divisi_core::ProgramRun;
use divisi_field::Plane;
use divisi_field::plane::LANES;
use std::ops::BitXor;
use zeroize::{Zeroize, Zeroizing};

/// Both components of a bit in every lane.
trait Both: Copy + Default + BitXor<Output = Self> + Zeroize {
    fn new(components: [u64; 2]) -> Self;
    fn components(self) -> [u64; 2];
    /// MultLocal: `x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})`.
    fn product(self, other: Self) -> u64;
}

/// Both components in two words, of at most 64 lanes.
#[derive(Clone, Copy, Default)]
struct Words(u64, u64);

impl zeroize::DefaultIsZeroes for Words {}

impl BitXor for Words {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Words(self.0 ^ other.0, self.1 ^ other.1)
    }
}

impl Both for Words {
    #[inline(always)]
    fn new([first, second]: [u64; 2]) -> Self {
        Words(first, second)
    }

    #[inline(always)]
    fn components(self) -> [u64; 2] {
        [self.0, self.1]
    }

    #[inline(always)]
    fn product(self, y: Self) -> u64 {
        (self.0 & y.0) ^ ((self.0 ^ self.1) & (y.0 ^ y.1))
    }
}

/// How many lanes of both components a single word has room for.
const HALF: usize = 32;

/// At most [`HALF`] lanes: the second component above the first.
impl Both for u64 {
    #[inline(always)]
    fn new([first, second]: [u64; 2]) -> Self {
        first | second << HALF
    }

    #[inline(always)]
    fn components(self) -> [u64; 2] {
        [self & (u64::MAX >> HALF), self >> HALF]
    }

    #[inline(always)]
    fn product(self, y: Self) -> u64 {
        ((self & y) ^ ((self ^ self >> HALF) & (y ^ y >> HALF))) & (u64::MAX >> HALF)
    }
}

/// A program on a few lanes.
struct Narrow<'p, B: Both> {
    program: &'p Program,
    lanes: usize,
    /// The value of each slot.
    held: Zeroizing<Vec<B>>,
    /// The shares of a level's products, and both components of its results, without gaps.
    packed: [Zeroizing<Vec<u64>>; 2],
}

/// A program on all lanes of a job, which are at most 64.
pub(super) fn narrow<'p>(job: &ProgramRun<'p, Bit>, lanes: usize) -> Box<dyn Wires + 'p> {
    if lanes <= HALF {
        Box::new(Narrow::<u64>::new(job, lanes))
    } else {
        Box::new(Narrow::<Words>::new(job, lanes))
    }
}

impl<'p, B: Both> Narrow<'p, B> {
    fn new(job: &ProgramRun<'p, Bit>, lanes: usize) -> Self {
        let mut held = Zeroizing::new(vec![B::default(); job.program.slots()]);
        for (place, bit) in held.iter_mut().zip(&job.wires) {
            if let Some(tile) = bit.tiles.first() {
                // one lane serves all
                let word = |words: [u64; 8]| {
                    if bit.lanes == lanes { words[0] } else { (words[0] & 1).wrapping_neg() & used(lanes) }
                };
                *place = B::new(tile.map(word));
            }
        }
        // room for the widest level: what a vector leaves behind when it grows is not wiped
        let widest = job.program.levels().iter().map(Level::dot_count).max().unwrap_or(0);
        let words = 8 * (widest * lanes).div_ceil(LANES);
        let packed = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(words)));
        Narrow { program: job.program, lanes, held, packed }
    }

    fn sums(&mut self, level: &Level, constant: Option<usize>) {
        let one = B::new([0, 1].map(|c| if constant == Some(c) { used(self.lanes) } else { 0 }));
        let held = &mut self.held;
        level.each_linear(
            held.as_mut_slice(),
            |held, out, value| held[out.index()] = if value { one } else { B::default() },
            |held, [out, x, y]| held[out.index()] = held[x.index()] ^ held[y.index()],
            |held, [out, x]| held[out.index()] = held[x.index()] ^ one,
        );
    }

    fn products(&mut self, level: &Level, z: &mut [[Plane; 1]], ands: &mut Ands, runs: &[Run]) {
        let (held, lanes) = (&self.held, self.lanes);
        let words = &mut self.packed[0];
        words.clear();
        words.resize(8 * z.len(), 0);
        let mut message = (0..).map(|i| i * lanes).zip(level.dots());
        // the dots that enter the ledger
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

/// Our additive share of a sum of products; `seen` gets the factors of each term.
#[inline(always)]
fn products<B: Both>(held: &[B], terms: &[(Slot, Slot)], mut seen: impl FnMut(usize, [u64; FACTORS])) -> u64 {
    let mut sum = 0;
    for (k, (x, y)) in terms.iter().enumerate() {
        let (x, y) = (held[x.index()], held[y.index()]);
        sum ^= x.product(y);
        let ([x0, x1], [y0, y1]) = (x.components(), y.components());
        seen(k, [x0, x1, y0, y1]);
    }
    sum
}

/// A mask of the lanes in use.
fn used(lanes: usize) -> u64 {
    u64::MAX >> (64 - lanes)
}

impl<B: Both> Wires for Narrow<'_, B> {
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
                self.held[out.index()] = B::new(result);
            }
        }
        for (out, result) in outs.zip(results) {
            self.held[out.index()] = B::new(result);
        }
    }

    fn results(&self, outputs: &mut [Bit]) {
        for (out, slot) in outputs.iter_mut().zip(self.program.results()) {
            out.lanes += self.lanes;
            let [first, second] = self.held[slot.index()].components();
            out.tiles.push([[first, 0, 0, 0, 0, 0, 0, 0], [second, 0, 0, 0, 0, 0, 0, 0]]);
        }
    }
}
