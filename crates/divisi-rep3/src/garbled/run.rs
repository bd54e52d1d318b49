//! A call from end to end, in each role.

use super::bits;
use super::evaluator::{Evaluator, receive_hash};
use super::garbler::{self, Garbler};
use super::plan::{Plan, Role};
use super::secrets;
use super::walk::walk;
use super::weak::Weakness;
use crate::bit::Bit;
use crate::engine::Rep3;
use crate::origin::Origin;
use crate::trio::Trio;
use divisi_circuit::Program;
use divisi_core::{Abort, ProgramRun, Step, step};
use divisi_ot::{Kept, wipe};
use std::borrow::Cow;

const INPUTS: Step = step!("inputs");

/// The outputs of each part, to be filled in.
type Outputs = Vec<Vec<Bit>>;

impl Rep3 {
    /// Run all jobs in one call, whatever their depth: the same shares as level by level. What the inputs owe
    /// the outputs owe too, for this engine does.
    pub(crate) fn run_in_constant_rounds(&mut self, jobs: &mut [ProgramRun<'_, Bit>]) -> Result<(), Abort> {
        let lanes = jobs.iter().map(|job| self.lanes_of(job)).collect::<Result<Vec<usize>, Abort>>()?;
        let wires = jobs.iter().flat_map(|job| &job.wires);
        let origin = self.trio().admit(INPUTS, wires.map(|bit| bit.origin))?;
        let programs: Vec<Cow<'_, Program>> = jobs.iter().map(|job| job.program.folded()).collect();
        let parts: Vec<(&Program, usize)> =
            programs.iter().zip(&lanes).map(|(program, lanes)| (&**program, *lanes)).collect();
        let Rep3 { trio, handles, .. } = self;
        // 1. the call's number is spent here, before anything is derived from it
        let plan = Plan::next(&mut trio.session, handles, &parts)?;
        // inputs may rest on openings that somebody split: no label before all views were compared
        if !trio.is_compared() && !trio.is_weak(Weakness::NoBarrier) {
            trio.barrier()?;
        }
        let inputs: Vec<&[Bit]> = plan.parts.iter().map(|(place, _)| &jobs[*place].wires[..]).collect();
        let outputs =
            if plan.parts.is_empty() { Outputs::new() } else { call(trio, &plan, &inputs, origin)? };
        let places: Vec<usize> = plan.parts.iter().map(|(place, _)| *place).collect();
        for (job, lanes) in jobs.iter_mut().zip(&lanes) {
            job.wires = (0..job.program.output_bits()).map(|_| Bit::zero(*lanes, origin)).collect();
        }
        for (place, outputs) in places.into_iter().zip(outputs) {
            if let Some(job) = jobs.get_mut(place) {
                job.wires = outputs;
            }
        }
        Ok(())
    }
}

/// One call: our shares of the outputs of each part.
fn call(trio: &mut Trio, plan: &Plan<'_>, inputs: &[&[Bit]], origin: Origin) -> Result<Outputs, Abort> {
    let zero = |lanes: usize| Bit::zero(lanes, origin);
    let mut outputs: Outputs = plan
        .parts
        .iter()
        .map(|(_, part)| (0..part.program.output_bits()).map(|_| zero(part.lanes)).collect())
        .collect();
    // labels lie in vectors that wipe themselves; what calls leave of them, and of Delta, lies on the stack
    wipe::stack(|| match plan.roles.role(trio.me()) {
        Role::Evaluator => evaluate(trio, plan, inputs, &mut outputs),
        role => garble(trio, role, plan, inputs, &mut outputs),
    })?;
    Ok(outputs)
}

/// P1 and P2.
fn garble(
    trio: &mut Trio,
    role: Role,
    plan: &Plan<'_>,
    inputs: &[&[Bit]],
    outputs: &mut Outputs,
) -> Result<(), Abort> {
    let roles = plan.roles;
    let first = role == Role::First;
    let other = if first { roles.second } else { roles.first };
    let mut r12 = secrets::mask(trio, other, plan);
    let mut r23 = (!first).then(|| secrets::mask(trio, roles.evaluator, plan));
    let (bare, plain) = (trio.is_weak(Weakness::NoR12), trio.is_weak(Weakness::NoR23));
    let seed = secrets::expand(trio, other, plan);
    let hash = garbler::hash(trio, &seed, plan);
    let mut garbler = Garbler::begin(trio, role, seed, &hash, plan)?;
    // what P1 keeps until z has come: labels of outputs, and r12
    let kept = if first { plan.output_bits() } else { 0 };
    let (mut zeros, mut masks) = (Kept::<u128>::with_capacity(kept), Kept::<u8>::with_capacity(kept));
    let last = plan.parts.len();
    for (at, ((_, part), (wires, outputs))) in
        (1..).zip(plan.parts.iter().zip(inputs.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let n = part.program.output_bits() * lanes;
            let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
            let mut r12 = bits::drawn(&mut r12, n);
            let mut r23 = r23.as_mut().map(|r23| bits::drawn(r23, n));
            if plain && let Some(r23) = &mut r23 {
                r23.fill(0);
            }
            let x = garbler.send_inputs(&sides[0], &sides[1])?;
            let r = garbler.send_masks(n, r23.as_ref().map(|r23| &r23[..]))?;
            garbler.expect(part.program.and_count() * lanes);
            let mut y = walk(part.program, lanes, &x, &mut garbler)?;
            y.iter_mut().zip(r.iter()).for_each(|(y, r)| *y ^= r);
            garbler.send_decoding(&y, &r12, at == last && from + lanes == part.lanes)?;
            if bare {
                r12.fill(0);
            }
            // y12 = r12, y23 = r23
            bits::put(outputs, usize::from(first), from, lanes, &r12);
            if let Some(r23) = &r23 {
                bits::put(outputs, 1, from, lanes, r23);
            }
            if first {
                zeros.extend_from_slice(&y);
                masks.extend_from_slice(&r12);
            }
        }
    }
    if first {
        let z = garbler.receive_result(&zeros, &masks)?;
        // y31 = z
        put_result(plan, outputs, 0, &z);
    }
    Ok(())
}

/// P3.
fn evaluate(trio: &mut Trio, plan: &Plan<'_>, inputs: &[&[Bit]], outputs: &mut Outputs) -> Result<(), Abort> {
    let plain = trio.is_weak(Weakness::NoR23);
    let mut stream = secrets::mask(trio, plan.roles.second, plan);
    let hash = receive_hash(trio, plan)?;
    let mut evaluator = Evaluator::begin(trio, &hash, plan);
    let mut z = Kept::<u8>::with_capacity(plan.output_bits());
    let mut digest = evaluator.begin_result();
    let last = plan.parts.len();
    for (at, ((_, part), (wires, outputs))) in
        (1..).zip(plan.parts.iter().zip(inputs.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
            let mut r23 = bits::drawn(&mut stream, part.program.output_bits() * lanes);
            if plain {
                r23.fill(0);
            }
            let ends = at == last && from + lanes == part.lanes;
            let x = evaluator.receive_inputs(&sides[0], &sides[1])?;
            let r = evaluator.receive_masks(&r23)?;
            evaluator.expect(part.program.and_count() * lanes, ends);
            let mut y = walk(part.program, lanes, &x, &mut evaluator)?;
            y.iter_mut().zip(r.iter()).for_each(|(y, r)| *y ^= r);
            z.extend_from_slice(&evaluator.receive_decoding(&y, ends)?);
            y.iter().for_each(|label| digest.add(*label));
            // y23 = r23
            bits::put(outputs, 0, from, lanes, &r23);
        }
    }
    evaluator.send_result(&mut z, digest)?;
    // y31 = z
    put_result(plan, outputs, 1, &z);
    Ok(())
}

/// z into one component of all outputs, in the order of parts and groups.
fn put_result(plan: &Plan<'_>, outputs: &mut Outputs, side: usize, z: &[u8]) {
    let mut rest = z;
    for ((_, part), outputs) in plan.parts.iter().zip(outputs) {
        for (from, lanes) in part.groups() {
            let n = (part.program.output_bits() * lanes).min(rest.len());
            let (now, later) = rest.split_at(n);
            bits::put(outputs, side, from, lanes, now);
            rest = later;
        }
    }
}
