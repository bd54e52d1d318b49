//! Floods: wide noise that hides narrower noise. Each coefficient is the sum of eight uniform integers, some
//! of which have twice the range of the others.
//!
//! A sum of uniform integers needs no table and no rejection, so its time depends on nothing. The sum is
//! bounded, so decryption cannot fail by a rare large value. The eight ranges are given by the number of bits
//! of the narrow ones, and by how many of the eight are wide; the standard deviation thus grows in steps of a
//! quarter of a bit at most. Security: a flood has to hide differences D_i, over all coefficients of all
//! calls of a session, however they were chosen. The statistical distance is at most sqrt(sum D_i^2 I) / 2,
//! where I is the Fisher information of one coefficient (docs/bgv.md, 4).

use crate::purposes;
use divisi_core::Prg;
use zeroize::Zeroize;

/// How many uniform integers are added.
const TERMS: u32 = 8;
/// How many samples are drawn at once.
const AT_ONCE: usize = 128;
/// A bound on the Fisher information times the variance of any of these sums; it is 1 for a Gaussian. The
/// test `information` computes it.
pub const INFORMATION: f64 = 1.03;
/// The narrow uniform integers have fewer bits than this.
const MOST_BITS: u32 = 119;

/// The distribution of one coefficient: integers, symmetric around zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    bits: u32,
    wide: u32,
}

impl Width {
    /// The narrowest distribution with at least this standard deviation, given as its binary logarithm.
    /// `None` if there is none: the widest one has 118.6.
    #[must_use]
    pub fn at_least(deviation: f64) -> Option<Width> {
        (1..MOST_BITS)
            .flat_map(|bits| (0..TERMS).map(move |wide| Width { bits, wide }))
            .find(|width| width.deviation() >= deviation)
    }

    /// log2 of the standard deviation.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let terms = f64::from(TERMS + 3 * self.wide);
        f64::from(self.bits) + (terms / 12.0).log2() / 2.0
    }

    /// log2 of the largest absolute value of a sample: half the sum of the eight ranges.
    #[must_use]
    pub fn most(&self) -> f64 {
        f64::from(self.bits) + f64::from(TERMS + self.wide).log2() - 1.0
    }

    /// The two numbers that define the distribution: bits of the narrow integers, and how many are wide.
    #[must_use]
    pub fn describe(&self) -> [u8; 2] {
        [self.bits as u8, self.wide as u8]
    }

    /// Fills `out` with samples.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn sample(&self, prg: &mut Prg, out: &mut [i128]) {
        match self.bits {
            ..63 => self.sample_words(prg, out),
            63..72 => self.sample_bytes(prg, out),
            _ => self.sample_pairs(prg, out),
        }
        purposes::FLOOD.numbers(out, |e, _| e ^ 1 << (self.bits - 1));
        purposes::FLOOD.drawn(|| self.thousandths(out));
    }

    /// Samples in thousandths of the deviation, as a record of draws has them.
    fn thousandths(&self, samples: &[i128]) -> Vec<u8> {
        let unit = self.deviation().exp2() / 1000.0;
        samples.iter().flat_map(|sample| ((*sample as f64 / unit) as i64).to_le_bytes()).collect()
    }

    /// Half of the largest value of the sum, which is even; it is subtracted, to centre the sum.
    fn middle(&self) -> i128 {
        let narrow = i128::from(TERMS - self.wide) * ((1_i128 << self.bits) - 1);
        (narrow + i128::from(self.wide) * ((2_i128 << self.bits) - 1)) / 2
    }

    fn sample_words(&self, prg: &mut Prg, out: &mut [i128]) {
        let (narrow, wide) = ((1_u64 << self.bits) - 1, (2_u64 << self.bits) - 1);
        let middle = self.middle();
        let mut words = [0; AT_ONCE * TERMS as usize];
        for out in out.chunks_mut(AT_ONCE) {
            prg.words(&mut words);
            for (out, words) in out.iter_mut().zip(words.chunks_exact(TERMS as usize)) {
                let (first, rest) = words.split_at(self.wide as usize);
                let sum = |words: &[u64], mask| words.iter().map(|w| u128::from(w & mask)).sum::<u128>();
                *out = (sum(first, wide) + sum(rest, narrow)) as i128 - middle;
            }
        }
        words.zeroize();
    }

    /// Integers of up to 72 bits: a word of each, and above it a byte of one more word.
    fn sample_bytes(&self, prg: &mut Prg, out: &mut [i128]) {
        let (narrow, wide) = ((1_u128 << self.bits) - 1, (2_u128 << self.bits) - 1);
        let middle = self.middle();
        let mut words = [0; AT_ONCE * (TERMS as usize + 1)];
        for out in out.chunks_mut(AT_ONCE) {
            prg.words(&mut words);
            for (out, words) in out.iter_mut().zip(words.as_chunks::<{ TERMS as usize + 1 }>().0) {
                let [above, low @ ..] = words;
                let mut sum = 0;
                for (i, low) in (0..).zip(low) {
                    let high = above >> (8 * i) & 0xff;
                    let mask = if i < self.wide { wide } else { narrow };
                    sum += (u128::from(high) << 64 | u128::from(*low)) & mask;
                }
                *out = sum as i128 - middle;
            }
        }
        words.zeroize();
    }

    fn sample_pairs(&self, prg: &mut Prg, out: &mut [i128]) {
        let (narrow, wide) = ((1_u128 << self.bits) - 1, (2_u128 << self.bits) - 1);
        let middle = self.middle();
        let mut words = [0; 2 * TERMS as usize];
        for out in out {
            prg.words(&mut words);
            let mut sum = 0;
            for (i, pair) in words.chunks_exact(2).enumerate() {
                let mask = if (i as u32) < self.wide { wide } else { narrow };
                sum += (u128::from(pair[0]) << 64 | u128::from(pair[1])) & mask;
            }
            *out = sum as i128 - middle;
        }
        words.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The density of the sum, by convolution of uniform densities with `bits` bits.
    fn density(width: Width) -> Vec<f64> {
        let mut density = vec![1.0];
        for i in 0..TERMS {
            let len = 1 << (width.bits + u32::from(i < width.wide));
            let mut next = vec![0.0; density.len() + len - 1];
            let mut window = 0.0;
            for (j, out) in next.iter_mut().enumerate() {
                window += density.get(j).copied().unwrap_or(0.0);
                if j >= len {
                    window -= density.get(j - len).copied().unwrap_or(0.0);
                }
                *out = window / len as f64;
            }
            density = next;
        }
        density
    }

    /// For every number of wide integers: the squared Hellinger distance of the sum from its own shifts is
    /// within the bound, and not below the bound divided by 1.1.
    #[test]
    fn information() {
        for wide in 0..TERMS {
            let width = Width { bits: 10, wide };
            let f = density(width);
            let total: f64 = f.iter().sum();
            let mean = f.iter().enumerate().map(|(i, p)| i as f64 * p).sum::<f64>();
            let variance = f.iter().enumerate().map(|(i, p)| (i as f64 - mean).powi(2) * p).sum::<f64>();
            assert!((total - 1.0).abs() < 1e-9 && (mean - width.middle() as f64).abs() < 1.0);
            assert!((variance.log2() / 2.0 - width.deviation()).abs() < 1e-3);
            for shift in [16, 64, 256_usize] {
                let distance: f64 = (0..f.len() + shift)
                    .map(|i| {
                        let at = |j: Option<usize>| j.and_then(|j| f.get(j)).copied().unwrap_or(0.0).max(0.0);
                        (at(Some(i)).sqrt() - at(i.checked_sub(shift)).sqrt()).powi(2)
                    })
                    .sum::<f64>()
                    / 2.0;
                let bound = (shift as f64).powi(2) * INFORMATION / (8.0 * variance);
                assert!(distance <= bound, "{wide} {shift}: {} of the bound", distance / bound);
                assert!(distance >= bound / 1.1, "{wide} {shift}: {} of the bound", distance / bound);
            }
        }
    }

    #[test]
    fn samples_have_the_width() {
        for width in
            [5.0, 9.3, 40.0, 62.5, 63.4, 64.0, 70.2, 71.6, 72.5, 110.0].map(|d| Width::at_least(d).unwrap())
        {
            let (mut prg, mut out) = (Prg::new(&[5; 16]), vec![0; 40_000]);
            width.sample(&mut prg, &mut out);
            let mean = out.iter().map(|x| *x as f64).sum::<f64>() / out.len() as f64;
            let square = out.iter().map(|x| (*x as f64).powi(2)).sum::<f64>() / out.len() as f64;
            let deviation = width.deviation().exp2();
            assert!((square.sqrt() / deviation - 1.0).abs() < 0.02, "{width:?}");
            assert!(mean.abs() < 0.03 * deviation + 0.5, "{width:?}");
            let most = out.iter().map(|x| x.unsigned_abs() as f64).fold(0.0, f64::max);
            assert!(most > 3.0 * deviation && most < 24_f64.sqrt() * deviation + 1.0);
            assert!(most <= width.most().exp2() + 1.0 && width.most() < width.deviation() + 2.5);
        }
    }

    /// Samples of more than 64 bits are sums of whole drawn integers, word by word: no bit of one stands for
    /// another one's.
    #[test]
    fn wide_samples_are_sums_of_all_that_is_drawn() {
        for bits in [63, 71, 72, 90, 118] {
            for wide in [0, 3, 7] {
                let width = Width { bits, wide };
                let mut out = vec![0; 300];
                width.sample(&mut Prg::new(&[6; 16]), &mut out);
                let mut prg = Prg::new(&[6; 16]);
                let mut next = |words: usize| {
                    let mut drawn = vec![0; words];
                    prg.words(&mut drawn);
                    drawn
                };
                let mut sums = Vec::new();
                // up to 72 bits words are drawn for many samples together
                let (words, together) = if bits < 72 { (9, AT_ONCE) } else { (16, 1) };
                while sums.len() < out.len() {
                    for drawn in next(words * together).chunks(words) {
                        let integer = |i: usize| match bits {
                            ..72 => u128::from(drawn[0].to_le_bytes()[i]) << 64 | u128::from(drawn[1 + i]),
                            _ => u128::from(drawn[2 * i]) << 64 | u128::from(drawn[2 * i + 1]),
                        };
                        let of = |i: usize| integer(i) % (1 << (bits + u32::from(i < wide as usize)));
                        sums.push((0..8).map(of).sum::<u128>() as i128 - width.middle());
                    }
                }
                assert!(sums.starts_with(&out), "{width:?}");
            }
        }
    }

    #[test]
    fn widths_step_by_a_quarter_bit_and_end() {
        for step in 8..1180 {
            let wanted = f64::from(step) / 10.0;
            let width = Width::at_least(wanted).unwrap();
            assert!((wanted..wanted + 0.25).contains(&width.deviation()), "{wanted}");
        }
        assert_eq!(Width::at_least(119.5), None);
    }
}
