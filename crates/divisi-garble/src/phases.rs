//! The four phases of Pi_mpc (Fig. 2 and 3) as separate calls: setup, function-independent,
//! function-dependent, online.

use crate::aand::aand;
use crate::checks;
use crate::context::TripleContext;
use crate::hash::Oracle;
use crate::held::{Garbled, InstanceState, Role, Spent, of_results, result_masks};
use crate::labels::Labels;
use crate::masks::Masks;
use crate::online;
use crate::options::{DEPENDENT_PHASE, GarbleOptions, INDEPENDENT_PHASE, ONLINE_PHASE};
use crate::plan::{Plan, Unfit};
use crate::purposes;
use crate::run::{Instance, Private, Run, random_labels};
use crate::share::{Rows, Seats, Shares};
use crate::triples::{MasksAndTriples, Preprocessed, Triples};
use crate::zero;
use divisi_core::{Abort, Bound, Misuse, PartyId, Prg, Session, Step, step, wipe};
use divisi_ot::{Setup, bucket};
use zeroize::Zeroizing;

#[cfg(test)]
#[cfg(feature = "testing")]
mod numbers;

const INDEPENDENT: Step = step!("function-independent");
const DEPENDENT: Step = step!("function-dependent");
const ONLINE: Step = step!("online");
/// The most ANDs for which one call makes triples: the number of a wire has 30 bits.
const MOST: usize = 1 << 30;

/// One party in a live session of garbling. It garbles and evaluates any number of circuits, one after the
/// other. When the session ends in an abort, in any of its strands, the secrets in it (Delta, seeds,
/// correlations) are wiped, and every further call fails \[M0.5\].
pub struct Garble {
    live: Bound<Box<Live>>,
}

/// The state of a party while its session lives.
pub(crate) struct Live {
    pub(crate) setup: Setup,
    pub(crate) oracle: Oracle,
    pub(crate) options: GarbleOptions,
    pub(crate) seats: Seats,
    /// The number of the next triple, and of the next gate, in the session.
    pub(crate) next_triple: u64,
    pub(crate) next_gate: u64,
    /// The generator of labels and other values that only we know.
    pub(crate) fresh: Prg,
    /// Memory of evaluated circuits, freed by the next function-independent or function-dependent phase.
    pub(crate) spent: Vec<Spent>,
    /// For each batch of triples made in this session: how many it gave, and the size of its buckets.
    pub(crate) made: Vec<(usize, usize)>,
}

impl Garble {
    /// A party with this set-up. All parties must have the same options: [`GarbleOptions::describe`].
    #[must_use]
    pub fn new(session: &Session, setup: Setup, options: GarbleOptions) -> Garble {
        let mut seed = Zeroizing::new([0; 16]);
        session.entropy(purposes::FRESH_SEED, seed.as_mut_slice());
        let seats = Seats { me: session.me().index(), n: session.parties() };
        let (oracle, fresh) = (Oracle::new(session), Prg::of(purposes::FRESH, &seed));
        Garble {
            live: session.bind(Box::new(Live {
                setup,
                oracle,
                options,
                seats,
                next_triple: 0,
                next_gate: 0,
                fresh,
                spent: Vec::new(),
                made: Vec::new(),
            })),
        }
    }

    /// Steps 1 and 2 of Fig. 2, and triples by Fig. 18: makes triples for `ands` ANDs and masks for `wires`
    /// wires. The result is for this session only.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if `ands` is more than 2^30, or if shares of `wires` masks take more memory than
    /// tables may; the abort that ends the session, if a link or a check fails.
    pub fn function_independent(
        &mut self,
        session: &mut Session,
        ands: usize,
        wires: usize,
    ) -> Result<Preprocessed, Abort> {
        self.with(session, |live, session| {
            let made = live.function_independent(session, ands, wires)?;
            Ok(Preprocessed::new(session, made))
        })
    }

    /// Steps 3 and 4 of Fig. 2, and the input masks of step 5, for `count` instances of a plan. Party i mod n
    /// evaluates instance i. Two rounds.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the plan is for another number of parties or for a circuit in a file, too little
    /// preprocessing is left, or the tables exceed the budget; the abort that ends the session, if a link or
    /// a check fails.
    pub fn function_dependent<'p>(
        &mut self,
        session: &mut Session,
        preprocessed: &mut Preprocessed,
        plan: &'p Plan<'p>,
        count: usize,
    ) -> Result<Garbled<'p>, Abort> {
        self.with(session, |live, session| {
            let mut made = preprocessed.take(session, DEPENDENT)?;
            let garbled = live.function_dependent(session, &mut made, plan, count)?;
            preprocessed.put(session, made);
            Ok(garbled)
        })
    }

    /// Steps 5 to 8 of Fig. 3. `inputs` has, for each instance, the bits of our own input wires, one in each
    /// byte. The result has, for each instance, the output bits that we receive, in the same form.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the inputs do not fit the plan; the abort that ends the session, if a link or a
    /// check fails.
    pub fn online(
        &mut self,
        session: &mut Session,
        garbled: Garbled<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
        self.with(session, |live, session| {
            session.phase(ONLINE_PHASE);
            let Garbled { plan, batch, mut held } = garbled;
            let mut held = held.take(session, ONLINE)?;
            let run = Run::of(&live.setup, &live.oracle, live.options, live.seats);
            let outputs = online::online(&run, session, plan, batch, &mut held, inputs)?;
            live.spent.push(Spent::new(held));
            Ok(outputs)
        })
    }

    /// Runs a plan from its inputs to its outputs, in batches: inputs come first, then triples, tables and
    /// evaluation of each batch. Party i mod n evaluates instance i. `inputs` has, for each instance, the
    /// bits of our own input wires, one in each byte; the result has the output bits that we receive, in the
    /// same form.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the inputs do not fit the plan, or the circuit's file has changed; the abort that
    /// ends the session, if a link or a check fails.
    pub fn streamed(
        &mut self,
        session: &mut Session,
        plan: &Plan<'_>,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
        self.with(session, |live, session| live.streamed(session, plan, inputs))
    }

    /// Refuses, before anything is sent, to garble ahead a plan of a circuit in a file, or one whose tables
    /// exceed the budget.
    ///
    /// # Errors
    /// [`Unfit::Streamed`] for a circuit in a file; [`Unfit::Budget`] if the tables exceed the budget.
    pub fn admit(&self, plan: &Plan<'_>, count: usize) -> Result<(), Unfit> {
        self.live.peek(|live| live.admit(plan, count)).unwrap_or(Ok(()))
    }

    /// How triples for `ands` ANDs would be made: for each batch the number of triples that it gives, and the
    /// size of its buckets.
    #[must_use]
    pub fn buckets(&self, ands: usize) -> Vec<(usize, usize)> {
        let of = |live: &Live| {
            let rho = live.setup.config().rho;
            live.shares_of(ands).into_iter().map(|l| (l, bucket::size(l, rho))).collect()
        };
        self.live.peek(|live| of(live)).unwrap_or_default()
    }

    /// The same for all batches that this session has made so far.
    #[must_use]
    pub fn made(&self) -> Vec<(usize, usize)> {
        self.live.peek(|live| live.made.clone()).unwrap_or_default()
    }

    /// Whether the session still lives. After an abort all its secrets are gone.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.peek(|_| ()).is_some()
    }

    /// Runs a phase on the state; if the phase fails, the state is wiped, and every later call fails.
    pub(crate) fn with<R>(
        &mut self,
        session: &mut Session,
        phase: impl FnOnce(&mut Live, &mut Session) -> Result<R, Abort>,
    ) -> Result<R, Abort> {
        let live = &mut self.live;
        wipe::stack(|| {
            let mut taken = live.take(session, INDEPENDENT)?;
            let result = phase(&mut taken, session)?;
            live.put(session, taken);
            Ok(result)
        })
    }
}

impl Live {
    pub fn function_independent(
        &mut self,
        session: &mut Session,
        ands: usize,
        wires: usize,
    ) -> Result<MasksAndTriples, Abort> {
        self.spent.clear();
        // the share of a mask has a bit, and a MAC and a key for each peer; tables for as many wires would be
        // larger
        let masks =
            wires.checked_mul(32 * self.seats.peers() + 1).and_then(|bytes| u64::try_from(bytes).ok());
        let budget = self.options.budget.max(GarbleOptions::default().budget);
        if ands > MOST || masks.is_none_or(|bytes| bytes > budget) {
            return Err(session.misuse(INDEPENDENT, Misuse::TooLarge));
        }
        let mut made = MasksAndTriples::default();
        let mut left = wires;
        for l in self.shares_of(ands) {
            session.phase(INDEPENDENT_PHASE);
            let bucket = self.bucket(session, l)?;
            let m = l * bucket;
            // behind the bits of the triples come the masks, then the bits of the zero check
            let count = 3 * m + left + zero::bits(self.seats.n);
            let bits = self.setup.authenticated_bits(session, count)?;
            let mut bits = Shares::of(session.me(), bits);
            let masks = bits.copy(3 * m..3 * m + left);
            let context = TripleContext {
                seats: self.seats,
                oracle: &self.oracle,
                form: self.options.form,
                first: self.next_triple,
                fresh: bits.copy(3 * m + left..count),
            };
            self.next_triple += m as u64;
            self.made.push((l, bucket));
            let triples = aand(session, &mut self.setup, &context, bucket, m, &mut bits)?;
            made.append(MasksAndTriples { masks, triples });
            left = 0;
        }
        if left > 0 {
            session.phase(INDEPENDENT_PHASE);
            let bits = self.setup.authenticated_bits(session, left)?;
            made.append(MasksAndTriples {
                masks: Shares::of(session.me(), bits),
                triples: Triples::default(),
            });
        }
        Ok(made)
    }

    /// The size of buckets for `l` triples \[W18\].
    pub(crate) fn bucket(&self, session: &Session, l: usize) -> Result<usize, Abort> {
        let rho = self.setup.config().rho;
        let bucket = bucket::size(l, rho);
        let bits = bucket::error_bits(l, bucket);
        session.require(checks::W18, INDEPENDENT, bits >= f64::from(rho), None)?; // [W18]
        session.meter().verification_error((-bits).exp2());
        Ok(bucket)
    }

    /// Sizes of the batches in which the triples are made: as few as the memory allows, of nearly equal size.
    pub(crate) fn shares_of(&self, ands: usize) -> Vec<usize> {
        let rho = self.setup.config().rho;
        let row = 3 * (32 * self.seats.peers() + 1);
        let fits = |l: usize| l * bucket::size(l, rho) * row <= self.options.memory;
        let mut parts = 1;
        while ands.div_ceil(parts) > 1 && !fits(ands.div_ceil(parts)) {
            parts += 1;
        }
        (0..parts).map(|i| (ands * (i + 1)) / parts - (ands * i) / parts).filter(|l| *l > 0).collect()
    }

    pub fn function_dependent<'p>(
        &mut self,
        session: &mut Session,
        made: &mut MasksAndTriples,
        plan: &'p Plan<'p>,
        count: usize,
    ) -> Result<Garbled<'p>, Abort> {
        session.phase(DEPENDENT_PHASE);
        self.spent.clear();
        self.fits(session, made, plan, count)?;
        let ands = plan.and_count();
        // taken from the end, so that the rest is not moved
        let inputs = made.masks.take_last(count * plan.input_bits());
        let gammas = self.or_empty(made.masks.take(count * ands));
        let triples = self.or_empty_triples(made.triples.take(count * ands));
        let run = Run::of(&self.setup, &self.oracle, self.options, self.seats);
        let whole = plan.whole();
        // 3. masks of all wires, and our labels of the inputs
        let mut instances = Vec::with_capacity(count);
        let (mut labels, mut input_labels, mut input_masks) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..count {
            let masks = inputs.copy(i * plan.input_bits()..(i + 1) * plan.input_bits());
            let evaluator = i % self.seats.n;
            let of_inputs =
                (evaluator != self.seats.me).then(|| random_labels(&mut self.fresh, plan.input_bits()));
            instances.push(Instance {
                evaluator,
                masks: Masks::new(self.seats, plan.program().slots(), &masks),
                gate: self.next_gate,
            });
            self.next_gate += ands as u64;
            labels.push(of_inputs.as_ref().map(|l| Labels::new(plan.program().slots(), l)));
            input_labels.push(of_inputs);
            input_masks.push(masks);
        }
        // 4.(a), and step 5's shares of input masks to the inputs' owners
        let private = self.owners(session, plan, &input_masks);
        let binding = plan.digest();
        let (garblings, own) =
            run.multiply(session, &mut instances, whole, triples, &gammas, &private, &binding)?;
        // 4.(b) to (d)
        run.send_tables(session, &mut instances, &mut labels, whole, &garblings, &mut self.fresh)?;
        let mut held = Vec::with_capacity(count);
        let owned = plan.wires_of(session.me()).count();
        let parts = instances.into_iter().zip(garblings).zip(labels.into_iter().zip(input_labels));
        for (i, ((instance, garbling), (labels, inputs))) in parts.enumerate() {
            let role = match (labels, inputs) {
                (Some(labels), Some(inputs)) => {
                    Role::Garbler { inputs, outputs: of_results(plan, &labels.slots) }
                }
                _ => Role::Evaluator {
                    gate: instance.gate,
                    garbling,
                    tables: run.receive_tables(session, ands)?,
                },
            };
            held.push(InstanceState {
                evaluator: instance.evaluator,
                owned: Zeroizing::new(own[i * owned..(i + 1) * owned].to_vec()),
                outputs: result_masks(plan, self.seats, &instance.masks),
                role,
            });
        }
        Ok(Garbled { plan, batch: whole, held: session.bind(held) })
    }

    fn fits(
        &self,
        session: &Session,
        made: &MasksAndTriples,
        plan: &Plan<'_>,
        count: usize,
    ) -> Result<(), Abort> {
        session.require(checks::W29, DEPENDENT, !plan.has_public_wires(), None)?; // [W29]
        if plan.parties() != self.seats.n {
            return Err(session.misuse(DEPENDENT, Misuse::PartyCount));
        }
        if plan.ahead().is_err() {
            return Err(session.misuse(DEPENDENT, Misuse::CircuitInFile));
        }
        let ands = count * plan.and_count();
        if made.triples.len() < ands || made.masks.len() < ands + count * plan.input_bits() {
            return Err(session.misuse(DEPENDENT, Misuse::TooFewMade));
        }
        if self.admit(plan, count).is_err() {
            return Err(session.misuse(DEPENDENT, Misuse::TooLarge));
        }
        Ok(())
    }

    pub fn admit(&self, plan: &Plan<'_>, count: usize) -> Result<(), Unfit> {
        plan.ahead()?;
        self.options.admit(plan, self.setup.config().rho, count)
    }

    /// For each peer, our shares of the masks of the input wires that it owns \[W20\].
    pub(crate) fn owners(&self, session: &Session, plan: &Plan<'_>, masks: &[Shares]) -> Private {
        let of = |party: PartyId| {
            let mut rows =
                Rows::with_capacity(self.seats.peers(), masks.len() * plan.wires_of(party).count());
            for masks in masks {
                plan.wires_of(party).for_each(|wire| rows.push_share(masks, wire));
            }
            rows.into_shares()
        };
        Private { theirs: session.peers().into_iter().map(of).collect(), ours: of(session.me()) }
    }

    pub(crate) fn or_empty(&self, shares: Shares) -> Shares {
        if shares.len() == 0 { Shares::zero(self.seats.peers(), 0) } else { shares }
    }

    pub(crate) fn or_empty_triples(&self, triples: Triples) -> Triples {
        let Triples { x, y, z } = triples;
        Triples { x: self.or_empty(x), y: self.or_empty(y), z: self.or_empty(z) }
    }
}
