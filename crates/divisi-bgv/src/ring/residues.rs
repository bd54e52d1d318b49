//! Numbers as elements modulo a prime: polynomials that are given by small coefficients, and residues of
//! another prime. Which of several methods is used depends on bounds, which are public; each takes constant
//! time.

use divisi_core::wipe::WipedVec;
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;

/// The bits of a piece of a long number.
const PIECE: u32 = 48;

/// A number smaller than the prime in absolute value, as an element.
#[inline(always)]
fn near(m: Modulus, c: i64) -> u64 {
    (c + (m.get() as i64 & (c >> 63))) as u64
}

/// Numbers of absolute value at most `bound`, as elements.
pub(super) fn residues(m: Modulus, bound: u64, words: &mut [u64], numbers: &[i64]) {
    let all = words.iter_mut().zip(numbers);
    if bound < m.get() {
        vectorize(
            #[inline(always)]
            || all.for_each(|(word, c)| *word = near(m, *c)),
        );
    } else if let Some(reduction) = Reduction::new(m, bound) {
        let offset = m.get() * bound.div_ceil(m.get());
        vectorize(
            #[inline(always)]
            || all.for_each(|(word, c)| *word = reduction.of(offset.wrapping_add_signed(*c))),
        );
    } else {
        all.for_each(|(word, c)| *word = m.of_signed(*c));
    }
}

/// Elements of another prime, `from`, modulo this prime.
pub(super) fn reduced(m: Modulus, from: u64, words: &mut [u64], elements: &[u64]) {
    let all = words.iter_mut().zip(elements);
    if from <= 2 * m.get() {
        vectorize(
            #[inline(always)]
            || all.for_each(|(word, c)| *word = m.once(*c)),
        );
    } else if let Some(reduction) = Reduction::new(m, from) {
        vectorize(
            #[inline(always)]
            || all.for_each(|(word, c)| *word = reduction.of(*c)),
        );
    } else {
        all.for_each(|(word, c)| *word = m.reduce(*c));
    }
}

/// Numbers of up to 128 bits, floods, in three pieces, so that their residues take vector instructions: each
/// number is (high 2^48 + middle) 2^48 + low, where only the high piece, of at most 2^31, can be negative.
pub(super) struct Long([WipedVec<i64>; 3]);

impl Long {
    pub(super) fn of(numbers: &[i128]) -> Long {
        let mut pieces = [(); 3].map(|()| WipedVec::zeros(numbers.len()));
        let [low, middle, high] = &mut pieces;
        let mask = (1 << PIECE) - 1;
        let all = low.iter_mut().zip(middle.iter_mut()).zip(high.iter_mut()).zip(numbers);
        for (((low, middle), high), number) in all {
            *low = (number & mask) as i64;
            *middle = (number >> PIECE & mask) as i64;
            *high = (number >> (2 * PIECE)) as i64;
        }
        Long(pieces)
    }

    /// The numbers as elements; `term` is scratch space of the same length.
    pub(super) fn residues(&self, m: Modulus, words: &mut [u64], term: &mut [u64]) {
        let Long([low, middle, high]) = self;
        residues(m, 1 << (127 - 2 * PIECE), words, high);
        for piece in [middle, low] {
            residues(m, 1 << PIECE, term, piece);
            m.scaled_sum(words, 1 << PIECE, term, 1);
        }
    }
}

/// Barrett's reduction of numbers that are not much longer than the modulus, with products of 32-bit numbers,
/// for which there are vector instructions.
///
/// For a modulus m of b bits and numbers y below 2^Y, the quotient is floor(floor(y / 2^s) floor(2^(b + 31) /
/// m) / 2^(b + 31 - s)) with s = Y - 32. It is not too large, and too small by less than 2^s / m + y / 2^(b +
/// 31) + 1, which is below 2 if Y is at most b + 29.
#[derive(Clone, Copy)]
struct Reduction {
    m: Modulus,
    /// s.
    down: u32,
    /// floor(2^(b + 31) / m), which has 32 bits.
    mu: u64,
    /// b + 31 - s.
    back: u32,
}

impl Reduction {
    /// For numbers below 2 `bound` + m; `bound` is at least m. `None` if they are too long.
    fn new(m: Modulus, bound: u64) -> Option<Reduction> {
        let most = bound.checked_mul(2)?.checked_add(m.get())?;
        let (bits, length) = (m.bits(), 64 - most.leading_zeros());
        if bound < m.get() || length > bits + 29 || bits < 4 {
            return None;
        }
        let down = length.saturating_sub(32);
        let mu = ((1_u128 << (bits + 31)) / u128::from(m.get())) as u64;
        Some(Reduction { m, down, mu, back: bits + 31 - down })
    }

    #[inline(always)]
    fn of(self, y: u64) -> u64 {
        let (high, mu) = (y >> self.down & u64::from(u32::MAX), self.mu & u64::from(u32::MAX));
        let quotient = (high * mu) >> self.back;
        self.m.once(y.wrapping_sub(quotient.wrapping_mul(self.m.get())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Long numbers, at the ends of their range and around the ends of pieces, over primes of all lengths.
    #[test]
    fn long_numbers_become_their_residues() {
        let ends = [0, 47, 48, 49, 95, 96, 97, 126].map(|bits| 1_i128 << bits);
        let near = ends.into_iter().flat_map(|end| [end - 1, end, end + 1]);
        let hash = |i: i128| (i * i * 0x9e37_79b9_7f4a_7c15).wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mut numbers: Vec<i128> = near.chain((1..200).map(hash)).flat_map(|x| [x, -x]).collect();
        numbers.extend([i128::MAX, i128::MIN]);
        let long = Long::of(&numbers);
        for bits in [4, 17, 21, 31, 32, 41, 48, 49, 50_u32] {
            let m = Modulus::new((1 << bits) - 1).unwrap();
            let (mut words, mut term) = (vec![0; numbers.len()], vec![0; numbers.len()]);
            long.residues(m, &mut words, &mut term);
            for (number, word) in numbers.iter().zip(&words) {
                assert_eq!(i128::from(*word), number.rem_euclid(i128::from(m.get())), "{bits} {number}");
            }
        }
    }

    /// Every method, at the ends of its range and around multiples of the modulus.
    #[test]
    fn numbers_become_their_residues() {
        let mut reductions = 0;
        for bits in [4, 17, 31, 32, 33, 34, 41, 49, 50_u32] {
            for q in [(1_u64 << (bits - 1)) + 1, (1 << bits) - 1] {
                let m = Modulus::new(q).unwrap();
                for longer in [0, 1, 2, 8, 16, 27, 28, 29, 30] {
                    let bound = (q - 1) << longer.min(61 - bits);
                    reductions += usize::from(Reduction::new(m, bound).is_some());
                    let around = |c: u64| [c.saturating_sub(1), c, c + 1].map(|c| c.min(bound));
                    let multiples = [0, 1, 2, 3, bound / q / 2, (bound / q).saturating_sub(1), bound / q];
                    let mut numbers: Vec<i64> =
                        multiples.into_iter().flat_map(|k| around(k * q)).map(|c| c as i64).collect();
                    numbers.extend((1..200_u64).map(|i| {
                        let c = u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * u128::from(bound);
                        (c >> 64) as i64
                    }));
                    numbers.push(bound as i64);
                    let positive: Vec<u64> = numbers.iter().map(|c| (*c as u64).min(bound - 1)).collect();
                    let mut words = vec![0; positive.len()];
                    reduced(m, bound, &mut words, &positive);
                    positive.iter().zip(&words).for_each(|(c, word)| assert_eq!(*word, c % q, "{q} {bound}"));
                    numbers.extend(numbers.clone().iter().map(|c| -c));
                    let mut words = vec![0; numbers.len()];
                    residues(m, bound, &mut words, &numbers);
                    for (c, word) in numbers.iter().zip(&words) {
                        assert_eq!(*word, c.rem_euclid(q as i64) as u64, "{q} {bound} {c}");
                    }
                }
            }
        }
        assert!(reductions > 50, "{reductions}");
    }
}
