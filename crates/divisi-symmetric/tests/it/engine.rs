//! The engine in the clear, which counts what an engine does and opens, and takes four blocks at once.

use divisi_core::{
    Abort, Blocks, Boolean, Bytes, Compares, Convert, Debt, Direction, Lanes, Matrix, Opens, Pending, Plain,
    PlainBit, PlainBlock, PlainByte, ProgramRun, Settles, Verified,
};

/// Computes in the clear, few blocks at once, and counts.
#[derive(Default)]
pub(crate) struct Counting {
    /// Layers of S-boxes, and the S-boxes in them.
    pub(crate) layers: usize,
    pub(crate) sboxes: usize,
    /// Rounds of products of blocks, and the products.
    pub(crate) rounds: u64,
    pub(crate) products: usize,
    /// Bytes that were opened.
    opened: Vec<u8>,
}

impl Counting {
    /// The bytes that were opened since the last call, sorted.
    pub(crate) fn opened(&mut self) -> Vec<u8> {
        sorted(std::mem::take(&mut self.opened))
    }
}

pub(crate) fn sorted(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.sort_unstable();
    bytes
}

impl Bytes for Counting {
    type Byte = PlainByte;

    fn public(&mut self, values: &[u8]) -> PlainByte {
        Plain.public(values)
    }
    fn add(&mut self, x: &mut PlainByte, y: &PlainByte) -> Result<(), Abort> {
        Plain.add(x, y)
    }
    fn add_public(&mut self, x: &mut PlainByte, c: &[u8]) -> Result<(), Abort> {
        Plain.add_public(x, c)
    }
    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [PlainByte; N]) -> Result<(), Abort> {
        Plain.linear(m, x)
    }
    fn sbox(&mut self, d: Direction, x: &mut [&mut PlainByte]) -> Result<(), Abort> {
        self.layers += 1;
        self.sboxes += x.iter().map(|x| x.lanes()).sum::<usize>();
        Plain.sbox(d, x)
    }
    fn join_bytes(&mut self, parts: &[&PlainByte]) -> Result<PlainByte, Abort> {
        Plain.join_bytes(parts)
    }
    fn blocks_at_once(&self) -> usize {
        4
    }
}

impl Boolean for Counting {
    type Bit = PlainBit;

    fn public_bit(&mut self, values: &[bool]) -> PlainBit {
        Plain.public_bit(values)
    }
    fn join_bits(&mut self, parts: &[&PlainBit]) -> PlainBit {
        Plain.join_bits(parts)
    }
    fn run(&mut self, jobs: &mut [ProgramRun<'_, PlainBit>]) -> Result<(), Abort> {
        Plain.run(jobs)
    }
}

impl Blocks for Counting {
    type Block = PlainBlock;

    fn add_block(&mut self, x: &mut PlainBlock, y: &PlainBlock) -> Result<(), Abort> {
        Plain.add_block(x, y)
    }
    fn add_public_block(&mut self, x: &mut PlainBlock, c: &[u128]) -> Result<(), Abort> {
        Plain.add_public_block(x, c)
    }
    fn combine(&mut self, x: &PlainBlock, c: &[u128]) -> Result<PlainBlock, Abort> {
        Plain.combine(x, c)
    }
    fn square(&mut self, x: &PlainBlock) -> PlainBlock {
        Plain.square(x)
    }
    fn multiply(&mut self, x: &PlainBlock, y: &PlainBlock) -> Result<PlainBlock, Abort> {
        self.rounds += 1;
        self.products += x.lanes();
        Plain.multiply(x, y)
    }
    fn dot(&mut self, sums: &[(&PlainBlock, &PlainBlock)]) -> Result<PlainBlock, Abort> {
        self.rounds += 1;
        self.products += sums.iter().map(|(x, _)| x.lanes()).sum::<usize>();
        Plain.dot(sums)
    }
    fn join(&mut self, parts: &[&PlainBlock]) -> PlainBlock {
        Plain.join(parts)
    }
}

impl<X, Y> Convert<X, Y> for Counting
where
    Plain: Convert<X, Y>,
{
    fn convert(&mut self, x: X) -> Result<Y, Abort> {
        Plain.convert(x)
    }
}

/// Values in the clear owe nothing.
pub(crate) struct Nothing;

impl Debt for Nothing {
    type Payer = Counting;

    fn take_over(&mut self, _: Self) {}
    fn hand_over(self, _: &mut Counting) {}
    fn pay(self, _: &mut Counting) -> Result<(), Abort> {
        Ok(())
    }
    fn fail(_: &mut Counting, abort: Abort) -> Abort {
        abort
    }
}

impl Settles for Counting {
    type Debt = Nothing;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Nothing>, Abort> {
        Ok(Pending::owing(out, Nothing))
    }
}

impl Opens<Vec<PlainByte>> for Counting {
    type Public = Vec<Vec<u8>>;

    fn open(&mut self, x: Verified<Vec<PlainByte>>) -> Result<Vec<Vec<u8>>, Abort> {
        x.get().iter().for_each(|byte| self.opened.extend_from_slice(byte.values()));
        Ok(x.get().iter().map(|byte| byte.values().to_vec()).collect())
    }
}

impl Compares<PlainBlock> for Counting {
    fn vanish(&mut self, x: &[PlainBlock]) -> Result<Vec<bool>, Abort> {
        Plain.vanish(x)
    }
}
