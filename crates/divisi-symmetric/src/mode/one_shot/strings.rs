//! Strings of bits in bytes, the highest bit of a byte first; bits after the end are zero.

/// A part of a string: `count` bits from bit `from` on.
#[must_use]
pub fn part(bytes: &[u8], from: usize, count: usize) -> Vec<u8> {
    let bit = |i: usize| bytes.get(i / 8).map_or(0, |byte| byte >> (7 - i % 8) & 1);
    let mut out = vec![0; count.div_ceil(8)];
    for i in 0..count {
        if let Some(byte) = out.get_mut(i / 8) {
            *byte |= bit(from + i) << (7 - i % 8);
        }
    }
    out
}

/// Concatenates strings, each given with its number of bits.
#[must_use]
pub fn join(strings: &[(&[u8], usize)]) -> Vec<u8> {
    let total: usize = strings.iter().map(|(_, bits)| bits).sum();
    let (mut out, mut at) = (vec![0; total.div_ceil(8)], 0);
    for (bytes, bits) in strings {
        for i in 0..*bits {
            let bit = bytes.get(i / 8).map_or(0, |byte| byte >> (7 - i % 8) & 1);
            if let Some(byte) = out.get_mut((at + i) / 8) {
                *byte |= bit << (7 - (at + i) % 8);
            }
        }
        at += bits;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_join_to_the_whole() {
        let whole = [0x12, 0x34, 0x56, 0x78, 0x9a];
        for (first, second) in [(0, 40), (3, 37), (8, 32), (13, 27), (39, 1)] {
            let (a, b) = (part(&whole, 0, first), part(&whole, first, second));
            assert_eq!(join(&[(&a, first), (&b, second)]), whole);
        }
        assert_eq!(part(&whole, 4, 6), [0x20]);
        assert_eq!(part(&whole, 36, 8), [0xa0]);
    }
}
