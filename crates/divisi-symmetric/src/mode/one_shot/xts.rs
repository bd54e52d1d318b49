//! XTS-AES (IEEE 1619, SP 800-38E): data units of at least a block, with a public tweak.
//!
//! The tweak's encryption is secret; it is doubled without communication, and then all blocks are processed
//! at once. A data unit that is not whole blocks uses ciphertext stealing (5.3.2), down to single bits.

use super::lanes::{add, are_blocks, blocks, lanes_of, public, splice_block, through};
use super::misfit;
use crate::aes::{self, RoundKeys};
use crate::engines::BitEngine;
use crate::mode::cmac::double_bits;
use divisi_core::{Abort, Direction, Misuse};

/// The largest length of a data unit in blocks (IEEE 1619, 5.1).
pub const LONGEST: usize = 1 << 20;

/// The first `count` masks: the encrypted tweak `t`, and then each time the one before times alpha (5.2),
/// which is the doubling of CMAC with the bytes in reverse order. The bits are taken apart only once.
fn masks<E: BitEngine>(e: &mut E, t: [E::Byte; 16], count: usize) -> Result<Vec<[E::Byte; 16]>, Abort> {
    let mut masks = Vec::with_capacity(count);
    masks.push(t.clone());
    if count < 2 {
        return Ok(masks);
    }
    let mut bits = t.into_iter().rev().map(|byte| e.convert(byte)).collect::<Result<Vec<_>, _>>()?;
    for _ in 1..count {
        bits = double_bits(e, bits)?;
        let mut doubled: Vec<E::Byte> = Vec::with_capacity(16);
        for bits in bits.iter().rev() {
            doubled.push(e.convert(bits.clone())?);
        }
        masks.push(doubled.try_into().map_err(|_| misfit(Misuse::BlockLength))?);
    }
    Ok(masks)
}

/// Encrypts or decrypts data units of `bits` bits, one in each lane, under tweaks of 16 bytes.
///
/// Cost: two calls of the cipher, and one more with ciphertext stealing.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if a data unit is less than a block, or too long.
pub fn crypt<E: BitEngine>(
    e: &mut E,
    [data, tweaks]: [&RoundKeys<E::Byte>; 2],
    direction: Direction,
    tweak: &[Vec<u8>],
    bits: usize,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = lanes_of(&[message])?;
    let n = bits.div_ceil(128);
    if bits < 128 || n > LONGEST || message.len() != bits.div_ceil(8) || !are_blocks(tweak, lanes) {
        return Err(misfit(Misuse::MessageUnfit));
    }
    let tweak = public(e, tweak)?;
    let mut t: [E::Byte; 16] = tweak.try_into().map_err(|_| misfit(Misuse::BlockLength))?;
    aes::encrypt(e, tweaks, &mut t)?;
    let mut all = masks(e, t, n)?;
    let mut message = blocks(e, message, lanes)?;
    let rest = bits - 128 * (n - 1);
    let partial = if rest < 128 { message.pop() } else { None };
    let last_two = |all: &mut Vec<[E::Byte; 16]>| all.pop().zip(all.pop());
    let stolen = match partial {
        None => None,
        Some(partial) => {
            let (later, earlier) = last_two(&mut all).ok_or_else(|| misfit(Misuse::CountsDiffer))?;
            // the last complete block uses its own tweak when encrypting, and the next one when decrypting
            let (first, second) =
                if direction == Direction::Encrypt { (earlier, later) } else { (later, earlier) };
            all.push(first);
            Some((partial, second))
        }
    };
    let mut out = masked(e, data, direction, &all, &message)?;
    let Some((partial, second)) = stolen else { return Ok(out.concat()) };
    let whole = out.pop().ok_or_else(|| misfit(Misuse::BlockLength))?;
    let mixed = splice_block(e, &partial, &whole, rest)?;
    let zeros: [E::Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; lanes]));
    let short = splice_block(e, &whole, &zeros, rest)?;
    out.extend(masked(e, data, direction, &[second], &[mixed])?);
    let mut out = out.concat();
    out.extend(short.into_iter().take(rest.div_ceil(8)));
    Ok(out)
}

/// Applies the cipher to each block, with a mask added before and after.
fn masked<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    direction: Direction,
    masks: &[[E::Byte; 16]],
    message: &[[E::Byte; 16]],
) -> Result<Vec<[E::Byte; 16]>, Abort> {
    let mut message = message.to_vec();
    for (block, mask) in message.iter_mut().zip(masks) {
        add(e, block, mask)?;
    }
    let mut out = through(e, key, direction, &message)?;
    for (block, mask) in out.iter_mut().zip(masks) {
        add(e, block, mask)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{Plain, PlainByte};

    /// Each mask is the one before it times alpha, in data units of many blocks too.
    #[test]
    fn every_mask_is_the_one_before_it_doubled() {
        let mut t = u128::from_le_bytes(*b"what nobody sees");
        let first = t.to_le_bytes().map(|byte| PlainByte::new(vec![byte]));
        for (i, mask) in masks(&mut Plain, first, 1100).unwrap().iter().enumerate() {
            assert_eq!(mask.each_ref().map(|byte| byte.values()[0]), t.to_le_bytes(), "{i}");
            t = t << 1 ^ if t >> 127 == 1 { 0x87 } else { 0 };
        }
    }
}
