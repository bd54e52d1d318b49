//! One party of an operation, and the steps of a batch: preprocessing, which depends on no input, then the
//! operation on shares. What is not measured comes before and after.

use super::shares::{bytes, words};
use super::{Op, OperationJob, Operations};
use divisi_bgv::{Ciphertext, Keys, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_mixed::adders::NumberAdder;
use divisi_mixed::arithmetic::{self, NumberTriples};
use divisi_mixed::gmw::PREPROCESSING;
use divisi_mixed::open::OpeningRounds;
use divisi_mixed::prep_lut::{Masked, prep_lut_polysize};
use divisi_mixed::table::Signs;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");

const ONLINE: &str = "online";
/// The phase of what is not measured.
const CHECK: &str = "check";

/// One party, with its set-up: that for all operations, or for those on ciphertexts alone, which need no
/// transfers.
pub(crate) enum OperationParty {
    Mixed(Box<Mixed>),
    Ciphertexts(Box<(Sampler, Keys, Session)>),
}

impl OperationParty {
    /// Make the set-up.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn start(of: &Operations, mut session: Session) -> Result<Self, Abort> {
        match (of.job.op, &of.numbers) {
            (op, Some(ring)) if matches!(op, Op::E2a | Op::A2e | Op::TripleArith) || of.by_hops() => {
                let keys = Keys::generate(&mut session, ring)?;
                Ok(OperationParty::Ciphertexts(Box::new((Sampler::new(&session), keys, session))))
            }
            _ => {
                let gmw = Gmw::new(session, of.config)?;
                let mut mixed = Mixed::new(gmw, of.plain, of.bits.as_ref(), of.numbers.as_ref())?;
                if let Some(adder) = of.adder {
                    mixed.set_adder(adder);
                    if adder == NumberAdder::LowDepth {
                        // few rounds are what it is chosen for
                        mixed.gmw().set_opening_rounds(OpeningRounds::One);
                    }
                }
                Ok(OperationParty::Mixed(Box::new(mixed)))
            }
        }
    }

    pub fn session(&mut self) -> &mut Session {
        match self {
            OperationParty::Mixed(mixed) => mixed.session(),
            OperationParty::Ciphertexts(all) => &mut all.2,
        }
    }

    /// The number of partial decryptions so far.
    pub fn decryptions(&self) -> u64 {
        match self {
            OperationParty::Mixed(mixed) => mixed.decryptions(),
            OperationParty::Ciphertexts(all) => all.1.decryptions(),
        }
    }
}

/// What a batch has between two steps.
#[derive(Default)]
enum Held {
    #[default]
    Nothing,
    Pairs(Vec<[u64; 2]>),
    Signs(Signs),
    /// With the entries of all tables.
    Tables(Signs, Vec<u64>),
    /// This party's shares of private tables.
    Shares(Num),
    Masked(Masked),
    Triples(Vec<[Num; 3]>),
    Ciphertexts(Vec<Option<Ciphertext>>),
    Output(Zeroizing<Vec<u8>>),
}

/// Some items of an operation at one party. The steps are taken in this order: [`OperationBatch::new`],
/// [`preprocess`](OperationBatch::preprocess) unless the operation is online alone,
/// [`ready`](OperationBatch::ready), [`online`](OperationBatch::online) unless it is random,
/// [`end`](OperationBatch::end).
pub(crate) struct OperationBatch<'b> {
    job: &'b OperationJob,
    party: &'b mut OperationParty,
    count: usize,
    /// This party's shares of the inputs.
    inputs: Zeroizing<Vec<u64>>,
    held: Held,
}

impl<'b> OperationBatch<'b> {
    /// Enter the shares of the inputs. What is converted from a ciphertext, or masked in one, becomes one.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for inputs of another number than the items.
    pub fn new(
        of: &'b Operations,
        party: &'b mut OperationParty,
        count: usize,
        own: &[u8],
    ) -> Result<Self, Abort> {
        let (job, inputs) = (&of.job, Zeroizing::new(words(own)));
        let wanted = if job.op.is_random() { 0 } else { count };
        if inputs.len() != wanted {
            return Err(party.session().misuse(INPUT, Misuse::LengthDiffers));
        }
        let held = match (&mut *party, job.op) {
            (OperationParty::Ciphertexts(all), Op::E2a) => Held::Ciphertexts(give(all, &inputs, CHECK)?),
            (OperationParty::Ciphertexts(all), Op::Lookup) => {
                // the tables are the share of the first party; the shares of others are zero
                let first = all.2.me().index() == 0;
                let places = (0..count).flat_map(|item| (0..job.entries).map(move |at| (item, at)));
                let mut table = WipedVec::zeros(count * job.entries);
                let own = |(item, at)| if first { job.entry(item, at) } else { 0 };
                table.iter_mut().zip(places).for_each(|(share, place)| *share = own(place));
                Held::Shares(Num::new(table))
            }
            _ => Held::Nothing,
        };
        Ok(OperationBatch { job, party, count, inputs, held })
    }

    /// The width of an index.
    fn width(&self) -> usize {
        self.job.entries.checked_ilog2().unwrap_or(0) as usize
    }

    /// Make everything that depends on no input.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn preprocess(&mut self) -> Result<(), Abort> {
        let (count, width, held) = (self.count, self.width(), std::mem::take(&mut self.held));
        self.party.session().phase(PREPROCESSING);
        self.held = match (&mut *self.party, self.job.op, held) {
            (OperationParty::Ciphertexts(all), _, Held::Shares(table)) => {
                let (sampler, keys, session) = &mut **all;
                Held::Masked(prep_lut_polysize(session, keys, sampler, width, &[table])?)
            }
            (OperationParty::Ciphertexts(all), ..) => {
                let (sampler, keys, session) = &mut **all;
                let batches = count.div_ceil(keys.ring().dimension());
                let made = arithmetic::batches(session, keys, sampler, batches)?;
                Held::Triples(made.into_iter().map(NumberTriples::open).collect())
            }
            (OperationParty::Mixed(mixed), Op::Lookup, _) => {
                let signs = mixed.prep_lut(width, count)?;
                if self.job.private {
                    mixed.prepare_products((self.job.entries - 1) * count)?;
                }
                Held::Signs(signs)
            }
            (OperationParty::Mixed(mixed), op, _) => {
                match op {
                    Op::TripleBool => mixed.gmw().prepare(64 * count.div_ceil(64))?,
                    Op::Dabit | Op::Lookup2 => mixed.prepare_bits(count)?,
                    Op::B2a => mixed.prepare_bits(count * self.job.bits)?,
                    _ => mixed.prepare_a2b(count)?,
                }
                Held::Nothing
            }
        };
        Ok(())
    }

    /// Write down the public tables, which no phase counts.
    pub fn ready(&mut self) {
        let (job, count) = (self.job, self.count);
        self.held = match (job.op, std::mem::take(&mut self.held)) {
            (Op::Lookup2, _) => Held::Pairs((0..count).map(|i| job.table(i)).collect()),
            (Op::Lookup, Held::Signs(signs)) => {
                let items = if job.private { count } else { 1 };
                let all = (0..items).flat_map(|item| (0..job.entries).map(move |at| (item, at)));
                Held::Tables(signs, all.map(|(item, at)| job.entry(item, at)).collect())
            }
            (_, held) => held,
        };
    }

    /// Run the operation on the shares.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn online(&mut self) -> Result<(), Abort> {
        let (job, width, held) = (self.job, self.width(), std::mem::take(&mut self.held));
        let inputs = &self.inputs;
        self.party.session().phase(ONLINE);
        self.held = match (&mut *self.party, job.op, held) {
            (OperationParty::Ciphertexts(all), Op::A2e, _) => Held::Ciphertexts(give(all, inputs, ONLINE)?),
            (OperationParty::Ciphertexts(all), _, Held::Ciphertexts(given)) => {
                Held::Output(back(all, given, self.count, ONLINE)?)
            }
            (OperationParty::Ciphertexts(all), _, Held::Masked(tables)) => {
                let x = GmwBit::of_words(inputs, width);
                Held::Output(bytes(tables.lookup(&mut all.2, &x)?.shares().iter().copied()))
            }
            (OperationParty::Mixed(mixed), _, Held::Pairs(tables)) => {
                let out = mixed.lookup_pairs(&tables, &GmwBit::of(inputs.iter().copied()))?;
                Held::Output(bytes(out.shares().iter().copied()))
            }
            (OperationParty::Mixed(mixed), _, Held::Tables(signs, table)) => {
                let x = GmwBit::of_words(inputs, width);
                let out = if job.private {
                    // the tables are the first party's share; those of others are zero
                    let first = mixed.session().me().index() == 0;
                    let shares: Vec<u64> = table.iter().map(|entry| if first { *entry } else { 0 }).collect();
                    mixed.lookup_private(&Num::new(WipedVec::from(&*shares)), &x, signs)?
                } else {
                    mixed.lookup(&[&table], &x, signs)?.pop().unwrap_or_else(|| Num::zero(0))
                };
                Held::Output(bytes(out.shares().iter().copied()))
            }
            (OperationParty::Mixed(mixed), Op::B2a, _) => {
                let out = mixed.b2a(&GmwBit::of_words(inputs, job.bits))?;
                Held::Output(bytes(out.shares().iter().copied()))
            }
            (OperationParty::Mixed(mixed), Op::A2b, _) => {
                let out = mixed.a2b(&Num::new(WipedVec::from(&***inputs)))?;
                Held::Output(bytes(GmwBit::to_words(&out).iter().copied()))
            }
            _ => return Err(self.party.session().misuse(INPUT, Misuse::CircuitUnfit)),
        };
        Ok(())
    }

    /// This party's shares of the outputs, or of what preprocessing made.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn end(self) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let OperationBatch { job, party, count, held, .. } = self;
        match (party, held) {
            (_, Held::Output(output)) => Ok(output),
            (OperationParty::Ciphertexts(all), Held::Ciphertexts(given)) => back(all, given, count, CHECK),
            (_, Held::Triples(made)) => {
                let column = |part: usize| {
                    made.iter().flat_map(move |triple| triple[part].shares().iter().copied()).take(count)
                };
                Ok(bytes((0..3).flat_map(column)))
            }
            (OperationParty::Mixed(mixed), _) if job.op == Op::TripleBool => {
                let [a, b, c] = mixed.gmw().take_triples(count.div_ceil(64))?.open();
                Ok(bytes(a.iter().chain(b.iter()).chain(c.iter()).copied()))
            }
            (OperationParty::Mixed(mixed), _) if job.op == Op::Dabit => {
                let (modulo_2, modulo_p) = mixed.take_bits(count)?.open();
                Ok(bytes(modulo_2.iter().chain(modulo_p.iter()).copied()))
            }
            (party, _) => Err(party.session().misuse(INPUT, Misuse::NotComputed)),
        }
    }
}

/// The holder of each ciphertext: the parties in turn.
fn holders(parties: usize, batches: usize) -> impl Iterator<Item = PartyId> {
    let parties: Vec<PartyId> = PartyId::all(parties).collect();
    parties.into_iter().cycle().take(batches)
}

/// Shares to ciphertexts, as many items in each as the ring has slots.
fn give(
    (sampler, keys, session): &mut (Sampler, Keys, Session),
    inputs: &[u64],
    phase: &'static str,
) -> Result<Vec<Option<Ciphertext>>, Abort> {
    let slots = keys.ring().dimension();
    let batches = inputs.len().div_ceil(slots);
    let mut all = Vec::with_capacity(batches);
    for (holder, inputs) in holders(session.parties(), batches).zip(inputs.chunks(slots)) {
        session.phase(phase);
        let mut share = WipedVec::zeros(slots);
        share.iter_mut().zip(inputs).for_each(|(share, x)| *share = *x);
        all.push(keys.a2e(session, sampler, holder, &share)?);
    }
    Ok(all)
}

/// Ciphertexts to shares.
fn back(
    (sampler, keys, session): &mut (Sampler, Keys, Session),
    all: Vec<Option<Ciphertext>>,
    count: usize,
    phase: &'static str,
) -> Result<Zeroizing<Vec<u8>>, Abort> {
    let ring = keys.ring();
    let factor = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 0);
    let mut out = Vec::with_capacity(count);
    for (holder, x) in holders(session.parties(), all.len()).zip(all) {
        session.phase(phase);
        let x = x.map(|x| x.switch(ring, 0));
        out.extend_from_slice(&keys.e2a(session, sampler, holder, x.as_ref(), factor)?);
    }
    out.truncate(count);
    Ok(bytes(out))
}
