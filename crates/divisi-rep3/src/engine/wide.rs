//! Wires of many lanes: planes, in blocks of a few tiles, all slots of a block side by side, so that the
//! gates of a level find their operands in the cache.

use super::wires::Wires;
use crate::ands::{Ands, Run, places};
use crate::bit::{Bit, planes, used};
use crate::wire::Shape;
use divisi_circuit::{Level, LinearGate, LinearGates, Program, Slot};
use divisi_core::ProgramRun;
use divisi_core::wipe::{Lent, Pool};
use divisi_field::kernel::{Task, run};
use divisi_field::plane::LANES;
use divisi_field::{Plane, Word};

/// The most tiles in a block.
const BLOCK: usize = 4;
/// How many bytes the slots of a block take, unless those of a single tile take more: half of a usual
/// second-level cache.
const BLOCK_BYTES: usize = 512 << 10;

/// A program on the lanes of a window.
pub(super) struct Wide<'p> {
    program: &'p Program,
    lanes: usize,
    /// Tiles in a block.
    block: usize,
    /// Block by block, slot by slot, tile by tile, component by component.
    held: Lent<Plane>,
}

/// Runs a task for each block, with the block's planes as `[[Plane; N]]`, one array a slot.
macro_rules! each_block {
    ($running:expr, |$held:ident, $first:ident, $n:ident| $task:expr) => {
        let (tiles, slots, block) = ($running.tiles(), $running.program.slots(), $running.block);
        for (b, planes) in $running.held.chunks_mut((2 * block * slots).max(1)).enumerate() {
            let $first = b * block;
            each_block!(@sizes (tiles - $first).min(block), planes, $held, $n, $task, 1, 2, 3);
        }
    };
    (@sizes $tiles:expr, $block:ident, $held:ident, $n:ident, $task:expr, $($size:literal),*) => {
        match $tiles {
            $($size => {
                const $n: usize = 2 * $size;
                let $held = $block.as_chunks_mut::<$n>().0;
                $task;
            })*
            _ => {
                const $n: usize = 2 * BLOCK;
                let $held = $block.as_chunks_mut::<$n>().0;
                $task;
            }
        }
    };
}

impl<'p> Wide<'p> {
    /// The lanes of a job from tile `first` on, `lanes` of `all`.
    pub(super) fn new(
        pool: &Pool<Plane>,
        job: &ProgramRun<'p, Bit>,
        first: usize,
        lanes: usize,
        all: usize,
    ) -> Self {
        let tiles = lanes.div_ceil(LANES);
        let held = pool.zeros(2 * job.program.slots() * tiles);
        let slots = 2 * Plane::BYTES * job.program.slots();
        let block = (BLOCK_BYTES / slots.max(1)).clamp(1, BLOCK);
        let mut running = Wide { program: job.program, lanes, block, held };
        for (slot, bit) in job.wires.iter().enumerate() {
            for t in 0..tiles {
                let place = running.at(slot, t);
                let tile = if bit.lanes == all {
                    planes(&bit.tiles[first + t])
                } else {
                    // one lane for all
                    bit.tiles[0].map(|words| {
                        let mut all = Plane::splat(words[0]);
                        all.keep(used(lanes, t));
                        all
                    })
                };
                running.held[place..place + 2].copy_from_slice(&tile);
            }
        }
        running
    }

    fn tiles(&self) -> usize {
        self.lanes.div_ceil(LANES)
    }

    /// Where the planes of a tile of a slot begin.
    fn at(&self, slot: usize, tile: usize) -> usize {
        let before = tile - tile % self.block;
        let width = (self.tiles() - before).min(self.block);
        2 * (before * self.program.slots() + slot * width + tile % self.block)
    }
}

impl Wires for Wide<'_> {
    fn planes(&self, dots: usize) -> usize {
        dots * self.tiles()
    }

    /// Dot by dot, tile by tile.
    fn shape(&self, dots: usize, shape: &mut Shape) {
        for _ in 0..dots {
            shape.0.extend((0..self.tiles()).map(|t| used(self.lanes, t)));
        }
    }

    fn results(&self, outputs: &mut [Bit]) {
        for (out, slot) in outputs.iter_mut().zip(self.program.results()) {
            out.lanes += self.lanes;
            for t in 0..self.tiles() {
                let place = self.at(slot.index(), t);
                out.tiles.push([self.held[place].0, self.held[place + 1].0]);
            }
        }
    }

    fn begin(
        &mut self,
        level: &Level,
        constant: Option<usize>,
        z: &mut [[Plane; 1]],
        ands: &mut Ands,
        runs: &[Run],
    ) {
        let (lanes, all) = (self.lanes, self.tiles());
        each_block!(self, |held, first, N| {
            // the public constant 1 in the lanes in use
            let mut one = [Plane::ZERO; N];
            if let Some(c) = constant {
                for (t, tile) in one.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    tile[c] = Plane::ONES;
                    tile[c].keep(used(lanes, first + t));
                }
            }
            run(Sums { gates: level.linear(), held: &mut *held, one });
            run(Dots { level, held, z: &mut *z, tiles: all, first, ands: &mut *ands, runs });
        });
    }

    fn store(&mut self, level: &Level, z: [&[[Plane; 1]]; 2], ands: &mut Ands, runs: &[Run]) {
        let all = self.tiles();
        each_block!(self, |held, first, N| run(Store {
            level,
            held,
            z,
            tiles: all,
            first,
            ands: &mut *ands,
            runs
        }));
    }
}

/// The sums of a level on a block.
struct Sums<'a, const N: usize> {
    gates: LinearGates<'a>,
    held: &'a mut [[Plane; N]],
    one: [Plane; N],
}

impl<const N: usize> Task for Sums<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let (held, one) = (self.held, self.one);
        for gate in self.gates {
            match gate {
                LinearGate::Xor { out, x, y } => assign(
                    held,
                    out,
                    #[inline(always)]
                    |held, i| W::load(&held[x.index()][i]) ^ W::load(&held[y.index()][i]),
                ),
                LinearGate::Not { out, x } => assign(
                    held,
                    out,
                    #[inline(always)]
                    |held, i| W::load(&held[x.index()][i]) ^ W::load(&one[i]),
                ),
                LinearGate::Constant { out, value } => assign(
                    held,
                    out,
                    #[inline(always)]
                    |_, i| if value { W::load(&one[i]) } else { W::zero() },
                ),
            }
        }
    }
}

/// Plane by plane `out = value`, which may read what stood in `out`.
#[inline(always)]
fn assign<W: Word, const N: usize>(
    held: &mut [[Plane; N]],
    out: Slot,
    value: impl Fn(&[[Plane; N]], usize) -> W,
) {
    for i in 0..N {
        let value = value(held, i);
        value.store(&mut held[out.index()][i]);
    }
}

/// The products of a level on a block.
struct Dots<'a, const N: usize> {
    level: &'a Level,
    held: &'a [[Plane; N]],
    z: &'a mut [[Plane; 1]],
    /// The number of tiles of the window.
    tiles: usize,
    /// The number of the block's first tile.
    first: usize,
    ands: &'a mut Ands,
    runs: &'a [Run],
}

impl<const N: usize> Task for Dots<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for ((i, (_, terms)), place) in self.level.dots().enumerate().zip(places(self.runs)) {
            for t in 0..N / 2 {
                let tile = self.first + t;
                let mut sum = W::zero();
                for (k, (x, y)) in terms.iter().enumerate() {
                    let (x, y) = (&self.held[x.index()], &self.held[y.index()]);
                    let (x0, x1) = (W::load(&x[2 * t]), W::load(&x[2 * t + 1]));
                    let (y0, y1) = (W::load(&y[2 * t]), W::load(&y[2 * t + 1]));
                    // MultLocal: x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})
                    sum ^= (x0 & y0) ^ ((x0 ^ x1) & (y0 ^ y1));
                    if let Some(place) = place {
                        let factors = self.ands.factors(place, tile, k);
                        for (factor, out) in [x0, x1, y0, y1].into_iter().zip(factors) {
                            factor.store(out);
                        }
                    }
                }
                sum.store(&mut self.z[i * self.tiles + tile][0]);
            }
        }
    }
}

/// The results of a level on a block.
struct Store<'a, const N: usize> {
    level: &'a Level,
    held: &'a mut [[Plane; N]],
    z: [&'a [[Plane; 1]]; 2],
    tiles: usize,
    first: usize,
    ands: &'a mut Ands,
    runs: &'a [Run],
}

impl<const N: usize> Task for Store<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for ((i, (out, _)), place) in self.level.dots().enumerate().zip(places(self.runs)) {
            let held = &mut self.held[out.index()];
            for t in 0..N / 2 {
                let tile = self.first + t;
                for (c, z) in self.z.iter().enumerate() {
                    let z = W::load(&z[i * self.tiles + tile][0]);
                    z.store(&mut held[2 * t + c]);
                    if let Some(place) = place {
                        z.store(&mut self.ands.result(place, tile)[c]);
                    }
                }
            }
        }
    }
}
