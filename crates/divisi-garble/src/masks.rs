//! A circuit evaluated on shares of masks, steps 3 and 4(a) of Fig. 2: shares of lambda for every wire, and
//! the shares that its ANDs need.

use crate::batch::{Batch, Op};
use crate::share::{Holder, Rows, Seats, Shares, spread};
use crate::table::Product;
#[cfg(feature = "testing")]
use divisi_core::wipe::WipedVec;
use divisi_core::{Step, step, taint};
use std::ops::Range;

const MASKS: Step = step!("masks");

/// Shares of the masks of the wires that exist at the current point of the circuit.
pub(crate) struct Masks {
    slots: Rows,
    /// Masks of the results of ANDs that no [`Op::Sum`] has taken yet.
    queue: Rows,
    taken: usize,
}

impl Drop for Masks {
    fn drop(&mut self) {
        // [Q17] also the rows that it no longer counts as its own
        self.queue.wipe();
    }
}

/// For each AND of a batch: the shares of lambda_alpha and lambda_beta.
pub(crate) struct Operands {
    pub alpha: Rows,
    pub beta: Rows,
}

/// The ANDs of one instance in a batch: shares of the masks of their operands and results.
pub(crate) struct Garbling {
    pub operands: Operands,
    pub sigma: Rows,
}

impl Garbling {
    /// Wipes the rows of these ANDs, which nobody reads again.
    pub fn wipe_rows(&mut self, at: Range<usize>) {
        let Operands { alpha, beta } = &mut self.operands;
        [alpha, beta, &mut self.sigma].into_iter().for_each(|rows| rows.wipe_some(at.clone()));
    }

    pub fn product(&self) -> Product<'_> {
        Product { alpha: &self.operands.alpha, beta: &self.operands.beta, sigma: &self.sigma }
    }
}

impl Masks {
    /// The state at the beginning: slot `i` holds the mask of input wire `i`.
    pub fn new(seats: Seats, slots: usize, inputs: &Shares) -> Self {
        #[cfg(feature = "testing")]
        divisi_ot::record::note(|records| inputs.keys.iter().for_each(|keys| records.used.extend(&**keys)));
        let slots = slots.max(inputs.len());
        let mut held = Rows::with_capacity(seats.peers(), slots);
        (0..inputs.len()).for_each(|wire| held.push_share(inputs, wire));
        let stride = held.stride();
        held.bits.resize(slots, 0);
        held.words.resize(slots * stride, 0);
        Masks { slots: held, queue: Rows::zero(seats.peers(), 0), taken: 0 }
    }

    /// Computes the masks of a batch. The results of its ANDs get the fresh masks from `first` on. A NOT is
    /// added to the evaluator's share of the mask, so that labels and masked values do not change with it.
    pub fn propagate(
        &mut self,
        seats: Seats,
        batch: &Batch,
        fresh: &Shares,
        first: usize,
        evaluator: Holder,
        delta: u128,
    ) -> Operands {
        let rows = || Rows::with_capacity(seats.peers(), batch.ands);
        let (mut alpha, mut beta) = (rows(), rows());
        let mut next = first;
        #[cfg(feature = "testing")]
        divisi_ot::record::note(|records| {
            let of = |keys: &WipedVec<u128>| keys[first..first + batch.ands].to_vec();
            records.used.extend(fresh.keys.iter().flat_map(of));
        });
        fresh.bits.first().into_iter().for_each(|bit| taint::leak(MASKS, *bit));
        for op in &batch.ops {
            match *op {
                Op::Xor { out, x, y } => self.slots.xor(out as usize, x as usize, y as usize),
                Op::Not { out, x } => {
                    self.slots.copy(out as usize, x as usize);
                    evaluator.add(&mut self.slots, out as usize, 1, delta);
                }
                Op::And { x, y } => {
                    alpha.push(&self.slots, x as usize);
                    beta.push(&self.slots, y as usize);
                    self.queue.push_share(fresh, next);
                    next += 1;
                }
                Op::Sum { out, terms } => {
                    let range = self.taken..self.taken + terms as usize;
                    self.taken = range.end;
                    self.slots.sum(out as usize, &self.queue, range);
                    if self.taken == self.queue.len() {
                        self.queue.clear();
                        self.taken = 0;
                    }
                }
            }
        }
        Operands { alpha, beta }
    }

    /// Appends the share of the mask in a slot.
    pub fn push_slot(&self, slot: usize, to: &mut Rows) {
        to.push(&self.slots, slot);
    }
}

/// Shares of lambda_alpha lambda_beta + lambda_gamma for each AND. z and lambda_gamma are those from `first`
/// on. With a triple (x, y, z), and with d = x + lambda_alpha and e = y + lambda_beta opened: lambda_alpha
/// lambda_beta = z + d lambda_beta + e lambda_alpha + d e \[W27\].
pub(crate) fn products(
    operands: &Operands,
    z: &Shares,
    gamma: &Shares,
    first: usize,
    d: &[u8],
    e: &[u8],
    evaluator: Holder,
    delta: u128,
) -> Rows {
    let mut sigma = Rows::with_capacity(z.macs.len(), d.len());
    let stride = sigma.stride();
    #[cfg(feature = "testing")]
    divisi_ot::record::note(|records| {
        records.triples.extend(z.keys.iter().flat_map(|keys| keys[first..first + d.len()].to_vec()));
    });
    for (t, (&d, &e)) in d.iter().zip(e).enumerate() {
        sigma.push_share(z, first + t);
        let bit = gamma.bits[first + t] ^ d & operands.beta.bits[t] ^ e & operands.alpha.bits[t];
        sigma.bits[t] ^= bit;
        let (dm, em) = (spread(d), spread(e));
        let row = &mut sigma.words[t * stride..];
        let gammas = gamma.macs.iter().chain(&gamma.keys).map(|words| words[first + t]);
        let factors = operands.beta.row(t).iter().zip(operands.alpha.row(t));
        for ((word, gamma), (beta, alpha)) in row.iter_mut().zip(gammas).zip(factors) {
            *word ^= gamma ^ dm & beta ^ em & alpha;
        }
        evaluator.add(&mut sigma, t, d & e, delta);
    }
    sigma
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::wipe::WipedVec;

    /// The mask of a product, and what is added to its share of lambda_alpha lambda_beta, is the fresh mask
    /// of its own place: two results under one mask would tell the evaluator their sum.
    #[test]
    fn each_product_has_the_mask_of_its_place() {
        const ANDS: usize = 9;
        let shares = |of: u128| {
            let words = |k: u128| vec![(0..16).map(|t| of << 64 | k << 32 | t).collect::<WipedVec<u128>>()];
            let bits = (0..16_u128).map(|t| u8::from(t * of % 3 == 1)).collect();
            Shares { bits, macs: words(1), keys: words(2) }
        };
        let (gamma, z, seats) = (shares(1), shares(5), Seats { me: 0, n: 2 });
        let mut ops = vec![Op::And { x: 0, y: 1 }; ANDS];
        ops.extend((0..ANDS as u32).map(|t| Op::Sum { out: 2 + t, terms: 1 }));
        let batch = Batch { ops, ands: ANDS };
        for first in 0..4 {
            let mut masks = Masks::new(seats, 2 + ANDS, &Shares::zero(1, 2));
            let operands = masks.propagate(seats, &batch, &gamma, first, Holder::Me, 7);
            let zeros = [0; ANDS];
            let sigma = products(&operands, &z, &gamma, first, &zeros, &zeros, Holder::Me, 7);
            for (t, at) in (0..ANDS).zip(first..) {
                let row = |of: &Shares| [of.macs[0][at], of.keys[0][at]];
                let (mut mask, sum) = (Rows::with_capacity(1, 1), |k: usize| row(&gamma)[k] ^ row(&z)[k]);
                masks.push_slot(2 + t, &mut mask);
                assert_eq!((mask.bits[0], mask.row(0)), (gamma.bits[at], &row(&gamma)[..]), "{at}");
                let expected = (gamma.bits[at] ^ z.bits[at], &[sum(0), sum(1)][..]);
                assert_eq!((sigma.bits[t], sigma.row(t)), expected, "{at}");
            }
        }
    }
}
