//! The streamed mode: inputs come first, then triples, tables and evaluation batch by batch. Its memory grows
//! with the batch and with the number of live wires, and not with the circuit.
//!
//! Why this order is as secure as the other. Before the first table is sent the public values are the masked
//! inputs, which are uniform and independent of the inputs; and the evaluator has one label of each input
//! wire of each honest garbler, as it would in the online phase. Masks, triples and tables of a later batch
//! are made from fresh correlations, which did not exist when the labels were sent. This order demands less
//! of the hash than the other: all labels that the evaluator can ever know in a batch are fixed before it
//! sees the batch's tables, so the simulator need not program the hash afterwards. Whether an honest party
//! stops in between depends only on masked values and on preprocessing, as in step 7(b), and its stopping
//! reveals nothing else. The paper checks everything before anything is garbled, so this mode needs more: if
//! a failed check of Fig. 8 were opened as printed, it would reveal an honest Delta, which decrypts the
//! tables of all earlier batches (see `zero`). A party sends its shares of output masks after its own last
//! batch. It need not wait for the evaluators' messages: docs/garbling.md, 15, shows that this harms nobody.

use crate::batch::{Batch, Stop, batches};
use crate::checks;
use crate::held::{of_results, result_masks};
use crate::labels::{Labels, Values};
use crate::masks::Masks;
use crate::online::{accept, found, labels_for, masked_inputs, receivers, results};
use crate::open::Opening;
use crate::options::{DEPENDENT_PHASE, INDEPENDENT_PHASE, ONLINE_PHASE};
use crate::phases::Live;
use crate::plan::Plan;
use crate::run::{Instance, Private, Run, random_labels};
use crate::share::{Rows, Shares};
use crate::triples::MasksAndTriples;
use divisi_circuit::stream::CircuitFault;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Session, Step, step};
use zeroize::Zeroizing;

const STREAMED: Step = step!("streamed");
const OWNERS: Step = step!("5.owners");
const LABELS: Step = step!("6.labels");
const OUTPUTS: Step = step!("8.masks");

/// What the caller did wrong if the circuit's file could not be read or has changed.
fn misuse_of(fault: &CircuitFault) -> Misuse {
    match fault {
        CircuitFault::Unreadable { .. } => Misuse::FileUnreadable,
        _ => Misuse::FileChanged,
    }
}

impl Live {
    /// See [`crate::Garble::streamed`].
    pub fn streamed(
        &mut self,
        session: &mut Session,
        plan: &Plan<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
        let count = inputs.len();
        if plan.parties() != self.seats.n {
            return Err(session.misuse(STREAMED, Misuse::PartyCount));
        }
        if count == 0 {
            return Err(session.misuse(STREAMED, Misuse::Empty));
        }
        session.require(checks::W29, STREAMED, !plan.has_public_wires(), None)?; // [W29]
        let (slots, wires) = (plan.program().slots(), plan.input_bits());
        let evaluators: Vec<usize> = (0..count).map(|i| i % self.seats.n).collect();
        // 2., 5. and 6.: inputs and their labels
        let masks = self.function_independent(session, 0, count * wires)?.masks;
        let input_masks: Vec<Shares> = (0..count).map(|i| masks.copy(i * wires..(i + 1) * wires)).collect();
        session.phase(DEPENDENT_PHASE);
        let private = self.owners(session, plan, &input_masks);
        let delta = self.setup.delta();
        let (_, own) = private.open(session, self.seats, OWNERS, &[], delta.get(), &plan.digest())?;
        session.phase(ONLINE_PHASE);
        let width = plan.wires_of(session.me()).count();
        let owned: Vec<&[u8]> = (0..count).map(|i| &own[i * width..(i + 1) * width]).collect();
        let masked = masked_inputs(session, plan, &owned, inputs)?;
        let mut instances = Vec::with_capacity(count);
        let mut labels = Vec::with_capacity(count);
        for (evaluator, masks) in evaluators.iter().zip(&input_masks) {
            let garbler = *evaluator != self.seats.me;
            let zeros = garbler.then(|| random_labels(&mut self.fresh, wires));
            labels.push(zeros.map(|zeros| Labels::new(slots, &zeros)));
            let masks = Masks::new(self.seats, slots, masks);
            instances.push(Instance { evaluator: *evaluator, masks, gate: 0 });
        }
        for peer in session.peers() {
            let theirs = evaluators.iter().filter(|evaluator| **evaluator == peer.index()).count();
            let mut body = Zeroizing::new(Vec::with_capacity(16 * theirs * wires));
            for ((instance, labels), masked) in instances.iter().zip(&labels).zip(&masked) {
                if let (Some(labels), true) = (labels, instance.evaluator == peer.index()) {
                    labels_for(session, &labels.slots[..wires], masked, delta.get(), &mut body);
                }
            }
            if !body.is_empty() {
                session.send(LABELS, peer, &body, 8 * body.len() as u64)?;
            }
        }
        let mut values = self.receive_labels(session, plan, &evaluators, &masked)?;
        // 4. and 7., batch after batch
        let most = (self.options.batch / count).max(1);
        let went = batches(plan.program(), most, |batch| {
            self.batch(session, plan, batch, &mut instances, &mut labels, &mut values)
        });
        went.map_err(|stop| match stop {
            Stop::Work(abort) => abort,
            Stop::File(fault) => session.misuse(STREAMED, misuse_of(&fault)),
        })?;
        // step 8 comes only now: all gates of the plan are evaluated, and a file was compared to its end
        session.phase(ONLINE_PHASE);
        let rows: Vec<Rows> =
            instances.iter().map(|instance| result_masks(plan, self.seats, &instance.masks)).collect();
        let run = Run::of(&self.setup, &self.oracle, self.options, self.seats);
        let private = receivers(&run, session, plan, &rows.iter().collect::<Vec<_>>());
        let lambda = self.open_outputs(session, &private)?;
        let found = values.iter().map(|values| values.as_ref().map(|v| found(&run, plan, v))).collect();
        let own_labels: Vec<Zeroizing<Vec<u128>>> = labels
            .iter()
            .map(|labels| labels.as_ref().map(|l| of_results(plan, &l.slots)).unwrap_or_default())
            .collect();
        let own_labels: Vec<&[u128]> = own_labels.iter().map(|labels| labels.as_slice()).collect();
        results(&run, session, plan, &evaluators, found, &own_labels, &lambda)
    }

    /// Receives the labels of the masked inputs, for the instances that we evaluate.
    fn receive_labels(
        &self,
        session: &mut Session,
        plan: &Plan<'_>,
        evaluators: &[usize],
        masked: &[Vec<u8>],
    ) -> Result<Vec<Option<Values>>, Abort> {
        let (wires, garblers) = (plan.input_bits(), self.seats.peers());
        let mine: Vec<usize> = (0..evaluators.len()).filter(|i| evaluators[*i] == self.seats.me).collect();
        let mut all = Zeroizing::new(vec![0; mine.len() * wires * garblers]);
        let mut body = Zeroizing::new(vec![0; 16 * mine.len() * wires]);
        for (place, peer) in session.peers().into_iter().enumerate() {
            if !body.is_empty() {
                session.recv(LABELS, peer, &mut body)?;
                let own = all.iter_mut().skip(place).step_by(garblers);
                own.zip(body.as_chunks::<16>().0).for_each(|(l, b)| *l = u128::from_le_bytes(*b));
            }
        }
        let mut labels = all.chunks_exact((wires * garblers).max(1));
        let slots = plan.program().slots();
        let values = evaluators.iter().zip(masked).map(|(evaluator, masked)| {
            (*evaluator == self.seats.me)
                .then(|| Values::new(self.seats, slots, masked, labels.next().unwrap_or_default()))
        });
        Ok(values.collect())
    }

    /// Runs one batch of all instances: triples, d and e, tables, evaluation.
    fn batch(
        &mut self,
        session: &mut Session,
        plan: &Plan<'_>,
        batch: &Batch,
        instances: &mut [Instance],
        labels: &mut [Option<Labels>],
        values: &mut [Option<Values>],
    ) -> Result<(), Abort> {
        // the gates of a circuit in a file were read and folded just now, so they are examined here
        session.require(checks::W29, STREAMED, !batch.reads_a_wire_twice(), None)?; // [W29]
        let ands = instances.len() * batch.ands;
        session.phase(INDEPENDENT_PHASE);
        let MasksAndTriples { masks, triples } = self.function_independent(session, ands, ands)?;
        let (gammas, triples) = (self.or_empty(masks), self.or_empty_triples(triples));
        session.phase(DEPENDENT_PHASE);
        let none = Private::none(self.seats);
        let run = Run::of(&self.setup, &self.oracle, self.options, self.seats);
        for instance in &mut *instances {
            instance.gate = self.next_gate;
            self.next_gate += batch.ands as u64;
        }
        let (mut garblings, _) =
            run.multiply(session, instances, batch, triples, &gammas, &none, &plan.digest())?;
        run.send_tables(session, instances, labels, batch, &garblings, &mut self.fresh)?;
        for ((instance, values), garbling) in instances.iter().zip(values).zip(&mut garblings) {
            if let Some(values) = values {
                let tables = run.receive_tables(session, batch.ands)?;
                run.evaluate(session, instance.gate, values, batch, garbling, &tables);
                accept(&run, session, values)?;
            }
        }
        Ok(())
    }

    /// Step 8: sends our shares of the output masks to their receivers.
    fn open_outputs(&self, session: &mut Session, private: &Private) -> Result<WipedVec<u8>, Abort> {
        let opening = Opening::new(session, self.seats, OUTPUTS);
        for (place, peer) in session.peers().into_iter().enumerate() {
            let mut body = Vec::new();
            opening.append(session, place, &[&private.theirs[place]], &mut body);
            if !body.is_empty() {
                session.send(OUTPUTS, peer, &body, 8 * body.len() as u64)?;
            }
        }
        let mut lambda = private.ours.bits.clone();
        let mut body = vec![0; Opening::len(private.ours.len())];
        for (place, peer) in session.peers().into_iter().enumerate() {
            if !body.is_empty() {
                session.recv(OUTPUTS, peer, &mut body)?;
            }
            let delta = self.setup.delta().get();
            let told = opening.read(session, checks::W24, place, &[&private.ours], delta, &body)?; // [W24]
            lambda.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok(lambda)
    }
}
