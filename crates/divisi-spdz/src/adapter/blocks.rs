//! Blocks of a cipher under one key: party 1 gives the key, party 2 the blocks, and all learn the outputs.

use super::begin::{engine, phase};
use super::how::How;
use crate::ciphers::joint::OUTPUTS;
use crate::ciphers::run::{EngineSlot, ONLINE};
use crate::ciphers::{KeyedCipher, OnSpdz, SETUP};
use crate::protocol::{NamedProtocol, Task, by_field};
use crate::stock::Needs;
use crate::{AuthBit, AuthByte, Host, LOAD_PHASE, VERIFICATION_PHASE};
use divisi_core::{Abort, Counts, Direction, PartyId, PublicParameters, Session, Settles};
use divisi_engine::job::{BlocksJob, Own, given_to};
use divisi_engine::known::groups::SeparateBlocks;
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Prepared, Rows, SetupCounts, StartedParty, Unsupported, Watch, alike,
    members, timed,
};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::des::TripleKey;
use serde_json::{Map, Value, json};

/// Blocks under one key.
pub(super) struct Work<'j> {
    job: &'j BlocksJob,
    how: How,
    named: NamedProtocol,
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
    ) -> StartedParty<'p> {
        let (key_bytes, block) = (self.job.cipher.key_bytes(), self.job.cipher.block_bytes());
        let needs = Needs::default().known(PartyId::P1, key_bytes).known(PartyId::P2, block * count);
        let needs = needs.cipher(self.named, key_bytes, 1, count).plan();
        let mut e = engine::<F>(session, &self.how, self.named.protocol, &needs)?;
        let column: Vec<Vec<u8>> = own.iter().map(|byte| vec![*byte]).collect();
        let mine = (e.session().me() == PartyId::P1).then_some(column.as_slice());
        let bytes = C::input(&mut e, PartyId::P1, mine, &vec![1; key_bytes])?;
        let cipher = C::schedule(&mut e, &bytes)?;
        let (bytes, cipher) = e.settled((bytes, cipher))?.into_inner();
        C::announce(&mut e, self.named, key_bytes, count);
        let setup = SetupCounts::take(e.session().meter(), SETUP);
        let (slot, key) = (EngineSlot::new(e, self.how.stock.is_some()), KeyedCipher { bytes, cipher });
        Ok(Box::new(Holder::<F, C> { of: self, slot, key, setup, openings: 0, bucket: None }))
    }
}

impl Prepared for Work<'_> {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("spdz blocks")
            .with("cipher", self.job.cipher.name().as_bytes())
            .with("key bytes", &(self.job.cipher.key_bytes() as u64).to_le_bytes())
            .with("decrypt", &[u8::from(self.job.direction == Direction::Decrypt)])
            .with("count", &(count as u64).to_le_bytes());
        self.how.describe(parameters.with("named", self.named.name.as_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::of_batches(self.named.batch(), self.job.count, warmup)
    }

    fn deal_key(&self, key: &[u8]) -> Vec<Own> {
        given_to(0, self.how.parties, key)
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        given_to(1, self.how.parties, inputs.bytes())
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, count: usize, own: &Own) -> StartedParty<'p> {
        by_field!(self.how.field, F => match self.named.task == Task::Aes {
            true => self.begin::<F, RoundKeys<AuthByte<F>>>(session, count, own),
            false => self.begin::<F, TripleKey<AuthBit<F>>>(session, count, own),
        })
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "protocol": self.named.name }))
    }
}

struct Holder<'p, F: Host, C: OnSpdz<F>> {
    of: &'p Work<'p>,
    slot: EngineSlot<F>,
    key: KeyedCipher<F, C>,
    setup: SetupCounts,
    /// The number of values opened online.
    openings: u64,
    /// The bucket size of preprocessing that was made in buckets.
    bucket: Option<usize>,
}

impl<F: Host, C: OnSpdz<F>> EngineParty for Holder<'_, F, C> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let bytes = self.of.job.cipher.block_bytes();
        let message = phase(self.slot.get()?, watch, SETUP, |e| {
            let owner = PartyId::P2;
            let column = |i: usize| own.iter().skip(i).step_by(bytes).copied().collect::<Vec<u8>>();
            let columns: Vec<Vec<u8>> = (0..bytes).map(column).collect();
            let mine = (e.session().me() == owner).then_some(columns.as_slice());
            C::input(e, owner, mine, &vec![count; bytes])
        })?;
        let blocks = SeparateBlocks { direction: self.of.job.direction, count };
        let (slot, key, named) = (&mut self.slot, &self.key, self.of.named);
        timed(watch, slot.ahead, || slot.preprocess(named, key, &blocks, &message))?;
        let loaded = timed(watch, LOAD_PHASE, || slot.load(named, key, &blocks, message))?;
        let (out, openings) = timed(watch, ONLINE, || slot.online(loaded, key, &blocks))?;
        let out = timed(watch, VERIFICATION_PHASE, || slot.verify::<C>(out))?;
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
        self.slot.meter()
    }

    fn counts(&mut self) -> Counts {
        let e = self.slot.get();
        e.map_or_else(|_| Counts::default(), |e| self.setup.with(e.session().meter()))
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "openings": self.openings, "bucket": self.bucket }))
    }
}
