//! Monte Carlo tests of SHA-3 (ACVP SHA3, 6.2): chains of digests, a thousand long, each of which begins
//! where the one before ended. The file gives the ends of all chains, so that they run side by side, one in
//! each lane; no digest in between is opened.
//!
//! The Monte Carlo tests of SHA-1, SHA-2, SHAKE and cSHAKE open the answer of each step; they are in
//! [`super::monte`].

use super::{Asked, OneCall, VectorAlgorithm};
use crate::engine::Rows;
use crate::engine::job::ChainJob;
use divisi_symmetric::algorithm::Settings;

/// The standard's number of digests from the start of a chain to its end.
const STEPS: usize = 1000;

/// A Monte Carlo test.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its number in the file.
    pub id: u64,
    /// The hash.
    pub settings: Settings,
    /// The start of each chain.
    pub starts: Vec<Vec<u8>>,
    /// The end of each chain.
    pub ends: Vec<Vec<u8>>,
    /// The number of digests from the start of a chain to its end: the standard's, but in tests that take
    /// fewer.
    pub(super) steps: usize,
}

impl Chain {
    /// A chain from the first message and all ends; `None` if there is no end, or one that does not have the
    /// length of a digest.
    pub(super) fn new(id: u64, settings: Settings, seed: Vec<u8>, ends: Vec<Vec<u8>>) -> Option<Chain> {
        let fits = ends.iter().all(|end| end.len() == settings.output_bytes);
        let starts: Vec<Vec<u8>> =
            [seed].into_iter().chain(ends.iter().rev().skip(1).rev().cloned()).collect();
        (fits && !ends.is_empty()).then_some(Chain { id, settings, starts, ends, steps: STEPS })
    }
}

/// All chains count as one vector.
impl OneCall for Chain {
    fn ask(&self) -> Asked {
        let mut inputs = Rows::default();
        self.starts.iter().for_each(|start| inputs.push(&[start]));
        let starts = self.starts.iter().map(Vec::len).collect();
        let job = ChainJob { using: self.settings.clone(), steps: self.steps, starts }.into();
        Asked {
            algorithm: VectorAlgorithm::Function(self.settings.algorithm),
            job,
            inputs,
            of: vec![0; self.starts.len()],
        }
    }

    fn judge(&self, ends: &Rows, of: &[usize]) -> Vec<(u64, bool)> {
        let right =
            ends.count() == self.ends.len() && ends.iter().zip(&self.ends).all(|(got, end)| got == end);
        if of.is_empty() { Vec::new() } else { vec![(self.id, right)] }
    }
}
