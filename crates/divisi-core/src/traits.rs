//! What a cipher needs of an engine, and nothing more.
//!
//! A *lane* is one instance of a batch. One value holds that secret for the whole batch; values of one call
//! may differ in lanes only in that a value of a single lane serves all. Ciphers in `divisi-symmetric` are
//! written against these traits; each engine brings its own sharing, its own inputs and its own openings.

use crate::Abort;
use divisi_circuit::Program;

/// Which way a permutation is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// A vector of secrets that can be rearranged by public indices.
pub trait Lanes: Sized {
    /// How many instances the value holds.
    fn lanes(&self) -> usize;

    /// The value whose lane `l` is this value's lane `index[l]`; `None` if an index is out of range.
    #[must_use]
    fn gather(&self, index: &[usize]) -> Option<Self>;

    /// The first lanes; `None` if there are fewer.
    #[must_use]
    fn first(&self, lanes: usize) -> Option<Self> {
        self.gather(&(0..lanes).collect::<Vec<_>>())
    }
}

/// A public square matrix over GF(2^8), row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix<const N: usize>(pub [[u8; N]; N]);

/// Secret bytes: elements of the AES field GF(2^8), added, multiplied by public matrices, and sent through
/// the AES S-box.
pub trait Bytes {
    /// A secret byte in every lane of the batch.
    type Byte: Clone + Lanes;

    /// A byte whose value everybody knows, `values[l]` in lane `l`.
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

    /// One layer of AES S-boxes (or inverse S-boxes) over whatever stands in `x`; the bytes may differ in
    /// lanes. Costs the rounds of one S-box, however many bytes there are.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn sbox(&mut self, d: Direction, x: &mut [&mut Self::Byte]) -> Result<(), Abort>;

    /// `layers` S-box layers of `bytes` bytes of `lanes` lanes each are to come: an engine that consumes
    /// something made ahead makes what it lacks now, all in one go. Whoever says nothing pays for each layer
    /// by itself.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn prepare(&mut self, _layers: usize, _bytes: usize, _lanes: usize) -> Result<(), Abort> {
        Ok(())
    }

    /// A chain of S-box layers ends here: whatever cheaper form an engine keeps its bytes in between layers,
    /// afterwards they are values like any others. A chain that is not finished must not be opened, stored or
    /// converted.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if these are not all the bytes that the last layer left.
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

    /// `x += c`, `c` public, one for all lanes or one for each.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_public_block(&mut self, x: &mut Self::Block, c: &[u128]) -> Result<(), Abort>;

    /// The sum of `c[l] x_l` over all lanes, `c` public: one lane, local work only.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are not as many coefficients as lanes.
    fn combine(&mut self, x: &Self::Block, c: &[u128]) -> Result<Self::Block, Abort>;

    /// `x_l^2` in every lane. Local: squaring is linear in characteristic two.
    fn square(&mut self, x: &Self::Block) -> Self::Block;

    /// The products `x_l y_l`, lane by lane, in one round.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if the lanes differ.
    fn multiply(&mut self, x: &Self::Block, y: &Self::Block) -> Result<Self::Block, Abort>;

    /// For each pair, the sum over its lanes of `x_l y_l`, as one lane each, side by side in the result; one
    /// round for all.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if the lanes of a pair differ.
    fn dot(&mut self, sums: &[(&Self::Block, &Self::Block)]) -> Result<Self::Block, Abort>;

    /// All lanes of all values, side by side.
    fn join(&mut self, parts: &[&Self::Block]) -> Self::Block;
}

/// A program to run on secret bits.
pub struct ProgramRun<'p, B> {
    /// What to run.
    pub program: &'p Program,
    /// Before the run a bit for each input wire, after it one for each output wire.
    pub wires: Vec<B>,
    /// How many of the first input wires hold what a key leaves ([`ProgramRun::keeping`]).
    pub kept: usize,
}

impl<'p, B> ProgramRun<'p, B> {
    /// Run a program on these inputs.
    pub fn new(program: &'p Program, inputs: Vec<B>) -> Self {
        ProgramRun { program, wires: inputs, kept: 0 }
    }

    /// The same where the first so many input wires hold what a key leaves: the same bits in each run under
    /// that key. It changes no result; an engine may make something ahead for these bits.
    #[must_use]
    pub fn keeping(self, kept: usize) -> Self {
        ProgramRun { kept, ..self }
    }
}

/// Secret bits, and the programs of divisi-circuit on them.
pub trait Boolean {
    /// A secret bit in every lane of the batch.
    type Bit: Clone + Lanes;

    /// A bit whose value everybody knows, `values[l]` in lane `l`.
    fn public_bit(&mut self, values: &[bool]) -> Self::Bit;

    /// The lanes of all parts, one part after the other.
    fn join_bits(&mut self, parts: &[&Self::Bit]) -> Self::Bit;

    /// Runs all jobs in lock step, lane by lane: products that stand in the same level of any of them share a
    /// round, so that all together cost the rounds of the deepest. The inputs of a job have as many lanes as
    /// each other, but that one lane serves all; a job without inputs has one lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the inputs are not those of the program, or their lanes do not fit; the abort
    /// that ends the session.
    fn run(&mut self, jobs: &mut [ProgramRun<'_, Self::Bit>]) -> Result<(), Abort>;

    /// Whether a program costs the same rounds whatever its depth, so that one program of many steps is
    /// better than many of one.
    fn is_free_of_depth(&self) -> bool {
        false
    }
}

/// A public function of a few bits, by all its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// How many bits the index has, at most eight.
    pub index: usize,
    /// How many bits a value has, at most eight.
    pub width: usize,
    /// As many as there are indices.
    pub values: &'static [u8],
}

/// A lookup at a secret index.
pub struct Lookup<B> {
    /// In which table.
    pub table: &'static Table,
    /// Before it the bits of the index, afterwards those of the value; the lowest first.
    pub wires: Vec<B>,
}

/// Secret bits that are added, and looked up in public tables.
pub trait Lookups {
    /// A secret bit in every lane of the batch.
    type Bit: Clone + Lanes;

    /// A bit whose value everybody knows, `values[l]` in lane `l`.
    fn constant_bit(&mut self, values: &[bool]) -> Self::Bit;

    /// `x += y`. A `y` of one lane is added to every lane of `x`.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add_bit(&mut self, x: &mut Self::Bit, y: &Self::Bit) -> Result<(), Abort>;

    /// One layer of lookups, whatever stands in it; it costs the rounds of one. The bits of an index are
    /// alike in lanes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if an index has not the bits of its table, or they differ in lanes; the abort that
    /// ends the session.
    fn look_up(&mut self, layer: &mut [Lookup<Self::Bit>]) -> Result<(), Abort>;

    /// So many lookups in each of these tables are to come, in all lanes together: as [`Bytes::prepare`].
    ///
    /// # Errors
    /// The abort that ends the session.
    fn foresee(&mut self, _lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        Ok(())
    }
}

/// A local or interactive change of representation.
pub trait Convert<X, Y> {
    /// The same secret in the other representation.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn convert(&mut self, x: X) -> Result<Y, Abort>;
}
