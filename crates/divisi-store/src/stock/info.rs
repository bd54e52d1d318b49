//! The contents and the state of a stock.

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Values of one kind, in lots of equal size with one file each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// The name of the kind, of the characters `a-z 0-9 -`, because it is part of file names.
    pub name: String,
    /// The number of values to be made.
    pub planned: u64,
    /// The number of values in a lot; the last lot may have fewer.
    pub lot: u64,
    /// The largest length of a lot, in bytes.
    pub longest: u64,
}

/// The public data of a stock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockInfo {
    /// The id of the stock, which all its parties draw together.
    pub id: [u8; 32],
    /// The party whose part it is, from 1.
    pub party: u8,
    /// The number of parties that made it.
    pub parties: u8,
    /// A digest of the peers' identities.
    pub peers: [u8; 32],
    /// The name of the protocol for which it was made.
    pub protocol: String,
    /// The name of the preprocessing protocol that made it.
    pub prep: String,
    /// The bits of the field of its MACs.
    pub field_bits: u32,
    /// The parameter k of the OTs (SoftSpokenOT) from which it was made.
    pub k: u32,
    /// The statistical security in bits.
    pub rho: u32,
    /// The number of blocks for which it was made.
    pub blocks: u64,
    /// All kinds of values in it.
    pub series: Vec<Series>,
}

/// How many values of one kind were made, and how many were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The number of values made.
    pub made: u64,
    /// The number of values taken, from the first one on.
    pub taken: u64,
}

impl Count {
    /// The number of values left.
    #[must_use]
    pub fn left(self) -> u64 {
        self.made.saturating_sub(self.taken)
    }
}

/// How much of a stock is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockState {
    /// The counts of each series, in the order of [`StockInfo::series`].
    pub counts: Vec<Count>,
    /// Whether a session uses it, or ended without returning it.
    pub open: bool,
    /// Whether a check is in progress whose failure would reveal alpha.
    pub at_risk: bool,
}

/// The contents of the head: the public data and two secrets.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct Head {
    #[zeroize(skip)]
    pub info: StockInfo,
    pub secret: Vec<u8>,
    /// The secret that all other files are bound to, beside the seal key: without the head nothing of a stock
    /// can be decrypted.
    pub wrap: [u8; 32],
}
