//! What a file of test vectors holds, whatever its format.

use super::chains::Chain;
use super::functions;
use super::large::LargeGroup;
use super::monte::Monte;
use super::vector::{Group, VectorAlgorithm};
use std::collections::BTreeMap;

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// What an engine can run.
    pub groups: Vec<Group>,
    /// Likewise, hashes and MACs.
    pub functions: Vec<functions::MessageGroup>,
    /// Likewise, digests of digests.
    pub chains: Vec<Chain>,
    /// Likewise, Monte Carlo tests of other kinds.
    pub monte: Vec<Monte>,
    /// Likewise, messages of gigabytes.
    pub large: Vec<LargeGroup>,
    /// What it cannot, by algorithm and reason.
    pub unsupported: BTreeMap<(VectorAlgorithm, String), u64>,
    /// The vectors of an algorithm that this version does not know, by its name.
    pub unknown: BTreeMap<String, u64>,
}
