//! Vectors of hashes and MACs, grouped into calls of an engine.

use super::vector::{Expected, VectorAlgorithm};
use super::{Asked, OneCall};
use crate::engine::Rows;
use crate::engine::job::{MessagesJob, PublicMessage};
use divisi_symmetric::algorithm::Settings;

/// One test vector.
#[derive(Clone, Debug)]
pub struct MessageVector {
    /// Its number in the file.
    pub id: u64,
    /// The key; empty for a hash.
    pub key: Vec<u8>,
    /// The nonce; zeros where there is none.
    pub nonce: Vec<u8>,
    /// The message.
    pub message: Vec<u8>,
    /// The number of bits of the last byte that do not belong to the message: at its low end for SHA-2, at
    /// its high end for SHA-3.
    pub spare_bits: usize,
    /// The output.
    pub output: Vec<u8>,
    /// Whether the output is to be made.
    pub makes: bool,
    /// Whether the output is compared with one that is computed inside and not opened, which is done for tags
    /// only.
    pub compares: bool,
    /// The expected outcome of the comparison.
    pub expected: Expected,
}

/// Vectors that an engine runs in one call: one function with its public settings, and keys of one length.
#[derive(Clone, Debug)]
pub struct MessageGroup {
    /// The function and its settings.
    pub settings: Settings,
    /// The vectors.
    pub vectors: Vec<MessageVector>,
}

impl OneCall for MessageGroup {
    /// All vectors as one job, with the outputs to make and the tags to compare inside the computation.
    fn ask(&self) -> Asked {
        let key_bytes = self.vectors.first().map_or(0, |vector| vector.key.len());
        let mut inputs = Rows::default();
        self.vectors.iter().for_each(|vector| inputs.push(&[&vector.key, &vector.message]));
        let message = |vector: &MessageVector| PublicMessage {
            bytes: vector.message.len(),
            spare_bits: vector.spare_bits,
            nonce: vector.nonce.clone(),
            makes: vector.makes,
            received: vector.compares.then(|| vector.output.clone()),
        };
        let messages = self.vectors.iter().map(message).collect();
        Asked {
            algorithm: VectorAlgorithm::Function(self.settings.algorithm),
            job: MessagesJob { using: self.settings.clone(), key_bytes, messages }.into(),
            inputs,
            of: (0..self.vectors.len()).collect(),
        }
    }

    fn judge(&self, outputs: &Rows, of: &[usize]) -> Vec<(u64, bool)> {
        let vectors = of.iter().filter_map(|place| self.vectors.get(*place));
        vectors.zip(outputs.iter()).map(|(vector, row)| (vector.id, vector.is_right(row))).collect()
    }
}

impl MessageVector {
    /// Whether an engine's row is right: the output, if it was to be made, then whether the tag is right, if
    /// that was to be compared.
    pub(super) fn is_right(&self, row: &[u8]) -> bool {
        let (made, same) = row.split_at(if self.makes { self.output.len().min(row.len()) } else { 0 });
        let made = !self.makes || made == self.output;
        let compared = match (self.compares, self.expected) {
            (false, _) => same.is_empty(),
            (true, Expected::Valid) => same == [1],
            (true, Expected::Invalid) => same == [0],
            (true, Expected::Acceptable) => same.len() == 1,
        };
        made && compared
    }
}
