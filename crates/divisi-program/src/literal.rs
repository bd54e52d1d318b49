//! Integers as texts: decimal digits, or hexadecimal ones behind `0x`.

use zeroize::Zeroizing;

/// An integer that a minus sign may precede. `None` for what is none, or is beyond 64 bits. Inputs are read
/// by it, too, so it copies nothing.
pub(crate) fn integer(word: &str) -> Option<i64> {
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |digits| (digits, 16));
    let right = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let size = i128::from_str_radix(digits, radix).ok().filter(|_| right)?;
    i64::try_from(sign * size).ok()
}

/// An unsigned number of this many bits, the lowest first, in decimal digits (up to 128 bits) or hexadecimal
/// ones.
pub(crate) fn bits(word: &str, width: usize) -> Option<Vec<bool>> {
    let mut bits = unsigned(word)?;
    if bits.iter().skip(width).any(|bit| *bit) {
        return None;
    }
    bits.resize(width, false);
    Some(bits)
}

/// The bits of an unsigned number, the lowest first, with some zeros after the highest.
pub(crate) fn unsigned(word: &str) -> Option<Vec<bool>> {
    match word.strip_prefix("0x") {
        Some(digits) if !digits.is_empty() => {
            let digits = digits
                .chars()
                .rev()
                .map(|c| c.to_digit(16))
                .collect::<Option<Vec<u32>>>()
                .map(Zeroizing::new)?;
            Some(digits.iter().flat_map(|digit| (0..4).map(move |i| digit >> i & 1 == 1)).collect())
        }
        _ => {
            let digits = !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit());
            let number: u128 = word.parse().ok().filter(|_| digits)?;
            Some((0..128).map(|i| number >> i & 1 == 1).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_both_notations() {
        let cases = [("7", 7), ("-7", -7), ("0x1F", 31), ("-0x1f", -31), ("007", 7), ("-0", 0)];
        cases.iter().for_each(|(word, number)| assert_eq!(integer(word), Some(*number), "{word}"));
        assert_eq!(integer("-0x8000000000000000"), Some(i64::MIN));
        for word in ["", "-", "0x", "--1", "+1", "0x-1", "0x+1", "1e3", "0xg", "0x8000000000000000"] {
            assert_eq!(integer(word), None, "{word}");
        }
    }
}
