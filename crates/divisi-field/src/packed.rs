//! Numbers of few bits in messages: each takes exactly its bits, the lowest first. A group of eight numbers
//! fills as many bytes as a number has bits.

use crate::kernel;

#[cfg(target_arch = "x86_64")]
mod vbmi;

/// How many numbers a group has.
pub const GROUP: usize = 8;
/// The fewest and the most bits of a number.
pub const BITS: [usize; 2] = [8, 56];
/// Room in bytes for the largest group, and for a word of 8 bytes that begins at the last byte of a group.
const SCRATCH: usize = 64;

fn check(bits: usize, numbers: usize, bytes: usize) {
    assert!((BITS[0]..=BITS[1]).contains(&bits), "numbers of 8 to 56 bits");
    assert!(numbers.is_multiple_of(GROUP) && bytes == numbers / GROUP * bits, "whole groups");
}

/// Packs numbers below 2^bits.
///
/// # Panics
/// Unless numbers have 8 to 56 bits, and `out` is exactly as long as their groups.
pub fn pack(bits: usize, numbers: &[u64], out: &mut [u8]) {
    check(bits, numbers.len(), out.len());
    match kernel::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        kernel::Kernel::Avx512 => unsafe { vbmi::pack(bits, numbers, out) },
        _ => pack_groups(bits, numbers, out),
    }
}

/// Unpacks as many numbers as `out` takes; each is below 2^bits.
///
/// # Panics
/// Unless numbers have 8 to 56 bits, and `bytes` are exactly as many as those of their groups.
pub fn unpack(bits: usize, bytes: &[u8], out: &mut [u64]) {
    check(bits, out.len(), bytes.len());
    match kernel::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        kernel::Kernel::Avx512 => unsafe { vbmi::unpack(bits, bytes, out) },
        _ => unpack_groups(bits, bytes, out),
    }
}

fn pack_groups(bits: usize, numbers: &[u64], out: &mut [u8]) {
    let mut rest = out;
    for group in numbers.as_chunks::<GROUP>().0 {
        let bytes = packed(bits, group);
        match rest.first_chunk_mut::<SCRATCH>() {
            // the zeros behind the group are overwritten by the next one
            Some(place) => *place = bytes,
            None => rest.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte),
        }
        rest = &mut rest[bits..];
    }
}

/// The bytes of a group. Those behind it are zero.
fn packed(bits: usize, group: &[u64; GROUP]) -> [u8; SCRATCH] {
    let mut bytes = [0; SCRATCH];
    let (mut waiting, mut filled, mut at) = (0, 0, 0);
    for number in group {
        // at most 7 bits are waiting, and at most 56 are added
        waiting |= number << filled;
        filled += bits;
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(waiting));
        at += filled / 8;
        waiting >>= filled / 8 * 8;
        filled %= 8;
    }
    bytes
}

fn unpack_groups(bits: usize, bytes: &[u8], out: &mut [u64]) {
    let mask = (1 << bits) - 1;
    for (i, group) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let rest = &bytes[i * bits..];
        let mut scratch = [0; SCRATCH];
        match rest.first_chunk::<SCRATCH>() {
            Some(all) => scratch = *all,
            None => scratch[..rest.len()].copy_from_slice(rest),
        }
        for (k, number) in group.iter_mut().enumerate() {
            let mut eight = [0; 8];
            eight.copy_from_slice(&scratch[k * bits / 8..k * bits / 8 + 8]);
            *number = u64::from_le_bytes(eight) >> (k * bits % 8) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};

    /// Bit by bit, for every width, and numbers whose bits are all one beside others.
    #[test]
    fn every_bit_has_its_place() {
        let widths = (BITS[0]..=BITS[1]).step_by(if cfg!(miri) { 9 } else { 1 });
        for (bits, groups) in widths.flat_map(|bits| [0, 1, 2, 9].map(|groups| (bits, groups))) {
            let numbers: Vec<u64> = (0..groups * GROUP as u64)
                .map(|i| if i % 5 == 0 { u64::MAX } else { (i + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) })
                .map(|number| number & ((1 << bits) - 1))
                .collect();
            let mut expected = vec![0; bits * numbers.len() / 8];
            for at in 0..bits * numbers.len() {
                expected[at / 8] |= ((numbers[at / bits] >> (at % bits) & 1) as u8) << (at % 8);
            }
            for kernel in available() {
                let (mut bytes, mut again) = (vec![0xff; expected.len()], vec![u64::MAX; numbers.len()]);
                with(kernel, || pack(bits, &numbers, &mut bytes)).unwrap();
                assert_eq!(bytes, expected, "{kernel}, {bits} bits");
                with(kernel, || unpack(bits, &bytes, &mut again)).unwrap();
                assert_eq!(again, numbers, "{kernel}, {bits} bits");
            }
        }
    }
}
