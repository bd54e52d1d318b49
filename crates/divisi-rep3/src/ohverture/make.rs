//! The products of one-hot vectors of any length, each made once and in as few rounds as there are halvings.
//!
//! A vector of k bits is halved: when both halves have the products of all their sets, one round multiplies
//! each of the one with each of the other. That makes every product of at least two bits exactly once, `2^k -
//! k - 1` of them, in `ceil(log2 k)` rounds; parts of the same size are made in the same round, whatever
//! vector they belong to.

use crate::packed::{self, Reader, Writer};
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};
use std::hint::black_box;
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

const PRODUCTS: Step = step!("products");

/// The most bits of a message, unless those of one vector are more.
const MESSAGE: usize = 1 << 23;

/// The products of all sets of the bits of `count` numbers of `k` bits: of each, bit S is the product of its
/// bits that are in S. Bit 0, of the empty set, is zero.
#[derive(Default)]
pub(crate) struct Monomials {
    pub(crate) k: usize,
    pub(crate) count: usize,
    bits: [Vec<u64>; 2],
}

/// The number of words that hold 2^k bits.
pub(crate) fn words(k: usize) -> usize {
    (1usize << k).div_ceil(64)
}

/// Bit `i`, as a mask.
///
/// The compiler must not know that it is all ones or all zeros: it would turn `x & mask` into a branch on the
/// bit.
#[inline(always)]
pub(crate) fn mask(words: &[u64], i: usize) -> u64 {
    black_box((words[i / 64] >> (i % 64) & 1).wrapping_neg())
}

/// All bits of a word as masks, which the compiler must not see through either.
#[inline(always)]
pub(super) fn masks(word: u64) -> [u64; 64] {
    let mut masks = [0; 64];
    for (b, mask) in masks.iter_mut().enumerate() {
        *mask = (word >> b & 1).wrapping_neg();
    }
    black_box(masks)
}

impl Drop for Monomials {
    fn drop(&mut self) {
        self.bits.zeroize();
    }
}

impl Monomials {
    pub(crate) fn zero(k: usize, count: usize) -> Monomials {
        Monomials { k, count, bits: [0, 1].map(|_| vec![0; count * words(k)]) }
    }

    /// One component of one vector.
    #[inline(always)]
    pub(crate) fn vector(&self, side: usize, l: usize) -> &[u64] {
        let n = words(self.k);
        &self.bits[side][l * n..(l + 1) * n]
    }

    pub(super) fn vector_mut(&mut self, side: usize, l: usize) -> &mut [u64] {
        let n = words(self.k);
        &mut self.bits[side][l * n..(l + 1) * n]
    }

    /// One component of the number of one vector.
    pub(crate) fn number(&self, side: usize, l: usize) -> u64 {
        let vector = self.vector(side, l);
        (0..self.k).fold(0, |number, i| number | mask(vector, 1 << i) & 1 << i)
    }

    /// Random bits.
    fn random(trio: &mut Trio, count: usize) -> Monomials {
        let mut made = Monomials::zero(1, count);
        let [mut a, mut b] = [0, 1].map(|_| Zeroizing::new(vec![0; count.div_ceil(8)]));
        trio.streams.rand_bytes([&mut a, &mut b]);
        for (words, random) in made.bits.iter_mut().zip([a, b]) {
            for (l, word) in words.iter_mut().enumerate() {
                *word = u64::from(random[l / 8] >> (l % 8) & 1) << 1;
            }
        }
        made
    }

    /// Store the products of a message in the vectors of a range. They arrive in rows: a row has all products
    /// with one set of the high half.
    pub(crate) fn place(&mut self, side: usize, low: usize, range: Range<usize>, message: &[u8]) {
        let mut from = Reader::new(message);
        let (rows, row) = (1usize << (self.k - low), (1usize << low) - 1);
        for l in range {
            let vector = self.vector_mut(side, l);
            for v in 1..rows {
                let at = v << low;
                vector[at / 64] |= from.take(row.min(63)) << 1 << (at % 64);
                for word in &mut vector[at / 64..at / 64 + words(low)][1..] {
                    *word = from.take(64);
                }
            }
        }
    }

    /// Copy the products of those sets that lie in one half.
    fn copy(&mut self, low: &Monomials, high: &Monomials) {
        let count = self.count;
        for (side, l) in [0, 1].into_iter().flat_map(|side| (0..count).map(move |l| (side, l))) {
            let vector = self.vector_mut(side, l);
            for (to, from) in vector.iter_mut().zip(low.vector(side, l)) {
                *to |= from;
            }
            let high_vector = high.vector(side, l);
            for v in 1..1 << high.k {
                let at = v << low.k;
                vector[at / 64] |= (mask(high_vector, v) & 1) << (at % 64);
            }
        }
    }
}

/// How many products one vector has across its halves.
pub(crate) fn tensor_bits(low: usize, high: usize) -> usize {
    ((1 << low) - 1) * ((1 << high) - 1)
}

/// MultLocal of every set of the high half with every set of the low: our additive shares, row by row.
fn tensor(low: &Monomials, high: &Monomials, range: Range<usize>) -> Vec<u8> {
    let row = (1usize << low.k) - 1;
    let mut out = Writer::with_capacity(range.len() * tensor_bits(low.k, high.k));
    for l in range {
        let [l0, l1] = [0, 1].map(|side| low.vector(side, l));
        let [h0, h1] = [0, 1].map(|side| high.vector(side, l));
        for v in 1..1 << high.k {
            let first = mask(h0, v);
            let both = first ^ mask(h1, v);
            let product = |(x0, x1): (&u64, &u64)| (x0 & first) ^ ((x0 ^ x1) & both);
            let mut products = l0.iter().zip(l1).map(product);
            out.push(products.next().unwrap_or(0) >> 1, row.min(63));
            products.for_each(|product| out.push(product, 64));
        }
    }
    out.finish()
}

/// A part of a vector, in the tree of its halves.
struct Node {
    /// The round in which it is made, after its halves.
    round: u32,
    halves: Option<[usize; 2]>,
    made: Monomials,
}

/// How many rounds it takes to make the products of k bits: `ceil(log2 k)`.
fn rounds(k: usize) -> u32 {
    k.next_power_of_two().trailing_zeros()
}

/// Add a part of k bits, and all parts below it, to the nodes; returns its place.
fn grow(trio: &mut Trio, nodes: &mut Vec<Node>, k: usize, count: usize) -> usize {
    let node = if k == 1 {
        Node { round: 0, halves: None, made: Monomials::random(trio, count) }
    } else {
        let halves = [k.div_ceil(2), k / 2].map(|half| grow(trio, nodes, half, count));
        Node { round: rounds(k), halves: Some(halves), made: Monomials::zero(k, count) }
    };
    nodes.push(node);
    nodes.len() - 1
}

/// Random numbers of this many bits each, `count` of every size, with all their products: all in the same
/// rounds.
pub(crate) fn make(trio: &mut Trio, sizes: &[usize], count: usize) -> Result<Vec<Monomials>, Abort> {
    let mut nodes = Vec::new();
    let roots: Vec<usize> = sizes.iter().map(|k| grow(trio, &mut nodes, *k, count)).collect();
    for round in 1..=nodes.iter().map(|node| node.round).max().unwrap_or(0) {
        let now: Vec<(usize, [usize; 2])> = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.round == round)
            .filter_map(|(at, node)| Some((at, node.halves?)))
            .collect();
        // 1. re-randomise our shares of the products 2. and send them to the previous
        for (at, halves) in &now {
            let (before, node) = nodes.split_at_mut(*at);
            let [low, high] = halves.map(|half| &before[half].made);
            let made = &mut node[0].made;
            made.copy(low, high);
            for (range, bits) in messages(low.k, high.k, count) {
                let mut share = Zeroizing::new(tensor(low, high, range.clone()));
                trio.streams.add_zero_bytes(&mut share, bits);
                made.place(0, low.k, range, &share);
                trio.session.send(PRODUCTS, trio.prev, &share, bits as u64)?;
            }
        }
        // 3. those of the next are our second components
        for (at, halves) in &now {
            let [low, high] = halves.map(|half| nodes[half].made.k);
            for (range, bits) in messages(low, high, count) {
                let mut share = Zeroizing::new(vec![0; packed::bytes(bits)]);
                trio.session.recv(PRODUCTS, trio.next, &mut share)?;
                if !packed::padding_is_zero(&share, bits) {
                    return Err(trio.malformed(PRODUCTS, share.len()));
                }
                nodes[*at].made.place(1, low, range, &share);
            }
            halves.iter().for_each(|half| nodes[*half].made = Monomials::default());
        }
    }
    Ok(roots.into_iter().map(|root| std::mem::take(&mut nodes[root].made)).collect())
}

/// The vectors of each message of a round, with its bits.
fn messages(low: usize, high: usize, count: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
    let bits = tensor_bits(low, high);
    let each = (MESSAGE / bits).max(1);
    (0..count).step_by(each).map(move |first| {
        let range = first..(first + each).min(count);
        (range.clone(), range.len() * bits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::run;

    #[test]
    fn every_bit_of_every_vector_is_the_product_of_its_set() {
        for (sizes, count) in
            [(vec![1], 9), (vec![2, 3], 70), (vec![4, 5, 6], 5), (vec![7, 13], 3), (vec![12], 1)]
        {
            let made = run(|mut trio| make(&mut trio, &sizes, count)).unwrap();
            for (i, k) in sizes.iter().enumerate() {
                let word =
                    |l: usize, w: usize| made.iter().fold(0, |sum, made| sum ^ made[i].vector(0, l)[w]);
                for (p, party) in made.iter().enumerate() {
                    let next = &made[(p + 1) % 3][i];
                    assert!((0..count).all(|l| party[i].vector(1, l) == next.vector(0, l)));
                }
                for l in 0..count {
                    let vector: Vec<u64> = (0..words(*k)).map(|w| word(l, w)).collect();
                    let number = (0..*k)
                        .fold(0, |number, i| number | (vector[(1 << i) / 64] >> ((1 << i) % 64) & 1) << i);
                    for (w, bits) in vector.iter().enumerate() {
                        for b in 0..64.min(1 << k) {
                            let set = 64 * w as u64 + b;
                            assert_eq!(bits >> b & 1 == 1, set > 0 && number & set == set, "{k} {l} {set}");
                        }
                    }
                }
            }
        }
    }
}
