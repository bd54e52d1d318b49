//! The engine that computes in the clear: one party that knows everything and trusts itself.
//!
//! It protects nothing. It is the reference with which the tests compare every other engine, and it is
//! `--engine plain`. It still computes without secret-dependent branches and table indices: its S-box is the
//! definition of FIPS 197, an inversion in GF(2^8) and an affine map, and not the table.

mod boolean;
mod leave;
mod lookups;

pub use boolean::PlainBit;
pub use leave::NoDebt;

use crate::{Abort, Blocks, Bytes, Convert, Direction, Lanes, Matrix, Misuse, step};
use divisi_field::{BigField, Field, Gf8, Gf128};
use std::ops::BitXorAssign;
use zeroize::Zeroizing;

/// The engine that computes in the clear. It has no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

/// A byte in every lane. It is treated as a secret: it does not implement `Debug`, and is wiped on drop.
#[derive(Clone)]
pub struct PlainByte(Zeroizing<Vec<u8>>);

/// A block in every lane, with the coefficient of `x^i` in bit `i`. It is treated as a secret, like
/// [`PlainByte`].
#[derive(Clone)]
pub struct PlainBlock(Zeroizing<Vec<u128>>);

impl PlainByte {
    /// A byte with `values[l]` in lane `l`.
    #[must_use]
    pub fn new(values: Vec<u8>) -> Self {
        PlainByte(Zeroizing::new(values))
    }

    /// The values, lane by lane.
    #[must_use]
    pub fn values(&self) -> &[u8] {
        &self.0
    }
}

impl PlainBlock {
    /// A block with `values[l]` in lane `l`.
    #[must_use]
    pub fn new(values: Vec<u128>) -> Self {
        PlainBlock(Zeroizing::new(values))
    }

    /// The values, lane by lane.
    #[must_use]
    pub fn values(&self) -> &[u128] {
        &self.0
    }
}

impl Lanes for PlainByte {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        gather(&self.0, index).map(PlainByte)
    }
}

impl Lanes for PlainBlock {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        gather(&self.0, index).map(PlainBlock)
    }
}

impl Bytes for Plain {
    type Byte = PlainByte;

    fn public(&mut self, values: &[u8]) -> PlainByte {
        PlainByte::new(values.to_vec())
    }

    fn add(&mut self, x: &mut PlainByte, y: &PlainByte) -> Result<(), Abort> {
        add(&mut x.0, &y.0)
    }

    fn add_public(&mut self, x: &mut PlainByte, c: &[u8]) -> Result<(), Abort> {
        add(&mut x.0, c)
    }

    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [PlainByte; N]) -> Result<(), Abort> {
        let lanes = x.first().map_or(0, Lanes::lanes);
        if x.iter().any(|x| x.lanes() != lanes) {
            return Err(unfit());
        }
        let y = m.0.map(|row| {
            let mut y = Zeroizing::new(vec![0; lanes]);
            for (coefficient, x) in row.into_iter().zip(&*x) {
                for (y, &x) in y.iter_mut().zip(x.values()) {
                    *y ^= (Gf8(coefficient) * Gf8(x)).0;
                }
            }
            PlainByte(y)
        });
        *x = y;
        Ok(())
    }

    fn sbox(&mut self, d: Direction, x: &mut [&mut PlainByte]) -> Result<(), Abort> {
        for byte in x.iter_mut().flat_map(|x| x.0.iter_mut()) {
            *byte = match d {
                Direction::Encrypt => affine(Gf8(*byte).inverse().0),
                Direction::Decrypt => Gf8(inverse_affine(*byte)).inverse().0,
            };
        }
        Ok(())
    }

    fn join_bytes(&mut self, parts: &[&PlainByte]) -> Result<PlainByte, Abort> {
        Ok(PlainByte::new(parts.iter().flat_map(|part| part.values()).copied().collect()))
    }
}

impl Blocks for Plain {
    type Block = PlainBlock;

    fn add_block(&mut self, x: &mut PlainBlock, y: &PlainBlock) -> Result<(), Abort> {
        add(&mut x.0, &y.0)
    }

    fn add_public_block(&mut self, x: &mut PlainBlock, c: &[u128]) -> Result<(), Abort> {
        add(&mut x.0, c)
    }

    fn combine(&mut self, x: &PlainBlock, c: &[u128]) -> Result<PlainBlock, Abort> {
        Ok(PlainBlock::new(vec![dot(x.values(), c)?]))
    }

    fn square(&mut self, x: &PlainBlock) -> PlainBlock {
        PlainBlock::new(elements(x.values()).iter().map(|x| x.square().to_bits()).collect())
    }

    fn multiply(&mut self, x: &PlainBlock, y: &PlainBlock) -> Result<PlainBlock, Abort> {
        if x.lanes() != y.lanes() {
            return Err(unfit());
        }
        let mut product = elements(x.values());
        Gf128::mul_assign(&mut product, &elements(y.values()));
        Ok(PlainBlock::new(product.iter().map(|z| z.to_bits()).collect()))
    }

    fn dot(&mut self, sums: &[(&PlainBlock, &PlainBlock)]) -> Result<PlainBlock, Abort> {
        let sums = sums.iter().map(|(x, y)| dot(x.values(), y.values()));
        Ok(PlainBlock::new(sums.collect::<Result<_, _>>()?))
    }

    fn join(&mut self, parts: &[&PlainBlock]) -> PlainBlock {
        PlainBlock::new(parts.iter().flat_map(|part| part.values()).copied().collect())
    }
}

/// Byte `i` of the block is `x[i]`: GHASH's bit order.
impl Convert<[PlainByte; 16], PlainBlock> for Plain {
    fn convert(&mut self, x: [PlainByte; 16]) -> Result<PlainBlock, Abort> {
        let lanes = x[0].lanes();
        if x.iter().any(|x| x.lanes() != lanes) {
            return Err(unfit());
        }
        let mut block = Zeroizing::new([0; 16]);
        let blocks = (0..lanes).map(|lane| {
            for (byte, x) in block.iter_mut().zip(&x) {
                *byte = x.values()[lane];
            }
            Gf128::from_ghash(*block).to_bits()
        });
        Ok(PlainBlock::new(blocks.collect()))
    }
}

/// The inverse of the conversion above: `x[i]` is byte `i` of the block.
impl Convert<PlainBlock, [PlainByte; 16]> for Plain {
    fn convert(&mut self, x: PlainBlock) -> Result<[PlainByte; 16], Abort> {
        let blocks: Zeroizing<Vec<[u8; 16]>> =
            Zeroizing::new(elements(x.values()).iter().map(|x| x.to_ghash()).collect());
        Ok(std::array::from_fn(|i| PlainByte::new(blocks.iter().map(|block| block[i]).collect())))
    }
}

/// FIPS 197, 5.1.1: bit `i` of the result is the sum of bits `i`, `i+4`, `i+5`, `i+6`, `i+7` (mod 8) of `x`
/// and bit `i` of 0x63.
fn affine(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4) ^ 0x63
}

/// The inverse of [`affine`].
fn inverse_affine(x: u8) -> u8 {
    x.rotate_left(1) ^ x.rotate_left(3) ^ x.rotate_left(6) ^ 0x05
}

fn gather<T: Copy>(values: &[T], index: &[usize]) -> Option<Zeroizing<Vec<T>>>
where
    Vec<T>: zeroize::Zeroize,
{
    // the capacity suffices from the start: a vector that grows would leave a partial copy in freed memory
    let mut gathered = Zeroizing::new(Vec::with_capacity(index.len()));
    for &lane in index {
        gathered.push(*values.get(lane)?);
    }
    Some(gathered)
}

/// `x += y`, where a `y` of one lane is added to every lane.
fn add<T: Copy + BitXorAssign>(x: &mut [T], y: &[T]) -> Result<(), Abort> {
    match y {
        [y] => x.iter_mut().for_each(|x| *x ^= *y),
        _ if x.len() == y.len() => x.iter_mut().zip(y).for_each(|(x, y)| *x ^= *y),
        _ => return Err(unfit()),
    }
    Ok(())
}

fn dot(x: &[u128], y: &[u128]) -> Result<u128, Abort> {
    if x.len() != y.len() {
        return Err(unfit());
    }
    Ok(Gf128::dot(&elements(x), &elements(y)).to_bits())
}

fn elements(values: &[u128]) -> Zeroizing<Vec<Gf128>> {
    Zeroizing::new(values.iter().map(|&bits| Gf128::from_low_bits(bits)).collect())
}

fn unfit() -> Abort {
    Abort::Misuse { step: step!("lanes"), what: Misuse::LanesDiffer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(values: &[u8]) -> PlainByte {
        PlainByte::new(values.to_vec())
    }

    fn block(values: &[u128]) -> PlainBlock {
        PlainBlock::new(values.to_vec())
    }

    #[test]
    fn the_sbox_is_that_of_fips_197_and_its_inverse_undoes_it() {
        let all: Vec<u8> = (0..=255).collect();
        let mut x = byte(&all);
        Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap();
        // figure 7 of FIPS 197: the first row, the example of 5.1.1, and the last entry
        let first =
            [0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76];
        assert_eq!(x.values()[..16], first);
        assert_eq!((x.values()[0x53], x.values()[0xff]), (0xed, 0x16));
        Plain.sbox(Direction::Decrypt, &mut [&mut x]).unwrap();
        assert_eq!(x.values(), all);
    }

    #[test]
    fn a_layer_takes_bytes_of_different_lanes() {
        let (mut x, mut y, mut z) = (byte(&[0, 0x53]), byte(&[0x53]), byte(&[]));
        Plain.sbox(Direction::Encrypt, &mut [&mut x, &mut y, &mut z]).unwrap();
        assert_eq!((x.values(), y.values(), z.lanes()), (&[0x63, 0xed][..], &[0xed][..], 0));
    }

    #[test]
    fn sums_and_matrices() {
        let mut x = byte(&[1, 2, 3]);
        Plain.add(&mut x, &byte(&[0x10])).unwrap();
        Plain.add_public(&mut x, &[1, 0, 1]).unwrap();
        assert_eq!(x.values(), [0x10, 0x12, 0x12]);
        let mut pair = [byte(&[0x57, 1]), byte(&[1, 0x80])];
        // 57 * 83 = c1 and 57 * 13 = fe are FIPS 197's own examples (4.2); 80 * 02 = 1b
        Plain.linear(&Matrix([[0x83, 0], [0x13, 2]]), &mut pair).unwrap();
        assert_eq!((pair[0].values(), pair[1].values()), (&[0xc1, 0x83][..], &[0xfe ^ 2, 0x13 ^ 0x1b][..]));
    }

    #[test]
    fn blocks_are_elements_of_the_field_of_ghash() {
        let x = 1 << 127;
        // x^127 * x = x^128 = x^7 + x^2 + x + 1
        let product = Plain.multiply(&block(&[x, 3]), &block(&[2, 3])).unwrap();
        assert_eq!(product.values(), [0x87, 5]);
        assert_eq!(Plain.square(&block(&[3, 1 << 64])).values(), [5, 0x87]);
        assert_eq!(Plain.combine(&block(&[x, 3]), &[2, 3]).unwrap().values(), [0x87 ^ 5]);
        let (two, one) = (block(&[x, 3]), block(&[7]));
        assert_eq!(Plain.dot(&[(&two, &block(&[2, 3])), (&one, &one)]).unwrap().values(), [0x87 ^ 5, 0x15]);
        assert_eq!(Plain.join(&[&two, &one]).values(), [x, 3, 7]);
    }

    #[test]
    fn the_first_bit_of_a_block_is_the_coefficient_of_one() {
        let mut bytes: [PlainByte; 16] = std::array::from_fn(|_| byte(&[0, 0]));
        bytes[0] = byte(&[0x80, 0x01]);
        bytes[15] = byte(&[0, 0x01]);
        assert_eq!(Plain.convert(bytes).unwrap().values(), [1, 1 << 7 | 1 << 127]);
    }

    #[test]
    fn lanes_that_do_not_fit_are_misuse() {
        let misuse = |r: Result<(), Abort>| assert!(matches!(r, Err(Abort::Misuse { .. })));
        misuse(Plain.add(&mut byte(&[1, 2]), &byte(&[1, 2, 3])));
        misuse(Plain.add_public(&mut byte(&[1, 2]), &[]));
        misuse(Plain.linear(&Matrix([[1, 0], [0, 1]]), &mut [byte(&[1]), byte(&[1, 2])]));
        misuse(Plain.add_block(&mut block(&[1]), &block(&[1, 2])));
        misuse(Plain.combine(&block(&[1]), &[1, 2]).map(drop));
        misuse(Plain.multiply(&block(&[1]), &block(&[1, 2])).map(drop));
        misuse(Plain.dot(&[(&block(&[1]), &block(&[]))]).map(drop));
        let mut bytes: [PlainByte; 16] = std::array::from_fn(|_| byte(&[0]));
        bytes[7] = byte(&[0, 1]);
        misuse(Plain.convert(bytes).map(drop));
        assert!(byte(&[1]).gather(&[0, 1]).is_none() && block(&[]).gather(&[0]).is_none());
        assert_eq!(byte(&[1, 2]).gather(&[1, 0, 1]).unwrap().values(), [2, 1, 2]);
    }
}
