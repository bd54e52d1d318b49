//! Counter mode (SP 800-38A, 6.5; GCTR of SP 800-38D, 6.5): the key stream is the cipher applied to public
//! counter blocks.
//!
//! Counter blocks are public and depend only on their position, so each part of a message can be processed
//! separately.
//!
//! This module has the counter blocks of GCM, and key streams of any length in pieces; [`block`] has counter
//! blocks and key streams for either cipher.

use super::block;
use crate::aes::RoundKeys;
use divisi_core::{Abort, Bytes, Lanes, Misuse, step};
use std::ops::Range;

/// The counter blocks of GCM (SP 800-38D): lane `l` is inc_32 applied `first + l` times to `j0`. The last
/// four bytes are counted up and wrap around, the first twelve stay.
#[must_use]
pub fn columns(j0: &[u8; 16], first: u32, n: usize) -> [Vec<u8>; 16] {
    let mut columns = Default::default();
    append(&mut columns, j0, first, n);
    columns
}

/// Appends the lanes of [`columns`].
pub(crate) fn append(columns: &mut [Vec<u8>; 16], j0: &[u8; 16], first: u32, n: usize) {
    let [fixed @ .., a, b, c, d] = *j0;
    let start = u32::from_be_bytes([a, b, c, d]).wrapping_add(first);
    let (constant, counting) = columns.split_at_mut(fixed.len());
    constant.iter_mut().zip(fixed).for_each(|(column, byte)| column.resize(column.len() + n, byte));
    counting.iter_mut().for_each(|column| column.reserve(n));
    let counters = std::iter::successors(Some(start), |counter| Some(counter.wrapping_add(1)));
    for counter in counters.take(n) {
        counting.iter_mut().zip(counter.to_be_bytes()).for_each(|(column, byte)| column.push(byte));
    }
}

/// The key stream of these counter blocks. Adding it to the plaintext gives the ciphertext, and the other way
/// round.
///
/// Cost: one [`encrypt`](crate::aes::encrypt).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the columns differ in length, or the round keys have
/// neither one lane nor as many as the columns.
pub fn keystream<E: Bytes + ?Sized>(
    e: &mut E,
    round_keys: &RoundKeys<E::Byte>,
    columns: &[Vec<u8>; 16],
) -> Result<[E::Byte; 16], Abort> {
    let stream = block::keystream(e, round_keys, columns)?;
    stream.try_into().map_err(|_| block::misfit(Misuse::BlockLength))
}

/// The key stream of any number of counter blocks, computed in pieces of the size that the engine asks for
/// ([`Bytes::blocks_at_once`]). Without `index`, `round_keys` has one key for all blocks; otherwise `index`
/// gives for each block the lane of its key.
///
/// # Errors
/// The errors of [`keystream`]; also [`Abort::Misuse`] if there are no blocks, or not one key for each block.
pub fn pieced_keystream<E: Bytes + ?Sized>(
    e: &mut E,
    round_keys: &RoundKeys<E::Byte>,
    index: Option<&[usize]>,
    columns: &[Vec<u8>; 16],
) -> Result<[E::Byte; 16], Abort> {
    let mut made = Vec::new();
    for piece in pieces(columns[0].len(), e.blocks_at_once()) {
        let own = columns.each_ref().map(|column| column.get(piece.clone()).unwrap_or_default().to_vec());
        made.push(match index {
            None => keystream(e, round_keys, &own)?,
            Some(index) => {
                let keys = index.get(piece).and_then(|index| round_keys.gather(index));
                keystream(e, &keys.ok_or(NO_KEY)?, &own)?
            }
        });
    }
    joined(e, made)
}

const NO_KEY: Abort = Abort::Misuse { step: step!("stream"), what: Misuse::KeyMissing };

/// The lanes of all pieces, one piece after the other.
///
/// # Errors
/// [`Abort::Misuse`] if there are no pieces; also the errors of [`Bytes::join_bytes`].
pub fn joined<E: Bytes + ?Sized>(e: &mut E, mut pieces: Vec<[E::Byte; 16]>) -> Result<[E::Byte; 16], Abort> {
    if pieces.len() == 1
        && let Some(whole) = pieces.pop()
    {
        return Ok(whole);
    }
    let mut whole = Vec::with_capacity(16);
    for i in 0..if pieces.is_empty() { 0 } else { 16 } {
        let parts: Vec<&E::Byte> = pieces.iter().map(|piece| &piece[i]).collect();
        whole.push(e.join_bytes(&parts)?);
    }
    whole.try_into().map_err(|_| NO_KEY)
}

/// Splits `0..n` into pieces of `at_once`. A rest of less than half a piece is added to the last piece, so
/// that it takes no rounds of its own.
pub fn pieces(n: usize, at_once: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let left = n - start;
        let now = if left < at_once.saturating_add(at_once / 2) { left } else { at_once };
        start += now;
        (now > 0).then(|| start - now..start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(columns: &[Vec<u8>; 16], l: usize) -> [u8; 16] {
        columns.each_ref().map(|column| column[l])
    }

    #[test]
    fn inc_32_wraps_within_its_four_bytes() {
        let mut j0 = [0xab; 16];
        j0[12..].copy_from_slice(&[0xff, 0xff, 0xff, 0xfe]);
        let columns = columns(&j0, 1, 3);
        let expected = |last: [u8; 4]| {
            let mut block = j0;
            block[12..].copy_from_slice(&last);
            block
        };
        assert_eq!(lane(&columns, 0), expected([0xff; 4]));
        assert_eq!(lane(&columns, 1), expected([0; 4]));
        assert_eq!(lane(&columns, 2), expected([0, 0, 0, 1]));
        assert_eq!(lane(&super::columns(&j0, 4, 1), 0), expected([0, 0, 0, 2]));
        assert!(super::columns(&j0, 7, 0).iter().all(Vec::is_empty));
    }

    #[test]
    fn parts_of_a_message_continue_each_other() {
        let j0 = [0xfd; 16];
        let (whole, late) = (columns(&j0, 0, 300), columns(&j0, 260, 40));
        assert!((0..40).all(|l| lane(&whole, 260 + l) == lane(&late, l)));
    }

    #[test]
    fn pieces_cover_all_and_a_small_rest_goes_with_the_last() {
        let lengths = |n| pieces(n, 512).map(|p| p.len()).collect::<Vec<_>>();
        assert_eq!(lengths(0), [0; 0]);
        assert_eq!(lengths(767), [767]);
        assert_eq!(lengths(768), [512, 256]);
        assert_eq!(lengths(4097), [512, 512, 512, 512, 512, 512, 512, 513]);
        let whole = pieces(usize::MAX, usize::MAX).map(|piece| (piece.start, piece.end));
        assert_eq!(whole.collect::<Vec<_>>(), [(0, usize::MAX)]);
        for n in 1..3000 {
            let mut next = 0;
            for piece in pieces(n, 512) {
                assert!(piece.start == next && !piece.is_empty() && piece.len() < 768);
                next = piece.end;
            }
            assert_eq!(next, n);
        }
    }
}
