//! Figure 12: evaluation. The first party evaluates, and all parties get shares of the outputs.
//!
//! Adversary: semi-honest, all parties but one. Cost: each party sends each peer one bit for each input wire;
//! then each party but the first sends the first one 256 bytes for each input wire. Two rounds, and one more
//! if outputs are opened (test `cost_of_evaluation`).

use crate::checks;
use crate::garble::{GarbledInstances, Instance};
use crate::key::{add_packed, pack};
use crate::label::Label;
use crate::parameters::{DIMENSION, ROW_BYTES, SHARE_BYTES};
use crate::scheme::{Scheme, unpack};
use crate::wiring::{End, Wiring};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, Lanes, Misuse, PartyId, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_mixed::{Gmw, GmwBit};
use zeroize::Zeroizing;

const N: usize = DIMENSION;
const KEYS: Step = step!("input.keys");
const INPUT: Step = step!("input");
const ROW: Step = step!("row");

impl GarbledInstances {
    /// Shares of the outputs, given shares of the inputs, with a lane for each instance. All parties call it.
    ///
    /// # Errors
    /// It fails as [`evaluate`] does.
    pub fn evaluate(self, gmw: &mut Gmw, inputs: &[GmwBit]) -> Result<Vec<GmwBit>, Abort> {
        Ok(evaluate(gmw, vec![(self, inputs.to_vec())])?.pop().unwrap_or_default())
    }

    /// Step 6, before the opening: shares of e_w = x_w + lambda_w.
    fn mask_inputs(&self, session: &Session, inputs: &[GmwBit]) -> Result<Vec<GmwBit>, Abort> {
        let lanes = self.instances.len();
        if self.session != session.id() {
            return Err(session.misuse(INPUT, Misuse::OtherSession));
        }
        if inputs.len() != self.wiring.inputs() || inputs.iter().any(|bit| bit.lanes() != lanes) {
            return Err(session.misuse(INPUT, Misuse::CountsDiffer));
        }
        let mut masked = inputs.to_vec();
        for (w, bit) in masked.iter_mut().enumerate() {
            let lambda = GmwBit::of(self.instances.iter().map(|instance| u64::from(instance.inputs[w])));
            if !bit.add(&lambda) {
                return Err(session.misuse(INPUT, Misuse::OtherSession));
            }
        }
        Ok(masked)
    }

    /// Steps 7 to 9, given the opened e_w.
    fn outputs_at(self, gmw: &mut Gmw, opened: &[GmwBit]) -> Result<Vec<GmwBit>, Abort> {
        let GarbledInstances { scheme, wiring, mut instances, .. } = self;
        let lanes = instances.len();
        // 7. each party sends k^i_{w,e} to the first one
        let session = gmw.session();
        let (first, me) = (PartyId::all(session.parties()).next(), session.me());
        let Some(evaluator) = first else {
            return Err(session.misuse(INPUT, Misuse::PartyCount));
        };
        let colour = |w: usize, lane: usize| opened.get(w).map_or(0, |bit| bit.lane(lane)) as usize;
        let mut outputs = vec![WipedVec::<u64>::zeros(lanes); wiring.outputs()];
        for (output, column) in outputs.iter_mut().enumerate() {
            let of = column.iter_mut().zip(&instances);
            of.for_each(|(bit, instance)| *bit = u64::from(instance.outputs[output]));
        }
        let mut body = Zeroizing::new(vec![0; SHARE_BYTES * wiring.inputs()]);
        for (lane, instance) in instances.iter_mut().enumerate() {
            if me != evaluator {
                body.clear();
                for w in 0..wiring.inputs() {
                    pack(instance.keys.share(w, colour(w, lane)), &mut body);
                }
                session.send(KEYS, evaluator, &body, 8 * body.len() as u64)?;
                continue;
            }
            let mut keys = WipedVec::<i16>::zeros(N * (wiring.inputs() + wiring.gates()));
            for (w, key) in keys.chunks_exact_mut(N).take(wiring.inputs()).enumerate() {
                let own = instance.keys.share(w, colour(w, lane));
                key.iter_mut().zip(own).for_each(|(key, c)| *key = i16::from(*c));
            }
            for peer in session.peers() {
                session.recv(KEYS, peer, &mut body)?;
                let keys = keys.chunks_exact_mut(N).zip(body.chunks_exact(SHARE_BYTES));
                let right = keys.fold(true, |right, (key, share)| right & add_packed(share, key));
                session.well_formed(KEYS, peer, body.len(), right)?;
            }
            // 8.
            open_rows(session, &scheme, &wiring, instance, &mut keys)?;
            // 9. the evaluator's share gets e_w, the others keep theirs of lambda_w
            for (column, end) in outputs.iter_mut().zip(&wiring.outputs) {
                if let (Some(bit), End::Wire(wire)) = (column.get_mut(lane), end) {
                    *bit ^= u64::from(keys[wire.at * N] == 1);
                }
            }
        }
        let zero = gmw.public_bit(&vec![false; lanes]);
        let share = |column: WipedVec<u64>| {
            // marked as made by this session
            let mut bit = GmwBit::of(column.iter().copied());
            let fits = bit.add(&zero);
            debug_assert!(fits, "as many lanes");
            bit
        };
        Ok(outputs.into_iter().map(share).collect())
    }
}

/// Figure 12: shares of the outputs of several circuits, given shares of their inputs, in the rounds of one
/// circuit. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if inputs or lanes do not fit the circuit and its instances, or if another session made
/// the garbled circuit or the inputs; [`Abort::CheckFailed`] if a row decrypts to no key; the abort that ends
/// the session, if a link fails.
pub fn evaluate(gmw: &mut Gmw, all: Vec<(GarbledInstances, Vec<GmwBit>)>) -> Result<Vec<Vec<GmwBit>>, Abort> {
    // 6. e_w of all circuits, opened to all
    let mut masked = Vec::new();
    for (garbled, inputs) in &all {
        masked.extend(garbled.mask_inputs(gmw.session(), inputs)?);
    }
    let everybody: Vec<PartyId> = PartyId::all(gmw.session().parties()).collect();
    let opened = gmw.output(&everybody, &masked)?.unwrap_or_default();
    let mut rest = opened.as_slice();
    let mut outputs = Vec::with_capacity(all.len());
    for (garbled, inputs) in all {
        let (own, others) = rest.split_at(inputs.len().min(rest.len()));
        rest = others;
        // 7. to 9.
        outputs.push(garbled.outputs_at(gmw, own)?);
    }
    Ok(outputs)
}

/// Step 8: decrypts, gate by gate, the row that the colours of the operands' keys select, and so finds the
/// keys of all wires.
pub(crate) fn open_rows(
    session: &Session,
    scheme: &Scheme,
    wiring: &Wiring,
    instance: &mut Instance,
    keys: &mut [i16],
) -> Result<(), Abort> {
    let rows = std::mem::take(&mut instance.rows);
    let most = session.parties() as i64;
    let (mut right, mut reduced) = (true, true);
    let (mut row, mut secret, mut key) = (vec![0; N], WipedVec::zeros(N), WipedVec::<i64>::zeros(N));
    for ((g, gate), rows) in wiring.gates.iter().enumerate().zip(rows.chunks_exact(4 * ROW_BYTES)) {
        let (known, new) = keys.split_at_mut((wiring.inputs() + g) * N);
        let [u, v] = gate.operands().map(|wire| &known[wire * N..(wire + 1) * N]);
        let [alpha, beta] = [u, v].map(|key| usize::from(key[0] == 1));
        let chosen = 2 * alpha + beta;
        reduced &= unpack(&rows[chosen * ROW_BYTES..(chosen + 1) * ROW_BYTES], &mut row);
        scheme.values(u.iter().zip(v).map(|(u, v)| i64::from(*u) + i64::from(*v)), &mut secret);
        let label = Label::of(instance.first + g as u64, chosen as u64);
        scheme.decrypt(&label, &row, &secret, &mut key);
        // the lifted key is a sum of n ternary shares, and its colour is 0 or 1
        let all = new.iter_mut().zip(key.iter());
        // negative if a coefficient is too large
        let margin = vectorize(
            #[inline(always)]
            || {
                all.fold(0, |margin, (new, c)| {
                    *new = *c as i16;
                    margin | (most - c.abs())
                })
            },
        );
        right &= margin >= 0 && (0..=1).contains(&key[0]);
    }
    // a row that lacks a contribution, or has one twice, decrypts to noise
    session.require(checks::G9, ROW, right && reduced, None) // [G9]
}
