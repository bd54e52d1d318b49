//! The tables of DES, as FIPS 46-3 prints them: bit 1 is the first, which is the highest.

use divisi_core::Table;

/// The initial permutation IP: output bit i is this bit of the block.
pub(super) const INITIAL: [u8; 64] = [
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48,
    40, 32, 24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21,
    13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
];

/// The expansion E.
pub(super) const EXPANSION: [u8; 48] = [
    32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20,
    21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
];

/// The permutation P of the S-boxes' outputs.
pub(super) const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];

/// Permuted choice 1: the 56 bits of a key without parity bits.
pub(super) const CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44,
    36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20,
    12, 4,
];

/// Permuted choice 2: the 48 bits of a round key.
pub(super) const CHOICE_2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37,
    47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

/// By how many bits the halves of the key are rotated left before each round.
pub(super) const SHIFTS: [usize; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/// The S-boxes as the standard prints them: four rows of sixteen columns each.
const PRINTED: [[u8; 64]; 8] = [
    [
        14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5,
        3, 8, 4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14,
        10, 0, 6, 13,
    ],
    [
        15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9,
        11, 5, 0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12,
        0, 5, 14, 9,
    ],
    [
        10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11,
        15, 1, 13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3,
        11, 5, 2, 12,
    ],
    [
        7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10,
        14, 9, 10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11,
        12, 7, 2, 14,
    ],
    [
        2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9,
        8, 6, 4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9,
        10, 4, 5, 3,
    ],
    [
        12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11,
        3, 8, 9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7,
        6, 0, 8, 13,
    ],
    [
        4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15,
        8, 6, 1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15,
        14, 2, 3, 12,
    ],
    [
        13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14,
        9, 2, 7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0,
        3, 5, 6, 11,
    ],
];

/// The S-boxes, indexed by their six input bits as a number: the row is the first and the last bit, the
/// column the four bits between them.
const INDEXED: [[u8; 64]; 8] = {
    let mut all = [[0; 64]; 8];
    let mut s = 0;
    while s < 8 {
        let mut i = 0;
        while i < 64 {
            let (row, column) = ((i >> 5 & 1) << 1 | i & 1, i >> 1 & 15);
            all[s][i] = PRINTED[s][16 * row + column];
            i += 1;
        }
        s += 1;
    }
    all
};

/// The S-boxes, S_1 to S_8.
pub static SBOXES: [Table; 8] = [
    Table { index: 6, width: 4, values: &INDEXED[0] },
    Table { index: 6, width: 4, values: &INDEXED[1] },
    Table { index: 6, width: 4, values: &INDEXED[2] },
    Table { index: 6, width: 4, values: &INDEXED[3] },
    Table { index: 6, width: 4, values: &INDEXED[4] },
    Table { index: 6, width: 4, values: &INDEXED[5] },
    Table { index: 6, width: 4, values: &INDEXED[6] },
    Table { index: 6, width: 4, values: &INDEXED[7] },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Properties that every correct copy of the tables has: permutations and choices have no bit twice, and
    /// each row of an S-box is a permutation of its sixteen values.
    #[test]
    fn the_tables_are_permutations() {
        for table in [&INITIAL[..], &PERMUTATION] {
            let mut sorted = table.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().map(|i| usize::from(*i)).eq(1..=table.len()));
        }
        let distinct = |table: &[u8]| table.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!((distinct(&CHOICE_1), distinct(&CHOICE_2), distinct(&EXPANSION)), (56, 48, 32));
        assert!(CHOICE_1.iter().all(|bit| bit % 8 != 0));
        assert_eq!(SHIFTS.iter().sum::<usize>(), 28);
        for row in PRINTED.iter().flat_map(|sbox| sbox.chunks(16)) {
            assert_eq!(distinct(row), 16);
        }
        // FIPS 46-3: S_1 of 011011 is 0101
        assert_eq!(SBOXES[0].values[0b01_1011], 0b0101);
    }
}
