//! Sums of many streams, weighted by the bits of their numbers, computed while the streams are in registers.
//! Small-field VOLE makes such sums of the leaves of a tree.
//!
//! Streams come in the order of their numbers. Two neighbouring sums over 2^b streams each make one over
//! twice as many; the second of them is also added to the sum for bit b. This takes about two additions for
//! each stream.

use core::arch::x86_64::*;

use super::{Counter, Width, narrow_counters};

/// The largest number of bits of a stream's number.
const BITS: usize = 8;
/// Registers (of four words) that are processed in one iteration.
const REGISTERS: usize = 8;
const TURN: usize = 4 * REGISTERS;

type Turn = [__m256i; REGISTERS];

impl Counter {
    /// Sums of the streams of these keys, from block `block` on. Stream y is that of `leaves[y - before]`;
    /// for y below `before` it counts as zero. `total` gets the sum of all streams, `weighted[b]` the sum of
    /// those whose number has bit b set. Returns false, and does nothing, if another implementation is
    /// faster. All numbers and lengths are public.
    ///
    /// # Panics
    /// If there are not 2^b streams for b weights, if there are more than eight weights, or if lengths
    /// differ.
    #[must_use]
    pub fn weigh(
        leaves: &[Counter],
        before: usize,
        block: u64,
        total: &mut [u64],
        weighted: &mut [&mut [u64]],
    ) -> bool {
        if leaves.first().is_none_or(|leaf| leaf.width != Width::Two) {
            return false;
        }
        assert!(weighted.len() <= BITS, "at most eight weights");
        assert_eq!(before + leaves.len(), 1 << weighted.len(), "a stream for each number");
        assert!(weighted.iter().all(|sum| sum.len() == total.len()), "sums of one length");
        // SAFETY: a value of this width exists only if the processor has VAES and AVX2.
        unsafe { narrow(leaves, before, block, total, weighted) };
        true
    }
}

#[target_feature(enable = "avx2,vaes")]
fn narrow(leaves: &[Counter], before: usize, block: u64, total: &mut [u64], weighted: &mut [&mut [u64]]) {
    let bits = weighted.len();
    let zero: Turn = [_mm256_setzero_si256(); REGISTERS];
    // for each level, a sum that waits for the sum next to it
    let mut waiting = [zero; BITS];
    let mut sums = [zero; BITS];
    let mut at = 0;
    while at < total.len() {
        let here = TURN.min(total.len() - at);
        let counters = narrow_counters(block + at as u64 / 2);
        for sum in &mut sums[..bits] {
            *sum = zero;
        }
        let mut all = zero;
        for y in 0..1_usize << bits {
            let mut x = match y.checked_sub(before).and_then(|y| leaves.get(y)) {
                Some(leaf) => stream(leaf, &counters),
                None => zero,
            };
            let mut bit = 0;
            while bit < bits && y >> bit & 1 == 1 {
                for ((sum, first), x) in sums[bit].iter_mut().zip(&waiting[bit]).zip(&mut x) {
                    *sum = _mm256_xor_si256(*sum, *x);
                    *x = _mm256_xor_si256(*x, *first);
                }
                bit += 1;
            }
            if bit < bits {
                waiting[bit] = x;
            } else {
                all = x;
            }
        }
        store(&all, &mut total[at..at + here]);
        for (sum, out) in sums.iter().zip(weighted.iter_mut()) {
            store(sum, &mut out[at..at + here]);
        }
        at += here;
    }
}

/// Encrypts these counters. Round keys are read from memory, because there are not enough registers for all.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn stream(leaf: &Counter, counters: &Turn) -> Turn {
    let mut x = *counters;
    let key = _mm256_broadcastsi128_si256(leaf.keys[0]);
    for x in &mut x {
        *x = _mm256_xor_si256(*x, key);
    }
    for key in &leaf.keys[1..10] {
        let key = _mm256_broadcastsi128_si256(*key);
        for x in &mut x {
            *x = _mm256_aesenc_epi128(*x, key);
        }
    }
    let key = _mm256_broadcastsi128_si256(leaf.keys[10]);
    for x in &mut x {
        *x = _mm256_aesenclast_epi128(*x, key);
    }
    x
}

/// Writes the words of these registers, as far as there is room.
#[inline]
#[target_feature(enable = "avx2")]
fn store(x: &Turn, out: &mut [u64]) {
    let (fours, rest) = out.as_chunks_mut::<4>();
    for (x, four) in x.iter().zip(&mut *fours) {
        // SAFETY: four words are written.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), *x) };
    }
    if let (Some(x), false) = (x.get(fours.len()), rest.is_empty()) {
        let mut last = [0; 4];
        // SAFETY: four words are written.
        unsafe { _mm256_storeu_si256(last.as_mut_ptr().cast(), *x) };
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};

    /// Compares with the streams themselves, added one by one.
    #[test]
    fn sums_are_those_of_the_streams() {
        let key = |y: usize| core::array::from_fn(|i| (i * 37 + y * 11 + 5) as u8);
        let mut seen = 0;
        for kernel in available() {
            let leaves: Option<Vec<Counter>> =
                with(kernel, || (0..256).map(|y| Counter::new(&key(y))).collect()).unwrap();
            let Some(mut leaves) = leaves else { continue };
            for (bits, before, words, block) in [
                (0, 0, 5, 3),
                (1, 0, 64, 0),
                (2, 1, 33, 7),
                (4, 1, 256, 1 << 40),
                (4, 0, 100, 9),
                (8, 1, 40, 1),
            ] {
                let all = leaves.drain(..(1 << bits) - before).collect::<Vec<_>>();
                let mut expected = vec![vec![0; words]; bits + 1];
                for (y, leaf) in all.iter().enumerate() {
                    let mut stream = vec![0; words];
                    leaf.words(block, &mut stream);
                    for (b, sum) in expected.iter_mut().enumerate() {
                        let counts = b == bits || (y + before) >> b & 1 == 1;
                        sum.iter_mut().zip(&stream).for_each(|(sum, x)| *sum ^= if counts { *x } else { 0 });
                    }
                }
                let mut made = vec![vec![7; words]; bits + 1];
                let (weighted, total) = made.split_at_mut(bits);
                let mut weighted: Vec<&mut [u64]> = weighted.iter_mut().map(Vec::as_mut_slice).collect();
                if Counter::weigh(&all, before, block, &mut total[0], &mut weighted) {
                    assert_eq!(made, expected, "{kernel} {bits} {before} {words}");
                    seen += 1;
                }
                leaves.splice(0..0, all);
            }
        }
        // on a processor with VAES, one kernel uses this implementation
        let able = is_x86_feature_detected!("vaes") && available().contains(&crate::kernel::Kernel::Avx2);
        assert_eq!(seen, if able { 6 } else { 0 });
    }
}
