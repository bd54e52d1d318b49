//! CMAC (SP 800-38B) over either block cipher, for messages of one length, one in each lane.
//!
//! [`crate::batch::cmac`] does the same for messages of different lengths, on engines whose bytes can be
//! converted to bits and back without communication.

use super::block::{BlockCipher, Octet, first_lanes, misfit};
use crate::aes::RoundKeys;
use crate::des::TripleKey;
use crate::engines::BitEngine;
use crate::gates::byte_program;
use crate::mac::cmac::{double, filling};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Direction, Lanes, Lookups, Misuse, ProgramRun};
use std::sync::OnceLock;

/// A block cipher whose blocks can be doubled, that is, multiplied by `x` in GF(2^128) or GF(2^64) (SP
/// 800-38B, 6.1).
pub trait Doubles<E: ?Sized>: BlockCipher<E> {
    /// Doubles a block.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the block has another length.
    fn double(e: &mut E, block: Vec<Self::Byte>) -> Result<Vec<Self::Byte>, Abort>;
}

fn doubling() -> &'static Program {
    static DOUBLING: OnceLock<Program> = OnceLock::new();
    DOUBLING.get_or_init(|| byte_program([16], |g, [block]| double(g, block)))
}

/// Doubles a block of bits, by a program of XORs only.
pub(crate) fn double_bits<E: Boolean + ?Sized>(
    e: &mut E,
    block: Vec<[E::Bit; 8]>,
) -> Result<Vec<[E::Bit; 8]>, Abort> {
    let mut jobs = [ProgramRun::new(doubling(), block.into_iter().flatten().collect())];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let mut wires = job.wires.into_iter();
    let byte = || wires.by_ref().take(8).collect::<Vec<_>>().try_into().ok();
    Ok(std::iter::from_fn(byte).collect())
}

impl<E: BitEngine + ?Sized> Doubles<E> for RoundKeys<E::Byte> {
    fn double(e: &mut E, block: Vec<E::Byte>) -> Result<Vec<E::Byte>, Abort> {
        let bits = block.into_iter().map(|byte| e.convert(byte)).collect::<Result<Vec<_>, _>>()?;
        double_bits(e, bits)?.into_iter().map(|bits| e.convert(bits)).collect()
    }
}

impl<E: Lookups + ?Sized> Doubles<E> for TripleKey<E::Bit> {
    /// A left shift, and a reduction by x^64 = x^4 + x^3 + x + 1.
    fn double(e: &mut E, block: Vec<Octet<E::Bit>>) -> Result<Vec<Octet<E::Bit>>, Abort> {
        let mut bits = Octet::into_bits(block);
        let Some(highest) = bits.first().cloned() else { return Err(misfit(Misuse::LengthUnsupported)) };
        bits.rotate_left(1);
        // coefficient i is the i-th bit from the end; the highest one has been moved to 0
        for bit in bits.iter_mut().rev().enumerate().filter(|(i, _)| [1, 3, 4].contains(i)) {
            e.add_bit(bit.1, &highest)?;
        }
        Ok(Octet::from_bits(bits))
    }
}

fn subkeys<E: ?Sized, C: Doubles<E>>(e: &mut E, l: Vec<C::Byte>) -> Result<[Vec<C::Byte>; 2], Abort> {
    let first = C::double(e, l)?;
    let second = C::double(e, first.clone())?;
    Ok([first, second])
}

/// A message padded to whole blocks, with its subkey added to the last block.
fn filled<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    subkeys: &[Vec<C::Byte>; 2],
    lanes: usize,
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    let padding = filling(C::BYTES, message.len());
    let [complete, short] = subkeys;
    let mut message = message.to_vec();
    message.extend(padding.iter().map(|byte| C::public(e, &vec![*byte; lanes])));
    let last = message.len().saturating_sub(C::BYTES);
    let last = message.get_mut(last..).unwrap_or_default();
    C::add_block(e, last, if padding.is_empty() { complete } else { short })?;
    Ok(message)
}

/// The input of [`chain`] for messages of one length, one in each lane, given `l` = E(0) under the key of
/// each lane. It is for callers that run the cipher on another engine than the one that has bits.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the lanes do not fit.
pub fn chained<E: ?Sized, C: Doubles<E>>(
    e: &mut E,
    l: Vec<C::Byte>,
    lanes: usize,
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    let subkeys = subkeys::<E, C>(e, l)?;
    filled::<E, C>(e, &subkeys, lanes, message)
}

/// CBC-MAC without finalisation, for messages of whole blocks: the last C_j of C_j = E(C_(j-1) + M_j), with
/// C_0 = 0.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the lanes do not fit.
pub fn chain<E: ?Sized, C: BlockCipher<E>>(
    e: &mut E,
    cipher: &C,
    lanes: usize,
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    let mut state = C::public_block(e, &vec![vec![0; lanes]; C::BYTES]);
    for block in message.chunks(C::BYTES) {
        C::add_block(e, &mut state, block)?;
        state = cipher.permute(e, Direction::Encrypt, state)?;
    }
    Ok(state)
}

/// Tags that are being computed.
pub struct Chaining<B> {
    state: Vec<B>,
    rest: Vec<B>,
}

impl<B> Chaining<B> {
    /// Tags with this state, of which these blocks are left.
    pub(crate) fn of(state: Vec<B>, rest: Vec<B>) -> Chaining<B> {
        Chaining { state, rest }
    }

    /// The blocks that are left.
    pub(crate) fn into_rest(self) -> Vec<B> {
        self.rest
    }

    /// The state, and the next blocks of 16 bytes, at most so many, which are processed outside.
    pub(crate) fn next(&mut self, blocks: usize) -> (Vec<B>, Vec<B>) {
        let now = self.rest.len().min(blocks.saturating_mul(16));
        (std::mem::take(&mut self.state), self.rest.drain(..now).collect())
    }

    /// Sets the state after blocks that were processed outside.
    pub(crate) fn set(&mut self, state: Vec<B>) {
        self.state = state;
    }

    /// Whether all blocks have been processed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The tags, after all blocks.
    #[must_use]
    pub fn tag(self) -> Vec<B> {
        self.state
    }
}

/// A key that is ready for use: the cipher's key, and two subkeys.
#[derive(Clone)]
pub struct CmacKey<E: ?Sized, C: BlockCipher<E>> {
    cipher: C,
    /// K1 for a complete last block, K2 for a padded one (SP 800-38B, 6.1).
    subkeys: [Vec<C::Byte>; 2],
}

impl<E: ?Sized, C: Doubles<E>> CmacKey<E, C> {
    /// The subkeys of a cipher (6.1): 2 E(0) and 4 E(0).
    ///
    /// Cost: one block of the cipher, and the doubling.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn new(e: &mut E, cipher: C) -> Result<Self, Abort> {
        let zeros = C::public_block(e, &vec![vec![0; cipher.lanes()]; C::BYTES]);
        let l = cipher.permute(e, Direction::Encrypt, zeros)?;
        Ok(CmacKey { cipher, subkeys: subkeys::<E, C>(e, l)? })
    }

    /// The tags of messages of one length, one in each lane, under one key for all or one for each (6.2): C_j
    /// = E(C_(j-1) + M_j); the last M_j is padded if it is not complete, and gets a subkey.
    ///
    /// Cost: one call of the cipher for each block, one after the other.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the lanes do not fit.
    pub fn tag(&self, e: &mut E, lanes: usize, message: &[C::Byte]) -> Result<Vec<C::Byte>, Abort> {
        let message = filled::<E, C>(e, &self.subkeys, lanes, message)?;
        chain(e, &self.cipher, lanes, &message)
    }

    /// Begins to compute the tags of such messages, to continue a few blocks at a time.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the lanes do not fit.
    pub fn begin(&self, e: &mut E, lanes: usize, message: &[C::Byte]) -> Result<Chaining<C::Byte>, Abort> {
        let rest = filled::<E, C>(e, &self.subkeys, lanes, message)?;
        Ok(Chaining { state: C::public_block(e, &vec![vec![0; lanes]; C::BYTES]), rest })
    }

    /// Processes `blocks` blocks more, or as many as are left.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn go_on(&self, e: &mut E, chaining: &mut Chaining<C::Byte>, blocks: usize) -> Result<(), Abort> {
        for _ in 0..blocks.min(chaining.rest.len() / C::BYTES) {
            let block: Vec<C::Byte> = chaining.rest.drain(..C::BYTES).collect();
            C::add_block(e, &mut chaining.state, &block)?;
            let state = std::mem::take(&mut chaining.state);
            chaining.state = self.cipher.permute(e, Direction::Encrypt, state)?;
        }
        Ok(())
    }

    /// The keys of these lanes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is no such lane.
    pub fn of_lanes(&self, index: &[usize]) -> Result<Self, Abort> {
        let cipher = self.cipher.of_lanes(index)?;
        let pick = |bytes: &Vec<C::Byte>| -> Result<Vec<C::Byte>, Abort> {
            if self.cipher.lanes() == 1 {
                return first_lanes(bytes, 1);
            }
            let all: Option<Vec<C::Byte>> = bytes.iter().map(|byte| byte.gather(index)).collect();
            all.ok_or_else(|| misfit(Misuse::CountsDiffer))
        };
        let [first, second] = &self.subkeys;
        Ok(CmacKey { cipher, subkeys: [pick(first)?, pick(second)?] })
    }
}
