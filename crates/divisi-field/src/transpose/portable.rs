//! Transposition of eight bytes at a time: an 8 x 8 bit matrix in a word.

use crate::Plane;

pub(super) fn to_planes(bytes: &[u8], out: &mut [Plane; 8]) {
    let mut planes = [[0_u8; 64]; 8];
    for (group, bytes) in bytes.chunks(8).enumerate() {
        let mut rows = [0; 8];
        rows[..bytes.len()].copy_from_slice(bytes);
        let columns = transpose(u64::from_le_bytes(rows)).to_le_bytes();
        for (plane, column) in planes.iter_mut().zip(columns) {
            plane[group] = column;
        }
    }
    for (out, plane) in out.iter_mut().zip(&planes) {
        *out = Plane::from_le_bytes(plane);
    }
}

pub(super) fn from_planes(planes: &[Plane; 8], out: &mut [u8]) {
    let planes = planes.map(Plane::to_le_bytes);
    for (group, out) in out.chunks_mut(8).enumerate() {
        let columns = core::array::from_fn(|i| planes[i][group]);
        let rows = transpose(u64::from_le_bytes(columns)).to_le_bytes();
        out.copy_from_slice(&rows[..out.len()]);
    }
}

/// Transposes an 8 x 8 matrix of bytes: word i of the result has byte i of each word.
#[inline]
pub(crate) fn transpose_bytes(words: [u64; 8]) -> [u64; 8] {
    let mut bytes = [[0; 8]; 8];
    for (w, word) in words.iter().enumerate() {
        for (place, byte) in word.to_le_bytes().into_iter().enumerate() {
            bytes[place][w] = byte;
        }
    }
    bytes.map(u64::from_le_bytes)
}

/// Transposes the matrix whose row i is byte i: swaps the off-diagonal quarters of its 2 x 2, 4 x 4 and 8 x 8
/// blocks.
#[inline]
pub(crate) fn transpose(mut matrix: u64) -> u64 {
    for (distance, above) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let difference = (matrix ^ matrix >> distance) & above;
        matrix ^= difference ^ difference << distance;
    }
    matrix
}
