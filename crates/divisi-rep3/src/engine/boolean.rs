//! Boolean programs on the engine (COSTS T13): sums are local, and each sum of products takes one Reshare, all of a level in one
//! message.
//!
//! Lanes run in windows that bound the memory; in a window all jobs run level by level. Wires lie in blocks of a few tiles, all
//! slots of a block side by side, so that the gates of a level find their operands in the cache.
//!
//! With active security both factors and the result of each product enter the ledger ([`crate::ands`]) \[S6\]. When that has grown
//! large, what is in it is verified at once, between two levels, and memory is free again: values stay unverified until
//! [`Rep3::close`] and its settlement, which verify the rest.

use super::Rep3;
use crate::ands::{Ands, Place, shares};
use crate::bit::{Bit, used};
use crate::pool::Pool;
use crate::share::Byte;
use crate::wire::Shape;
use divisi_circuit::{Level, Linear, Program};
use divisi_core::{Abort, Boolean, Check, Convert, Job, Lanes, Session, Step, step};
use divisi_field::kernel::{Task, run};
use divisi_field::plane::LANES;
use divisi_field::{Plane, Word};
use zeroize::Zeroizing;

const PRODUCTS: Step = step!("products");
const INPUTS: Step = step!("inputs");
const BITS: Step = step!("bits");

/// Tiles in a block.
const BLOCK: usize = 4;
/// The most tiles in a window.
const WINDOW: usize = 32;
/// How many bytes of products are kept before they are verified.
const PIECE: usize = 48 << 20;
/// How many bytes of wires, or of the products of one level, a window may take, unless a single tile takes more.
const WINDOW_BYTES: usize = 48 << 20;

impl Boolean for Rep3 {
    type Bit = Bit;

    fn public_bit(&mut self, values: &[bool]) -> Bit {
        let mut bit = Bit::zero(values.len());
        if let Some(c) = self.constant() {
            for (tile, values) in bit.tiles.iter_mut().zip(values.chunks(LANES)) {
                for (word, values) in tile[c].0.iter_mut().zip(values.chunks(64)) {
                    *word = values.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
                }
            }
        }
        bit
    }

    fn join_bits(&mut self, parts: &[&Bit]) -> Bit {
        let mut all = Bit::zero(parts.iter().map(|part| part.lanes).sum());
        let mut at = 0;
        for part in parts {
            all.put(at, part);
            at += part.lanes;
        }
        all
    }

    fn run(&mut self, jobs: &mut [Job<'_, Bit>]) -> Result<(), Abort> {
        let lanes = jobs.iter().map(|job| self.lanes_of(job)).collect::<Result<Vec<usize>, Abort>>()?;
        let window = jobs.iter().map(|job| window(job.program, jobs.len())).min().unwrap_or(1);
        let mut outputs: Vec<Vec<Bit>> =
            jobs.iter().map(|job| vec![Bit::zero(0); job.program.output_bits()]).collect();
        for first in (0..lanes.iter().map(|lanes| lanes.div_ceil(LANES)).max().unwrap_or(0)).step_by(window) {
            let pool = self.trio.pool.clone();
            let mut running = Vec::with_capacity(jobs.len());
            for (j, (job, lanes)) in jobs.iter().zip(&lanes).enumerate() {
                let here = lanes.saturating_sub(first * LANES).min(window * LANES);
                if here > 0 {
                    running.push((j, Running::new(&pool, job, first, here, *lanes)));
                }
            }
            let mut alone: Vec<&mut Running<'_>> = running.iter_mut().map(|(_, running)| running).collect();
            self.run_levels(&mut alone)?;
            for (j, running) in &running {
                running.results(&mut outputs[*j]);
            }
        }
        for (job, outputs) in jobs.iter_mut().zip(outputs) {
            job.wires = outputs;
        }
        Ok(())
    }
}

impl Rep3 {
    /// How many lanes a job has, if its inputs are those of its program.
    fn lanes_of(&self, job: &Job<'_, Bit>) -> Result<usize, Abort> {
        if job.wires.len() != job.program.input_bits() {
            return Err(self.trio.session.misuse(INPUTS, "not as many bits as the program has input wires"));
        }
        let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
        if job.wires.iter().any(|bit| bit.lanes != 1 && bit.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        Ok(lanes)
    }

    /// All levels of all jobs, a round each.
    fn run_levels(&mut self, running: &mut [&mut Running<'_>]) -> Result<(), Abort> {
        let constant = self.constant();
        let records = self.records();
        // [S6] every dot enters the ledger; the mutant forgets the last one of each level
        let forgotten = usize::from(self.trio.session.mutated(Check::S6));
        let recorded = |level: &Level| if records { level.dot_count().saturating_sub(forgotten) } else { 0 };
        let levels = running.iter().map(|running| running.program.levels().len()).max().unwrap_or(0);
        let mut shape = Shape::default();
        let mut z: Zeroizing<Vec<[Plane; 1]>> = Zeroizing::new(Vec::new());
        let mut places = Vec::new();
        for l in 0..levels {
            // 1. sums, and our additive shares of the products
            z.clear();
            shape.0.clear();
            places.clear();
            for running in running.iter_mut() {
                let Some(level) = running.program.levels().get(l) else { continue };
                running.sums(level, constant);
                let (dots, tiles) = (level.dot_count(), running.tiles());
                let (first, first_place) = (z.len(), places.len());
                z.resize(first + dots * tiles, [Plane::ZERO]);
                for _ in 0..dots {
                    shape.0.extend((0..tiles).map(|t| used(running.lanes, t)));
                }
                places.extend(
                    level
                        .dots()
                        .take(recorded(level))
                        .map(|(_, terms)| self.owed.ands.place(&self.trio.pool, running.lanes, terms.len())),
                );
                running.products(level, &mut z[first..], &mut self.owed.ands, &places[first_place..]);
            }
            if z.is_empty() {
                continue;
            }
            // 2. one message
            let second = self.trio.reshare(PRODUCTS, &mut z, &shape)?;
            // 3. results
            let (mut z, mut second, mut places) = (z.as_slice(), second.as_slice(), places.as_slice());
            for running in running.iter_mut() {
                let Some(level) = running.program.levels().get(l) else { continue };
                let n = level.dot_count() * running.tiles();
                let own = recorded(level);
                running.store(level, [&z[..n], &second[..n]], &mut self.owed.ands, &places[..own]);
                (z, second, places) = (&z[n..], &second[n..], &places[own..]);
            }
            if self.owed.ands.bytes() > PIECE {
                let piece = std::mem::take(&mut self.owed.ands);
                self.owed.verified += piece.products();
                let trio = &mut self.trio;
                Session::aside(
                    trio,
                    "verification",
                    |trio| &mut trio.session,
                    |trio| trio.verify_piece(&piece),
                )?;
            }
        }
        Ok(())
    }
}

/// How many tiles of a program run at once, beside so many others.
fn window(program: &Program, jobs: usize) -> usize {
    let widest =
        program.levels().iter().map(|level| level.and_count() + level.dot_count()).max().unwrap_or(0);
    let tile = Plane::BYTES * (2 * program.slots()).max(4 * widest).max(1);
    (WINDOW_BYTES / jobs.max(1) / tile).clamp(1, WINDOW)
}

/// A program on the lanes of a window.
struct Running<'p> {
    program: &'p Program,
    lanes: usize,
    /// Block by block, slot by slot, tile by tile, component by component.
    held: Vec<Plane>,
    pool: Pool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.held));
    }
}

/// Calls a task for each block, with the block's planes as `[[Plane; N]]`, one array a slot.
macro_rules! each_block {
    ($running:expr, |$held:ident, $first:ident, $n:ident| $task:expr) => {
        let (tiles, slots) = ($running.tiles(), $running.program.slots());
        for (b, block) in $running.held.chunks_mut((2 * BLOCK * slots).max(1)).enumerate() {
            let $first = b * BLOCK;
            each_block!(@sizes tiles - $first, block, $held, $n, $task, 1, 2, 3);
        }
    };
    (@sizes $tiles:expr, $block:ident, $held:ident, $n:ident, $task:expr, $($size:literal),*) => {
        match $tiles {
            $($size => {
                const $n: usize = 2 * $size;
                let $held = $block.as_chunks_mut::<$n>().0;
                run($task);
            })*
            _ => {
                const $n: usize = 2 * BLOCK;
                let $held = $block.as_chunks_mut::<$n>().0;
                run($task);
            }
        }
    };
}

impl<'p> Running<'p> {
    /// The lanes of a job from tile `first` on, `lanes` of `all`.
    fn new(pool: &Pool, job: &Job<'p, Bit>, first: usize, lanes: usize, all: usize) -> Self {
        let tiles = lanes.div_ceil(LANES);
        let held = pool.take(2 * job.program.slots() * tiles);
        let mut running = Running { program: job.program, lanes, held, pool: pool.clone() };
        for (slot, bit) in job.wires.iter().enumerate() {
            for t in 0..tiles {
                let place = running.at(slot, t);
                let tile = if bit.lanes == all {
                    bit.tiles[first + t]
                } else {
                    // one lane for all
                    bit.tiles[0].map(|plane| {
                        let mut all = Plane::splat(plane.lane(0));
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

    /// Where a tile of a slot lies.
    fn at(&self, slot: usize, tile: usize) -> usize {
        let before = tile - tile % BLOCK;
        let width = (self.tiles() - before).min(BLOCK);
        2 * (before * self.program.slots() + slot * width + tile % BLOCK)
    }

    /// Append the output wires' lanes.
    fn results(&self, outputs: &mut [Bit]) {
        for (out, slot) in outputs.iter_mut().zip(self.program.results()) {
            out.lanes += self.lanes;
            for t in 0..self.tiles() {
                let place = self.at(slot.index(), t);
                out.tiles.push([self.held[place], self.held[place + 1]]);
            }
        }
    }

    /// The sums of a level.
    fn sums(&mut self, level: &Level, constant: Option<usize>) {
        let lanes = self.lanes;
        each_block!(self, |held, first, N| {
            // what the public constant 1 is in the lanes in use
            let mut one = [Plane::ZERO; N];
            if let Some(c) = constant {
                for (t, tile) in one.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    tile[c] = Plane::ONES;
                    tile[c].keep(used(lanes, first + t));
                }
            }
            Sums { gates: level.linear(), held, one }
        });
    }

    /// Our additive shares of the products of a level, dot by dot, tile by tile; and their factors to the ledger.
    fn products(&mut self, level: &Level, z: &mut [[Plane; 1]], ands: &mut Ands, places: &[Place]) {
        let all = self.tiles();
        if shares(self.lanes) {
            // a single tile, of which slot s holds planes 2 s and 2 s + 1
            for ((_, terms), place) in level.dots().zip(places) {
                for (k, (x, y)) in terms.iter().enumerate() {
                    let [x, y] = [2 * x.index(), 2 * y.index()];
                    let held = &self.held;
                    ands.share_factors(*place, k, [&held[x], &held[x + 1], &held[y], &held[y + 1]]);
                }
            }
        }
        let places = if shares(self.lanes) { &[] } else { places };
        each_block!(self, |held, first, N| Dots {
            level,
            held,
            z: &mut *z,
            tiles: all,
            first,
            ands: &mut *ands,
            places
        });
    }

    /// The results of the products, from both components.
    fn store(&mut self, level: &Level, z: [&[[Plane; 1]]; 2], ands: &mut Ands, places: &[Place]) {
        let all = self.tiles();
        if shares(self.lanes) {
            for ((a, b), place) in z[0].iter().zip(z[1]).zip(places) {
                ands.share_result(*place, [&a[0], &b[0]]);
            }
        }
        let places = if shares(self.lanes) { &[] } else { places };
        each_block!(self, |held, first, N| Store {
            level,
            held,
            z,
            tiles: all,
            first,
            ands: &mut *ands,
            places
        });
    }
}

/// The sums of a level on a block.
struct Sums<'a, const N: usize> {
    gates: &'a [Linear],
    held: &'a mut [[Plane; N]],
    one: [Plane; N],
}

impl<const N: usize> Task for Sums<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let held = self.held;
        for gate in self.gates {
            match *gate {
                Linear::Xor { out, x, y } => {
                    for i in 0..N {
                        let sum = W::load(&held[x.index()][i]) ^ W::load(&held[y.index()][i]);
                        sum.store(&mut held[out.index()][i]);
                    }
                }
                Linear::Not { out, x } => {
                    for i in 0..N {
                        let sum = W::load(&held[x.index()][i]) ^ W::load(&self.one[i]);
                        sum.store(&mut held[out.index()][i]);
                    }
                }
                Linear::Constant { out, value } => {
                    for i in 0..N {
                        let constant = if value { W::load(&self.one[i]) } else { W::zero() };
                        constant.store(&mut held[out.index()][i]);
                    }
                }
            }
        }
    }
}

/// The products of a level on a block.
struct Dots<'a, const N: usize> {
    level: &'a Level,
    held: &'a [[Plane; N]],
    z: &'a mut [[Plane; 1]],
    /// Tiles of the window.
    tiles: usize,
    /// The first one of the block.
    first: usize,
    ands: &'a mut Ands,
    places: &'a [Place],
}

impl<const N: usize> Task for Dots<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (i, (_, terms)) in self.level.dots().enumerate() {
            for t in 0..N / 2 {
                let tile = self.first + t;
                let mut sum = W::zero();
                for (k, (x, y)) in terms.iter().enumerate() {
                    let (x, y) = (&self.held[x.index()], &self.held[y.index()]);
                    let (x0, x1) = (W::load(&x[2 * t]), W::load(&x[2 * t + 1]));
                    let (y0, y1) = (W::load(&y[2 * t]), W::load(&y[2 * t + 1]));
                    // MultLocal: x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})
                    sum ^= (x0 & y0) ^ ((x0 ^ x1) & (y0 ^ y1));
                    if let Some(place) = self.places.get(i) {
                        let factors = self.ands.factors(*place, tile, k);
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
    places: &'a [Place],
}

impl<const N: usize> Task for Store<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (i, (out, _)) in self.level.dots().enumerate() {
            let held = &mut self.held[out.index()];
            for t in 0..N / 2 {
                let tile = self.first + t;
                for (c, z) in self.z.iter().enumerate() {
                    let z = W::load(&z[i * self.tiles + tile][0]);
                    z.store(&mut held[2 * t + c]);
                    if let Some(place) = self.places.get(i) {
                        z.store(&mut self.ands.result(*place, tile)[c]);
                    }
                }
            }
        }
    }
}

impl Convert<Byte, [Bit; 8]> for Rep3 {
    /// Local: a byte is its bits' planes.
    fn convert(&mut self, x: Byte) -> Result<[Bit; 8], Abort> {
        if !x.is_replicated() {
            return Err(self.trio.session.misuse(BITS, "a byte of a chain of layers that was not finished"));
        }
        let plane = |i: usize| x.tiles.iter().map(move |tile| [tile[0][i], tile[1][i]]).collect();
        Ok(std::array::from_fn(|i| Bit { lanes: x.lanes, tiles: plane(i) }))
    }
}

impl Convert<[Bit; 8], Byte> for Rep3 {
    /// The way back, local too.
    fn convert(&mut self, x: [Bit; 8]) -> Result<Byte, Abort> {
        let lanes = x[0].lanes;
        if x.iter().any(|bit| bit.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        let mut byte = Byte::zero(lanes);
        for (i, bit) in x.iter().enumerate() {
            for (to, from) in byte.tiles.iter_mut().zip(&bit.tiles) {
                to[0][i] = from[0];
                to[1][i] = from[1];
            }
        }
        Ok(byte)
    }
}
