//! Jobs on numbers and bits: single operations, lookups, programs.

use std::sync::Arc;

/// Lookups in one public table of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupJob {
    /// How many entries the table has.
    pub entries: usize,
    /// In how many inputs a place comes.
    pub inputs: usize,
    /// By how many factors one-hot vectors are made; the cheapest number if nothing is said.
    pub dimensions: Option<usize>,
    /// How many lookups.
    pub count: usize,
}

impl LookupJob {
    /// An entry of the table.
    #[must_use]
    pub fn entry(place: usize) -> u8 {
        ((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
    }

    /// What comes out of a row.
    #[must_use]
    pub fn expected(&self, row: &[u8]) -> Option<Vec<u8>> {
        let place = u32::from_le_bytes(row.try_into().ok()?) as usize;
        Some(vec![LookupJob::entry(place & self.entries.checked_sub(1)?)])
    }
}

/// A program on numbers and bits.
#[derive(Clone)]
pub struct ProgramJob {
    /// The program.
    pub program: Arc<crate::program::HeldProgram>,
    /// How many runs of it, one after the other.
    pub count: usize,
}

/// Operations on numbers and bits. What goes in is a number of four bytes, the lowest first; what comes out a
/// number of eight, or where nothing goes in a byte that is 1 if what was made fits together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationJob {
    /// Which one.
    pub op: Op,
    /// How many bits a number has that is converted from bits.
    pub bits: usize,
    /// How many entries a table has.
    pub entries: usize,
    /// Whether tables are private.
    pub private: bool,
    /// How many items.
    pub count: usize,
}

/// An operation on numbers and bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Lookups in public tables of two.
    Lookup2,
    /// Lookups in tables of up to 256.
    Lookup,
    /// Triples of numbers.
    TripleArith,
    /// Triples of bits.
    TripleBool,
}

impl Op {
    /// All of them.
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

    /// Whether nothing goes in.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Op::Dabit | Op::TripleArith | Op::TripleBool)
    }
}

impl std::str::FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> Result<Op, String> {
        let names = || Op::ALL.map(Op::name).join(", ");
        Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| format!("there are {}", names()))
    }
}

/// How many bytes the entries of a program's value take: eight a number, one a bit.
#[must_use]
pub fn length(value: &divisi_program::Value) -> usize {
    let each = match value.kind() {
        divisi_program::ValueKind::Num => 8,
        divisi_program::ValueKind::Bits(width) => width,
    };
    value.shape().entries() * each
}
