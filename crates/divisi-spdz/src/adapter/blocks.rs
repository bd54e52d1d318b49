//! Blocks of a cipher under one key: party 1 gives the key, party 2 the blocks, and all learn the outputs.

use super::begin::{OUTPUTS, SETUP, engine, phase};
use super::cipher::OnSpdz;
use super::evaluate::{EngineSlot, Keyed, evaluate};
use super::how::{How, Named, Task};
use super::needs::{self, Needs};
use super::{by_field, party_of};
use crate::{AuthBit, AuthByte, Host, SpdzProtocol};
use divisi_core::{Abort, Counts, PublicParameters, Session, Settles};
use divisi_engine::job::{BlocksJob, Own};
use divisi_engine::known::groups::SeparateBlocks;
use divisi_engine::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Watch, alike, members};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::des::TripleKey;
use serde_json::{Map, Value, json};

/// The number of blocks of AES in a batch. Their tables take most of a party's memory, beside the products
/// for the tables of all blocks.
const BATCH_OF_TABLES: usize = 256;
/// The same for triple DES, whose 384 tables for each block have four words in each entry.
const BATCH_OF_SMALL_TABLES: usize = 160;
/// The same for protocols with products instead of tables: so many blocks that buckets of three are enough
/// for their products.
const BATCH_OF_PRODUCTS: usize = 512;
/// The same for 3DES-Raw, which takes 23,424 products for each block.
const BATCH_OF_POWERS: usize = 16;

/// Blocks under one key.
pub(super) struct Work<'j> {
    job: &'j BlocksJob,
    how: How,
    named: Named,
}

/// The number of blocks that go through all phases together.
fn batch(named: Named) -> usize {
    match named.protocol {
        SpdzProtocol::Lookup if named.task == Task::Aes => BATCH_OF_TABLES,
        SpdzProtocol::Lookup => BATCH_OF_SMALL_TABLES,
        SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => BATCH_OF_PRODUCTS,
        // 3DES-Raw, and any protocol without a size of its own
        _ => BATCH_OF_POWERS,
    }
}

impl<'j> Work<'j> {
    /// # Errors
    /// [`Unsupported`] if the protocol that was named is for another task.
    pub fn new(job: &'j BlocksJob, how: How) -> Result<Self, Unsupported> {
        let named = how.protocol(job.cipher)?;
        Ok(Work { job, how, named })
    }

    fn begin<'p, F: Host + 'p, C: OnSpdz<F> + 'p>(
        &'p self,
        session: Session,
        count: usize,
        own: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let (key_bytes, block) = (self.job.cipher.key_bytes(), self.job.cipher.block_bytes());
        let needs = Needs::default().known(needs::party(0), key_bytes).known(needs::party(1), block * count);
        let needs = needs.cipher(self.named, key_bytes, 1, count).plan();
        let mut e = engine::<F>(session, &self.how, self.named.protocol, &needs)?;
        let column: Vec<Vec<u8>> = own.iter().map(|byte| vec![*byte]).collect();
        let owner = party_of(e.session(), 0)?;
        let mine = (e.session().me() == owner).then_some(column.as_slice());
        let bytes = C::input(&mut e, owner, mine, &vec![1; self.job.cipher.key_bytes()])?;
        let cipher = C::schedule(&mut e, &bytes)?;
        let (bytes, cipher) = e.settled((bytes, cipher))?.into_inner();
        C::announce(&mut e, self.named, self.job.cipher.key_bytes(), count);
        let before = as_setup(e.session().meter().read());
        e.session().meter().reset();
        let key = Keyed { bytes, cipher };
        Ok(Box::new(Holder::<F, C> {
            of: self,
            slot: EngineSlot::new(e, &self.how),
            key,
            before,
            openings: 0,
            bucket: None,
        }))
    }
}

/// The counts before the first batch, all as those of the set-up, whatever their phase was.
pub(super) fn as_setup(counts: Counts) -> Counts {
    let mut setup = divisi_core::PhaseCounts::default();
    for phase in counts.phases.values() {
        setup.bits += phase.bits;
        setup.bytes += phase.bytes;
        setup.rounds += phase.rounds;
    }
    Counts { phases: [(SETUP, setup)].into(), ..counts }
}

impl Prepared for Work<'_> {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("spdz blocks")
            .with("cipher", self.job.cipher.name().as_bytes())
            .with("key bytes", &(self.job.cipher.key_bytes() as u64).to_le_bytes())
            .with("decrypt", &[u8::from(self.job.direction == divisi_core::Direction::Decrypt)])
            .with("count", &(count as u64).to_le_bytes());
        self.how.describe(parameters.with("named", self.named.name.as_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let batch = batch(self.named);
        BenchSchedule { batch, warmup: (warmup.min(1), self.job.count.min(batch)), one_session: false }
    }

    fn deal_key(&self, key: &[u8]) -> Vec<Own> {
        self.of_party(0, key)
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.of_party(1, inputs.bytes())
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(
        &'p self,
        session: Session,
        count: usize,
        own: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        by_field!(self.how.field, F => match self.named.task == Task::Aes {
            true => self.begin::<F, RoundKeys<AuthByte<F>>>(session, count, own),
            false => self.begin::<F, TripleKey<AuthBit<F>>>(session, count, own),
        })
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "protocol": self.named.name }))
    }
}

impl Work<'_> {
    fn of_party(&self, number: usize, bytes: &[u8]) -> Vec<Own> {
        let mut owns = vec![Own::default(); self.how.parties];
        if let Some(own) = owns.get_mut(number) {
            own.extend_from_slice(bytes);
        }
        owns
    }
}

struct Holder<'p, F: Host, C: OnSpdz<F>> {
    of: &'p Work<'p>,
    slot: EngineSlot<F>,
    key: Keyed<F, C>,
    before: Counts,
    /// The number of values opened online.
    openings: u64,
    /// The bucket size of preprocessing that was made in buckets.
    bucket: Option<usize>,
}

impl<F: Host, C: OnSpdz<F>> EngineParty for Holder<'_, F, C> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let bytes = self.of.job.cipher.block_bytes();
        let text = phase(self.slot.get()?, watch, SETUP, |e| {
            let owner = party_of(e.session(), 1)?;
            let column = |i: usize| own.iter().skip(i).step_by(bytes).copied().collect::<Vec<u8>>();
            let columns: Vec<Vec<u8>> = (0..bytes).map(column).collect();
            let mine = (e.session().me() == owner).then_some(columns.as_slice());
            C::input(e, owner, mine, &vec![count; bytes])
        })?;
        let blocks = SeparateBlocks { direction: self.of.job.direction, count };
        let (out, openings) = evaluate(&mut self.slot, self.of.named, &self.key, &blocks, text, watch)?;
        self.openings += openings;
        watch.meet(OUTPUTS)?;
        let e = self.slot.get()?;
        e.session().phase(OUTPUTS);
        let columns = C::open(e, out)?;
        e.rest()?;
        self.bucket = e.bucket();
        let row = |lane: usize| columns.iter().filter_map(move |column| column.get(lane).copied());
        Ok(Own::new((0..count).flat_map(row).collect()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.get().map_or_else(|_| Counts::default(), |e| e.session().meter().read())
    }

    fn counts(&mut self) -> Counts {
        let mut counts = self.meter();
        if let Ok(e) = self.slot.get() {
            e.session().meter().reset();
        }
        for (name, phase) in &self.before.phases {
            let sum = counts.phases.entry(name).or_default();
            sum.bits += phase.bits;
            sum.bytes += phase.bytes;
            sum.rounds += phase.rounds;
        }
        for (check, n) in &self.before.checks {
            *counts.checks.entry(*check).or_default() += n;
        }
        let least = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::min);
        counts.verification_error_bits =
            least(counts.verification_error_bits, self.before.verification_error_bits);
        counts.computational_bits = least(counts.computational_bits, self.before.computational_bits);
        counts
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "openings": self.openings, "bucket": self.bucket }))
    }
}
