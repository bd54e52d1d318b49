//! Keccak-f\[1600\] (FIPS 202, section 3): 24 rounds of one level each, 38,400 ANDs (test `keccak_f_costs`).

use crate::gates::{byte_program, constant, from_little_endian, rotate_right, to_little_endian, xor};
use divisi_circuit::{Gates, Program};

/// The length of the state in bytes.
pub const STATE_BYTES: usize = 200;

/// The permutation of a state. The standard's lane `(x, y)`, a word of 64 bits, is in the eight bytes from
/// `8 (5 y + x)` on, in little-endian order (3.1.2 and B.1).
///
/// # Panics
/// If the length of the state is not [`STATE_BYTES`].
pub fn keccak_f<G: Gates>(g: &mut G, state: &[[G::Bit; 8]]) -> Vec<[G::Bit; 8]> {
    assert_eq!(state.len(), STATE_BYTES, "the state of Keccak-f[1600]");
    let mut a: Vec<Vec<G::Bit>> = state.chunks_exact(8).map(from_little_endian).collect();
    let mut constants = RoundConstants { lfsr: 1 };
    for _ in 0..24 {
        theta(g, &mut a);
        let b = rho_pi(&a);
        a = chi(g, &b);
        let constant = constant(g, constants.next(), 64);
        a[0] = xor(g, &a[0], &constant);
    }
    a.iter().flat_map(|lane| to_little_endian(lane)).collect()
}

/// [`keccak_f`] as a program: bytes in order, the lowest bit of each first.
#[must_use]
pub fn permutation_program() -> Program {
    byte_program([STATE_BYTES], |g, [state]| keccak_f(g, state))
}

/// Adds the parities of two other columns to each column (3.2.1).
fn theta<G: Gates>(g: &mut G, a: &mut [Vec<G::Bit>]) {
    let parities: [Vec<G::Bit>; 5] =
        std::array::from_fn(|x| (1..5).fold(a[x].clone(), |parity, y| xor(g, &parity, &a[5 * y + x])));
    let effects: [Vec<G::Bit>; 5] = std::array::from_fn(|x| {
        // Bit 0 of a lane is its lowest: to rotate to higher positions is to rotate left.
        xor(g, &parities[(x + 4) % 5], &rotate_right(&parities[(x + 1) % 5], 63))
    });
    for (i, lane) in a.iter_mut().enumerate() {
        *lane = xor(g, lane, &effects[i % 5]);
    }
}

/// Rotates lanes (3.2.2) and permutes them (3.2.3).
fn rho_pi<B: Copy>(a: &[Vec<B>]) -> Vec<Vec<B>> {
    let mut b = a.to_vec();
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        let offset = (t + 1) * (t + 2) / 2 % 64;
        let turned = rotate_right(&a[5 * y + x], 64 - offset);
        (x, y) = (y, (2 * x + 3 * y) % 5);
        b[5 * y + x] = turned;
    }
    b
}

/// The only ANDs: to each bit the AND of its two neighbours in the row is added, the first one negated
/// (3.2.4).
fn chi<G: Gates>(g: &mut G, b: &[Vec<G::Bit>]) -> Vec<Vec<G::Bit>> {
    let lane = |i: usize| {
        let (row, x) = (i - i % 5, i % 5);
        let neighbours = b[row + (x + 1) % 5].iter().zip(&b[row + (x + 2) % 5]);
        let bits = b[i].iter().zip(neighbours).map(|(&bit, (&next, &after))| {
            let not = g.not(next);
            let product = g.and(not, after);
            g.xor(bit, product)
        });
        bits.collect()
    };
    (0..25).map(lane).collect()
}

/// The constants of iota (3.2.5), made by the shift register of algorithm 5.
struct RoundConstants {
    lfsr: u8,
}

impl RoundConstants {
    fn next(&mut self) -> u64 {
        let mut constant = 0;
        for j in 0..7 {
            constant |= u64::from(self.lfsr & 1) << ((1 << j) - 1);
            // x^8 = x^6 + x^5 + x^4 + 1
            self.lfsr = self.lfsr << 1 ^ if self.lfsr & 0x80 == 0 { 0 } else { 0x71 };
        }
        constant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_constants_are_those_of_the_designers() {
        let mut constants = RoundConstants { lfsr: 1 };
        let all: Vec<u64> = (0..24).map(|_| constants.next()).collect();
        assert_eq!(all[..3], [0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a]);
        assert_eq!(all[23], 0x8000_0000_8000_8008);
    }
}
