//! The compression functions of SHA-256 and SHA-512 (FIPS 180-4, 6.2.2 and 6.4.2), with the standard's
//! letters.

use super::constants::round_constants;
use crate::gates::{
    Adder, choose, constant, from_big_endian, majority, rotate_right, shift_right, to_big_endian, xor,
};
use divisi_circuit::Gates;

/// The parameters that differ between words of 32 and 64 bits.
struct Shape {
    rounds: usize,
    /// The rotations of the two functions of the rounds (4.4, 4.5 and 4.10, 4.11).
    upper: [[usize; 3]; 2],
    /// Those of the two functions of the schedule: two rotations and a shift (4.6, 4.7 and 4.12, 4.13).
    lower: [[usize; 3]; 2],
}

const WORDS_32: Shape =
    Shape { rounds: 64, upper: [[2, 13, 22], [6, 11, 25]], lower: [[7, 18, 3], [17, 19, 10]] };

const WORDS_64: Shape =
    Shape { rounds: 80, upper: [[28, 34, 39], [14, 18, 41]], lower: [[1, 8, 7], [19, 61, 6]] };

/// The next state, from a state and a block with words of `bytes` bytes.
pub(super) fn compress<G: Gates>(
    g: &mut G,
    bytes: usize,
    adder: Adder,
    state: &[[G::Bit; 8]],
    block: &[[G::Bit; 8]],
) -> Vec<[G::Bit; 8]> {
    let shape = if bytes == 4 { &WORDS_32 } else { &WORDS_64 };
    let words = |bytes_of: &[[G::Bit; 8]]| -> Vec<Vec<G::Bit>> {
        bytes_of.chunks_exact(bytes).map(from_big_endian).collect()
    };
    let w = schedule(g, shape, adder, words(block));
    let before = words(state);
    let mut v = before.clone();
    for (t, w) in w.iter().enumerate() {
        let [a, b, c, d, e, f, g_, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| v[i].as_slice());
        let k = round_constants()[t] >> (64 - 8 * bytes);
        let k = constant(g, k, 8 * bytes);
        let upper_e = upper_sum(g, e, shape.upper[1]);
        let ch = choose(g, e, f, g_);
        let upper_a = upper_sum(g, a, shape.upper[0]);
        let maj = majority(g, a, b, c);
        // The operands that are computed last come last. With carry-save adders T1 and T2 need not be
        // computed separately. The chain of e only depends on the a of three rounds before, so it runs ahead
        // of the chain of a.
        let (next_a, next_e) = match adder {
            Adder::FewestAnds => {
                let t1 = adder.sum(g, &[h, &k, w, &ch, &upper_e]);
                let t2 = adder.sum(g, &[&upper_a, &maj]);
                (adder.sum(g, &[&t1, &t2]), adder.sum(g, &[d, &t1]))
            }
            Adder::LowDepth => (
                adder.sum(g, &[h, &k, w, &upper_e, &ch, &upper_a, &maj]),
                adder.sum(g, &[h, &k, w, d, &upper_e, &ch]),
            ),
        };
        v.rotate_right(1);
        v[0] = next_a;
        v[4] = next_e;
    }
    let sums = before.iter().zip(&v).flat_map(|(before, v)| to_big_endian(&adder.sum(g, &[before, v])));
    sums.collect()
}

/// The message schedule (6.2.2 and 6.4.2, step 1).
fn schedule<G: Gates>(g: &mut G, shape: &Shape, adder: Adder, mut w: Vec<Vec<G::Bit>>) -> Vec<Vec<G::Bit>> {
    for t in 16..shape.rounds {
        let lower_0 = lower_sum(g, &w[t - 15], shape.lower[0]);
        let lower_1 = lower_sum(g, &w[t - 2], shape.lower[1]);
        let next = adder.sum(g, &[&w[t - 16], &lower_0, &w[t - 7], &lower_1]);
        w.push(next);
    }
    w
}

/// The sum of three rotations.
fn upper_sum<G: Gates>(g: &mut G, x: &[G::Bit], by: [usize; 3]) -> Vec<G::Bit> {
    let [r, s, t] = by.map(|n| rotate_right(x, n));
    let sum = xor(g, &r, &s);
    xor(g, &sum, &t)
}

/// The sum of two rotations and a shift.
fn lower_sum<G: Gates>(g: &mut G, x: &[G::Bit], by: [usize; 3]) -> Vec<G::Bit> {
    let sum = xor(g, &rotate_right(x, by[0]), &rotate_right(x, by[1]));
    let shifted = shift_right(g, x, by[2]);
    xor(g, &sum, &shifted)
}
