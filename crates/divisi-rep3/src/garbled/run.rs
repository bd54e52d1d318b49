//! A call from end to end, in each role.

use super::beside::{Beside, Inputs, Labels};
use super::bits;
use super::evaluator::{Evaluator, receive_hash};
use super::garbler::{Garbler, InputLabels};
use super::labels::output_labels;
use super::plan::{BESIDE, CallPlan, Part, Role};
use super::secrets;
use crate::bit::Bit;
use crate::origin::Origin;
use crate::trio::Trio;
use crate::views::Begun;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Prg};

/// The outputs of each part, to be filled in.
pub(crate) type Outputs = Vec<Vec<Bit>>;

/// Begin the barrier that has to end before a label is sent, because inputs may rest on openings that
/// somebody split. `None` if there is nothing to compare.
fn begin_views(trio: &mut Trio) -> Result<Option<Begun>, Abort> {
    if !trio.is_compared() {
        return trio.begin_barrier().map(Some);
    }
    Ok(None)
}

/// The whole barrier, where there are no tables to send meanwhile.
pub(crate) fn settle_views(trio: &mut Trio) -> Result<(), Abort> {
    begin_views(trio)?.map_or(Ok(()), |views| trio.end_barrier(views).map(drop))
}

/// One call: our shares of the outputs of each part.
pub(crate) fn call(
    trio: &mut Trio,
    plan: &CallPlan<'_>,
    inputs: &[&[Bit]],
    origin: Origin,
) -> Result<Outputs, Abort> {
    let mut outputs = none(plan, origin);
    let views = begin_views(trio)?;
    // labels lie in vectors that wipe themselves; what functions leave of them, and of Delta, lies on the
    // stack, which is wiped
    wipe::stack(|| match plan.roles.role(trio.me()) {
        Role::Evaluator => evaluate(trio, plan, inputs, views, &mut outputs),
        role => garble(trio, role, plan, inputs, views, &mut outputs),
    })?;
    Ok(outputs)
}

/// Outputs of each part that are to be filled in.
pub(super) fn none(plan: &CallPlan<'_>, origin: Origin) -> Outputs {
    let zero = |lanes: usize| Bit::zero(lanes, origin);
    let of_part =
        |(_, part): &(usize, Part<'_>)| (0..part.program.output_bits()).map(|_| zero(part.lanes)).collect();
    plan.parts.iter().map(of_part).collect()
}

/// What a garbler keeps of a call from group to group: the streams of masks and labels, and at P1 what it
/// needs for z.
pub(super) struct Garbling {
    is_first: bool,
    r12: Prg,
    /// The stream of r23, at P2.
    r23: Option<Prg>,
    labels: Prg,
    /// What P1 keeps until z has come: labels of outputs for zero, and r12.
    pub(super) zeros: WipedVec<u128>,
    pub(super) masks: WipedVec<u8>,
}

impl Garbling {
    /// Step 1. The masks of a call, and the stream of its labels.
    pub(super) fn begin(trio: &Trio, role: Role, plan: &CallPlan<'_>, labels: Prg) -> Garbling {
        let roles = plan.roles;
        let is_first = role == Role::First;
        let kept = if is_first { plan.output_bits() } else { 0 };
        Garbling {
            is_first,
            r12: secrets::mask(trio, if is_first { roles.second } else { roles.first }, plan),
            r23: (!is_first).then(|| secrets::mask(trio, roles.evaluator, plan)),
            labels,
            zeros: WipedVec::with_capacity(kept),
            masks: WipedVec::with_capacity(kept),
        }
    }

    /// Draw labels for the `n` inputs of a group of lanes.
    pub(super) fn draw_inputs(&mut self, n: usize) -> InputLabels {
        let mut labels = || bits::labels(&mut self.labels, n);
        InputLabels { sums: labels(), known: labels() }
    }

    /// Steps 3 to 5 for the group of `lanes` lanes that begins at lane `from`; `ends` says whether it is the
    /// last of the call. If a barrier is under way (`views`), the first tables are sent beside it.
    pub(super) fn group(
        &mut self,
        garbler: &mut Garbler<'_, '_>,
        part: &Part<'_>,
        (from, lanes, ends): (usize, usize, bool),
        inputs: &Inputs<'_>,
        views: Option<Begun>,
        outputs: &mut [Bit],
    ) -> Result<(), Abort> {
        let n = part.program.output_bits() * lanes;
        let r12 = bits::drawn(&mut self.r12, n);
        let r23 = self.r23.as_mut().map(|r23| bits::drawn(r23, n));
        let r = bits::labels(&mut self.labels, n);
        garbler.expect(part.program.and_count() * lanes);
        let labels = Labels { inputs, r: &r, r23: r23.as_ref().map(|r23| &r23[..]) };
        let mut y = match views {
            None => {
                labels.send(garbler)?;
                output_labels(part.program, lanes, inputs.x, garbler)?
            }
            Some(views) => {
                let mut beside = Beside::new(garbler, labels, views);
                let y = output_labels(part.program, lanes, inputs.x, &mut beside)?;
                beside.end()?;
                y
            }
        };
        y.iter_mut().zip(r.iter()).for_each(|(y, r)| *y ^= r);
        garbler.send_decoding(&y, &r12, ends)?;
        // y12 = r12, y23 = r23
        bits::put(outputs, usize::from(self.is_first), from, lanes, &r12);
        if let Some(r23) = &r23 {
            bits::put(outputs, 1, from, lanes, r23);
        }
        if self.is_first {
            self.zeros.extend_from_slice(&y);
            self.masks.extend_from_slice(&r12);
        }
        Ok(())
    }
}

/// P1 and P2.
fn garble(
    trio: &mut Trio,
    role: Role,
    plan: &CallPlan<'_>,
    inputs: &[&[Bit]],
    mut views: Option<Begun>,
    outputs: &mut Outputs,
) -> Result<(), Abort> {
    let other = plan.roles.other(role);
    let (seed, labels) = secrets::expand(trio, other, plan);
    let hash = secrets::hash(&trio.session, plan, &seed.salt);
    let mut garbling = Garbling::begin(trio, role, plan, labels);
    let mut garbler = Garbler::begin(trio, role, &seed, &hash, plan)?;
    let last = plan.parts.len();
    for (at, ((_, part), (wires, outputs))) in
        (1..).zip(plan.parts.iter().zip(inputs.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
            let labels = garbling.draw_inputs(sides[0].len());
            let inputs = Inputs { x: &labels.of_inputs(), labels: &labels, sides: &sides };
            let ends = at == last && from + lanes == part.lanes;
            garbling.group(&mut garbler, part, (from, lanes, ends), &inputs, views.take(), outputs)?;
        }
    }
    if role == Role::First {
        let z = garbler.receive_result(&garbling.zeros, &garbling.masks)?;
        // y31 = z
        put_result(plan, outputs, 0, &z);
    }
    Ok(())
}

/// P3's masks r23 of a call.
pub(super) struct Masks {
    stream: Prg,
}

impl Masks {
    pub(super) fn begin(trio: &Trio, plan: &CallPlan<'_>) -> Masks {
        Masks { stream: secrets::mask(trio, plan.roles.second, plan) }
    }

    /// The masks of the next `n` outputs.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(super) fn draw(&mut self, n: usize) -> WipedVec<u8> {
        bits::drawn(&mut self.stream, n)
    }
}

/// z of the outputs y + r23, from their masked decoding bits. `y` has the active labels of y; those of r23,
/// `r`, are added to them first.
pub(super) fn decode(y: &mut [u128], r: &[u128], masked: &[u8]) -> WipedVec<u8> {
    y.iter_mut().zip(r).for_each(|(y, r)| *y ^= r);
    y.iter().zip(masked).map(|(label, d)| *label as u8 & 1 ^ d).collect()
}

/// P3.
fn evaluate(
    trio: &mut Trio,
    plan: &CallPlan<'_>,
    inputs: &[&[Bit]],
    views: Option<Begun>,
    outputs: &mut Outputs,
) -> Result<(), Abort> {
    // if there is a barrier, tables of the first group come beside it
    let mut beside = views.is_some();
    if let Some(views) = views {
        trio.end_barrier(views)?;
    }
    let mut stream = Masks::begin(trio, plan);
    let hash = receive_hash(trio, plan)?;
    let mut evaluator = Evaluator::begin(trio, &hash, plan);
    let mut z = WipedVec::<u8>::with_capacity(plan.output_bits());
    let mut digest = evaluator.begin_result();
    let last = plan.parts.len();
    for (at, ((_, part), (wires, outputs))) in
        (1..).zip(plan.parts.iter().zip(inputs.iter().zip(outputs.iter_mut())))
    {
        for (from, lanes) in part.groups() {
            let sides = [0, 1].map(|side| bits::component(wires, side, from, lanes));
            let r23 = stream.draw(part.program.output_bits() * lanes);
            let ends = at == last && from + lanes == part.lanes;
            evaluator.expect(part.program.and_count() * lanes);
            if std::mem::take(&mut beside) {
                let tables = evaluator.receive_tables(BESIDE)?;
                evaluator.hold(tables);
            }
            let x = evaluator.receive_inputs(&sides[0], &sides[1])?;
            let r = evaluator.receive_masks(&r23)?;
            let mut y = output_labels(part.program, lanes, &x, &mut evaluator)?;
            let masked = evaluator.receive_decoding(y.len(), ends)?;
            z.extend_from_slice(&decode(&mut y, &r, &masked));
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

/// Put z into one component of all outputs, in the order of parts and groups.
pub(super) fn put_result(plan: &CallPlan<'_>, outputs: &mut Outputs, side: usize, z: &[u8]) {
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
