//! The contents of a file of test vectors, in any format.

use super::chains::Chain;
use super::functions;
use super::large::LargeGroup;
use super::monte::Monte;
use super::vector::{Group, VectorAlgorithm};
use std::collections::BTreeMap;

/// The contents of a file.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Vectors of modes that an engine can run.
    pub groups: Vec<Group>,
    /// Vectors of hashes and MACs.
    pub functions: Vec<functions::MessageGroup>,
    /// Chains of digests.
    pub chains: Vec<Chain>,
    /// Monte Carlo tests of other kinds.
    pub monte: Vec<Monte>,
    /// Messages of gigabytes.
    pub large: Vec<LargeGroup>,
    /// The number of vectors that no engine can run, by algorithm and reason.
    pub unsupported: BTreeMap<(VectorAlgorithm, String), u64>,
    /// The number of vectors of algorithms that this version does not know, by name.
    pub unknown: BTreeMap<String, u64>,
}

impl Content {
    /// Whether it has no vector that any engine could run.
    pub fn is_refused(&self) -> bool {
        self.groups.iter().all(|group| group.vectors.is_empty())
            && self.functions.iter().all(|group| group.vectors.is_empty())
            && self.large.iter().all(|group| group.vectors.is_empty())
            && self.chains.is_empty()
            && self.monte.is_empty()
    }
}
