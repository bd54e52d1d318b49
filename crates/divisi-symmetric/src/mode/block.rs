//! The trait over which modes are written: a block cipher on an engine, under a key that is ready for use.
//!
//! A message is a list of secret bytes; each holds one byte of every message of a batch, with a lane for each
//! message. A block has as many bytes as the cipher's blocks.

use crate::aes::{self, RoundKeys};
use crate::des::{self, TripleKey};
use divisi_core::{Abort, Bytes, Direction, Lanes, Lookups, Misuse, Step, step};

const BLOCK: Step = step!("block");

/// A block cipher with a key; one for all lanes, or one for each.
pub trait BlockCipher<E: ?Sized>: Lanes {
    /// A secret byte in every lane.
    type Byte: Clone + Lanes;

    /// How many bytes a block has.
    const BYTES: usize;

    /// A public byte, with `values[l]` in lane `l`.
    fn public(e: &mut E, values: &[u8]) -> Self::Byte;

    /// `x += y`. If `y` has one lane, it is added to every lane of `x`.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    fn add(e: &mut E, x: &mut Self::Byte, y: &Self::Byte) -> Result<(), Abort>;

    /// Applies the cipher to every lane of a block. A key with one lane is used for all.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the block has another length, or the lanes do
    /// not fit.
    fn permute(&self, e: &mut E, d: Direction, block: Vec<Self::Byte>) -> Result<Vec<Self::Byte>, Abort>;

    /// The keys of these lanes; a key with one lane is used for all.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is no such lane.
    fn of_lanes(&self, index: &[usize]) -> Result<Self, Abort> {
        let index = if self.lanes() == 1 { &[0][..] } else { index };
        self.gather(index).ok_or_else(|| misfit(Misuse::CountsDiffer))
    }

    /// `x += y`, block by block.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lengths differ, or the lanes do not fit.
    fn add_block(e: &mut E, x: &mut [Self::Byte], y: &[Self::Byte]) -> Result<(), Abort> {
        if x.len() != y.len() {
            return Err(misfit(Misuse::LengthDiffers));
        }
        x.iter_mut().zip(y).try_for_each(|(x, y)| Self::add(e, x, y))
    }

    /// Public bytes, column by column.
    fn public_block(e: &mut E, columns: &[Vec<u8>]) -> Vec<Self::Byte> {
        columns.iter().map(|column| Self::public(e, column)).collect()
    }
}

impl<E: Bytes + ?Sized> BlockCipher<E> for RoundKeys<E::Byte> {
    type Byte = E::Byte;

    const BYTES: usize = 16;

    fn public(e: &mut E, values: &[u8]) -> E::Byte {
        e.public(values)
    }

    fn add(e: &mut E, x: &mut E::Byte, y: &E::Byte) -> Result<(), Abort> {
        e.add(x, y)
    }

    fn permute(&self, e: &mut E, d: Direction, block: Vec<E::Byte>) -> Result<Vec<E::Byte>, Abort> {
        let mut state: [E::Byte; 16] = block.try_into().map_err(|_| misfit(Misuse::BlockLength))?;
        match d {
            Direction::Encrypt => aes::encrypt(e, self, &mut state)?,
            Direction::Decrypt => aes::decrypt(e, self, &mut state)?,
        }
        Ok(state.into())
    }
}

/// Eight secret bits in the order of FIPS 46-3, the highest first.
#[derive(Clone)]
pub struct Octet<B>(pub [B; 8]);

impl<B: Lanes> Lanes for Octet<B> {
    fn lanes(&self) -> usize {
        self.0[0].lanes()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        let bits: Option<Vec<B>> = self.0.iter().map(|bit| bit.gather(index)).collect();
        bits?.try_into().ok().map(Octet)
    }
}

impl<B> Octet<B> {
    /// Groups bits into bytes; the last bits are dropped if they are fewer than eight.
    pub fn from_bits(bits: Vec<B>) -> Vec<Self> {
        let mut bits = bits.into_iter();
        std::iter::from_fn(|| bits.by_ref().take(8).collect::<Vec<_>>().try_into().ok().map(Octet)).collect()
    }

    /// The bits of bytes.
    pub fn into_bits(bytes: Vec<Self>) -> Vec<B> {
        bytes.into_iter().flat_map(|byte| byte.0).collect()
    }
}

impl<E: Lookups + ?Sized> BlockCipher<E> for TripleKey<E::Bit> {
    type Byte = Octet<E::Bit>;

    const BYTES: usize = 8;

    fn public(e: &mut E, values: &[u8]) -> Octet<E::Bit> {
        Octet(std::array::from_fn(|i| {
            e.constant_bit(&values.iter().map(|byte| byte >> (7 - i) & 1 == 1).collect::<Vec<_>>())
        }))
    }

    fn add(e: &mut E, x: &mut Octet<E::Bit>, y: &Octet<E::Bit>) -> Result<(), Abort> {
        x.0.iter_mut().zip(&y.0).try_for_each(|(x, y)| e.add_bit(x, y))
    }

    fn permute(
        &self,
        e: &mut E,
        d: Direction,
        block: Vec<Octet<E::Bit>>,
    ) -> Result<Vec<Octet<E::Bit>>, Abort> {
        let bits = Octet::into_bits(block).try_into();
        let mut bits: [E::Bit; 64] = bits.map_err(|_| misfit(Misuse::BlockLength))?;
        des::triple(e, d, self, &mut bits)?;
        Ok(Octet::from_bits(bits.into()))
    }
}

/// The first `lanes` lanes of all bytes.
pub(super) fn first_lanes<B: Lanes>(bytes: &[B], lanes: usize) -> Result<Vec<B>, Abort> {
    let first: Option<Vec<B>> = bytes.iter().map(|byte| byte.first(lanes)).collect();
    first.ok_or_else(|| misfit(Misuse::MessageUnfit))
}

pub(super) fn misfit(what: Misuse) -> Abort {
    Abort::Misuse { step: BLOCK, what }
}

/// Counter blocks of any width, as columns: `n` blocks from the first one on, as integers that wrap around
/// (SP 800-38A, appendix B.1).
#[must_use]
pub fn counters(first: &[u8], n: usize) -> Vec<Vec<u8>> {
    let mut columns = vec![Vec::with_capacity(n); first.len()];
    let mut counter = first.to_vec();
    for _ in 0..n {
        columns.iter_mut().zip(&counter).for_each(|(column, byte)| column.push(*byte));
        for byte in counter.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    columns
}

/// The key stream of these counter blocks; adding it to a message with as many lanes encrypts or decrypts the
/// message (SP 800-38A, 6.5).
///
/// # Errors
/// The errors of [`BlockCipher::permute`].
pub fn keystream<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    counters: &[Vec<u8>],
) -> Result<Vec<C::Byte>, Abort> {
    let blocks = C::public_block(e, counters);
    cipher.permute(e, Direction::Encrypt, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_carry_through_all_bytes_and_wrap_around() {
        for (first, second) in
            [([0xff; 8], [0; 8]), ([0xff, 0, 0, 0xff, 7, 7, 0xff, 0xff], [0xff, 0, 0, 0xff, 7, 8, 0, 0])]
        {
            let columns = counters(&first, 2);
            let lane = |l: usize| columns.iter().map(|column| column[l]).collect::<Vec<u8>>();
            assert_eq!((lane(0), lane(1)), (first.to_vec(), second.to_vec()));
        }
        let long = counters(&[0xff; 16], 300);
        assert_eq!(
            long.iter().map(|column| column[299]).collect::<Vec<_>>(),
            [&[0; 14][..], &[1, 42]].concat()
        );
        let far = counters(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe], 70_000);
        for l in [255, 256, 257, 4095, 4096, 4097, 65_537, 65_538, 69_999_usize] {
            let counter: Vec<u8> = far.iter().map(|column| column[l]).collect();
            assert_eq!(counter, (l as u64).wrapping_sub(2).to_be_bytes(), "{l}");
        }
        assert!(counters(&[1; 8], 0).iter().all(Vec::is_empty));
    }
}
