//! Figure 11: garbling, step by step.
//!
//! Adversary: semi-honest, all parties but one. Deviations from the paper. Keys are ternary, where the paper
//! allows shares uniform modulo p ([`crate::key`]). D1: the mask of an XOR's output is the XOR of its
//! operands' masks. Then the key to be encrypted depends only on alpha and beta, which are public, and XORs
//! need no product and no lookup. The evaluator's masked value of such a wire is the XOR of those of the
//! operands, which it could compute anyway. NOTs and wires with public values have no rows.
//!
//! Cost of an instance with lookups by transfers, sent by a party: 4 x 3,328 bytes for each gate (nothing by
//! the root of the tree). For each AND also four lookups of (n - 1) (2,176 + 4) bytes at k = 4, one triple,
//! and its opening. Rounds: two for triples, one for products, 1 + n for each batch of lookups, and ceil(log2
//! (n + 1)) - 1 for rows (test `cost_of_garbling`).

use crate::key::WireKeys;
use crate::label::{Label, Labels};
use crate::lookup::{Source, Way};
use crate::parameters::{self, DIMENSION, LOOKED_UP, ROW_BYTES};
use crate::scheme::Scheme;
use crate::tree;
use crate::wiring::{End, Gate, Wire, Wiring};
use divisi_bgv::hidden::Hidden;
use divisi_bgv::{Keys as BgvKeys, Sampler};
use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Boolean, ProgramRun, Session, SessionId, Step, step};
use divisi_mixed::gmw::triples_for;
use divisi_mixed::{Gmw, GmwBit};
use divisi_ot::Kept;
use std::sync::Arc;

const N: usize = DIMENSION;
const GARBLE: Step = step!("garble");

/// How many gates' rows go up the tree in one message: each gate has four rows of 3,328 bytes.
const TOGETHER: usize = 64;
/// After this number of batches of rows all parties wait for the root, unless lookups make them wait anyway.
const AHEAD: usize = 64;

/// A party that garbles, with its session. The first party evaluates.
pub struct Garbler {
    gmw: Gmw,
    own: Gear,
}

/// What a party needs for garbling, beside its GMW party: labels, randomness, and the means to look up keys.
/// A session has one.
pub struct Gear {
    scheme: Arc<Scheme>,
    sampler: Sampler,
    labels: Labels,
    source: Source,
}

/// Garbled instances of a circuit. Evaluation consumes them: they are neither copied nor cloned.
///
/// ```compile_fail,E0382
/// fn twice(garbler: &mut divisi_mpgc::Garbler, x: &[divisi_mixed::GmwBit], garbled: divisi_mpgc::Garbled) {
///     let first = garbler.evaluate(garbled, x);
///     let second = garbler.evaluate(garbled, x);
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
    pub inputs: Hidden<u8>,
    pub outputs: Hidden<u8>,
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

/// Our shares: lambda of the masks of all wires of an instance, and of e for each AND.
struct Masks {
    lambda: Hidden<u8>,
    /// Shares of the products lambda_u lambda_v, AND by AND.
    products: Hidden<u8>,
}

impl Masks {
    /// Our share of the mask of a wire.
    fn of(&self, session: &Session, wire: Wire) -> u8 {
        self.lambda[wire.at] ^ u8::from(wire.negated && is_first(session))
    }
}

fn is_first(session: &Session) -> bool {
    session.me().index() == 0
}

impl Garbler {
    /// A garbler with this GMW party, whose session must have no other garbler. All parties call it.
    ///
    /// # Errors
    /// As [`Gear::new`].
    pub fn new(mut gmw: Gmw, way: Way) -> Result<Garbler, Abort> {
        let own = Gear::new(&mut gmw, &way, None)?;
        Ok(Garbler { gmw, own })
    }

    /// The GMW party, which shares inputs and opens outputs.
    pub fn gmw(&mut self) -> &mut Gmw {
        &mut self.gmw
    }

    /// Garbles `instances` instances of a circuit. All parties call it.
    ///
    /// # Errors
    /// As [`Gear::garble`].
    pub fn garble(&mut self, wiring: &Wiring, instances: usize) -> Result<GarbledInstances, Abort> {
        self.own.garble(&mut self.gmw, wiring, instances)
    }

    /// Shares of the outputs, given shares of the inputs, with a lane for each instance. All parties call it.
    ///
    /// # Errors
    /// As [`GarbledInstances::evaluate`].
    pub fn evaluate(&mut self, garbled: GarbledInstances, inputs: &[GmwBit]) -> Result<Vec<GmwBit>, Abort> {
        garbled.evaluate(&mut self.gmw, inputs)
    }
}

impl Gear {
    /// Makes the gear for this GMW party's session, which must have no other. If the session has other keys,
    /// `beside`, lookups by ciphertexts are counted together with their partial decryptions \[G12\]. All
    /// parties call it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are more parties than rows can decrypt for, if the session has a garbler
    /// already, or if the ring is for other tables; otherwise as [`BgvKeys::generate`].
    pub fn new(gmw: &mut Gmw, way: &Way, beside: Option<&BgvKeys>) -> Result<Gear, Abort> {
        let session = gmw.session();
        if !parameters::fits(session.parties()) {
            return Err(session.misuse(GARBLE, "more parties than a row can decrypt for"));
        }
        let labels = Labels::new(session)?; // [G8]
        let Some(scheme) = Scheme::new(session) else {
            return Err(session.misuse(GARBLE, "a modulus without a transform"));
        };
        let sampler = Sampler::new(session);
        let source = Source::new(gmw, way, beside)?;
        Ok(Gear { scheme: Arc::new(scheme), sampler, labels, source })
    }

    /// Garbles `instances` instances of a circuit. All parties call it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the session would have more gates than are allowed; the abort that ends the
    /// session.
    pub fn garble(
        &mut self,
        gmw: &mut Gmw,
        wiring: &Wiring,
        instances: usize,
    ) -> Result<GarbledInstances, Abort> {
        let gates = wiring.gates().saturating_mul(instances);
        let first = self.labels.take(gmw.session(), gates)?; // [G8]
        // 1. and 2. for all instances at once
        let masks = self.masks(gmw, wiring, instances)?;
        let mut all = Vec::with_capacity(instances);
        for (first, masks) in (first..).step_by(wiring.gates().max(1)).zip(masks) {
            all.push(self.instance(gmw, wiring, first, &masks)?);
        }
        let (session, scheme) = (gmw.session().id(), Arc::clone(&self.scheme));
        Ok(GarbledInstances { session, scheme, wiring: wiring.clone(), instances: all })
    }

    /// Steps 1 and 2: shares of lambda_w for every wire, and of lambda_u lambda_v for every AND.
    fn masks(&mut self, gmw: &mut Gmw, wiring: &Wiring, instances: usize) -> Result<Vec<Masks>, Abort> {
        let wires = wiring.inputs + wiring.gates();
        let mut all = Vec::with_capacity(instances);
        for _ in 0..instances {
            let (mut lambda, mut bits) = (Hidden::zeros(wires), Hidden::zeros(wires));
            self.sampler.bits(&mut bits);
            lambda.iter_mut().zip(bits.iter()).for_each(|(lambda, bit)| *lambda = *bit as u8);
            for (w, gate) in (wiring.inputs..).zip(&wiring.gates) {
                if let Gate::Xor(u, v) = *gate {
                    lambda[w] = lambda[u] ^ lambda[v];
                }
            }
            all.push(Masks { lambda, products: Hidden::zeros(wiring.ands()) });
        }
        let lanes = instances * wiring.ands();
        if lanes == 0 {
            return Ok(all);
        }
        let session = gmw.session();
        let operands = wiring.gates.iter().filter_map(|gate| match gate {
            Gate::And(u, v) => Some([*u, *v]),
            Gate::Xor(..) => None,
        });
        let operands: Vec<[Wire; 2]> = operands.collect();
        let mut inputs = Vec::with_capacity(2);
        for side in [0, 1] {
            let mut bits = Hidden::zeros(lanes);
            let of = all.iter().flat_map(|masks| operands.iter().map(move |pair| (masks, pair[side])));
            for (bit, (masks, wire)) in bits.iter_mut().zip(of) {
                *bit = u64::from(masks.of(session, wire));
            }
            inputs.push(GmwBit::of(bits.iter().copied()));
        }
        let mut g = Build::new();
        let (x, y) = (g.input(1)[0], g.input(1)[0]);
        let product = g.and(x, y);
        g.output(&[product]);
        let program = g.finish();
        gmw.prepare(triples_for(&program, lanes))?;
        let mut jobs = [ProgramRun::new(&program, inputs)];
        gmw.run(&mut jobs)?;
        let [job] = jobs;
        let Some(products) = job.wires.first() else {
            return Err(gmw.session().misuse(GARBLE, "a product without a result"));
        };
        let each = all.iter_mut().flat_map(|masks| masks.products.iter_mut());
        each.enumerate().for_each(|(lane, product)| *product = products.lane(lane) as u8);
        Ok(all)
    }

    /// Steps 1, 3 and 4 for one instance.
    fn instance(
        &mut self,
        gmw: &mut Gmw,
        wiring: &Wiring,
        first: u64,
        masks: &Masks,
    ) -> Result<Instance, Abort> {
        let is_first = is_first(gmw.session());
        let wires = wiring.inputs + wiring.gates();
        // 1. k^i_{w,0}, k^i_{w,1}
        let keys = WireKeys::new(&mut self.sampler, wires, is_first);
        let mut rows = Vec::new();
        if is_first {
            rows.reserve_exact(4 * ROW_BYTES * wiring.gates());
        }
        let mut found = Found { keys: Kept::default(), from: 0, to: 0 };
        let (mut and, mut ahead) = (0, 0);
        for (at, gates) in (0..).step_by(TOGETHER).zip(wiring.gates.chunks(TOGETHER)) {
            let mut batch = Kept::<u64>::zeros(4 * gates.len() * N);
            for ((g, gate), rows) in (at..).zip(gates).zip(batch.chunks_exact_mut(4 * N)) {
                if gate.is_and() && and == found.to {
                    // 3. the keys of the next ANDs
                    let phase = gmw.session().current_phase();
                    gmw.session().phase(phase);
                    found = self.look_up(gmw, wiring, masks, &keys, g, and)?;
                    ahead = 0;
                }
                let number = Labels::of_gate(gmw.session(), first, g); // [G8]
                self.rows(number, *gate, wiring.inputs + g, &keys, &found, and, rows);
                and += usize::from(gate.is_and());
            }
            // 4(b)
            let session = gmw.session();
            let batch = tree::Batch::own(session, 4 * (first + at as u64), batch);
            tree::add_up(session, &self.scheme, batch, &mut rows)?;
            ahead += 1;
            if ahead == AHEAD {
                tree::settle(session)?;
                let phase = session.current_phase();
                session.phase(phase);
                ahead = 0;
            }
        }
        let session = gmw.session();
        let output = |end: &End| match *end {
            End::Wire(wire) => masks.of(session, wire),
            End::Constant(value) => u8::from(value && is_first),
        };
        let mut outputs = Hidden::zeros(wiring.outputs.len());
        outputs.iter_mut().zip(&wiring.outputs).for_each(|(out, end)| *out = output(end));
        let inputs = Hidden::from(&masks.lambda[..wiring.inputs]);
        Ok(Instance { inputs, outputs, keys: keys.first(wiring.inputs), first, rows })
    }

    /// Step 3(b): shares of k_{w,e} for the ANDs from gate `g` on. `and` is the number of the first of them
    /// among all ANDs.
    fn look_up(
        &mut self,
        gmw: &mut Gmw,
        wiring: &Wiring,
        masks: &Masks,
        keys: &WireKeys,
        g: usize,
        and: usize,
    ) -> Result<Found, Abort> {
        let session = gmw.session();
        let one = u64::from(is_first(session));
        let ands = wiring.gates.iter().enumerate().skip(g).filter(|(_, gate)| gate.is_and());
        let mut outs = Vec::with_capacity(LOOKED_UP);
        let mut bits = Hidden::zeros(4 * LOOKED_UP);
        for (i, (g, gate)) in ands.take(LOOKED_UP).enumerate() {
            let (w, Gate::And(u, v)) = (wiring.inputs + g, *gate) else { continue };
            let [u, v] = [u, v].map(|wire| u64::from(masks.of(session, wire)));
            let product = u64::from(masks.products[and + i] ^ masks.lambda[w]);
            // e = (lambda_u + alpha) (lambda_v + beta) + lambda_w
            for (row, bit) in bits[4 * i..4 * i + 4].iter_mut().enumerate() {
                let (alpha, beta) = (row as u64 >> 1, row as u64 & 1);
                *bit = product ^ alpha & v ^ beta & u ^ alpha & beta & one;
            }
            outs.push(w);
        }
        let count = 4 * outs.len();
        let e = GmwBit::of(bits[..count].iter().copied());
        let table = |l: usize| {
            let w = outs.get(l / 4).copied().unwrap_or_default();
            [keys.share(w, 0), keys.share(w, 1)]
        };
        let found = self.source.look_up(gmw, &e, count, table)?;
        Ok(Found { keys: found, from: and, to: and + count / 4 })
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
            let mut values = Hidden::zeros(N);
            self.scheme.values(keys.share(wire, b).iter().map(|c| i64::from(*c)), &mut values);
            values
        };
        let (u, v) = ([values(u, 0), values(u, 1)], [values(v, 0), values(v, 1)]);
        let (q, p) = (self.scheme.modulus(), self.scheme.plain());
        let (mut secret, mut message) = (Hidden::zeros(N), Hidden::<i64>::zeros(N));
        for (row, out) in rows.chunks_exact_mut(N).enumerate() {
            let (alpha, beta) = (row >> 1, row & 1);
            // sk_i = k^i_{u,alpha} + k^i_{v,beta}
            secret.copy_from_slice(&u[alpha]);
            q.add_assign(&mut secret, &v[beta]);
            if gate.is_and() {
                let share = found.of(and, row);
                message.iter_mut().zip(share).for_each(|(m, c)| *m = p.centred(*c));
            } else {
                let share = keys.share(w, alpha ^ beta);
                message.iter_mut().zip(share).for_each(|(m, c)| *m = i64::from(*c));
            }
            let label = Label::of(number, row as u64); // [G8]
            self.scheme.encrypt(label, &secret, &message, &mut self.sampler, out);
        }
    }
}

/// Shares of the keys of the last lookups, for a range of ANDs.
struct Found {
    keys: Kept<u64>,
    from: usize,
    to: usize,
}

impl Found {
    /// The share of the key for one row of an AND.
    fn of(&self, and: usize, row: usize) -> &[u64] {
        let at = 4 * (and - self.from) + row;
        &self.keys[at * N..(at + 1) * N]
    }
}
