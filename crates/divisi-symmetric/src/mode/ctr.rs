//! Counter mode (SP 800-38A, 6.5; GCTR of SP 800-38D, 6.5): the key stream is the cipher applied to public
//! counter blocks.
//!
//! Counter blocks are public and depend only on their position, so each part of a message can be processed
//! separately.

use crate::aes::{self, RoundKeys};
use divisi_core::{Abort, Bytes};

/// The counter blocks of GCM (SP 800-38D): lane `l` is inc_32 applied `first + l` times to `j0`. The last
/// four bytes are counted up and wrap around, the first twelve stay.
#[must_use]
pub fn columns(j0: &[u8; 16], first: u32, n: usize) -> [Vec<u8>; 16] {
    let [fixed @ .., a, b, c, d] = *j0;
    let start = u32::from_be_bytes([a, b, c, d]).wrapping_add(first);
    let mut columns: [Vec<u8>; 16] = std::array::from_fn(|i| match fixed.get(i) {
        Some(&byte) => vec![byte; n],
        None => Vec::with_capacity(n),
    });
    let counters = std::iter::successors(Some(start), |counter| Some(counter.wrapping_add(1)));
    for counter in counters.take(n) {
        for (column, byte) in columns[12..].iter_mut().zip(counter.to_be_bytes()) {
            column.push(byte);
        }
    }
    columns
}

/// The counter blocks of SP 800-38A's examples: lane `l` is the initial counter block plus `first + l`, as an
/// integer of 128 bits that wraps around.
#[must_use]
pub fn columns_128(initial: &[u8; 16], first: u128, n: usize) -> [Vec<u8>; 16] {
    let start = u128::from_be_bytes(*initial).wrapping_add(first);
    let mut columns: [Vec<u8>; 16] = std::array::from_fn(|_| Vec::with_capacity(n));
    let counters = std::iter::successors(Some(start), |counter| Some(counter.wrapping_add(1)));
    for counter in counters.take(n) {
        for (column, byte) in columns.iter_mut().zip(counter.to_be_bytes()) {
            column.push(byte);
        }
    }
    columns
}

/// The key stream of these counter blocks. Adding it to the plaintext gives the ciphertext, and the other way
/// round.
///
/// Cost: one [`aes::encrypt`].
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the columns differ in length, or the round keys have
/// neither one lane nor as many as the columns.
pub fn keystream<E: Bytes + ?Sized>(
    e: &mut E,
    round_keys: &RoundKeys<E::Byte>,
    columns: &[Vec<u8>; 16],
) -> Result<[E::Byte; 16], Abort> {
    let mut state = columns.each_ref().map(|column| e.public(column));
    aes::encrypt(e, round_keys, &mut state)?;
    Ok(state)
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
        let (whole, late) = (columns_128(&j0, 0, 300), columns_128(&j0, 260, 40));
        assert!((0..40).all(|l| lane(&whole, 260 + l) == lane(&late, l)));
    }

    #[test]
    fn the_long_counter_carries_through_all_bytes() {
        let columns = columns_128(&[0xff; 16], 0, 2);
        assert_eq!((lane(&columns, 0), lane(&columns, 1)), ([0xff; 16], [0; 16]));
    }
}
