//! GF((2^4)^2) = GF(2^4)\[X\]/(X^2 + X + {E}), and the isomorphism Phi from GF(2^8) to it, after MAESTRO
//! (ePrint 2024/1317), section 2.1; the maps are those of Wolkerstorfer, Oswald and Lamberger. An element is
//! a_h X + a_l.

use super::Gf8;
use crate::{Field, Gf4, Word};

/// {E}, the constant coefficient of the modulus.
pub const E: Gf4 = Gf4::new(0xe);

/// Phi on bit planes: maps an element of GF(2^8) to (a_h, a_l).
#[inline(always)]
pub fn phi<W: Word>(a: &[W; 8]) -> ([W; 4], [W; 4]) {
    let a57 = a[5] ^ a[7];
    let a46 = a[4] ^ a[6];
    let a17 = a[1] ^ a[7];
    let h0 = a46 ^ a[5];
    ([h0, a17 ^ a46, a[2] ^ a[3] ^ a57, a57], [a[0] ^ h0, a[1] ^ a[2], a17, a[2] ^ a[4]])
}

/// The inverse of Phi on bit planes.
#[inline(always)]
pub fn phi_inverse<W: Word>(h: &[W; 4], l: &[W; 4]) -> [W; 8] {
    let h01 = h[0] ^ h[1];
    let a1 = h01 ^ h[3];
    let a2 = l[1] ^ a1;
    [
        l[0] ^ h[0],
        a1,
        a2,
        h01 ^ h[2] ^ l[1],
        a2 ^ l[3],
        l[2] ^ h01,
        l[1] ^ l[2] ^ l[3] ^ h[0] ^ h[3],
        l[2] ^ a1,
    ]
}

/// Phi on one element.
pub fn phi_scalar(a: Gf8) -> (Gf4, Gf4) {
    let bit = |mask: u8| (a.0 & mask).count_ones() as u8 & 1;
    let element = |masks: [u8; 4]| Gf4::new((0..4).fold(0, |sum, i| sum | bit(masks[i]) << i));
    (
        element([0b0111_0000, 0b1101_0010, 0b1010_1100, 0b1010_0000]),
        element([0b0111_0001, 0b0000_0110, 0b1000_0010, 0b0001_0100]),
    )
}

/// The inverse of Phi on one element.
pub fn phi_inverse_scalar(h: Gf4, l: Gf4) -> Gf8 {
    // Each mask selects bits of a_h in its high four bits, and of a_l in its low four.
    const MASKS: [u8; 8] = [0x11, 0xb0, 0xb2, 0x72, 0xba, 0x34, 0x9e, 0xb4];
    let both = h.bits() << 4 | l.bits();
    let bit = |mask: u8| (both & mask).count_ones() as u8 & 1;
    Gf8((0..8).fold(0, |sum, i| sum | bit(MASKS[i]) << i))
}

/// The norm v of a_h X + a_l (Eq. 2), which Eq. 1 inverts.
pub fn norm(h: Gf4, l: Gf4) -> Gf4 {
    h.square() * E + h * l + l.square()
}
