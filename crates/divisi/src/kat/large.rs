//! Large-data tests (ACVP SHA 6.3 and SHA3 6.3): messages of gigabytes that repeat a few bytes. These bytes
//! are a secret input, and are repeated inside the computation; each piece is settled once it is absorbed, so
//! that memory does not grow with the message. Messages of one group are hashed side by side.
//!
//! A gigabyte is some sixteen million blocks, one after the other, and takes days; an estimate is printed
//! after two seconds. So these tests run only with `--long`.

use super::{Asked, OneCall, VectorAlgorithm};
use crate::engine::Rows;
use crate::engine::job::LargeJob;
use divisi_symmetric::algorithm::Settings;

/// A message of a large-data test.
#[derive(Clone, Debug)]
pub struct LargeVector {
    /// Its number in the file.
    pub id: u64,
    /// The bytes that the message repeats.
    pub content: Vec<u8>,
    /// The length of the message in bytes.
    pub bytes: u64,
    /// Its digest.
    pub output: Vec<u8>,
}

/// Messages of one function that repeat contents of one length.
#[derive(Clone, Debug)]
pub struct LargeGroup {
    /// The hash.
    pub settings: Settings,
    /// The messages.
    pub vectors: Vec<LargeVector>,
}

impl LargeGroup {
    /// Add a message: to a group that it fits, or a new one.
    pub(super) fn sort(groups: &mut Vec<LargeGroup>, settings: Settings, vector: LargeVector) {
        let fits = |group: &&mut LargeGroup| {
            group.settings == settings
                && group.vectors.iter().all(|other| other.content.len() == vector.content.len())
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.vectors.push(vector),
            None => groups.push(LargeGroup { settings, vectors: vec![vector] }),
        }
    }
}

impl OneCall for LargeGroup {
    fn ask(&self) -> Asked {
        let mut inputs = Rows::default();
        self.vectors.iter().for_each(|vector| inputs.push(&[&vector.content]));
        let content = self.vectors.first().map_or(0, |vector| vector.content.len());
        let lengths = self.vectors.iter().map(|vector| vector.bytes).collect();
        Asked {
            algorithm: VectorAlgorithm::Function(self.settings.algorithm),
            job: LargeJob { using: self.settings.clone(), content, lengths }.into(),
            inputs,
            of: (0..self.vectors.len()).collect(),
        }
    }

    fn judge(&self, outputs: &Rows, of: &[usize]) -> Vec<(u64, bool)> {
        let vectors = of.iter().filter_map(|place| self.vectors.get(*place));
        vectors.zip(outputs.iter()).map(|(vector, output)| (vector.id, output == vector.output)).collect()
    }
}
