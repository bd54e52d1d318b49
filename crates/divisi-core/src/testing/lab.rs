//! "Plain in, plain out" over any engine, so that one suite of known answers runs on all of them.

use crate::plain::{Plain, PlainBit, PlainByte};
use crate::{Abort, Blocks, Bytes, Convert, Lanes, Lookups};
use divisi_field::{Field, Gf128};

/// The inputs of a run: secret bytes.
type Given<E> = Vec<<E as Bytes>::Byte>;

/// The outputs of a run, which are to be opened.
pub struct Outputs<E: Bytes + Blocks + ?Sized> {
    /// Bytes to open.
    pub bytes: Vec<E::Byte>,
    /// Blocks to open.
    pub blocks: Vec<E::Block>,
}

impl<E: Bytes + Blocks + ?Sized> Outputs<E> {
    /// Outputs of bytes alone.
    pub fn bytes(bytes: impl IntoIterator<Item = E::Byte>) -> Self {
        Outputs { bytes: bytes.into_iter().collect(), blocks: Vec::new() }
    }

    /// Outputs of blocks alone.
    pub fn blocks(blocks: impl IntoIterator<Item = E::Block>) -> Self {
        Outputs { bytes: Vec::new(), blocks: blocks.into_iter().collect() }
    }
}

/// The opened outputs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedOutputs {
    /// The values of each byte, lane by lane.
    pub bytes: Vec<Vec<u8>>,
    /// The values of each block, lane by lane, as the strings that GHASH processes.
    pub blocks: Vec<Vec<[u8; 16]>>,
}

/// An engine with everything around it that a test needs: parties, links, inputs and openings.
pub trait Lab {
    /// The engine.
    type Engine: Bytes
        + Blocks
        + Convert<[<Self::Engine as Bytes>::Byte; 16], <Self::Engine as Blocks>::Block>;

    /// Share the inputs, each one a secret byte with a value for every lane; run `f` at every party; settle
    /// what its outputs owe, and open them. All parties open the same values.
    ///
    /// # Errors
    /// If the session ends: the abort of the first party that has one.
    fn run(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Self::Engine, Given<Self::Engine>) -> Result<Outputs<Self::Engine>, Abort> + Sync,
    ) -> Result<OpenedOutputs, Abort>;
}

/// A lab of bytes alone, which suffices for the suites of ciphers.
pub trait ByteLab {
    /// The engine.
    type Engine: Bytes;

    /// Like [`Lab::run`], with bytes alone.
    ///
    /// # Errors
    /// If the session ends: the abort of the first party that has one.
    fn bytes(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(
            &mut Self::Engine,
            Vec<<Self::Engine as Bytes>::Byte>,
        ) -> Result<Vec<<Self::Engine as Bytes>::Byte>, Abort>
        + Sync,
    ) -> Result<Vec<Vec<u8>>, Abort>;
}

impl<L: Lab> ByteLab for L {
    type Engine = L::Engine;

    fn bytes(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(
            &mut Self::Engine,
            Vec<<Self::Engine as Bytes>::Byte>,
        ) -> Result<Vec<<Self::Engine as Bytes>::Byte>, Abort>
        + Sync,
    ) -> Result<Vec<Vec<u8>>, Abort> {
        Ok(self.run(inputs, |e, inputs| Ok(Outputs::bytes(f(e, inputs)?)))?.bytes)
    }
}

/// A lab of bits and lookups.
pub trait BitLab {
    /// The engine.
    type Engine: Lookups;

    /// Like [`Lab::run`], with bits.
    ///
    /// # Errors
    /// If the session ends: the abort of the first party that has one.
    fn bits(
        &self,
        inputs: &[Vec<bool>],
        f: impl Fn(
            &mut Self::Engine,
            Vec<<Self::Engine as Lookups>::Bit>,
        ) -> Result<Vec<<Self::Engine as Lookups>::Bit>, Abort>
        + Sync,
    ) -> Result<Vec<Vec<bool>>, Abort>;
}

impl BitLab for PlainLab {
    type Engine = Plain;

    fn bits(
        &self,
        inputs: &[Vec<bool>],
        f: impl Fn(&mut Plain, Vec<PlainBit>) -> Result<Vec<PlainBit>, Abort> + Sync,
    ) -> Result<Vec<Vec<bool>>, Abort> {
        let outputs = f(&mut Plain, inputs.iter().map(|input| PlainBit::new(input)).collect())?;
        Ok(outputs.iter().map(|bit| (0..bit.lanes()).map(|lane| bit.lane(lane)).collect()).collect())
    }
}

/// The lab of the engine that computes in the clear.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainLab;

impl Lab for PlainLab {
    type Engine = Plain;

    fn run(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Plain, Vec<PlainByte>) -> Result<Outputs<Plain>, Abort> + Sync,
    ) -> Result<OpenedOutputs, Abort> {
        let outputs = f(&mut Plain, inputs.iter().cloned().map(PlainByte::new).collect())?;
        let string = |&block: &u128| Gf128::from_low_bits(block).to_ghash();
        Ok(OpenedOutputs {
            bytes: outputs.bytes.iter().map(|byte| byte.values().to_vec()).collect(),
            blocks: outputs.blocks.iter().map(|block| block.values().iter().map(string).collect()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_as_bytes_and_as_blocks() {
        let inputs: Vec<Vec<u8>> = (0..16).map(|i| vec![i, 0xf0 | i]).collect();
        let opened = PlainLab
            .run(&inputs, |e, bytes| {
                let block: [PlainByte; 16] = std::array::from_fn(|i| bytes[i].clone());
                Ok(Outputs { bytes, blocks: vec![e.convert(block)?] })
            })
            .unwrap();
        assert_eq!(opened.bytes, inputs);
        let lane = |l: usize| std::array::from_fn(|i| inputs[i][l]);
        assert_eq!(opened.blocks, [vec![lane(0), lane(1)]]);
    }
}
