//! CBC with ciphertext stealing (SP 800-38A, addendum): messages of at least a block and of any number of
//! bits, without padding.
//!
//! The three variants differ only in the order of the last two blocks, which is public
//! ([`Variant::arrange`]).

use super::lanes::{add, are_blocks, blocks, lanes_of, public, splice_block, through};
use super::misfit;
use super::strings::{join, part};
use crate::aes::RoundKeys;
use crate::engines::BitEngine;
use crate::mode::cbc;
use divisi_core::{Abort, Direction, Misuse};

/// The order of the last two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum Variant {
    /// The incomplete block comes first.
    Cs1,
    /// The order of CBC if the message is whole blocks, otherwise that of CS3.
    Cs2,
    /// The incomplete block always comes last.
    Cs3,
}

impl Variant {
    fn swaps(self, bits: usize) -> bool {
        match self {
            Variant::Cs1 => false,
            Variant::Cs2 => !bits.is_multiple_of(128),
            Variant::Cs3 => true,
        }
    }

    /// The ciphertext, from blocks in the order of CBC; the last but one is shortened to whole bytes.
    #[must_use]
    pub fn arrange(self, bits: usize, blocks: &[u8]) -> Vec<u8> {
        let Some((front, rest)) = parts(bits) else { return blocks.to_vec() };
        let (head, tail) = blocks.split_at(front.min(blocks.len()));
        let (short, whole) = tail.split_at(rest.div_ceil(8).min(tail.len()));
        let last = if self.swaps(bits) {
            join(&[(whole, 128), (short, rest)])
        } else {
            join(&[(short, rest), (whole, 128)])
        };
        [head, &last].concat()
    }

    /// The inverse of [`Variant::arrange`].
    #[must_use]
    pub fn restore(self, bits: usize, ciphertext: &[u8]) -> Vec<u8> {
        let Some((front, rest)) = parts(bits) else { return ciphertext.to_vec() };
        let (head, tail) = ciphertext.split_at(front.min(ciphertext.len()));
        let (short, whole) = if self.swaps(bits) {
            (part(tail, 128, rest), part(tail, 0, 128))
        } else {
            (part(tail, 0, rest), part(tail, rest, 128))
        };
        [head, &short, &whole].concat()
    }
}

/// The number of bytes before the last two blocks, and the number of bits of the incomplete one; `None` if
/// there is one block.
fn parts(bits: usize) -> Option<(usize, usize)> {
    let n = bits.div_ceil(128);
    (n >= 2).then(|| (16 * (n - 2), bits - 128 * (n - 1)))
}

/// Encrypts messages of `bits` bits, one in each lane. Returns the blocks in the order of CBC; the last but
/// one is shortened. Its removed bits are contained in the last block, and are not revealed.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if a message is less than a block, or an IV is not a
/// block.
pub fn encrypt<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    iv: &[Vec<u8>],
    bits: usize,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = lanes_of(&[message])?;
    if bits < 128 || message.len() != bits.div_ceil(8) || !are_blocks(iv, lanes) {
        return Err(misfit(Misuse::MessageUnfit));
    }
    // padded with zeros, also within the last byte
    let zeros: [E::Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; lanes]));
    let mut all = blocks(e, message, lanes)?;
    let last = all.pop().ok_or_else(|| misfit(Misuse::MessageUnfit))?;
    all.push(splice_block(e, &last, &zeros, bits - 16 * 8 * all.len())?);
    let columns = |i: usize| iv.iter().map(|iv| iv.get(i).copied().unwrap_or(0)).collect();
    let iv: Vec<Vec<u8>> = (0..16).map(columns).collect();
    let all = cbc::encrypt(e, key, &iv, &all.concat())?;
    let Some((front, rest)) = parts(bits) else { return Ok(all) };
    let (head, tail) = all.split_at_checked(front).ok_or_else(|| misfit(Misuse::BlockLength))?;
    let (short, whole) = tail.split_at_checked(16).ok_or_else(|| misfit(Misuse::BlockLength))?;
    let short = splice_block(e, short, &zeros, rest)?;
    let mut out = head.to_vec();
    out.extend(short.into_iter().take(rest.div_ceil(8)));
    out.extend_from_slice(whole);
    Ok(out)
}

/// Decrypts public messages of `bits` bits, one in each row, in the order that [`Variant::restore`] gives.
///
/// Cost: two calls of the cipher; one for a single block.
///
/// # Errors
/// The errors of [`encrypt`].
pub fn decrypt<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    iv: &[Vec<u8>],
    bits: usize,
    ciphertext: &[Vec<u8>],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = ciphertext.len();
    let fits = ciphertext.iter().all(|row| row.len() == bits.div_ceil(8));
    if bits < 128 || !are_blocks(iv, lanes) || !fits {
        return Err(misfit(Misuse::MessageUnfit));
    }
    let columns = |range: std::ops::Range<usize>| -> Vec<Vec<u8>> {
        ciphertext.iter().map(|row| row.get(range.clone()).unwrap_or_default().to_vec()).collect()
    };
    let Some((front, rest)) = parts(bits) else {
        let known = public(e, &columns(0..16))?;
        let known = blocks(e, &known, lanes)?;
        let mut out = through(e, key, Direction::Decrypt, &known)?.concat();
        let iv = public(e, iv)?;
        add(e, &mut out, &iv)?;
        return Ok(out);
    };
    let short_bytes = rest.div_ceil(8);
    let front_bytes = public(e, &columns(0..front))?;
    let mut known = blocks(e, &front_bytes, lanes)?;
    let whole = public(e, &columns(front + short_bytes..front + short_bytes + 16))?;
    known.extend(blocks(e, &whole, lanes)?);
    let mut plain = through(e, key, Direction::Decrypt, &known)?;
    let z = plain.pop().ok_or_else(|| misfit(Misuse::BlockLength))?;
    let short = public(e, &columns(front..front + short_bytes))?;
    // the stolen bits are appended to the incomplete block
    let before = splice_block(e, &short, &z, rest)?;
    let mut last = z;
    add(e, &mut last, &short)?;
    let zeros: [E::Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; lanes]));
    let last = splice_block(e, &last, &zeros, rest)?;
    plain.extend(through(e, key, Direction::Decrypt, &[before])?);
    let mut out = plain.concat();
    let mut previous = public(e, iv)?;
    previous.extend(front_bytes);
    add(e, &mut out, &previous)?;
    out.extend(last.into_iter().take(short_bytes));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_go_back_at_every_length() {
        for bits in 128_usize..520 {
            let mut message: Vec<u8> = (1..=bits.div_ceil(8)).map(|i| (i * 37) as u8).collect();
            if let Some(last) = message.last_mut() {
                *last = *last >> (8 * bits.div_ceil(8) - bits) << (8 * bits.div_ceil(8) - bits);
            }
            for variant in [Variant::Cs1, Variant::Cs2, Variant::Cs3] {
                let blocks = variant.restore(bits, &message);
                assert_eq!(variant.arrange(bits, &blocks), message, "{bits} {variant:?}");
            }
        }
    }
}
