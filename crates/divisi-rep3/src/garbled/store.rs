//! A call in two halves: what does not depend on later inputs, and the rest.

use super::beside::Inputs;
use super::bits;
use super::evaluator::{Evaluator, receive_hash};
use super::garbler::{Garbler, InputLabels};
use super::labels::output_labels;
use super::plan::{CallPlan, Role, Roles};
use super::run::{Garbling, Masks, Outputs, decode, none, put_result};
use super::secrets;
use crate::bit::Bit;
use crate::origin::Origin;
use crate::trio::Trio;
use divisi_core::Abort;
use divisi_core::wipe::{self, WipedVec};
use divisi_ot::hash::TweakableHash;

/// What a party keeps between the halves. All of it wipes itself, and lies behind pointers.
pub(crate) struct Stored {
    pub(crate) roles: Roles,
    /// The name of the first half.
    pub(crate) name: [u8; 32],
    hash: TweakableHash,
    /// The first wire whose pair is not hashed yet.
    wires: u64,
    /// The outputs, with r12 and r23 in their components.
    outputs: Outputs,
    pub(super) half: Half,
}

/// The half of a call at a garbler or at the evaluator.
pub(super) enum Half {
    /// A garbler's half: Delta, and for each group of lanes the labels of later inputs for zero; at P1 also
    /// the labels of outputs for zero, and r12.
    Garbler {
        delta: WipedVec<u128>,
        inputs: Vec<InputLabels>,
        zeros: WipedVec<u128>,
        masks: WipedVec<u8>,
    },
    Evaluator(Vec<Compared>),
}

/// What P3 has of a group of lanes, compared and not evaluated.
pub(super) struct Compared {
    /// Active labels of the known inputs.
    known: WipedVec<u128>,
    /// Active labels of r23.
    masks: WipedVec<u128>,
    tables: WipedVec<u8>,
    decoding: WipedVec<u8>,
}

/// Steps 1 to 3 and 5, and of step 4 the masks and the known inputs: `known` has the first inputs of each
/// part. Everything that is compared here is compared before any other input is chosen.
pub(crate) fn prepare(
    trio: &mut Trio,
    plan: &CallPlan<'_>,
    known: &[&[Bit]],
    origin: Origin,
) -> Result<Stored, Abort> {
    let mut outputs = none(plan, origin);
    let (hash, wires, half) = wipe::stack(|| match plan.roles.role(trio.me()) {
        Role::Evaluator => receive(trio, plan, known, &mut outputs),
        role => garble(trio, role, plan, known, &mut outputs),
    })?;
    Ok(Stored { roles: plan.roles, name: plan.name, hash, wires, outputs, half })
}

/// P1 and P2.
fn garble(
    trio: &mut Trio,
    role: Role,
    plan: &CallPlan<'_>,
    known: &[&[Bit]],
    outputs: &mut Outputs,
) -> Result<(TweakableHash, u64, Half), Abort> {
    let (seed, labels) = secrets::expand(trio, plan.roles.other(role), plan);
    let hash = secrets::hash(&trio.session, plan, &seed.salt);
    let mut garbling = Garbling::begin(trio, role, plan, labels);
    let mut garbler = Garbler::begin(trio, role, &seed, &hash, plan)?;
    let (mut inputs, last) = (Vec::new(), plan.parts.len());
    for (at, ((_, part), (known, outputs))) in
        (1..).zip(plan.parts.iter().zip(known.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let sides = [0, 1].map(|side| bits::component(known, side, from, lanes));
            let labels = garbling.draw_inputs(part.program.input_bits() * lanes);
            let [now, later] = labels.split(sides[0].len());
            let inputs_now = Inputs { x: &labels.of_inputs(), labels: &now, sides: &sides };
            let ends = at == last && from + lanes == part.lanes;
            garbling.group(&mut garbler, part, (from, lanes, ends), &inputs_now, None, outputs)?;
            inputs.push(later);
        }
    }
    let wires = garbler.wires();
    let Garbling { zeros, masks, .. } = garbling;
    let delta = WipedVec::from(std::slice::from_ref(&*seed.delta));
    Ok((hash, wires, Half::Garbler { delta, inputs, zeros, masks }))
}

/// P3.
fn receive(
    trio: &mut Trio,
    plan: &CallPlan<'_>,
    known: &[&[Bit]],
    outputs: &mut Outputs,
) -> Result<(TweakableHash, u64, Half), Abort> {
    let mut stream = Masks::begin(trio, plan);
    let hash = receive_hash(trio, plan)?;
    let mut evaluator = Evaluator::begin(trio, &hash, plan);
    let (mut groups, last) = (Vec::new(), plan.parts.len());
    for (at, ((_, part), (known, outputs))) in
        (1..).zip(plan.parts.iter().zip(known.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let sides = [0, 1].map(|side| bits::component(known, side, from, lanes));
            let n = part.program.output_bits() * lanes;
            let ends = at == last && from + lanes == part.lanes;
            let known = evaluator.receive_inputs(&sides[0], &sides[1])?;
            let r23 = stream.draw(n);
            let masks = evaluator.receive_masks(&r23)?;
            evaluator.expect(part.program.and_count() * lanes);
            let tables = evaluator.receive_tables(usize::MAX)?;
            let decoding = evaluator.receive_decoding(n, ends)?;
            // y23 = r23
            bits::put(outputs, 0, from, lanes, &r23);
            groups.push(Compared { known, masks, tables, decoding });
        }
    }
    let wires = evaluator.wires();
    Ok((hash, wires, Half::Evaluator(groups)))
}

impl Stored {
    /// Step 4 for the remaining inputs, at P1 and P2. `plan` is that of the first half under its new name,
    /// `inputs` those of each part that were not known.
    pub(crate) fn send(&self, trio: &mut Trio, plan: &CallPlan<'_>, inputs: &[&[Bit]]) -> Result<(), Abort> {
        let Half::Garbler { delta, inputs: labels, .. } = &self.half else { return Ok(()) };
        let (role, from) = (plan.roles.role(trio.me()), self.wires);
        wipe::stack(|| {
            let delta = delta.first().copied().unwrap_or_default();
            let mut garbler = Garbler::resume(trio, role, delta, &self.hash, plan, from);
            let mut labels = labels.iter();
            for ((_, part), wires) in plan.parts.iter().zip(inputs) {
                for ((from, lanes), labels) in part.groups().zip(&mut labels) {
                    let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
                    garbler.send_inputs(labels, &sides[0], &sides[1])?;
                }
            }
            Ok(())
        })
    }

    /// Step 4 at P3, which then evaluates and sends z to P1.
    pub(crate) fn evaluate(
        &mut self,
        trio: &mut Trio,
        plan: &CallPlan<'_>,
        inputs: &[&[Bit]],
    ) -> Result<(), Abort> {
        let from = self.wires;
        let Half::Evaluator(groups) = &mut self.half else { return Ok(()) };
        let groups = std::mem::take(groups);
        let z = wipe::stack(|| evaluate(trio, plan, groups, (&self.hash, from), inputs))?;
        // y31 = z
        put_result(plan, &mut self.outputs, 1, &z);
        Ok(())
    }

    /// Step 6 at P1; returns our shares of the outputs, at every party.
    pub(crate) fn finish(
        self,
        trio: &mut Trio,
        plan: &CallPlan<'_>,
        origin: Origin,
    ) -> Result<Outputs, Abort> {
        let Stored { hash, mut outputs, half, wires, .. } = self;
        if let (Role::First, Half::Garbler { delta, zeros, masks, .. }) = (plan.roles.role(trio.me()), half) {
            let z = wipe::stack(|| {
                let delta = delta.first().copied().unwrap_or_default();
                let mut garbler = Garbler::resume(trio, Role::First, delta, &hash, plan, wires);
                garbler.receive_result(&zeros, &masks)
            })?;
            // y31 = z
            put_result(plan, &mut outputs, 0, &z);
        }
        outputs.iter_mut().flatten().for_each(|bit| bit.origin = origin);
        Ok(outputs)
    }
}

/// P3: evaluates, sends z to P1, and returns it.
fn evaluate(
    trio: &mut Trio,
    plan: &CallPlan<'_>,
    groups: Vec<Compared>,
    (hash, wires): (&TweakableHash, u64),
    inputs: &[&[Bit]],
) -> Result<WipedVec<u8>, Abort> {
    let mut evaluator = Evaluator::resume(trio, hash, plan, wires);
    let mut z = WipedVec::<u8>::with_capacity(plan.output_bits());
    let mut digest = evaluator.begin_result();
    let mut groups = groups.into_iter();
    for ((_, part), wires) in plan.parts.iter().zip(inputs) {
        for ((from, lanes), group) in part.groups().zip(&mut groups) {
            let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
            let mut x = WipedVec::<u128>::with_capacity(part.program.input_bits() * lanes);
            x.extend_from_slice(&group.known);
            x.extend_from_slice(&evaluator.receive_inputs(&sides[0], &sides[1])?);
            evaluator.expect(0);
            evaluator.hold(group.tables);
            let mut y = output_labels(part.program, lanes, &x, &mut evaluator)?;
            z.extend_from_slice(&decode(&mut y, &group.masks, &group.decoding));
            y.iter().for_each(|label| digest.add(*label));
        }
    }
    evaluator.send_result(&mut z, digest)?;
    Ok(z)
}
