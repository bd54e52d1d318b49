//! Boolean programs: XORs are local, and each AND uses a Beaver triple, all ANDs of a level in one round.

use super::{AuthBit, AuthByte, Spdz};
use crate::part::Host;
use crate::share::Auth;
use crate::table::bytes;
use divisi_circuit::{LinearGate, Program};
use divisi_core::{Abort, Boolean, Convert, Lanes, Lookups, Misuse, ProgramRun, Step, step};
use divisi_field::Gf2;

const INPUTS: Step = step!("program.inputs");
const BITS: Step = step!("bits");

impl<F: Host> Boolean for Spdz<F> {
    type Bit = AuthBit<F>;

    #[inline(never)]
    fn public_bit(&mut self, values: &[bool]) -> AuthBit<F> {
        self.constant_bit(values)
    }

    #[inline(never)]
    fn join_bits(&mut self, parts: &[&AuthBit<F>]) -> AuthBit<F> {
        let mut all = AuthBit::with_capacity(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| all.append(part));
        all
    }

    /// Level by level: first the sums of all jobs, then all their products together.
    ///
    /// Adversary: n - 1 malicious; what is opened enters the next check. Cost: 2 bits a product to each peer,
    /// one round a level (test `counts_of_programs`).
    #[inline(never)]
    fn run(&mut self, jobs: &mut [ProgramRun<'_, AuthBit<F>>]) -> Result<(), Abort> {
        let mut running = jobs.iter().map(|job| self.placed(job)).collect::<Result<Vec<_>, Abort>>()?;
        // one request for the products of all levels
        let all = jobs.iter().zip(&running).map(|(job, (lanes, _))| lanes * job.program.and_count()).sum();
        self.stock_ands(all)?;
        let levels = jobs.iter().map(|job| job.program.levels().len()).max().unwrap_or(0);
        for l in 0..levels {
            let (mut x, mut y) = (AuthBit::default(), AuthBit::default());
            for (job, (lanes, slots)) in jobs.iter().zip(&mut running) {
                let Some(level) = job.program.levels().get(l) else { continue };
                for gate in level.linear() {
                    let (out, value) = self.linear_gate(gate, slots, *lanes)?;
                    slots[out] = value;
                }
                for (left, right) in level.dots().flat_map(|(_, terms)| terms) {
                    x.append(&slots[left.index()]);
                    y.append(&slots[right.index()]);
                }
            }
            if x.is_empty() {
                continue;
            }
            let products = self.multiply_ands(&[(x.all(), y.all())])?;
            let mut at = 0;
            for (job, (lanes, slots)) in jobs.iter().zip(&mut running) {
                let Some(level) = job.program.levels().get(l) else { continue };
                for (out, terms) in level.dots() {
                    let mut sum = AuthBit::zeros(*lanes);
                    for _ in terms {
                        let fits = sum.add(&products.part(at..at + *lanes));
                        debug_assert!(fits || *lanes == 0);
                        at += *lanes;
                    }
                    slots[out.index()] = sum;
                }
            }
        }
        for (job, (_, slots)) in jobs.iter_mut().zip(&running) {
            job.wires = job.program.results().iter().map(|slot| slots[slot.index()].clone()).collect();
        }
        Ok(())
    }
}

impl<F: Host> Spdz<F> {
    /// How many lanes a job has, and its slots with the inputs in the first of them.
    fn placed(&self, job: &ProgramRun<'_, AuthBit<F>>) -> Result<(usize, Vec<AuthBit<F>>), Abort> {
        let misfit = |what| self.party.session.misuse(INPUTS, what);
        let program: &Program = job.program;
        if job.wires.len() != program.input_bits() {
            return Err(misfit(Misuse::CountsDiffer));
        }
        let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
        let mut slots = Vec::with_capacity(program.slots());
        for wire in &job.wires {
            // a wire of one lane serves all lanes
            let mut spread = AuthBit::zeros(lanes);
            if !spread.add(wire) {
                return Err(misfit(Misuse::LanesDiffer));
            }
            slots.push(spread);
        }
        slots.resize_with(program.slots().max(slots.len()), || AuthBit::zeros(lanes));
        Ok((lanes, slots))
    }

    fn linear_gate(
        &self,
        gate: LinearGate,
        slots: &[AuthBit<F>],
        lanes: usize,
    ) -> Result<(usize, AuthBit<F>), Abort> {
        Ok(match gate {
            LinearGate::Constant { out, value } => {
                let mut constant = AuthBit::zeros(lanes);
                self.party.add_constant(&mut constant, Gf2::new(u8::from(value)))?;
                (out.index(), constant)
            }
            LinearGate::Not { out, x } => {
                let mut not = slots[x.index()].clone();
                self.party.add_constant(&mut not, Gf2::new(1))?;
                (out.index(), not)
            }
            LinearGate::Xor { out, x, y } => {
                let mut sum = slots[x.index()].clone();
                let fits = sum.add(&slots[y.index()]);
                debug_assert!(fits);
                (out.index(), sum)
            }
        })
    }
}

/// The bits of a byte, bit `i` at index `i`. One round: BitDec.
impl<F: Host> Convert<AuthByte<F>, [AuthBit<F>; 8]> for Spdz<F> {
    #[inline(never)]
    fn convert(&mut self, x: AuthByte<F>) -> Result<[AuthBit<F>; 8], Abort> {
        let (bits, lanes) = (self.decompose(&x, 8)?, x.len());
        Ok(std::array::from_fn(|k| bits.part(k * lanes..(k + 1) * lanes)))
    }
}

/// The byte whose bit `i` is `x[i]`; local.
impl<F: Host> Convert<[AuthBit<F>; 8], AuthByte<F>> for Spdz<F> {
    #[inline(never)]
    fn convert(&mut self, x: [AuthBit<F>; 8]) -> Result<AuthByte<F>, Abort> {
        let lanes = x[0].len();
        if x.iter().any(|bit| bit.len() != lanes) {
            return Err(self.party.session.misuse(BITS, Misuse::LanesDiffer));
        }
        let mut planes = Auth::with_capacity(8 * lanes);
        x.iter().for_each(|bit| planes.append(bit));
        Ok(bytes(&planes, lanes))
    }
}
