//! The rows of an element's bits, put together to a row of the element.

use divisi_core::wipe::WipedVec;

/// For every f words: the sum of X^m times word m in GF(2^f) = GF(2)\[X\] / (X^f + `modulus`). It turns the
/// rows of an element's bits into the element's MAC, key, or product.
///
/// # Panics
/// If f is not between 1 and 127, or the number of words is not a multiple of f.
#[must_use]
pub fn gadget(words: &[u128], f: u32, modulus: u128) -> WipedVec<u128> {
    assert!((1..128).contains(&f) && words.len().is_multiple_of(f as usize), "whole elements");
    let low = (1 << f) - 1;
    let step = |sum: u128, word: &u128| {
        let carry = (sum >> (f - 1) & 1).wrapping_neg();
        sum << 1 & low ^ modulus & carry ^ word
    };
    // Horner's rule from the highest power on
    words.chunks_exact(f as usize).map(|words| words.iter().rev().fold(0, step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the sum of X^m times the m-th word, multiplied by shifts.
    #[test]
    fn gadgets_are_sums_of_powers() {
        // X^40 + X^20 + X^15 + X^10 + 1
        let (f, modulus) = (40, 1 << 20 | 1 << 15 | 1 << 10 | 1);
        let words: Vec<u128> = (0..80).map(|i| (i + 1) * 0x12_3456_789a % (1 << 40)).collect();
        let power = |word: u128, m: usize| {
            (0..m).fold(
                word,
                |w, _| if w >> 39 & 1 == 1 { (w << 1 ^ modulus) & ((1 << 40) - 1) } else { w << 1 },
            )
        };
        let made = gadget(&words, f, modulus);
        for (made, words) in made.iter().zip(words.chunks(40)) {
            assert_eq!(*made, words.iter().enumerate().fold(0, |sum, (m, w)| sum ^ power(*w, m)));
        }
    }
}
