//! An operation on numbers and bits for benchmarks: the rings that it needs, and its expected results.

use super::jobs::{self, Op, OperationJob};
use super::manner::{BitForm, Manner};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{self, Parameters as Lattice};
use divisi_engine::Unsupported;
use divisi_engine::job::EngineJob;
use divisi_engine::{ExpectedOutput, Own};
use divisi_field::zp::{Modulus, P32};
use divisi_mixed::adders::NumberAdder;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The largest number of items of a run; and about how many random bits, at most, go through all phases
/// together.
const MOST: usize = 1 << 30;
const BATCH: usize = 1 << 21;

/// An operation, its settings, and the rings that it needs.
pub(super) struct Operations {
    pub job: OperationJob,
    pub manner: Manner,
    /// How random bits are made, if the operation has any.
    pub form: Option<BitForm>,
    /// What the adder minimises, if the operation is A2B.
    pub adder: Option<NumberAdder>,
    pub plain: Modulus,
    pub bits: Option<Arc<Ring>>,
    /// The ring of triples, of private tables, or of conversions.
    pub numbers: Option<Arc<Ring>>,
}

/// The public table of an item of [`Op::Lookup2`].
pub(super) fn table(i: usize) -> [u64; 2] {
    [3, 5].map(|c| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ c) % P32)
}

/// An entry of the table of an item: public tables are all the same.
pub(super) fn entry(job: OperationJob, item: usize, at: usize) -> u64 {
    let item = if job.private { item } else { 0 };
    ((item + 1) as u64).wrapping_mul((at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) % P32
}

/// A function that gives the expected output row of an item, from its number in the batch and its input row.
pub(crate) fn expected(job: OperationJob) -> Box<dyn Fn(u64, &[u8]) -> Option<Vec<u8>>> {
    Box::new(move |number, input| {
        if job.op.is_random() {
            return Some(vec![1]);
        }
        let x = u64::from(u32::from_le_bytes(input.try_into().ok()?));
        let out = match job.op {
            Op::B2a => (x & ((1 << job.bits) - 1)) % P32,
            Op::Lookup2 => table(number as usize)[(x & 1) as usize],
            Op::Lookup => entry(job, number as usize, x as usize % job.entries.max(1)),
            _ => x % P32,
        };
        Some(out.to_le_bytes().to_vec())
    })
}

impl EngineJob for OperationJob {
    fn count(&self) -> usize {
        self.count
    }

    fn input_bytes(&self) -> usize {
        if self.op.is_random() { 0 } else { 4 }
    }

    fn output_bytes(&self) -> usize {
        if self.op.is_random() { 1 } else { 8 }
    }

    fn expected(&self) -> ExpectedOutput {
        expected(*self)
    }

    fn message(&self) -> Vec<u8> {
        jobs::message(*self)
    }

    fn counted(&self, count: usize) -> Arc<dyn EngineJob> {
        Arc::new(OperationJob { count, ..*self })
    }
}

impl Operations {
    /// # Errors
    /// [`Unsupported`] for parameters that the operation does not support.
    pub fn new(job: OperationJob, manner: Manner) -> Result<Self, Unsupported> {
        if job.count > MOST {
            return Err(Unsupported::new(format!("--count is more than {MOST}: give less")));
        }
        if !(1..=32).contains(&job.bits) {
            return Err(Unsupported::new(format!("--bits is {}: give 1 to 32", job.bits)));
        }
        if job.op == Op::Lookup && !(job.entries.is_power_of_two() && (2..=256).contains(&job.entries)) {
            return Err(Unsupported::new(format!(
                "--entries is {}: give a power of two from 2 to 256",
                job.entries
            )));
        }
        if job.private && job.op != Op::Lookup {
            return Err(Unsupported::new(format!(
                "{} has no tables of its own: leave --private out",
                job.op.name()
            )));
        }
        let private = job.op == Op::Lookup && job.private;
        let has_bits = matches!(job.op, Op::Dabit | Op::B2a | Op::A2b | Op::Lookup2 | Op::Lookup);
        let has_numbers = matches!(job.op, Op::A2b | Op::TripleArith) || job.private;
        if manner.form.is_some() && !has_bits {
            return Err(Unsupported::new(format!("{} has no forms: leave --form out", job.op.name())));
        }
        let manner = if job.op == Op::A2b { manner } else { manner.without_adder()? };
        let adder = (job.op == Op::A2b).then(|| manner.adder.unwrap_or_default());
        let form = has_bits.then(|| manner.form.unwrap_or(BitForm::usual(manner.parties)));
        let ring = |operation, form| {
            let derive = if manner.insecure { Lattice::danger_insecure } else { Lattice::derive };
            let lattice = derive(operation, form, manner.parties, P32);
            let lattice = lattice.map_err(|error| Unsupported::new(error.to_string()))?;
            Ring::new(lattice).map(Arc::new).ok_or_else(|| Unsupported::new("a prime without a transform"))
        };
        let hops = form.and_then(BitForm::hops).filter(|_| private);
        let bits = match form {
            // private tables by hops take no random bits
            _ if hops.is_some() => None,
            Some(BitForm::Ciphertexts(form)) => Some(ring(parameters::Operation::Bits, form)?),
            _ => None,
        };
        let tree = parameters::Form::LeanTree;
        let numbers = match hops {
            Some(form) => Some(ring(parameters::Operation::PrivateTables, form)?),
            // what is not multiplied needs no relinearisation key
            None if matches!(job.op, Op::E2a | Op::A2e) => {
                Some(ring(parameters::Operation::Conversions, tree)?)
            }
            None => has_numbers.then(|| ring(parameters::Operation::Triples, tree)).transpose()?,
        };
        let plain = Modulus::new(P32).ok_or_else(|| Unsupported::new("no modulus"))?;
        Ok(Operations { job, manner, form, adder, plain, bits, numbers })
    }

    /// Whether private tables are masked in ciphertexts that pass from party to party, instead of by triples.
    pub fn by_hops(&self) -> bool {
        let operation = self.numbers.as_ref().map(|ring| ring.parameters().operation());
        operation == Some(parameters::Operation::PrivateTables)
    }

    /// The number of items that go through all phases together. The memory that an item takes is counted in
    /// random bits, each of which takes some 16 bytes.
    pub fn batch(&self) -> usize {
        let entries = self.job.entries.saturating_sub(1);
        let weight = match self.job.op {
            Op::B2a => self.job.bits,
            // masks are made in parts; numbers take little, and many of them share the messages of a level
            Op::A2b => 16,
            // a table of two entries
            Op::Lookup2 => 2,
            // four copies of each entry, beside ciphertexts of up to 128 MiB
            Op::Lookup if self.by_hops() => 4 * entries,
            // a product's factors, triple and opened words, each as numbers and as bytes
            Op::Lookup if self.job.private => 8 * entries,
            Op::Lookup => self.job.entries,
            // all ciphertexts of a batch are in memory
            Op::E2a | Op::A2e => 4,
            Op::TripleArith => 2,
            _ => 1,
        };
        let slots = match (self.job.op, &self.numbers) {
            // each item takes one slot, so that a batch fills whole ciphertexts
            (Op::E2a | Op::A2e | Op::TripleArith, Some(ring)) => ring.dimension(),
            _ => 1,
        };
        (BATCH / weight.max(1)).next_multiple_of(slots).clamp(1, self.job.count.max(1))
    }
}

/// The words of a list of bytes, eight bytes each, the lowest first.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes)).collect()
}

/// The bytes of a list of words: the inverse of [`words`].
pub(super) fn bytes(words: impl IntoIterator<Item = u64>) -> Own {
    Zeroizing::new(words.into_iter().flat_map(u64::to_le_bytes).collect())
}
