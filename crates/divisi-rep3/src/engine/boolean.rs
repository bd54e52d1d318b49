//! Boolean programs on the engine: sums are local, and each sum of products takes one Reshare; all Reshares
//! of a level go in one message.
//!
//! Lanes run in windows that bound the memory; in a window all jobs run level by level ([`Wires`]).
//!
//! With active security both factors and the result of each product enter the ledger ([`crate::ands`])
//! \[S6\]. When the ledger has grown large, its products are verified at once, between two levels, which
//! frees the memory. The values stay unverified until [`Rep3::close`] and the settlement after it, which
//! verify the rest.

use super::Rep3;
use super::narrow::narrow;
use super::wide::Wide;
use super::wires::Wires;
use crate::ands::NARROW;
use crate::bit::{Bit, planes};
use crate::garbled::Rounds;
use crate::origin::Origin;
use crate::share::Byte;
use crate::wire::Shape;
use divisi_circuit::{Level, Program};
use divisi_core::{Abort, Boolean, Convert, Lanes, Misuse, ProgramRun, Step, step};
use divisi_field::Plane;
use divisi_field::plane::LANES;
use zeroize::Zeroizing;

const PRODUCTS: Step = step!("products");
const INPUTS: Step = step!("inputs");
const BITS: Step = step!("bits");

/// The most tiles in a window.
const WINDOW: usize = 32;
/// How many bytes of products are kept before they are verified.
const PIECE: usize = 16 << 20;
/// How many bytes of wires, or of the products of one level, a window may take, unless a single tile takes
/// more.
const WINDOW_BYTES: usize = 48 << 20;

impl Boolean for Rep3 {
    type Bit = Bit;

    fn public_bit(&mut self, values: &[bool]) -> Bit {
        let mut bit = Bit::zero(values.len(), self.trio.origin());
        if let Some(c) = self.constant() {
            for (tile, values) in bit.tiles.iter_mut().zip(values.chunks(LANES)) {
                for (word, values) in tile[c].iter_mut().zip(values.chunks(64)) {
                    *word = values.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
                }
            }
        }
        bit
    }

    fn join_bits(&mut self, parts: &[&Bit]) -> Bit {
        // this function cannot return an error: a value of another engine ends the session, and no engine
        // accepts the result
        let origin = self.trio.admit(BITS, parts.iter().map(|part| part.origin)).unwrap_or(Origin::NONE);
        let mut all = Bit::zero(parts.iter().map(|part| part.lanes).sum(), origin);
        let mut at = 0;
        for part in parts {
            all.put(at, part);
            at += part.lanes;
        }
        all
    }

    fn run(&mut self, jobs: &mut [ProgramRun<'_, Bit>]) -> Result<(), Abort> {
        if self.rounds == Rounds::Constant {
            return self.run_in_constant_rounds(jobs);
        }
        let lanes = jobs.iter().map(|job| self.lanes_of(job)).collect::<Result<Vec<usize>, Abort>>()?;
        let window = jobs.iter().map(|job| window(job.program, jobs.len())).min().unwrap_or(1);
        let origin = self.trio.admit(INPUTS, jobs.iter().flat_map(|job| &job.wires).map(|bit| bit.origin))?;
        let empty = |lanes: usize| {
            let tiles = Vec::with_capacity(lanes.div_ceil(LANES));
            Bit { lanes: 0, tiles, origin }
        };
        let outputs = jobs.iter().zip(&lanes);
        let mut outputs: Vec<Vec<Bit>> = outputs
            .map(|(job, lanes)| (0..job.program.output_bits()).map(|_| empty(*lanes)).collect())
            .collect();
        for first in (0..lanes.iter().map(|lanes| lanes.div_ceil(LANES)).max().unwrap_or(0)).step_by(window) {
            let pool = self.trio.pool.clone();
            let mut running = Vec::with_capacity(jobs.len());
            for (j, (job, lanes)) in jobs.iter().zip(&lanes).enumerate() {
                let here = lanes.saturating_sub(first * LANES).min(window * LANES);
                if here > 0 {
                    let wires: Box<dyn Wires> = if *lanes <= NARROW {
                        narrow(job, *lanes)
                    } else {
                        Box::new(Wide::new(&pool, job, first, here, *lanes))
                    };
                    running.push((j, job.program, here, wires));
                }
            }
            self.run_levels(&mut running)?;
            for (j, _, _, wires) in &running {
                wires.results(&mut outputs[*j]);
            }
        }
        for (job, outputs) in jobs.iter_mut().zip(outputs) {
            job.wires = outputs;
        }
        Ok(())
    }

    fn is_free_of_depth(&self) -> bool {
        self.rounds == Rounds::Constant
    }
}

impl Rep3 {
    /// How many lanes a job has; a misuse if its inputs do not fit its program or each other.
    pub(crate) fn lanes_of(&self, job: &ProgramRun<'_, Bit>) -> Result<usize, Abort> {
        if job.wires.len() != job.program.input_bits() {
            return Err(self.trio.session.misuse(INPUTS, Misuse::CountsDiffer));
        }
        let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
        if job.wires.iter().any(|bit| bit.lanes != 1 && bit.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        Ok(lanes)
    }

    /// All levels of all jobs, a round each.
    fn run_levels(
        &mut self,
        running: &mut [(usize, &Program, usize, Box<dyn Wires + '_>)],
    ) -> Result<(), Abort> {
        let constant = self.constant();
        let records = self.records();
        // [S6] every dot enters the ledger
        let recorded = |level: &Level| if records { level.dot_count() } else { 0 };
        let levels = running.iter().map(|(_, program, ..)| program.levels().len()).max().unwrap_or(0);
        let mut shape = Shape::default();
        let mut z: Zeroizing<Vec<[Plane; 1]>> = Zeroizing::new(Vec::new());
        // room for the largest message: what a vector leaves behind when it grows is not wiped
        let planes = |l: usize| {
            let of = |(_, program, _, wires): &(_, &Program, _, Box<dyn Wires>)| {
                program.levels().get(l).map_or(0, |level| wires.planes(level.dot_count()))
            };
            running.iter().map(of).sum::<usize>()
        };
        z.reserve((0..levels).map(planes).max().unwrap_or(0));
        let (mut runs, mut ends) = (Vec::new(), Vec::new());
        for l in 0..levels {
            // 1. sums, and our additive shares of the products
            z.clear();
            shape.0.clear();
            runs.clear();
            ends.clear();
            for (_, program, lanes, wires) in running.iter_mut() {
                let Some(level) = program.levels().get(l) else { continue };
                let (first, first_run) = (z.len(), runs.len());
                wires.shape(level.dot_count(), &mut shape);
                z.resize(shape.0.len(), [Plane::ZERO]);
                let ands = &mut self.owed.ands;
                let mut terms = level.dots().take(recorded(level)).map(|(_, terms)| terms.len()).peekable();
                while let Some(terms_each) = terms.next() {
                    let mut alike = 1;
                    while terms.next_if_eq(&terms_each).is_some() {
                        alike += 1;
                    }
                    while alike > 0 {
                        let run = ands.place(&self.trio.pool, *lanes, terms_each, alike);
                        alike -= run.dots;
                        runs.push(run);
                    }
                }
                ends.push(runs.len());
                wires.begin(level, constant, &mut z[first..], ands, &runs[first_run..]);
            }
            if z.is_empty() {
                continue;
            }
            // 2. one message
            let second = self.trio.reshare(PRODUCTS, &mut z, &shape)?;
            // 3. results
            let (mut z, mut second, mut first_run) = (z.as_slice(), second.as_slice(), 0);
            let mut ends = ends.iter();
            for (_, program, _, wires) in running.iter_mut() {
                let Some(level) = program.levels().get(l) else { continue };
                let n = wires.planes(level.dot_count());
                let end = ends.next().map_or(first_run, |end| *end);
                wires.store(level, [&z[..n], &second[..n]], &mut self.owed.ands, &runs[first_run..end]);
                (z, second, first_run) = (&z[n..], &second[n..], end);
            }
            if self.owed.ands.bytes() > PIECE {
                let place = self.trio.session.detour("verification");
                let verified = self.trio.verify_piece(&self.owed.ands);
                self.trio.session.back(place);
                verified.map_err(|abort| self.trio.session.fail(abort))?;
                // what passed is owed no more
                let piece = std::mem::take(&mut self.owed.ands);
                self.owed.verified += piece.products();
            }
        }
        Ok(())
    }
}

/// The number of tiles of a program that run at once, if there are this many jobs.
fn window(program: &Program, jobs: usize) -> usize {
    let widest =
        program.levels().iter().map(|level| level.and_count() + level.dot_count()).max().unwrap_or(0);
    let tile = Plane::BYTES * (2 * program.slots()).max(4 * widest).max(1);
    (WINDOW_BYTES / jobs.max(1) / tile).clamp(1, WINDOW)
}

impl Convert<Byte, [Bit; 8]> for Rep3 {
    /// Local: a byte is its bits' planes.
    fn convert(&mut self, x: Byte) -> Result<[Bit; 8], Abort> {
        if !x.is_replicated() {
            return Err(self.trio.session.misuse(BITS, Misuse::ChainUnfinished));
        }
        let origin = self.trio.admit(BITS, [x.origin])?;
        let plane = |i: usize| x.tiles.iter().map(move |tile| [tile[0][i].0, tile[1][i].0]).collect();
        Ok(std::array::from_fn(|i| Bit { lanes: x.lanes, tiles: plane(i), origin }))
    }
}

impl Convert<[Bit; 8], Byte> for Rep3 {
    /// The conversion from bits back to a byte; local, too.
    fn convert(&mut self, x: [Bit; 8]) -> Result<Byte, Abort> {
        let lanes = x[0].lanes;
        if x.iter().any(|bit| bit.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        let mut byte = Byte::zero(lanes).of(self.trio.admit(BITS, x.iter().map(|bit| bit.origin))?);
        for (i, bit) in x.iter().enumerate() {
            for (to, from) in byte.tiles.iter_mut().zip(&bit.tiles) {
                [to[0][i], to[1][i]] = planes(from);
            }
        }
        Ok(byte)
    }
}
