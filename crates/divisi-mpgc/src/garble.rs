//! Figure 11: garbling, step by step.
//!
//! Adversary: semi-honest, all parties but one. Deviations from the paper. Keys are ternary, where the paper
//! allows shares uniform modulo p ([`crate::key`]). D1: the mask of an XOR's output is the XOR of its
//! operands' masks. Then the key to be encrypted depends only on alpha and beta, which are public, and XORs
//! need no product and no lookup. The evaluator's masked value of such a wire is the XOR of those of the
//! operands, which it could compute anyway. NOTs and wires with public values have no rows.
//!
//! Cost of an instance with lookups by transfers, sent by a party: 4 x 3,328 bytes for each gate (nothing by
//! the root of the tree). For each AND also four lookups of (n - 1) (2,176 + 4) bytes at k = 4, and (n - 1)
//! 33 bits for the product of two masks. Rounds: for every 8,192 ANDs two for products, 1 + n for lookups and
//! ceil(log2 (n + 1)) - 1 for rows (tests `cost_of_garbling`, `waits_are_those_of_the_meter`). D2: that
//! product is made by transfers that choose with shares of one mask, where the paper uses a triple, and opens
//! two bits.

use crate::group::{Found, Group, Products, is_first, together};
use crate::key::WireKeys;
use crate::label::{Label, Labels};
use crate::lookup::{LookupMethod, Source};
use crate::parameters::{self, DIMENSION, LOOKED_UP, ROW_BYTES, TOGETHER_WIRES};
use crate::scheme::Scheme;
use crate::tree::{self, Upward};
use crate::wiring::{End, Gate, Wiring};
use divisi_bgv::{Keys as BgvKeys, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, SessionId, Step, step};
use divisi_field::kernel::vectorize;
use divisi_mixed::{Gmw, GmwBit};
use divisi_ot::{Bits, Links};
use std::sync::Arc;

const N: usize = DIMENSION;
const GARBLE: Step = step!("garble");

/// How many gates' rows go up the tree in one message: each gate has four rows of 3,328 bytes.
const TOGETHER: usize = 64;

/// A party that garbles, with its session. The first party evaluates.
pub struct Garbler {
    gmw: Gmw,
    own: GarblingContext,
}

/// What a party needs for garbling, beside its GMW party: labels, randomness, and the means to look up keys.
/// A session has one.
pub struct GarblingContext {
    scheme: Arc<Scheme>,
    sampler: Sampler,
    labels: Labels,
    source: Source,
    /// How many ANDs, and wires, are garbled together.
    most: [usize; 2],
}

/// Garbled instances of a circuit. Evaluation consumes them: they are neither copied nor cloned.
///
/// ```compile_fail,E0382
/// use divisi_mpgc::{GarbledInstances, Garbler};
/// fn twice(garbler: &mut Garbler, x: &[divisi_mixed::GmwBit], garbled: GarbledInstances) {
///     let first = garbler.evaluate(garbled, x);
///     let second = garbler.evaluate(garbled, x);
/// }
/// ```
/// One evaluation compiles:
/// ```
/// use divisi_mpgc::{GarbledInstances, Garbler};
/// fn once(garbler: &mut Garbler, x: &[divisi_mixed::GmwBit], garbled: GarbledInstances) {
///     let first = garbler.evaluate(garbled, x);
/// }
/// ```
pub struct GarbledInstances {
    pub(crate) session: SessionId,
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) wiring: Wiring,
    pub(crate) instances: Vec<Instance>,
}

/// One garbled instance.
pub(crate) struct Instance {
    /// Our shares of the masks of the input wires, and of the bits that are added to the outputs.
    pub inputs: WipedVec<u8>,
    pub outputs: WipedVec<u8>,
    /// Our shares of the keys of the input wires.
    pub keys: WireKeys,
    /// The number of its first gate in the session.
    pub first: u64,
    /// The sums of rows, gate by gate; only the evaluator has them.
    pub rows: Vec<u8>,
}

impl GarbledInstances {
    /// How many instances there are.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances.len()
    }
}

impl Garbler {
    /// A garbler with this GMW party, whose session must have no other garbler. All parties call it.
    ///
    /// # Errors
    /// It fails as [`GarblingContext::new`] does.
    pub fn new(mut gmw: Gmw, way: LookupMethod) -> Result<Garbler, Abort> {
        let own = GarblingContext::new(&mut gmw, &way, None)?;
        Ok(Garbler { gmw, own })
    }

    /// The GMW party, which shares inputs and opens outputs.
    pub fn gmw(&mut self) -> &mut Gmw {
        &mut self.gmw
    }

    /// Garbles `instances` instances of a circuit. All parties call it.
    ///
    /// # Errors
    /// It fails as [`GarblingContext::garble`] does.
    pub fn garble(&mut self, wiring: &Wiring, instances: usize) -> Result<GarbledInstances, Abort> {
        self.own.garble(&mut self.gmw, wiring, instances)
    }

    /// Shares of the outputs, given shares of the inputs, with a lane for each instance. All parties call it.
    ///
    /// # Errors
    /// It fails as [`GarbledInstances::evaluate`] does.
    pub fn evaluate(&mut self, garbled: GarbledInstances, inputs: &[GmwBit]) -> Result<Vec<GmwBit>, Abort> {
        garbled.evaluate(&mut self.gmw, inputs)
    }
}

impl GarblingContext {
    /// Makes what this GMW party needs for garbling in its session, which must have no other context. If the
    /// session has other keys, `beside`, the partial decryptions of lookups by ciphertexts are counted
    /// together with theirs \[G12\]. All parties call it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are more parties than rows can decrypt for, if the session has a garbler
    /// already, or if the ring is for other tables; otherwise it fails as [`BgvKeys::generate`] does.
    pub fn new(
        gmw: &mut Gmw,
        way: &LookupMethod,
        beside: Option<&BgvKeys>,
    ) -> Result<GarblingContext, Abort> {
        let session = gmw.session();
        if !parameters::fits(session.parties()) {
            return Err(session.misuse(GARBLE, Misuse::PartyCount));
        }
        let labels = Labels::new(session)?; // [G8]
        let Some(scheme) = Scheme::new(session) else {
            return Err(session.misuse(GARBLE, Misuse::Unsupported));
        };
        let sampler = Sampler::new(session);
        let source = Source::new(gmw, way, beside)?;
        let most = [LOOKED_UP, TOGETHER_WIRES];
        Ok(GarblingContext { scheme: Arc::new(scheme), sampler, labels, source, most })
    }

    /// Figure 11: garbles `instances` instances of a circuit. All parties call it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the session would have more gates than are allowed; the abort that ends the
    /// session, if a link or a check fails.
    pub fn garble(
        &mut self,
        gmw: &mut Gmw,
        wiring: &Wiring,
        instances: usize,
    ) -> Result<GarbledInstances, Abort> {
        let gates = wiring.gates().saturating_mul(instances);
        let first = self.labels.take(gmw.session(), gates)?; // [G8]
        let mut upward = Upward::new(instances * wiring.gates().div_ceil(TOGETHER));
        let mut all = Vec::with_capacity(instances);
        let mut numbers = (first..).step_by(wiring.gates().max(1));
        while all.len() < instances {
            let lanes = together(wiring, self.most).min(instances - all.len());
            // 1. lambda_w, k^i_{w,0}, k^i_{w,1}
            let mut group = Group::new(gmw.session(), &mut self.sampler, wiring, lanes);
            // 2. and 3. for the first ANDs; a large circuit has more of them later
            if wiring.ands() > 0 {
                self.lookup(gmw, &mut group)?;
            }
            for (i, first) in (0..lanes).zip(&mut numbers) {
                // 4. and 5.
                all.push(self.instance(gmw, &mut group, i, first, &mut upward)?);
            }
        }
        let (session, scheme) = (gmw.session().id(), Arc::clone(&self.scheme));
        Ok(GarbledInstances { session, scheme, wiring: wiring.clone(), instances: all })
    }

    /// Step 4 for one instance of a group.
    fn instance(
        &mut self,
        gmw: &mut Gmw,
        group: &mut Group<'_>,
        i: usize,
        first: u64,
        upward: &mut Upward,
    ) -> Result<Instance, Abort> {
        let is_first = is_first(gmw.session());
        let wiring = group.wiring;
        let mut rows = Vec::new();
        if is_first {
            rows.reserve_exact(4 * ROW_BYTES * wiring.gates());
        }
        let mut and = i * wiring.ands();
        for (at, gates) in (0..).step_by(TOGETHER).zip(wiring.gates.chunks(TOGETHER)) {
            let mut batch = WipedVec::<u64>::zeros(4 * gates.len() * N);
            for ((g, gate), rows) in (at..).zip(gates).zip(batch.chunks_exact_mut(4 * N)) {
                if gate.is_and() && and == group.found.to {
                    self.lookup(gmw, group)?;
                }
                let number = first + g as u64; // [G8]
                self.rows(number, *gate, wiring.inputs + g, &group.keys[i], &group.found, and, rows);
                if gate.is_and() {
                    group.found.spend(and);
                    and += 1;
                }
            }
            // 4(b)
            let session = gmw.session();
            let batch = tree::Batch::own(session, 4 * (first + at as u64), batch);
            tree::add_up(session, &self.scheme, upward, batch, &mut rows)?;
        }
        let (session, masks) = (gmw.session(), &group.masks[i]);
        let output = |end: &End| match *end {
            End::Wire(wire) => masks.of(session, wire),
            End::Constant(value) => u8::from(value && is_first),
        };
        let mut outputs = WipedVec::zeros(wiring.outputs.len());
        outputs.iter_mut().zip(&wiring.outputs).for_each(|(out, end)| *out = output(end));
        let inputs = WipedVec::from(&masks.lambda[..wiring.inputs]);
        Ok(Instance { inputs, outputs, keys: group.keys[i].first(wiring.inputs), first, rows })
    }

    /// Step 2(a), (Mult): shares of lambda_u lambda_v for the next ANDs of a group. Each party chooses with
    /// its share of lambda_u, and the payloads are the others' shares of lambda_v.
    fn multiply(gmw: &mut Gmw, group: &mut Group<'_>, most: usize) -> Result<(), Abort> {
        let (session, setup) = gmw.ends()?;
        let next = group.next(most);
        let of = |side: usize| GmwBit::of(next.iter().map(|and| u64::from(group.mask(session, and, side))));
        let [u, v] = [0, 1].map(of);
        // [G14]
        let mut rows = setup.semi_honest_rows(session, Bits::Chosen(u.words(), next.len()), Links::All)?;
        let shares = setup.correlate_bits(session, &mut rows, v.words())?;
        group.products = Products::new(shares, group.found.to, next.len());
        Ok(())
    }

    /// Steps 2(a) and 3(b): shares of e, and of k_{w,e}, for the next ANDs of a group, as many as are looked
    /// up in one chain of messages.
    fn lookup(&mut self, gmw: &mut Gmw, group: &mut Group<'_>) -> Result<(), Abort> {
        if group.found.to == group.products.to {
            GarblingContext::multiply(gmw, group, self.most[0])?;
        }
        let session = gmw.session();
        let next = group.next(self.source.ands_at_once().min(self.most[0]));
        // 2(a) e = (lambda_u + alpha) (lambda_v + beta) + lambda_w
        let one = u64::from(is_first(session));
        let mut bits = WipedVec::zeros(4 * next.len());
        for ((at, and), bits) in (group.found.to..).zip(&next).zip(bits.chunks_exact_mut(4)) {
            let [u, v] = [0, 1].map(|side| u64::from(group.mask(session, and, side)));
            let product = group.products.of(at) ^ u64::from(group.masks[and.instance].lambda[and.out]);
            for (row, bit) in (0..).zip(bits) {
                let (alpha, beta) = (row >> 1, row & 1);
                *bit = product ^ alpha & v ^ beta & u ^ alpha & beta & one;
            }
        }
        // 3. T = (k_{w,0}, k_{w,1}), and (b) (PriTabLookup) at e
        let e = GmwBit::of(bits.iter().copied());
        let parts = self.source.lookup(gmw, &e, bits.len(), |l| {
            let and = &next[l / 4];
            [0, 1].map(|b| group.keys[and.instance].share(and.out, b))
        })?;
        group.found = Found::new(parts, group.found.to, next.len());
        Ok(())
    }

    /// Step 4(a): our contributions to the four rows of a gate.
    fn rows(
        &mut self,
        number: u64,
        gate: Gate,
        w: usize,
        keys: &WireKeys,
        found: &Found,
        and: usize,
        rows: &mut [u64],
    ) {
        let [u, v] = gate.operands();
        let values = |wire: usize, b: usize| {
            let mut values = WipedVec::zeros(N);
            self.scheme.values(keys.share(wire, b).iter().map(|c| i64::from(*c)), &mut values);
            values
        };
        let (u, v) = ([values(u, 0), values(u, 1)], [values(v, 0), values(v, 1)]);
        let (q, p) = (self.scheme.modulus(), self.scheme.plain());
        let (mut secret, mut message) = (WipedVec::zeros(N), WipedVec::<i64>::zeros(N));
        for (row, out) in rows.chunks_exact_mut(N).enumerate() {
            let (alpha, beta) = (row >> 1, row & 1);
            // sk_i = k^i_{u,alpha} + k^i_{v,beta}
            secret.copy_from_slice(&u[alpha]);
            q.add_assign(&mut secret, &v[beta]);
            if gate.is_and() {
                let share = found.of(and, row);
                let all = message.iter_mut().zip(share);
                vectorize(
                    #[inline(always)]
                    || all.for_each(|(m, c)| *m = p.centred(u64::from(*c))),
                );
            } else {
                let share = keys.share(w, alpha ^ beta);
                message.iter_mut().zip(share).for_each(|(m, c)| *m = i64::from(*c));
            }
            let label = Label::of(number, row as u64); // [G8]
            self.scheme.encrypt(label, &secret, &message, &mut self.sampler, out);
        }
    }
}

#[cfg(test)]
mod tests;
