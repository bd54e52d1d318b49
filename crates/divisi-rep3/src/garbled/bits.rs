//! Bits of a group of lanes, one to a byte, and as messages.

use crate::bit::Bit;
use crate::packed::padding_is_zero;
use divisi_core::wipe::WipedVec;
use divisi_core::{Lanes, Prg};
use divisi_field::plane::LANES;

/// All ones if the lowest bit is set, else zero.
#[inline(always)]
pub(super) fn spread(bit: u128) -> u128 {
    (bit & 1).wrapping_neg()
}

/// One component of each bit in some lanes: wire by wire, a byte each. A value of one lane serves all.
pub(super) fn component(bits: &[Bit], side: usize, first: usize, lanes: usize) -> WipedVec<u8> {
    let mut out = WipedVec::with_capacity(bits.len() * lanes);
    for bit in bits {
        let single = bit.lanes() == 1;
        out.extend((first..first + lanes).map(|lane| {
            let lane = if single { 0 } else { lane };
            let word = bit.tiles.get(lane / LANES).map_or(0, |tile| tile[side][lane % LANES / 64]);
            (word >> (lane % 64)) as u8 & 1
        }));
    }
    out
}

/// Put such bytes into one component of bits that are zero there.
pub(super) fn put(bits: &mut [Bit], side: usize, first: usize, lanes: usize, values: &[u8]) {
    for (bit, values) in bits.iter_mut().zip(values.chunks(lanes.max(1))) {
        for (lane, value) in (first..).zip(values) {
            if let Some(tile) = bit.tiles.get_mut(lane / LANES) {
                tile[side][lane % LANES / 64] |= u64::from(*value) << (lane % 64);
            }
        }
    }
}

/// The next bits of a stream, a byte each.
#[cfg_attr(feature = "testing", track_caller)]
pub(super) fn drawn(stream: &mut Prg, n: usize) -> WipedVec<u8> {
    let mut words = WipedVec::<u64>::zeros(n.div_ceil(64));
    stream.words(&mut words);
    (0..n).map(|i| (words[i / 64] >> (i % 64)) as u8 & 1).collect()
}

/// The next labels of a stream.
#[cfg_attr(feature = "testing", track_caller)]
pub(super) fn labels(stream: &mut Prg, n: usize) -> WipedVec<u128> {
    let mut words = WipedVec::<u64>::zeros(2 * n);
    stream.words(&mut words);
    words.as_chunks::<2>().0.iter().map(|[low, high]| u128::from(*low) | u128::from(*high) << 64).collect()
}

/// The number of bytes that hold this many bits.
pub(super) fn packed(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Append bits, eight to a byte.
pub(crate) fn pack(bits: &[u8], out: &mut Vec<u8>) {
    out.extend(bits.chunks(8).map(|eight| eight.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)));
}

/// The bits of a message; `None` if its length is wrong or a padding bit is set.
pub(crate) fn unpack(bytes: &[u8], n: usize) -> Option<WipedVec<u8>> {
    let whole = bytes.len() == packed(n) && padding_is_zero(bytes, n);
    whole.then(|| (0..n).map(|i| bytes[i / 8] >> (i % 8) & 1).collect())
}

/// Labels as bytes.
pub(super) fn write(labels: impl IntoIterator<Item = u128>, out: &mut Vec<u8>) {
    labels.into_iter().for_each(|label| out.extend_from_slice(&label.to_le_bytes()));
}

/// Bytes as labels.
pub(super) fn read(bytes: &[u8]) -> WipedVec<u128> {
    bytes.as_chunks::<16>().0.iter().map(|label| u128::from_le_bytes(*label)).collect()
}
