//! The slow reference: shift and add.

/// The product of two elements.
pub(crate) fn mul(x: u8, y: u8) -> u8 {
    let mut wide = (0..8).filter(|i| y >> i & 1 == 1).fold(0_u16, |sum, i| sum ^ u16::from(x) << i);
    for i in (8..15).rev() {
        if wide >> i & 1 == 1 {
            wide ^= 0x11b << (i - 8);
        }
    }
    wide as u8
}
