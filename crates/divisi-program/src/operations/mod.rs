//! Single operations on numbers and bits, item by item: which there are, the rings that they need, the
//! sharing of their inputs and the sums of their outputs, and the steps of a party.
//!
//! Adversary: that of [`divisi_mixed`]: all parties but one, semi-honest. Everything that depends on no input
//! is preprocessing.

mod party;
mod shares;
#[cfg(test)]
mod tests;

pub(crate) use party::{OperationBatch, OperationParty};

use crate::form::BitForm;
use crate::rings::ring;
use crate::size::NumberSize;
use divisi_bgv::Ring;
use divisi_bgv::parameters::{self, Form};
use divisi_field::zp::Modulus;
use divisi_mixed::a2b::cost_of_mask;
use divisi_mixed::adders::NumberAdder;
use divisi_ot::SetupConfig;
use std::sync::Arc;

/// About how many random bits, at most, go through all phases together.
const BATCH: usize = 1 << 21;

/// An operation on numbers and bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Random bits shared modulo 2 and modulo p.
    Dabit,
    /// Bits to numbers.
    B2a,
    /// Numbers to bits.
    A2b,
    /// A ciphertext to shares.
    E2a,
    /// Shares to a ciphertext.
    A2e,
    /// Lookups in public tables of two entries.
    Lookup2,
    /// Lookups in tables of up to 256 entries.
    Lookup,
    /// Triples of numbers.
    TripleArith,
    /// Triples of bits.
    TripleBool,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 9] = [
        Op::Dabit,
        Op::B2a,
        Op::A2b,
        Op::E2a,
        Op::A2e,
        Op::Lookup2,
        Op::Lookup,
        Op::TripleArith,
        Op::TripleBool,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Dabit => "dabit",
            Op::B2a => "b2a",
            Op::A2b => "a2b",
            Op::E2a => "e2a",
            Op::A2e => "a2e",
            Op::Lookup2 => "lookup2",
            Op::Lookup => "lookup",
            Op::TripleArith => "triple-arith",
            Op::TripleBool => "triple-bool",
        }
    }

    /// Whether the operation has no inputs: its preprocessing is all there is.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Op::Dabit | Op::TripleArith | Op::TripleBool)
    }

    /// Whether the operation takes random bits shared modulo 2 and modulo p, which have forms.
    #[must_use]
    pub fn has_bits(self) -> bool {
        matches!(self, Op::Dabit | Op::B2a | Op::A2b | Op::Lookup2 | Op::Lookup)
    }

    /// Whether the operation has no preprocessing of its own: that of ciphertexts is their keys.
    #[must_use]
    pub fn is_online_alone(self) -> bool {
        matches!(self, Op::E2a | Op::A2e)
    }
}

impl std::str::FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> Result<Op, String> {
        let names = || Op::ALL.map(Op::name).join(", ");
        Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| format!("choose one of {}", names()))
    }
}

/// Operations on numbers and bits. An input is a number of four bytes, or of eight if numbers have 61 bits,
/// the lowest first; an output is a number of eight bytes, or, for operations without inputs, a byte that is
/// 1 if the result is consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationJob {
    /// The operation.
    pub op: Op,
    /// How large numbers are.
    pub numbers: NumberSize,
    /// The number of bits of a number that is converted from bits.
    pub bits: usize,
    /// The number of entries of a table.
    pub entries: usize,
    /// Whether each lookup has a private table of its own, instead of one public table for all.
    pub private: bool,
    /// The number of items.
    pub count: usize,
}

impl OperationJob {
    /// The number of bytes of an input.
    #[must_use]
    pub fn input_length(&self) -> usize {
        match self.numbers {
            _ if self.op.is_random() => 0,
            NumberSize::Bits31 => 4,
            NumberSize::Bits61 => 8,
        }
    }

    /// The public table of an item of [`Op::Lookup2`].
    fn table(&self, i: usize) -> [u64; 2] {
        let p = self.numbers.modulus();
        [3, 5].map(|c| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ c) % p)
    }

    /// An entry of the table of an item: public tables are all the same.
    fn entry(&self, item: usize, at: usize) -> u64 {
        let item = if self.private { item } else { 0 };
        let hash = ((item + 1) as u64).wrapping_mul((at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        hash % self.numbers.modulus()
    }

    /// The number of an input row; `None` if the bytes are none.
    pub(crate) fn input(&self, row: &[u8]) -> Option<u64> {
        let mut bytes = [0; 8];
        let right = row.len() == self.input_length() && !row.is_empty();
        bytes.iter_mut().zip(row).for_each(|(byte, own)| *byte = *own);
        right.then(|| u64::from_le_bytes(bytes))
    }

    /// The expected output row of an item, from its number in the batch and its input row; `None` if the
    /// bytes are not an input row.
    #[must_use]
    pub fn expected(&self, number: u64, input: &[u8]) -> Option<Vec<u8>> {
        if self.op.is_random() {
            return Some(vec![1]);
        }
        let (x, p) = (self.input(input)?, self.numbers.modulus());
        let out = match self.op {
            Op::B2a => (x & ((1 << self.bits) - 1)) % p,
            Op::Lookup2 => self.table(number as usize)[(x & 1) as usize],
            Op::Lookup => self.entry(number as usize, x as usize % self.entries.max(1)),
            _ => x % p,
        };
        Some(out.to_le_bytes().to_vec())
    }
}

/// An operation, its parameters, and the rings that it needs.
pub(crate) struct Operations {
    pub job: OperationJob,
    pub parties: usize,
    /// Parameters of the transfers.
    pub config: SetupConfig,
    /// How random bits are made, if the operation has any.
    pub form: Option<BitForm>,
    /// What the adder minimises, if the operation is A2B.
    pub adder: Option<NumberAdder>,
    plain: Modulus,
    bits: Option<Arc<Ring>>,
    /// The ring of triples, of private tables, or of conversions.
    numbers: Option<Arc<Ring>>,
}

impl Operations {
    /// # Errors
    /// If there are no lattice parameters for so many parties, with the reason.
    pub fn new(
        job: OperationJob,
        parties: usize,
        config: SetupConfig,
        (form, adder): (Option<BitForm>, Option<NumberAdder>),
        insecure: bool,
    ) -> Result<Self, String> {
        let p = job.numbers.modulus();
        let plain = Modulus::new(p).ok_or("no modulus")?;
        // masks of A2B may take triples
        let masks = job.op == Op::A2b && cost_of_mask(plain)[1] > 0;
        let has_numbers = masks || job.op == Op::TripleArith || job.private;
        let ring = |operation, form| ring(operation, form, parties, p, insecure);
        let hops = form.and_then(BitForm::ciphertexts).filter(|_| job.op == Op::Lookup && job.private);
        let bits = match form.and_then(BitForm::ciphertexts) {
            // private tables by hops take no random bits
            Some(form) if hops.is_none() => Some(ring(parameters::Operation::Bits, form)?),
            _ => None,
        };
        let numbers = match hops {
            Some(form) => Some(ring(parameters::Operation::PrivateTables, form)?),
            // what is not multiplied needs no relinearisation key
            None if job.op.is_online_alone() => {
                Some(ring(parameters::Operation::Conversions, Form::LeanTree)?)
            }
            None => has_numbers.then(|| ring(parameters::Operation::Triples, Form::LeanTree)).transpose()?,
        };
        Ok(Operations { job, parties, config, form, adder, plain, bits, numbers })
    }

    /// The rings: that of random bits, if there is one, and that of numbers.
    pub fn rings(&self) -> impl Iterator<Item = &Ring> {
        self.bits.iter().chain(&self.numbers).map(|ring| &**ring)
    }

    /// Whether private tables are masked in ciphertexts that pass from party to party, instead of by triples.
    fn by_hops(&self) -> bool {
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
