//! Jobs on numbers and bits: single operations, lookups, programs.

use super::own::Own;
use super::table::UserTable;
use divisi_program::plain::Entries;
use std::sync::Arc;

/// Lookups in one public table: of bytes, or one that the user brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupJob {
    /// The number of entries of the table.
    pub entries: usize,
    /// The number of inputs over which the bits of an index are split.
    pub inputs: usize,
    /// The number of factors of the one-hot vectors; `None` for the number that costs least.
    pub dimensions: Option<usize>,
    /// The number of lookups.
    pub count: usize,
    /// The user's table, whose entries have two bytes in an output row, the lower one first; `None` for a
    /// table of bytes.
    pub table: Option<Arc<UserTable>>,
}

impl LookupJob {
    /// The table's entry at this index.
    #[must_use]
    pub fn entry(place: usize) -> u8 {
        ((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
    }

    /// The expected output for an input row.
    #[must_use]
    pub fn expected(&self, row: &[u8]) -> Option<Vec<u8>> {
        let place = u32::from_le_bytes(row.try_into().ok()?) as usize;
        if let Some(table) = &self.table {
            let entry = table.entries().get(place & self.entries.checked_sub(1)?)?;
            return Some(entry.to_le_bytes().to_vec());
        }
        Some(vec![LookupJob::entry(place & self.entries.checked_sub(1)?)])
    }
}

/// A program on numbers and bits.
#[derive(Clone)]
pub struct ProgramJob {
    /// The program.
    pub program: Arc<crate::program::HeldProgram>,
    /// The number of runs, one after the other.
    pub count: usize,
    /// The images that are read; `None` for the program's own samples.
    pub images: Option<Arc<crate::images::LabelledImages>>,
}

/// Operations on numbers and bits. An input is a number of four bytes, the lowest first; an output is a
/// number of eight bytes, or, for operations without inputs, a byte that is 1 if the result is consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationJob {
    /// The operation.
    pub op: Op,
    /// The number of bits of a number that is converted from bits.
    pub bits: usize,
    /// The number of entries of a table.
    pub entries: usize,
    /// Whether each lookup has a private table of its own, instead of one public table for all.
    pub private: bool,
    /// The number of items.
    pub count: usize,
}

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

    /// Whether the operation has no inputs.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Op::Dabit | Op::TripleArith | Op::TripleBool)
    }
}

impl std::str::FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> Result<Op, String> {
        let names = || Op::ALL.map(Op::name).join(", ");
        Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| format!("choose one of {}", names()))
    }
}

/// The length of the entries of a program's value, in bytes: eight a number, one a bit.
#[must_use]
pub fn length(value: &divisi_program::Value) -> usize {
    let each = match value.kind() {
        divisi_program::ValueKind::Num => 8,
        divisi_program::ValueKind::Bits(width) => width,
    };
    value.shape().entries() * each
}

/// Entries as bytes: eight a number, the lowest first, or one a bit.
pub fn encode(entries: &Entries, out: &mut Own) {
    match entries {
        Entries::Num(numbers) => numbers.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        Entries::Bits(words) => words.iter().flatten().for_each(|bit| out.push(u8::from(*bit))),
    }
}

/// The inverse of [`encode`]: the entries of a value, and the bytes that follow them. `None` for bytes that
/// [`encode`] does not write.
#[must_use]
pub fn decode<'b>(value: &divisi_program::Value, bytes: &'b [u8]) -> Option<(Entries, &'b [u8])> {
    let (own, rest) = bytes.split_at_checked(length(value))?;
    let entries = match value.kind() {
        divisi_program::ValueKind::Num => {
            let number = |bytes: &[u8]| bytes.try_into().ok().map(i64::from_le_bytes);
            Entries::Num(own.chunks_exact(8).map(number).collect::<Option<_>>()?)
        }
        divisi_program::ValueKind::Bits(width) => {
            let bit = |byte: &u8| (*byte <= 1).then_some(*byte == 1);
            let word = |bytes: &[u8]| bytes.iter().map(bit).collect::<Option<Vec<bool>>>();
            Entries::Bits(own.chunks_exact(width.max(1)).map(word).collect::<Option<_>>()?)
        }
    };
    Some((entries, rest))
}

#[cfg(test)]
mod fuzz {
    use super::*;

    /// Entries that are decoded are encoded to the same bytes.
    #[test]
    fn random_entries() {
        let body =
            "divisi program 1\ninput x 1 num 2x2\ninput y 2 bits 7 3\ninput z 1 bits 130 1\noutput x 1\n";
        let program = divisi_program::text::read(body, &|_| Err("no circuits".into())).unwrap();
        let values: Vec<divisi_program::Value> =
            program.inputs().iter().map(|input| input.value.clone()).collect();
        let written = |all: &[Entries]| {
            let mut out = Own::default();
            all.iter().for_each(|entries| encode(entries, &mut out));
            out.to_vec()
        };
        let some = [
            Entries::Num(vec![1, -2, i64::MAX, 4]),
            Entries::Bits(vec![vec![true; 7]; 3]),
            Entries::Bits(vec![vec![false; 130]]),
        ];
        let seeds = [written(&some), written(&some[..1])];
        divisi_fuzz::run("entries", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let (mut rest, mut all) = (bytes, Vec::new());
            for value in &values {
                let Some((entries, others)) = decode(value, rest) else { break };
                rest = others;
                all.push(entries);
            }
            let again = written(&all);
            if bytes.starts_with(&again) { Ok(!all.is_empty()) } else { Err("other entries".into()) }
        });
    }
}
