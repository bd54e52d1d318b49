//! The blocks of all vectors of a group side by side, for the modes without a tag: a lane a block, on any engine.

use super::vector::{Algorithm, Answer, Answers, Group, Vector};
use divisi_core::{Abort, Bytes, Direction, Lanes, Step, step};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::{columns, ctr};

const BATCH: Step = step!("batch");

/// A vector walked one way.
pub(super) struct Walk<'v> {
    pub vector: &'v Vector,
    pub direction: Direction,
}

/// All ways of all vectors: first those that encrypt.
pub(super) fn walks(group: &Group) -> Vec<Walk<'_>> {
    let walk = |direction| move |vector| Walk { vector, direction };
    let encrypt = group.vectors.iter().filter(|v| v.encrypts()).map(walk(Direction::Encrypt));
    let decrypt = group.vectors.iter().filter(|v| v.decrypts()).map(walk(Direction::Decrypt));
    encrypt.chain(decrypt).collect()
}

impl Answers {
    /// From the answers of [`walks`], in their order.
    pub(super) fn new(group: &Group, given: Vec<Answer>, openings: u64) -> Self {
        let mut given = given.into_iter();
        let mut take = |walked: bool| if walked { given.next().flatten() } else { None };
        let encrypted = group.vectors.iter().map(|v| take(v.encrypts())).collect();
        let decrypted = group.vectors.iter().map(|v| take(v.decrypts())).collect();
        Answers { encrypted, decrypted, openings }
    }
}

/// The inputs of an engine for one group, whose walks all have one direction, as they have in ACVP's files.
pub(super) struct Batch<'g> {
    algorithm: Algorithm,
    walks: &'g [Walk<'g>],
    /// How many blocks each walk has.
    blocks: Vec<usize>,
    /// The bytes of the keys, a lane a walk.
    pub keys: Vec<Vec<u8>>,
    /// The bytes of the texts, a lane a block, filled up with zeros.
    pub text: [Vec<u8>; 16],
}

impl Walk<'_> {
    pub fn text(&self) -> &[u8] {
        match self.direction {
            Direction::Encrypt => &self.vector.plaintext,
            Direction::Decrypt => &self.vector.ciphertext,
        }
    }
}

impl<'g> Batch<'g> {
    pub fn new(group: &Group, walks: &'g [Walk<'g>]) -> Self {
        let blocks: Vec<usize> = walks.iter().map(|walk| walk.text().len().div_ceil(16)).collect();
        let mut stream = Vec::new();
        for (walk, blocks) in walks.iter().zip(&blocks) {
            let end = stream.len() + 16 * blocks;
            stream.extend_from_slice(walk.text());
            stream.resize(end, 0);
        }
        let key = |i: usize| walks.iter().map(|walk| walk.vector.key.get(i).copied().unwrap_or(0)).collect();
        let keys = (0..group.size.bytes()).map(key).collect();
        Batch { algorithm: group.algorithm, walks, blocks, keys, text: columns::from_stream(&stream) }
    }

    /// The other text, as columns; the round keys are those of the walks, a lane each.
    pub fn run<E: Bytes>(
        &self,
        e: &mut E,
        keys: &RoundKeys<E::Byte>,
        text: Vec<E::Byte>,
    ) -> Result<Vec<E::Byte>, Abort> {
        let misfit = || Abort::Misuse {
            step: BATCH,
            what: "a group of several directions, or of blocks that do not fit",
        };
        let index: Vec<usize> =
            self.blocks.iter().enumerate().flat_map(|(k, n)| std::iter::repeat_n(k, *n)).collect();
        let keys = keys.gather(&index).ok_or_else(misfit)?;
        if self.algorithm == Algorithm::Ctr {
            let mut counters: [Vec<u8>; 16] = Default::default();
            for (walk, blocks) in self.walks.iter().zip(&self.blocks) {
                let first = <[u8; 16]>::try_from(walk.vector.iv.as_slice()).map_err(|_| misfit())?;
                counters
                    .iter_mut()
                    .zip(ctr::columns_128(&first, 0, *blocks))
                    .for_each(|(all, own)| all.extend(own));
            }
            let mut stream = ctr::keystream(e, &keys, &counters)?;
            for (stream, text) in stream.iter_mut().zip(&text) {
                e.add(stream, text)?;
            }
            return Ok(stream.into());
        }
        let mut state: [E::Byte; 16] = text.try_into().map_err(|_| misfit())?;
        let direction = self.walks.first().map(|walk| walk.direction);
        if self.walks.iter().any(|walk| Some(walk.direction) != direction) {
            return Err(misfit());
        }
        match direction {
            Some(Direction::Encrypt) => aes::encrypt(e, &keys, &mut state)?,
            Some(Direction::Decrypt) => aes::decrypt(e, &keys, &mut state)?,
            None => {}
        }
        Ok(state.into())
    }

    /// The answers that opened columns hold; none if they are no columns of this batch.
    pub fn answers(&self, opened: &[Vec<u8>]) -> Vec<Answer> {
        let columns = <&[Vec<u8>; 16]>::try_from(opened).ok();
        let stream =
            columns.and_then(|columns| columns::to_stream(columns, 16 * self.blocks.iter().sum::<usize>()));
        let stream = stream.unwrap_or_default();
        let mut rest = stream.as_slice();
        let answer = |(walk, blocks): (&Walk<'_>, &usize)| {
            let (now, later) = rest.split_at((16 * blocks).min(rest.len()));
            rest = later;
            now.get(..walk.text().len()).map(|text| (text.to_vec(), Vec::new()))
        };
        self.walks.iter().zip(&self.blocks).map(answer).collect()
    }
}
