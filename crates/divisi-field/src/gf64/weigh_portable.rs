//! Weighing planes by the method of the four Russians, with the roles of data and tables exchanged.
//!
//! Bit j of a lane's sum is the sum of those planes whose weight has bit j set. So for each four planes all
//! sixteen sums are computed; the four bits j of their weights select the sum that is added to plane j of the
//! result. The weights are public, and so is the selection. The sums of planes are secret, and all of them
//! are computed. At the end the 64 planes of the result are transposed to words.

use core::ops::BitXor;

use super::{Gf64, LaneWeights};
use crate::transpose::portable::{transpose, transpose_bytes};
use crate::transpose::square::all_quarters;
use crate::word::Baseline;
use crate::{Plane, Word};

/// Up to this number of planes, each plane is weighed separately, because 64 planes of result would cost
/// more.
const FEW: usize = 4;

/// [`super::weigh`], after its checks of the lengths.
pub(super) fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    if planes.len() <= FEW {
        return each_plane(out, planes, weights);
    }
    let mut sums = [Baseline::zero(); 64];
    for (planes, weights) in planes.chunks(8).zip(weights.chunks(8)) {
        let mut all = [Gf64(0); 8];
        all[..weights.len()].copy_from_slice(weights);
        let mut padded = [Baseline::zero(); 8];
        padded.iter_mut().zip(planes).for_each(|(padded, plane)| *padded = Baseline::load(plane));
        add(&mut sums, &padded, Baseline::zero(), &columns(&all));
    }
    let mut planes = [Plane::ZERO; 64];
    Baseline::store_all(&sums, &mut planes);
    squares(&mut planes);
    for (w, out) in out.chunks_mut(64).enumerate() {
        out.iter_mut().zip(&planes).for_each(|(out, plane)| out.0 ^= plane.0[w]);
    }
}

/// Transposes the square of 64 by 64 bits that the same word of all planes forms.
fn squares(planes: &mut [Plane; 64]) {
    quarters::<32>(planes, 0x0000_0000_ffff_ffff);
    quarters::<16>(planes, 0x0000_ffff_0000_ffff);
    quarters::<8>(planes, 0x00ff_00ff_00ff_00ff);
    quarters::<4>(planes, 0x0f0f_0f0f_0f0f_0f0f);
    quarters::<2>(planes, 0x3333_3333_3333_3333);
    quarters::<1>(planes, 0x5555_5555_5555_5555);
}

/// Swaps the upper right quarter of each square of 2 J by 2 J bits with the lower left one, in all eight
/// words at once.
#[inline(always)]
fn quarters<const J: usize>(planes: &mut [Plane; 64], mask: u64) {
    for pair in planes.chunks_exact_mut(2 * J) {
        let (upper, lower) = pair.split_at_mut(J);
        for (a, b) in upper.iter_mut().zip(lower) {
            for (a, b) in a.0.iter_mut().zip(&mut b.0) {
                let t = (*a >> J ^ *b) & mask;
                *b ^= t;
                *a ^= t << J;
            }
        }
    }
}

fn each_plane(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    for (w, out) in out.chunks_mut(64).enumerate() {
        for (plane, weight) in planes.iter().zip(weights) {
            let word = plane.0[w];
            for (lane, out) in out.iter_mut().enumerate() {
                out.0 ^= weight.0 & (word >> lane & 1).wrapping_neg();
            }
        }
    }
}

/// For each plane 64 bytes: byte j has bit j of each of its eight weights.
pub(super) fn matrices(weights: &[[Gf64; 8]]) -> Vec<[u64; 8]> {
    weights.iter().map(columns).collect()
}

/// For [`super::combine`]: the sums of each byte position over all planes. Here bit b of a plane's 64 bytes
/// is a plane of 64 lanes.
pub(super) fn weigh_bytes(words: &mut [Gf64; 64], planes: &[&Plane], weights: &LaneWeights) {
    let mut sums = [0; 64];
    for (plane, columns) in planes.iter().zip(&weights.matrices) {
        add(&mut sums, &transpose_bytes(plane.0.map(transpose)), 0, columns);
    }
    all_quarters(&mut sums);
    words.iter_mut().zip(&sums).for_each(|(word, sum)| *word = Gf64(*sum));
}

/// Byte j has bit j of each weight.
fn columns(weights: &[Gf64; 8]) -> [u64; 8] {
    transpose_bytes(weights.map(|weight| weight.0)).map(transpose)
}

/// Adds to each sum j those of the eight planes that byte j of the columns selects.
#[inline(always)]
fn add<W: Copy + BitXor<Output = W>>(sums: &mut [W; 64], planes: &[W; 8], zero: W, columns: &[u64; 8]) {
    let (halves, _) = planes.as_chunks::<4>();
    let tables = [all_sums(&halves[0], zero), all_sums(&halves[1], zero)];
    let (blocks, _) = sums.as_chunks_mut::<8>();
    for (sums, names) in blocks.iter_mut().zip(columns) {
        for (sum, name) in sums.iter_mut().zip(names.to_le_bytes()) {
            *sum = *sum ^ tables[0][usize::from(name & 15)] ^ tables[1][usize::from(name >> 4)];
        }
    }
}

/// All sums of four planes: entry n is the sum of the planes whose numbers are set bits of n.
#[inline(always)]
fn all_sums<W: Copy + BitXor<Output = W>>(planes: &[W; 4], zero: W) -> [W; 16] {
    let mut sums = [zero; 16];
    for (i, plane) in planes.iter().enumerate() {
        for n in 0..1 << i {
            sums[n | 1 << i] = sums[n] ^ *plane;
        }
    }
    sums
}
