//! The blocks of all texts side by side, for the modes without a tag: a lane a block, on any engine.

use super::Rows;
use super::job::{Mode, Text, Texts};
use divisi_core::{Abort, Bytes, Direction, Lanes as _, Step, step};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::{columns, ctr};

const LANES: Step = step!("lanes");

/// Texts of ECB or CTR, which all go one way.
pub(super) struct Lanes<'j> {
    job: &'j Texts,
    /// How many blocks each text has.
    blocks: Vec<usize>,
}

impl<'j> Lanes<'j> {
    pub fn new(job: &'j Texts) -> Self {
        Lanes { job, blocks: job.texts.iter().map(|text| text.bytes.div_ceil(16)).collect() }
    }

    /// The bytes of the keys, a lane a text, and those of the texts, a lane a block, filled up with zeros.
    pub fn columns(&self, rows: &Rows) -> (Vec<Vec<u8>>, [Vec<u8>; 16]) {
        let width = self.job.cipher.key_bytes();
        let key = |i: usize| rows.iter().map(|row| row.get(i).copied().unwrap_or(0)).collect();
        let mut stream = Vec::new();
        for (row, blocks) in rows.iter().zip(&self.blocks) {
            let end = stream.len() + 16 * blocks;
            stream.extend_from_slice(row.get(width..).unwrap_or_default());
            stream.resize(end, 0);
        }
        ((0..width).map(key).collect(), columns::from_stream(&stream))
    }

    /// The other text, as columns; the round keys are those of the texts, a lane each.
    pub fn run<E: Bytes>(
        &self,
        e: &mut E,
        keys: &RoundKeys<E::Byte>,
        text: Vec<E::Byte>,
    ) -> Result<Vec<E::Byte>, Abort> {
        let misfit =
            || Abort::Misuse { step: LANES, what: "texts of several directions, or blocks that do not fit" };
        let index: Vec<usize> =
            self.blocks.iter().enumerate().flat_map(|(k, n)| std::iter::repeat_n(k, *n)).collect();
        let keys = keys.gather(&index).ok_or_else(misfit)?;
        if self.job.mode == Mode::Ctr {
            let mut counters: [Vec<u8>; 16] = Default::default();
            for (text, blocks) in self.job.texts.iter().zip(&self.blocks) {
                let first = <[u8; 16]>::try_from(text.iv.as_slice()).map_err(|_| misfit())?;
                let of_text = ctr::columns_128(&first, 0, *blocks);
                counters.iter_mut().zip(of_text).for_each(|(all, own)| all.extend(own));
            }
            let mut stream = ctr::keystream(e, &keys, &counters)?;
            for (stream, text) in stream.iter_mut().zip(&text) {
                e.add(stream, text)?;
            }
            return Ok(stream.into());
        }
        let mut state: [E::Byte; 16] = text.try_into().map_err(|_| misfit())?;
        let is = |way: Direction| self.job.texts.iter().all(|text: &Text| text.direction == way);
        match (is(Direction::Encrypt), is(Direction::Decrypt)) {
            (true, _) => aes::encrypt(e, &keys, &mut state)?,
            (false, true) => aes::decrypt(e, &keys, &mut state)?,
            (false, false) => return Err(misfit()),
        }
        Ok(state.into())
    }

    /// The texts that opened columns hold, one behind the other; nothing if they are no columns of these texts.
    pub fn texts(&self, opened: &[Vec<u8>]) -> Vec<u8> {
        let bytes = 16 * self.blocks.iter().sum::<usize>();
        let columns = <&[Vec<u8>; 16]>::try_from(opened).ok();
        let stream = columns.and_then(|columns| columns::to_stream(columns, bytes)).unwrap_or_default();
        let mut rest = stream.as_slice();
        let mut out = Vec::with_capacity(bytes);
        for (text, blocks) in self.job.texts.iter().zip(&self.blocks) {
            let (now, later) = rest.split_at((16 * blocks).min(rest.len()));
            rest = later;
            out.extend_from_slice(now.get(..text.bytes).unwrap_or_default());
        }
        out
    }
}
