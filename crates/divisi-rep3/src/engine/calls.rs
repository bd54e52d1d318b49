//! Garbled calls of an engine: in one piece, or in two halves, of which the first does not depend on later
//! inputs.

use super::Rep3;
use crate::bit::Bit;
use crate::garbled::ahead::{Ahead, size};
use crate::garbled::plan::{CallPlan, Part, When};
use crate::garbled::run::{Outputs, call, settle_views};
use crate::garbled::store;
use divisi_circuit::Program;
use divisi_core::{Abort, Lanes, Misuse, ProgramRun, Session, Step, step};
use std::borrow::Cow;
use std::sync::Arc;

const INPUTS: Step = step!("inputs");
const AHEAD: Step = step!("ahead");

impl Rep3 {
    /// Run all jobs in one call, whatever their depth. It gives replicated shares, as evaluation level by
    /// level does. Outputs owe what their inputs owe.
    pub(crate) fn run_in_constant_rounds(&mut self, jobs: &mut [ProgramRun<'_, Bit>]) -> Result<(), Abort> {
        let lanes = jobs.iter().map(|job| self.lanes_of(job)).collect::<Result<Vec<usize>, Abort>>()?;
        let wires = jobs.iter().flat_map(|job| &job.wires);
        let origin = self.trio().admit(INPUTS, wires.map(|bit| bit.origin))?;
        if self.foresees(jobs, &lanes) {
            for (job, lanes) in jobs.iter_mut().zip(&lanes) {
                job.wires = (0..job.program.output_bits()).map(|_| Bit::zero(*lanes, origin)).collect();
            }
            return Ok(());
        }
        if let Some(calls) = self.take_calls(jobs, &lanes)? {
            let inputs = jobs.iter_mut().zip(&calls).map(|(job, call)| job.wires.split_off(call.known));
            let inputs: Vec<Vec<Bit>> = inputs.collect();
            let outputs = self.run_all_ahead(calls.into_iter().zip(inputs).collect())?;
            for (job, outputs) in jobs.iter_mut().zip(outputs) {
                job.wires = outputs;
            }
            return Ok(());
        }
        let programs: Vec<Cow<'_, Program>> = jobs.iter().map(|job| job.program.folded()).collect();
        let parts: Vec<(&Program, usize)> =
            programs.iter().zip(&lanes).map(|(program, lanes)| (&**program, *lanes)).collect();
        let Rep3 { trio, handles, .. } = self;
        // 1. the call's number is spent here, before anything is derived from it
        let plan = CallPlan::next(&mut trio.session, handles, When::Now, &parts)?;
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

    /// Whether [`Rep3::garble_ahead`] accepts this program on `lanes` lanes: it has inputs and outputs, and
    /// its half takes at most 48 MiB.
    #[must_use]
    pub fn can_garble_ahead(&self, program: &Program, lanes: usize) -> bool {
        size(program, lanes).is_some()
    }

    /// Garble one call of `program` on `lanes` lanes before its inputs are known, except `known`: the first
    /// input wires, which depend on a key alone, and bind the call to that key. All three parties call this
    /// at the same place; no message depends on later inputs. Each garbler sends one message, in pieces, to
    /// the evaluator: 16 bytes an AND from each, 48 bytes and a bit an output bit, 96 bytes a known bit. As
    /// secure as a call in one piece, even if the later inputs are chosen by what the evaluator has seen of
    /// it (docs/constant-round.md, 13).
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a program that [`Rep3::can_garble_ahead`] does not accept, or if all inputs are
    /// known; the abort that ends the session.
    pub fn garble_ahead(&mut self, program: &Program, lanes: usize, known: &[Bit]) -> Result<Ahead, Abort> {
        let program = match program.folded() {
            Cow::Borrowed(program) => Arc::new(program.clone()),
            Cow::Owned(program) => Arc::new(program),
        };
        self.garble_program_ahead(program, lanes, known)
    }

    /// Like [`Rep3::garble_ahead`], for a program without constants inside.
    pub(crate) fn garble_program_ahead(
        &mut self,
        program: Arc<Program>,
        lanes: usize,
        known: &[Bit],
    ) -> Result<Ahead, Abort> {
        let origin = self.trio().admit(AHEAD, known.iter().map(|bit| bit.origin))?;
        let Rep3 { trio, handles, .. } = self;
        if size(&program, lanes).is_none() || known.len() >= program.input_bits() {
            return Err(trio.session.misuse(AHEAD, Misuse::CircuitUnfit));
        }
        demand_lanes(&trio.session, known, lanes)?;
        // 1. the call's number is spent here, before anything is derived from it
        let when = When::Ahead { known: known.len() };
        let plan = CallPlan::next(&mut trio.session, handles, when, &[(&program, lanes)])?;
        if !known.is_empty() {
            settle_views(trio)?;
        }
        let stored = store::prepare(trio, &plan, &[known], origin)?;
        let stored = trio.session.bind(stored);
        let (engine_id, known) = (trio.engine_id, known.len());
        Ok(Ahead { engine_id, program, lanes, known, stored })
    }

    /// Run a call that was garbled ahead on its remaining inputs: it gives shares as
    /// [`divisi_core::Boolean::run`] does. Two one-way messages, after a barrier if an opening is not
    /// compared yet; 96 bytes an input bit.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the call was garbled in another session or strand, or is wiped, or for inputs of
    /// another number or other lanes; the abort that ends the session.
    pub fn run_ahead(&mut self, ahead: Ahead, inputs: Vec<Bit>) -> Result<Vec<Bit>, Abort> {
        let mut outputs = self.run_all_ahead(vec![(ahead, inputs)])?;
        Ok(outputs.pop().unwrap_or_default())
    }

    /// Run several calls that were garbled ahead, each on its own inputs. The garblers of all calls send
    /// their labels before any party waits, and the evaluators send z before any P1 waits for z: all calls
    /// together take two one-way messages (docs/constant-round.md, 13).
    ///
    /// # Errors
    /// The errors of [`Rep3::run_ahead`]; then none of the calls can be used any more.
    pub fn run_all_ahead(&mut self, calls: Vec<(Ahead, Vec<Bit>)>) -> Result<Vec<Vec<Bit>>, Abort> {
        let wires = calls.iter().flat_map(|(_, inputs)| inputs);
        let origin = self.trio().admit(AHEAD, wires.map(|bit| bit.origin))?;
        let Rep3 { trio, handles, .. } = self;
        for (ahead, inputs) in &calls {
            if ahead.engine_id != trio.engine_id {
                return Err(trio.session.misuse(AHEAD, Misuse::OtherStrand));
            }
            if inputs.len() + ahead.known != ahead.program.input_bits() {
                return Err(trio.session.misuse(AHEAD, Misuse::CountsDiffer));
            }
            demand_lanes(&trio.session, inputs, ahead.lanes)?;
        }
        let (mut programs, mut begun) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
        for (mut ahead, inputs) in calls {
            begun.push((ahead.stored.take(&trio.session, AHEAD)?, inputs));
            programs.push((ahead.program, ahead.lanes));
        }
        settle_views(trio)?;
        let mut plans = Vec::with_capacity(begun.len());
        for ((program, lanes), (stored, _)) in programs.iter().zip(&begun) {
            let name = handles.use_of(&stored.name);
            plans.push(CallPlan { roles: stored.roles, parts: vec![(0, Part::new(program, *lanes))], name });
        }
        for (plan, (stored, inputs)) in plans.iter().zip(&begun) {
            stored.send(trio, plan, &[inputs])?;
        }
        for (plan, (stored, inputs)) in plans.iter().zip(&mut begun) {
            stored.evaluate(trio, plan, &[inputs])?;
        }
        let mut outputs = Vec::with_capacity(begun.len());
        for (plan, (stored, _)) in plans.iter().zip(begun) {
            outputs.push(stored.finish(trio, plan, origin)?.pop().unwrap_or_default());
        }
        Ok(outputs)
    }
}

fn demand_lanes(session: &Session, bits: &[Bit], lanes: usize) -> Result<(), Abort> {
    if bits.iter().any(|bit| ![1, lanes].contains(&bit.lanes())) {
        return Err(session.misuse(AHEAD, Misuse::LanesDiffer));
    }
    Ok(())
}
