//! Counter blocks for IVs whose length is not 96 bits (SP 800-38D, algorithm 4, step 2).
//!
//! For them `J_0` is GHASH of the IV, so it depends on the hash key and **stays shared**: two such values
//! with their IVs would reveal the hash key, and so allow forged tags (test
//! `counter_blocks_of_long_ivs_give_the_hash_key_away`). The counters `inc_32(J_0) ..` are therefore computed
//! on shares, all at once: each is the sum of the low word of `J_0` and a public number.
//!
//! Cost: GHASH of a public string is linear, and the conversions between blocks, bytes and bits are local.
//! There is one adder of 32 bits for each block, whose bits and rounds are those of [`adder`] (169 sums of
//! products at depth 5, test `an_adder_costs_what_is_said`). Then comes the cipher, as with any counter.

use super::element;
use crate::engines::{BitEngine, MacEngine};
use crate::gates::Adder;
use crate::mode::ghash::{Ghash, Powers};
use divisi_circuit::{Build, Program};
use divisi_core::{Abort, Lanes, Misuse, ProgramRun, Step, step};
use std::sync::OnceLock;

const IV: Step = step!("iv");

/// How many blocks GHASH processes for an IV of this many bytes: those of the IV, and one with its length.
#[must_use]
pub fn hash_blocks(iv_bytes: usize) -> u64 {
    iv_bytes.div_ceil(16) as u64 + 1
}

/// The shared `J_0` of an IV, in one lane.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the IV is empty, or there are too few powers.
pub fn j0<E: MacEngine>(e: &mut E, powers: &Powers<E::Block>, iv: &[u8]) -> Result<E::Block, Abort> {
    if iv.is_empty() {
        return Err(Abort::Misuse { step: IV, what: Misuse::Empty });
    }
    let mut blocks: Vec<u128> = Vec::with_capacity(iv.len() / 16 + 2);
    for chunk in iv.chunks(16) {
        let mut block = [0; 16];
        block.iter_mut().zip(chunk).for_each(|(to, byte)| *to = *byte);
        blocks.push(element(block));
    }
    blocks.push(element((8 * iv.len() as u128).to_be_bytes()));
    let mut ghash = Ghash::new(powers.steps(), hash_blocks(iv.len()));
    ghash.absorb(e, powers, &blocks)?;
    ghash.finish()
}

/// A program for the sum of two words modulo 2^32.
#[must_use]
pub fn adder() -> &'static Program {
    static ADDER: OnceLock<Program> = OnceLock::new();
    ADDER.get_or_init(|| {
        let mut g = Build::new();
        let (x, y) = (g.input(32), g.input(32));
        let sum = Adder::LowDepth.sum(&mut g, &[&x, &y]);
        g.output(&sum);
        g.finish()
    })
}

/// Counter blocks from a shared `J_0` (one lane): lane `l` is `inc_32` applied `counts[l]` times to `J_0`.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if `j0` has no lane.
pub fn counters<E: MacEngine>(e: &mut E, j0: &E::Block, counts: &[u32]) -> Result<[E::Byte; 16], Abort> {
    let bytes: [E::Byte; 16] = e.convert(j0.clone())?;
    counters_from(e, &bytes, counts)
}

/// The same from the bytes of a counter block, on an engine that may have no blocks of GF(2^128).
///
/// # Errors
/// The errors of [`counters`].
pub fn counters_from<E: BitEngine>(
    e: &mut E,
    bytes: &[E::Byte; 16],
    counts: &[u32],
) -> Result<[E::Byte; 16], Abort> {
    let misfit = || Abort::Misuse { step: IV, what: Misuse::Empty };
    let index = vec![0; counts.len()];
    let all: Option<Vec<E::Byte>> = bytes.iter().map(|byte| byte.gather(&index)).collect();
    let mut all = all.ok_or_else(misfit)?;
    let word = all.split_off(12);
    // the lowest bit comes first; it is in the last byte
    let mut wires = Vec::with_capacity(64);
    for byte in word.into_iter().rev() {
        let bits: [E::Bit; 8] = e.convert(byte)?;
        wires.extend(bits);
    }
    for i in 0..32 {
        wires.push(e.public_bit(&counts.iter().map(|l| l >> i & 1 == 1).collect::<Vec<bool>>()));
    }
    let mut jobs = [ProgramRun::new(adder(), wires)];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let mut sum = job.wires.into_iter();
    let mut low = Vec::with_capacity(4);
    for _ in 0..4 {
        let bits: Vec<E::Bit> = sum.by_ref().take(8).collect();
        let bits: [E::Bit; 8] = bits.try_into().map_err(|_| misfit())?;
        let byte: E::Byte = e.convert(bits)?;
        low.push(byte);
    }
    all.extend(low.into_iter().rev());
    all.try_into().map_err(|_| misfit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ctr;
    use crate::mode::ghash::Steps;
    use divisi_core::{Bytes, Convert, Plain, PlainBlock};
    use divisi_field::{Field, Gf128};

    fn j0_of(h: Gf128, iv: &[u8]) -> (Gf128, [u8; 16]) {
        let e = &mut Plain;
        let steps = Steps::new(4, 4).unwrap();
        let h = PlainBlock::new(vec![h.to_bits()]);
        let powers = Powers::new(e, &h, steps, hash_blocks(iv.len())).unwrap();
        let block = j0(e, &powers, iv).unwrap();
        let bytes: [<Plain as Bytes>::Byte; 16] = e.convert(block).unwrap();
        let bytes = bytes.each_ref().map(|byte| byte.values()[0]);
        (Gf128::from_ghash(bytes), bytes)
    }

    /// Why `J_0` must not be opened: for two IVs of one block the difference is `(IV + IV') H^2`, and every
    /// field element has exactly one square root.
    #[test]
    fn counter_blocks_of_long_ivs_give_the_hash_key_away() {
        let h = Gf128::from_ghash(*b"what nobody sees");
        let (iv, other) = (*b"sixteen bytes 01", *b"sixteen bytes 02");
        let opened = [iv, other].map(|iv| j0_of(h, &iv).0);
        let difference = opened[0] + opened[1];
        let ivs = Gf128::from_ghash(iv) + Gf128::from_ghash(other);
        let squared = |x: Gf128, times: usize| (0..times).fold(x, |x, _| x * x);
        // the inverse of x is x^(2^128 - 2), its square root x^(2^127)
        let inverse = (1..128).fold(Gf128::ONE, |product, i| product * squared(ivs, i));
        assert_eq!(squared(difference * inverse, 127).to_bits(), h.to_bits());
    }

    #[test]
    fn counters_are_those_of_the_open_block_and_wrap_around() {
        let h = Gf128::from_ghash(*b"what nobody sees");
        let e = &mut Plain;
        for last in [[0, 0, 0, 1], [0xff, 0xff, 0xff, 0xfe], [0x7f, 0xff, 0xff, 0xf9]] {
            let (_, mut block) = j0_of(h, b"an iv");
            block[12..].copy_from_slice(&last);
            let shared = PlainBlock::new(vec![element(block)]);
            for from in [0, 250, 4090, 65_500, u32::MAX - 39] {
                let made = counters(e, &shared, &(from..=from + 39).collect::<Vec<u32>>()).unwrap();
                let want = ctr::columns(&block, from, 40);
                assert!(made.iter().zip(&want).all(|(made, want)| made.values() == &want[..]), "{from}");
            }
        }
    }

    #[test]
    fn an_adder_costs_what_is_said() {
        assert_eq!((adder().dot_count(), adder().and_depth()), (169, 5));
    }
}
