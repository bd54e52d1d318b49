//! AES-BD and AES-RP: S-boxes by products in GF(2^8) (KOR+17, sections 3.1 and 3.3).
//!
//! Squaring is linear over GF(2), but MACs are not preserved by it: a power of 2 of x is a linear map of the
//! bits of x, so that an element has to be decomposed before it is squared.

use super::{AuthByte, Spdz, SpdzProtocol};
use crate::part::{Host, Mac};
use crate::party::Told;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::{Abort, Direction, Step, step};
use divisi_field::{Field, Gf2, Gf8};

const DECOMPOSE: Step = step!("bitdec");

/// The constant of AES' affine map (FIPS 197, 5.1.1).
const CONSTANT: Gf8 = Gf8(0x63);

/// A map that is linear over GF(2): where 1, X, .., X^7 go.
pub(super) type Linear = [Gf8; 8];

/// x -> x^(2^i).
pub(super) fn frobenius(i: u32) -> Linear {
    std::array::from_fn(|k| (0..i).fold(Gf8(1 << k), |x, _| x.square()))
}

/// First `inner`, then `outer`.
fn after(outer: &Linear, inner: &Linear) -> Linear {
    inner.map(|x| image(outer, x))
}

/// The image of a public byte.
pub(super) fn image(map: &Linear, x: Gf8) -> Gf8 {
    map.iter().enumerate().filter(|(k, _)| x.0 >> k & 1 == 1).map(|(_, image)| *image).sum()
}

/// The linear part of the affine map of SubBytes (FIPS 197, 5.1.1): bit i of the image is the sum of bits i,
/// i+4, .., i+7.
fn affine() -> Linear {
    std::array::from_fn(|k| {
        let x = 1_u8 << k;
        Gf8(x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4))
    })
}

/// Its inverse: found among all bytes.
fn inverse_affine() -> Linear {
    let affine = affine();
    std::array::from_fn(|k| {
        (0..=u8::MAX).map(Gf8).find(|x| image(&affine, *x) == Gf8(1 << k)).unwrap_or_default()
    })
}

impl<F: Host> Spdz<F> {
    /// S-boxes by the powers of AES-BD or AES-RP: the inverse is x^254.
    ///
    /// Encryption ends, and decryption begins, with the affine map, which takes one decomposition; of
    /// decryption it is the one that the powers need anyway.
    /// Adversary: n - 1 malicious. Cost (test `counts_of_the_powers`): AES-BD 6 products and 2 decompositions
    /// in 5 rounds, AES-RP 4 and 4 in 7; decryption one decomposition and round less.
    #[inline(never)]
    pub(super) fn powers(&mut self, d: Direction, x: &mut [&mut AuthByte<F>]) -> Result<(), Abort> {
        let mut all = AuthByte::with_room(x.iter().map(|x| x.len()).sum());
        x.iter().for_each(|x| all.append(x));
        let before = match d {
            Direction::Encrypt => frobenius(0),
            Direction::Decrypt => {
                self.party.add_constant(&mut all, CONSTANT)?;
                inverse_affine()
            }
        };
        let mut inverse = match self.protocol {
            SpdzProtocol::RivainProuff => self.rivain_prouff(&all, &before)?,
            SpdzProtocol::Lookup | SpdzProtocol::BitDecomposition | SpdzProtocol::Raw => {
                self.six_products(&all, &before)?
            }
        };
        if d == Direction::Encrypt {
            let bits = self.decompose(&inverse)?;
            inverse = linear(&bits, &affine(), all.len());
            self.party.add_constant(&mut inverse, CONSTANT)?;
        }
        let mut at = 0;
        for x in x.iter_mut() {
            let lanes = at..at + x.len();
            **x = inverse.part(lanes.clone());
            at = lanes.end;
        }
        Ok(())
    }

    /// X^254 = ((X^2 X^4)(X^8 X^16))((X^32 X^64) X^128), all squares from one decomposition (section 3.3).
    fn six_products(&mut self, x: &AuthByte<F>, before: &Linear) -> Result<AuthByte<F>, Abort> {
        let lanes = x.len();
        let bits = self.decompose(x)?;
        let power = |i: u32| linear(&bits, &after(&frobenius(i), before), lanes);
        let left = joined(&[&power(1), &power(3), &power(5)]);
        let right = joined(&[&power(2), &power(4), &power(6)]);
        let pairs = self.multiply(&left, &right)?;
        let part = |of: &AuthByte<F>, i: usize| of.part(i * lanes..(i + 1) * lanes);
        let left = joined(&[&part(&pairs, 0), &part(&pairs, 2)]);
        let right = joined(&[&part(&pairs, 1), &power(7)]);
        let halves = self.multiply(&left, &right)?;
        self.multiply(&part(&halves, 0), &part(&halves, 1))
    }

    /// {X, X^2} -> {X^3, X^12} -> X^14; X^15, X^240 -> X^254 (section 3.1).
    fn rivain_prouff(&mut self, x: &AuthByte<F>, before: &Linear) -> Result<AuthByte<F>, Abort> {
        let lanes = x.len();
        let bits = self.decompose(x)?;
        let [x1, x2] = [0, 1].map(|i| linear(&bits, &after(&frobenius(i), before), lanes));
        let x3 = self.multiply(&x1, &x2)?;
        let bits = self.decompose(&x3)?;
        let x12 = linear(&bits, &frobenius(2), lanes);
        let both = self.multiply(&joined(&[&x12, &x12]), &joined(&[&x2, &x3]))?;
        let [x14, x15] = [both.part(0..lanes), both.part(lanes..2 * lanes)];
        let bits = self.decompose(&x15)?;
        let x240 = linear(&bits, &frobenius(4), lanes);
        self.multiply(&x240, &x14)
    }

    #[inline(never)]
    pub(super) fn multiply(&mut self, x: &AuthByte<F>, y: &AuthByte<F>) -> Result<AuthByte<F>, Abort> {
        let triples = self.byte_triples(x.len())?;
        self.party.multiply(x, y, triples)
    }

    /// x y and the bits of x, in one round.
    #[inline(never)]
    pub(super) fn multiply_and_decompose(
        &mut self,
        x: &AuthByte<F>,
        y: &AuthByte<F>,
    ) -> Result<(AuthByte<F>, Auth<Gf2, F>), Abort> {
        let triples = self.byte_triples(x.len())?;
        let masked = self.begin_decomposition(x)?;
        let told = self.party.tell(DECOMPOSE, &masked.1.x)?;
        let begun = self.party.begin_multiply(x, y, triples)?;
        let bits = self.end_decomposition(masked, told)?;
        Ok((self.party.end_multiply(x, y, begun)?, bits))
    }

    /// BitDec (KOR+17, section 2.1): open x + r for eight random bits r_k; \[\[x_k\]\] = \[\[r_k\]\] + that
    /// bit. One round.
    #[inline(never)]
    pub(super) fn decompose(&mut self, x: &AuthByte<F>) -> Result<Auth<Gf2, F>, Abort> {
        let masked = self.begin_decomposition(x)?;
        let told = self.party.tell(DECOMPOSE, &masked.1.x)?;
        self.end_decomposition(masked, told)
    }

    /// r, and x + r.
    fn begin_decomposition(&mut self, x: &AuthByte<F>) -> Result<(Auth<Gf2, F>, AuthByte<F>), Abort> {
        let r = self.random_bits(8 * x.len())?;
        let mut masked = bytes(&r, x.len());
        self.party.mask(&mut masked, x)?;
        Ok((r, masked))
    }

    fn end_decomposition(
        &mut self,
        (mut r, masked): (Auth<Gf2, F>, AuthByte<F>),
        told: Told<Gf8>,
    ) -> Result<Auth<Gf2, F>, Abort> {
        let opened = self.party.hear(told, &masked.m)?;
        self.party.add_bits_of(&mut r, &opened)?;
        Ok(r)
    }
}

/// The image of decomposed bytes under a linear map; local.
pub(super) fn linear<F: Host>(bits: &Auth<Gf2, F>, map: &Linear, lanes: usize) -> AuthByte<F> {
    let mut out = AuthByte::<F>::zeros(lanes);
    for (plane, image) in bits.x.chunks(lanes.max(1)).zip(map) {
        for (x, bit) in out.x.iter_mut().zip(plane) {
            x.0 ^= image.0 & (bit.to_bits() as u8).wrapping_neg();
        }
    }
    let rows: Vec<&[F]> = bits.m.chunks(lanes.max(1)).collect();
    if rows.len() == map.len() {
        F::combine(&mut out.m, &map.map(F::embedded), &rows);
    }
    out
}

pub(super) fn joined<F: Mac>(parts: &[&AuthByte<F>]) -> AuthByte<F> {
    let mut all = AuthByte::with_room(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| all.append(part));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maps_are_those_of_the_standard() {
        // 5.1.1: S(0x53) = 0xed
        assert_eq!(image(&affine(), Gf8(0x53).inverse()) + CONSTANT, Gf8(0xed));
        for x in (0..=u8::MAX).map(Gf8) {
            assert_eq!(image(&after(&inverse_affine(), &affine()), x), x);
            assert_eq!(image(&frobenius(3), x), x.square().square().square());
        }
    }
}
