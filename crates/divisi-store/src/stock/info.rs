//! What a stock holds, and how far it is used.

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Values of one kind, in lots of so many: a file each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// What they are: of `a-z 0-9 -`, for it is part of a file's name.
    pub name: String,
    /// How many were to be made.
    pub planned: u64,
    /// How many a lot has; the last one may have fewer.
    pub lot: u64,
    /// No lot is longer, in bytes.
    pub longest: u64,
}

/// What is public about a stock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockInfo {
    /// What names this stock and no other: drawn by all its parties together.
    pub id: [u8; 32],
    /// The party whose part it is, from 1.
    pub party: u8,
    /// How many parties made it.
    pub parties: u8,
    /// A digest of who the peers are.
    pub peers: [u8; 32],
    /// The protocol that it is for.
    pub protocol: String,
    /// How it was made.
    pub prep: String,
    /// The bits of the field of its MACs.
    pub field_bits: u32,
    /// The parameter of the OTs that it was made of.
    pub k: u32,
    /// The bits of statistical security that it has.
    pub rho: u32,
    /// For how many blocks it was made.
    pub blocks: u64,
    /// All kinds of values.
    pub series: Vec<Series>,
}

/// How many of one kind there are, and how many of those were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many were made.
    pub made: u64,
    /// How many of them were taken, from the first on.
    pub taken: u64,
}

impl Count {
    /// How many are left.
    #[must_use]
    pub fn left(self) -> u64 {
        self.made.saturating_sub(self.taken)
    }
}

/// How far a stock is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockState {
    /// One for each series.
    pub counts: Vec<Count>,
    /// Whether a session has it, or died with it.
    pub open: bool,
    /// Whether a check is under way whose failure would tell alpha.
    pub at_risk: bool,
}

/// What is written of the head: what is public, and what is secret.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct Head {
    #[zeroize(skip)]
    pub info: StockInfo,
    pub secret: Vec<u8>,
    /// What all other files are bound to beside the seal key: without the head nothing of a stock opens.
    pub wrap: [u8; 32],
}
