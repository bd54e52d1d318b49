//! What of an opened block counts.

use super::*;

/// One bit is enough for a block not to be zero, whichever it is.
#[test]
fn a_block_is_zero_in_all_its_bits() {
    for bit in 0..128 {
        for odd in 0..3 {
            let mut columns = vec![vec![0_u8; 3]; 16];
            columns[bit / 8][odd] = 1 << (bit % 8);
            for lane in 0..3 {
                assert_eq!(vanishes(&columns, lane), lane != odd, "{bit} {lane}");
            }
        }
    }
}
