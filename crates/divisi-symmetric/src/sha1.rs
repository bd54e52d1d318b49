//! SHA-1 (FIPS 180-4, 6.1) over gates: for old data, and for HMAC in one-time passwords (RFC 4226).
//!
//! Two texts with the same SHA-1 digest can be constructed since 2017 (SHAttered), and with chosen prefixes
//! since 2020. HMAC-SHA-1 does not depend on collision resistance, and one-time passwords use it; new designs
//! should use neither.

use crate::gates::{
    Adder, choose, constant, from_big_endian, majority, public_bytes, rotate_right, to_big_endian, xor,
};
use divisi_circuit::Gates;

/// The length of a digest and of a state in bytes.
pub const DIGEST_BYTES: usize = 20;
/// The length of a block in bytes.
pub const BLOCK_BYTES: usize = 64;

const ROUNDS: usize = 80;

/// The state before the first block (5.3.1).
#[must_use]
pub fn initial() -> Vec<u8> {
    [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0].map(u32::to_be_bytes).concat()
}

/// The constant of a round (4.2.1): the square roots of 2, 3, 5 and 10, times 2^30.
fn round_constant(t: usize) -> u64 {
    let square: u128 = [2, 3, 5, 10][t / 20];
    // floor(sqrt(n) 2^30) = floor(sqrt(n 2^60)), bit by bit
    let n = square << 60;
    (0..32).rev().fold(0_u128, |root, bit| {
        let next = root | 1 << bit;
        if next * next <= n { next } else { root }
    }) as u64
}

/// `ROTL^n` of a word of 32 bits.
fn rotate_left<B: Copy>(x: &[B], n: usize) -> Vec<B> {
    rotate_right(x, x.len() - n)
}

/// The compression function (6.1.2), with the standard's letters: a state and a block -> the next state.
///
/// # Panics
/// If the length of the state is not [`DIGEST_BYTES`], or that of the block not [`BLOCK_BYTES`].
pub fn compress<G: Gates>(
    g: &mut G,
    adder: Adder,
    state: &[[G::Bit; 8]],
    block: &[[G::Bit; 8]],
) -> Vec<[G::Bit; 8]> {
    assert_eq!((state.len(), block.len()), (DIGEST_BYTES, BLOCK_BYTES), "SHA-1");
    let words =
        |bytes: &[[G::Bit; 8]]| -> Vec<Vec<G::Bit>> { bytes.chunks_exact(4).map(from_big_endian).collect() };
    let mut w = words(block);
    for t in 16..ROUNDS {
        let sum = xor(g, &w[t - 3], &w[t - 8]);
        let sum = xor(g, &sum, &w[t - 14]);
        let sum = xor(g, &sum, &w[t - 16]);
        w.push(rotate_left(&sum, 1));
    }
    let before = words(state);
    let mut v = before.clone();
    for (t, w) in w.iter().enumerate() {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| v[i].as_slice());
        let f = match t / 20 {
            0 => choose(g, b, c, d),
            2 => majority(g, b, c, d),
            _ => {
                let sum = xor(g, b, c);
                xor(g, &sum, d)
            }
        };
        let k = constant(g, round_constant(t), 32);
        let next = adder.sum(g, &[&k, w, e, &f, &rotate_left(a, 5)]);
        let turned = rotate_left(b, 30);
        v.rotate_right(1);
        v[0] = next;
        v[2] = turned;
    }
    before.iter().zip(&v).flat_map(|(before, v)| to_big_endian(&adder.sum(g, &[before, v]))).collect()
}

/// A one-time password from a tag (RFC 4226, 5.3 and 5.4; RFC 6238 for longer tags): 31 bits of the tag, at
/// the position that its last four bits give, modulo a power of ten, as ASCII digits. All of this is computed
/// on secret values, so that only the password is opened.
///
/// Cost: 31 products for each of 15 choices between two words, and at most 62 for each of at most
/// `12 + 4 digits` subtractions (for 6 digits or more).
///
/// # Panics
/// If the tag has fewer than 20 bytes.
pub fn code<G: Gates>(g: &mut G, tag: &[[G::Bit; 8]], digits: usize) -> Vec<[G::Bit; 8]> {
    assert!(tag.len() >= DIGEST_BYTES, "a tag of 20 bytes at least");
    let place = tag[tag.len() - 1];
    // the words at all positions; each bit of the position halves their number
    let mut words: Vec<Vec<G::Bit>> =
        (0..16).map(|at| from_big_endian(&tag[at..at + 4])[..31].to_vec()).collect();
    for bit in &place[..4] {
        words = words.chunks(2).map(|pair| choose(g, &[*bit; 31], &pair[1], &pair[0])).collect();
    }
    let mut rest = words.swap_remove(0);
    let ten = |exponent: usize| 10_u64.pow(exponent as u32);
    let most = (1_u64 << 31) / ten(digits);
    for shift in (0..=most.max(1).ilog2()).rev() {
        subtract_if_it_fits(g, &mut rest, ten(digits) << shift);
    }
    let mut out = Vec::with_capacity(digits);
    for exponent in (0..digits).rev() {
        let mut byte = public_bytes(g, b"0")[0];
        for i in (0..4).rev() {
            byte[i] = subtract_if_it_fits(g, &mut rest, ten(exponent) << i);
        }
        out.push(byte);
    }
    out
}

/// `x -= n` if the result is not negative; returns whether it was subtracted. `x` has 31 bits, so a number of
/// 32 bits or more is never subtracted.
fn subtract_if_it_fits<G: Gates>(g: &mut G, x: &mut Vec<G::Bit>, n: u64) -> G::Bit {
    if n >> 31 != 0 {
        return g.constant(false);
    }
    // x + not n + 1; its carry says whether x >= n
    let (mut carry, mut difference) = (g.constant(true), Vec::with_capacity(x.len()));
    for (i, bit) in x.iter().enumerate() {
        let y = g.constant(n >> i & 1 == 0);
        let sum = g.xor(*bit, y);
        difference.push(g.xor(sum, carry));
        carry = g.majority(*bit, y, carry);
    }
    *x = choose(g, &vec![carry; x.len()], &difference, x);
    carry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::in_the_clear;
    use crate::hash::Hash;

    #[test]
    fn constants_are_those_of_the_standard() {
        let constants = [0, 20, 40, 60].map(round_constant);
        assert_eq!(constants, [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6]);
    }

    /// FIPS 180-2, appendix A, and the empty message.
    #[test]
    fn digests_are_those_of_the_standard() {
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let all: [(&[u8], &str); 3] = [
            (b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (long, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        ];
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            for (message, digest) in all {
                let made = in_the_clear(message, |g, message| Hash::Sha1.digest(g, adder, message));
                assert_eq!(hex::encode(made), digest);
            }
        }
    }

    /// RFC 4226, 5.4, and every position with small and large numbers.
    #[test]
    fn codes_are_the_truncated_tags() {
        let tag = hex::decode("1f8698690e02ca16618550ef7f19da8e945b555a").unwrap();
        assert_eq!(in_the_clear(&tag, |g, tag| code(g, tag, 6)), b"872921");
        for seed in 0..200_u8 {
            let mut tag: Vec<u8> = (0..20_u8).map(|i| i.wrapping_mul(seed).wrapping_add(seed / 3)).collect();
            if seed % 3 == 0 {
                tag.iter_mut().for_each(|byte| *byte = if seed % 2 == 0 { 0xff } else { 0 });
            }
            tag[19] = seed;
            let at = usize::from(seed & 15);
            let word = u32::from_be_bytes(tag[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
            for digits in 6..9 {
                let want = format!("{:0digits$}", word % 10_u32.pow(digits as u32));
                assert_eq!(in_the_clear(&tag, |g, tag| code(g, tag, digits)), want.as_bytes(), "{seed}");
            }
        }
    }
}
