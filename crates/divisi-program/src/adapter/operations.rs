//! Operations on numbers and bits with random inputs, for benchmarks. The process that dealt the inputs adds
//! the parties' shares of the outputs, and compares the results.
//!
//! Adversary: that of [`divisi_mixed`]: all parties but one, semi-honest. Everything that depends on no input
//! counts as preprocessing.

use super::SETUP;
use super::jobs::Op;
use super::lattice_json;
use super::manner::BitForm;
use super::operation::{Operations, bytes, words};
use super::work::{Member, Run};
use divisi_bgv::parameters::Parameters as Lattice;
use divisi_bgv::{Keys, Sampler};
use divisi_core::Security;
use divisi_core::{Abort, PartyId, Prg, PublicParameters, Session};
use divisi_engine::Differ;
use divisi_engine::Own;
use divisi_engine::{BenchSchedule, EngineParty, Prepared, Rows, members};
use divisi_field::zp::P32;
use divisi_mixed::adders::NumberAdder;
use divisi_mixed::open::OpeningRounds;
use divisi_mixed::{Gmw, Mixed};
use divisi_net::{Machine, World};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

impl Prepared for Operations {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("mixed operations")
            .with("op", self.job.op.name().as_bytes())
            .with("bits", &(self.job.bits as u64).to_le_bytes())
            .with("entries", &(self.job.entries as u64).to_le_bytes())
            .with("private", &[u8::from(self.job.private)])
            .with("form", self.form.map_or("", BitForm::name).as_bytes())
            .with("adder", self.adder.map_or("", NumberAdder::name).as_bytes())
            .with("count", &(count as u64).to_le_bytes());
        let rings = self.bits.iter().chain(&self.numbers);
        self.manner.describe(rings.fold(parameters, |all, ring| ring.parameters().describe(all)))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: self.batch(), warmup: (warmup, self.job.count), one_session: false }
    }

    /// Shares of the inputs: of bits modulo 2, of numbers modulo p.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        if self.job.op.is_random() {
            return vec![Own::default(); self.manner.parties];
        }
        let numbers =
            inputs.iter().map(|row| u64::from(u32::from_le_bytes(row.try_into().unwrap_or_default())));
        let mut key = Zeroizing::new([0; 16]);
        Machine.entropy(key.as_mut_slice());
        let mut prg = Prg::new(&key);
        let in_bits = matches!(self.job.op, Op::B2a | Op::Lookup2 | Op::Lookup);
        let mut first: Zeroizing<Vec<u64>> =
            Zeroizing::new(numbers.map(|x| if in_bits { x } else { x % P32 }).collect());
        let mut others = Vec::new();
        for _ in 1..self.manner.parties {
            let mut share = Zeroizing::new(vec![0; first.len()]);
            prg.words(&mut share);
            for (first, share) in first.iter_mut().zip(share.iter_mut()) {
                if in_bits {
                    *share &= u64::from(u32::MAX);
                    *first ^= *share;
                } else {
                    *share = self.plain.reduce(*share);
                    *first = self.plain.sub(*first, *share);
                }
            }
            others.push(bytes(share.iter().copied()));
        }
        [bytes(first.iter().copied())].into_iter().chain(others).collect()
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        let wrong =
            |i: usize| Differ { party: PartyId::all(i + 1).last(), what: "gave outputs of a wrong form" };
        let each = match self.job.op {
            Op::Dabit => 2,
            Op::TripleArith => 3,
            _ => 1,
        };
        let columns = if self.job.op == Op::TripleBool { 3 * count.div_ceil(64) } else { each * count };
        let lists: Vec<Vec<u64>> = outputs.iter().map(|output| words(output)).collect();
        if let Some(i) = lists.iter().position(|list| list.len() != columns) {
            return Err(wrong(i));
        }
        let p = self.plain;
        let sum =
            |at: usize| lists.iter().fold(0, |sum, list| p.add(sum, list.get(at).copied().unwrap_or(0)));
        let xor = |at: usize| lists.iter().fold(0, |sum, list| sum ^ list.get(at).copied().unwrap_or(0));
        let verdict = |right: bool| vec![u8::from(right)];
        let row = |i: usize| match self.job.op {
            Op::Dabit => verdict(xor(i) == sum(count + i) && xor(i) < 2),
            Op::TripleArith => verdict(p.mul(sum(i), sum(count + i)) == sum(2 * count + i)),
            Op::TripleBool => {
                let (at, words) = (i / 64, count.div_ceil(64));
                verdict((xor(at) & xor(words + at) ^ xor(2 * words + at)) >> (i % 64) & 1 == 0)
            }
            Op::A2b => xor(i).to_le_bytes().to_vec(),
            _ => sum(i).to_le_bytes().to_vec(),
        };
        Ok((0..count).flat_map(row).collect())
    }

    fn start<'p>(
        &'p self,
        mut session: Session,
        _: usize,
        _: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        session.phase(SETUP);
        let run = match (self.job.op, &self.numbers) {
            (op, Some(ring)) if matches!(op, Op::E2a | Op::A2e | Op::TripleArith) || self.by_hops() => {
                let keys = Keys::generate(&mut session, ring)?;
                Run::Ciphertexts(Box::new((Sampler::new(&session), keys, session)))
            }
            _ => {
                let gmw = Gmw::new(session, self.manner.config)?;
                let (bits, numbers) = (self.bits.as_ref(), self.numbers.as_ref());
                let mut mixed = Mixed::new(gmw, self.plain, bits, numbers)?;
                if let Some(adder) = self.adder {
                    mixed.set_adder(adder);
                    if adder == NumberAdder::LowDepth {
                        // few rounds are what it is chosen for
                        mixed.gmw().set_opening_rounds(OpeningRounds::One);
                    }
                }
                Run::Mixed(Box::new(mixed))
            }
        };
        Ok(Box::new(Member { of: self, run }))
    }

    fn facts(&self) -> Map<String, Value> {
        // if there are two rings, that of the random bits, which the form chooses
        let ring = self.bits.as_ref().or(self.numbers.as_ref()).map(|ring| ring.parameters());
        members(json!({
            "op": self.job.op.name(),
            "form": self.form.map(BitForm::name),
            "adder": self.adder.map(NumberAdder::name),
            "bits": (self.job.op == Op::B2a).then_some(self.job.bits),
            "entries": (self.job.op == Op::Lookup).then_some(self.job.entries),
            "private": (self.job.op == Op::Lookup).then_some(self.job.private),
            "security": Security::SemiHonest.name(),
            "k": self.manner.config.k,
            "ring_dimension": ring.map(Lattice::dimension),
            "log2_q": ring.map(Lattice::log2_q),
            "log2_whole": ring.map(Lattice::log2_whole),
            "lattice": lattice_json(ring.and_then(Lattice::hardness)),
            "computational_bits": COMPUTATIONAL_BITS,
            "insecure": self.manner.insecure,
        }))
    }
}
