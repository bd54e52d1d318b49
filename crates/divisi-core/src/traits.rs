//! The operations that a cipher needs from an engine.
//!
//! A *lane* is one instance of a batch. One value holds a secret of every instance; the values of one call
//! have the same number of lanes, except that a value of a single lane is used for all. Ciphers in
//! `divisi-symmetric` are written against these traits; each engine has its own sharing, inputs and openings.

use crate::{Abort, Misuse, Step, step};
use divisi_circuit::Program;

const ONTO: Step = step!("look_up_onto");

/// The direction of a permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// A vector of secrets that can be rearranged by public indices.
pub trait Lanes: Sized {
    /// The number of lanes.
    fn lanes(&self) -> usize;

    /// The value whose lane `l` is this value's lane `index[l]`; `None` if an index is out of range.
    #[must_use]
    fn gather(&self, index: &[usize]) -> Option<Self>;

    /// The first `lanes` lanes; `None` if there are fewer.
    #[must_use]
    fn first(&self, lanes: usize) -> Option<Self> {
        self.gather(&(0..lanes).collect::<Vec<_>>())
    }
}

/// A public square matrix over GF(2^8), row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix<const N: usize>(pub [[u8; N]; N]);

/// Secret bytes: elements of the AES field GF(2^8), which can be added, multiplied by public matrices, and
/// sent through the AES S-box.
pub trait Bytes {
    /// A secret byte in every lane of the batch.
    type Byte: Clone + Lanes;

    /// A public byte, `values[l]` in lane `l`.
    fn public(&mut self, values: &[u8]) -> Self::Byte;

    /// `x += y`. A `y` of one lane is added to every lane of `x`.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add(&mut self, x: &mut Self::Byte, y: &Self::Byte) -> Result<(), Abort>;

    /// `x += c`, where `c` has one byte for all lanes, or one for each.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_public(&mut self, x: &mut Self::Byte, c: &[u8]) -> Result<(), Abort>;

    /// `x = m x` over GF(2^8).
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes differ.
    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [Self::Byte; N]) -> Result<(), Abort>;

    /// One layer of AES S-boxes (or inverse S-boxes) on all bytes of `x`, which may have different numbers of
    /// lanes. Costs the rounds of one S-box for any number of bytes.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn sbox(&mut self, d: Direction, x: &mut [&mut Self::Byte]) -> Result<(), Abort>;

    /// The lanes of all parts, one part after the other. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a part that belongs to an unfinished chain, or to another engine.
    fn join_bytes(&mut self, parts: &[&Self::Byte]) -> Result<Self::Byte, Abort>;

    /// The largest number of blocks that a cipher should process in one call: more blocks are faster in
    /// several calls.
    fn blocks_at_once(&self) -> usize {
        usize::MAX
    }

    /// Announce `layers` S-box layers of `bytes` bytes of `lanes` lanes each. An engine that consumes
    /// preprocessing makes the missing part for all of them at once, now or when one of them first needs it.
    /// Without an announcement it makes preprocessing for each layer separately.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn prepare(&mut self, _layers: usize, _bytes: usize, _lanes: usize) -> Result<(), Abort> {
        Ok(())
    }

    /// End a chain of S-box layers: an engine may keep bytes in a cheaper form between layers, and afterwards
    /// they are ordinary values. Bytes of an unfinished chain must not be opened, stored or converted.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if these are not all
    /// bytes of the last layer.
    fn finish(&mut self, _x: &mut [&mut Self::Byte]) -> Result<(), Abort> {
        Ok(())
    }
}

/// Secret blocks: elements of GF(2^128) in GHASH's field, given as coefficients of `x^i` in bit `i`.
pub trait Blocks {
    /// A secret block in every lane.
    type Block: Clone + Lanes;

    /// `x += y`, lane by lane; a `y` of one lane is added to every lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_block(&mut self, x: &mut Self::Block, y: &Self::Block) -> Result<(), Abort>;

    /// `x += c`, where `c` is public and has one block for all lanes, or one for each.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_public_block(&mut self, x: &mut Self::Block, c: &[u128]) -> Result<(), Abort>;

    /// The sum of `c[l] x_l` over all lanes, where `c` is public. The result has one lane. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not as many coefficients as lanes.
    fn combine(&mut self, x: &Self::Block, c: &[u128]) -> Result<Self::Block, Abort>;

    /// `x_l^2` in every lane. Local: squaring is linear in characteristic two.
    fn square(&mut self, x: &Self::Block) -> Self::Block;

    /// The products `x_l y_l`, lane by lane, in one round.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if the lanes differ.
    fn multiply(&mut self, x: &Self::Block, y: &Self::Block) -> Result<Self::Block, Abort>;

    /// For each pair, the sum over its lanes of `x_l y_l`, as one lane each, side by side in the result; one
    /// round for all.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if the lanes of a pair
    /// differ.
    fn dot(&mut self, sums: &[(&Self::Block, &Self::Block)]) -> Result<Self::Block, Abort>;

    /// All lanes of all values, side by side.
    fn join(&mut self, parts: &[&Self::Block]) -> Self::Block;
}

/// A program to run on secret bits.
pub struct ProgramRun<'p, B> {
    /// The program.
    pub program: &'p Program,
    /// Before the run one bit for each input wire, after it one for each output wire.
    pub wires: Vec<B>,
    /// The number of input wires, from the first on, whose bits depend on a key alone
    /// ([`ProgramRun::keeping`]).
    pub kept: usize,
}

impl<'p, B> ProgramRun<'p, B> {
    /// Run a program on these inputs.
    pub fn new(program: &'p Program, inputs: Vec<B>) -> Self {
        ProgramRun { program, wires: inputs, kept: 0 }
    }

    /// The same run, whose first `kept` input wires depend on a key alone: they have the same bits in each
    /// run under that key. This changes no result, but an engine may compute something ahead for these bits.
    #[must_use]
    pub fn keeping(self, kept: usize) -> Self {
        ProgramRun { kept, ..self }
    }
}

/// Secret bits, and the programs of divisi-circuit on them.
pub trait Boolean {
    /// A secret bit in every lane of the batch.
    type Bit: Clone + Lanes;

    /// A public bit, `values[l]` in lane `l`.
    fn public_bit(&mut self, values: &[bool]) -> Self::Bit;

    /// The lanes of all parts, one part after the other.
    fn join_bits(&mut self, parts: &[&Self::Bit]) -> Self::Bit;

    /// Run all jobs in lockstep, lane by lane: products of one level, in all jobs, share a round, so that all
    /// together cost the rounds of the deepest job. The inputs of a job have the same number of lanes, except
    /// that an input of one lane is used for all; a job without inputs has one lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the inputs are not those of the program, or have different numbers of lanes; the
    /// abort that ends the session, if a link or a check fails.
    fn run(&mut self, jobs: &mut [ProgramRun<'_, Self::Bit>]) -> Result<(), Abort>;

    /// Whether the rounds of a program do not depend on its depth, so that one program of many steps is
    /// faster than many programs of one step.
    fn is_free_of_depth(&self) -> bool {
        false
    }
}

/// A public function of a few bits, as the list of its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// The width of the index in bits, at most eight.
    pub index: usize,
    /// The width of a value in bits, at most eight.
    pub width: usize,
    /// The values, one for each index.
    pub values: &'static [u8],
}

/// A lookup at a secret index.
pub struct Lookup<B> {
    /// The table.
    pub table: &'static Table,
    /// Before the lookup the bits of the index, afterwards those of the value; the lowest bit first.
    pub wires: Vec<B>,
}

/// A lookup whose index is a sum of bits, and whose value is added to bits of a state.
pub struct LookupOnto<'a, B> {
    /// The table.
    pub table: &'static Table,
    /// The bits of the index, the lowest first. Each is the sum of two, of which the second may have one lane
    /// for all lanes of the first.
    pub index: Vec<[&'a B; 2]>,
    /// The indices of the bits of the state to which the bits of the value are added, that for the lowest bit
    /// first.
    pub to: Vec<usize>,
}

/// Secret bits that can be added, and looked up in public tables.
pub trait Lookups {
    /// A secret bit in every lane of the batch.
    type Bit: Clone + Lanes;

    /// A public bit, `values[l]` in lane `l`.
    fn constant_bit(&mut self, values: &[bool]) -> Self::Bit;

    /// `x += y`. A `y` of one lane is added to every lane of `x`.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_bit(&mut self, x: &mut Self::Bit, y: &Self::Bit) -> Result<(), Abort>;

    /// One layer of lookups, at the cost in rounds of a single one. The bits of one index have the same
    /// number of lanes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the width of an index is not that of its table, or its bits have different
    /// numbers of lanes; the abort that ends the session, if a link or a check fails.
    fn look_up(&mut self, layer: &mut [Lookup<Self::Bit>]) -> Result<(), Abort>;

    /// One layer of lookups with the additions around it, which an engine can do without copies of the bits.
    ///
    /// # Errors
    /// Those of [`Lookups::add_bit`] and [`Lookups::look_up`]; [`Abort::Misuse`] if a lookup does not name
    /// one bit of the state for each bit of its value.
    fn look_up_onto(
        &mut self,
        layer: &[LookupOnto<'_, Self::Bit>],
        state: &mut [Self::Bit],
    ) -> Result<(), Abort> {
        look_up_in_parts(self, layer, state)
    }

    /// Announce the number of lookups in each of these tables, in all lanes together, as [`Bytes::prepare`]
    /// announces layers of S-boxes.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails.
    fn foresee(&mut self, _lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        Ok(())
    }
}

/// [`Lookups::look_up_onto`] in three steps: the sums of the index bits, the lookups, the sums with the
/// state.
///
/// # Errors
/// Those of [`Lookups::look_up_onto`].
pub fn look_up_in_parts<E: Lookups + ?Sized>(
    e: &mut E,
    layer: &[LookupOnto<'_, E::Bit>],
    state: &mut [E::Bit],
) -> Result<(), Abort> {
    let fits = |LookupOnto { table, to, .. }: &LookupOnto<'_, E::Bit>| {
        to.len() == table.width && to.iter().all(|place| *place < state.len())
    };
    if !layer.iter().all(fits) {
        return Err(Abort::Misuse { step: ONTO, what: Misuse::CircuitUnfit });
    }
    let mut lookups = Vec::with_capacity(layer.len());
    for LookupOnto { table, index, .. } in layer {
        let mut wires = Vec::with_capacity(index.len());
        for [bit, other] in index {
            let mut bit = (*bit).clone();
            e.add_bit(&mut bit, other)?;
            wires.push(bit);
        }
        lookups.push(Lookup { table, wires });
    }
    e.look_up(&mut lookups)?;
    for (LookupOnto { to, .. }, Lookup { wires, .. }) in layer.iter().zip(&lookups) {
        for (place, value) in to.iter().zip(wires) {
            e.add_bit(&mut state[*place], value)?;
        }
    }
    Ok(())
}

/// A local or interactive change of representation.
pub trait Convert<X, Y> {
    /// The same secret in the other representation.
    ///
    /// # Errors
    /// The abort that ends the session, if a link or a check fails; [`Abort::Misuse`] if the values of `x`
    /// have different numbers of lanes.
    fn convert(&mut self, x: X) -> Result<Y, Abort>;
}
