//! The slow reference: shift and add, one element at a time.

use super::Gf128;

pub(super) fn mul(x: Gf128, y: Gf128) -> Gf128 {
    let mut power = x.0;
    let mut sum = 0;
    for i in 0..128 {
        if y.0 >> i & 1 == 1 {
            sum ^= power;
        }
        power = if power >> 127 == 1 { power << 1 ^ 0x87 } else { power << 1 };
    }
    Gf128(sum)
}
