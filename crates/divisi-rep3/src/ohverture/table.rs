//! Public tables, and one-hot vectors rotated to an index of them.

use super::make::words;
use crate::blackbox::Element;

/// The largest width of an index, in bits.
pub const MAX_BITS: usize = 16;

/// A public table of 2^k entries, k from 1 to 16.
pub struct LookupTable<G: Element> {
    pub(super) k: usize,
    /// How many low bits of the entries are used.
    pub(super) width: usize,
    /// The entries bit by bit: one plane for each bit.
    planes: Vec<Vec<u64>>,
    /// The digest of all entries, and of the field's width.
    digest: [u8; 32],
    entry: std::marker::PhantomData<G>,
}

impl<G: Element> LookupTable<G> {
    /// A table of these entries; `None` unless there are 2^k of them, k from 1 to 16.
    #[must_use]
    pub fn new(entries: &[G]) -> Option<LookupTable<G>> {
        let k = entries.len().trailing_zeros() as usize;
        if !entries.len().is_power_of_two() || !(1..=MAX_BITS).contains(&k) {
            return None;
        }
        let all = entries.iter().fold(0, |all, entry| all | entry.to_bits());
        let width = (128 - all.leading_zeros() as usize).max(1);
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 table v1");
        hasher.update(&(G::BITS as u64).to_le_bytes());
        let mut planes = vec![vec![0; words(k)]; width];
        for (j, entry) in entries.iter().enumerate() {
            hasher.update(&entry.to_bits().to_le_bytes());
            for (b, plane) in planes.iter_mut().enumerate() {
                plane[j / 64] |= ((entry.to_bits() >> b) as u64 & 1) << (j % 64);
            }
        }
        let digest = *hasher.finalize().as_bytes();
        Some(LookupTable { k, width, planes, digest, entry: std::marker::PhantomData })
    }

    /// The digest that stands for the table in a view.
    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The width of an index, in bits.
    #[must_use]
    pub fn index_bits(&self) -> usize {
        self.k
    }

    /// The width of an entry, in bits: what a resharing lookup sends for its result.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The sum of those entries of a row that are selected by the bits of `places`: row `row` of the table in
    /// rows of 2^low entries.
    pub(super) fn sum(&self, row: usize, low: usize, places: &[u64]) -> G {
        let at = row << low;
        let (first, shift) = (at / 64, at % 64);
        let mut sum = 0;
        for (b, plane) in self.planes.iter().enumerate() {
            let plane = &plane[first..first + places.len()];
            let ones =
                plane.iter().zip(places).fold(0, |ones, (plane, places)| ones ^ (plane >> shift & places));
            sum |= u128::from(ones.count_ones() & 1) << b;
        }
        G::from_low_bits(sum)
    }
}

/// For each i a word with ones at the places whose number has bit `i` zero.
pub(super) const WITHOUT: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// From the products of all sets to the entries of the vector: entry j is the sum of the products of all sets
/// that contain j, the empty set's being 1; `constant` says whether our component has that 1. Linear, and
/// thus the same on each component.
pub(super) fn entries(products: &[u64], k: usize, constant: bool, out: &mut Vec<u64>) {
    out.clear();
    out.extend_from_slice(products);
    out[0] |= u64::from(constant);
    for (i, without) in WITHOUT.iter().enumerate().take(k) {
        out.iter_mut().for_each(|word| *word ^= *word >> (1 << i) & without);
    }
    for i in 6..k {
        let step = 1 << (i - 6);
        for words in out.chunks_exact_mut(2 * step) {
            let (without, with) = words.split_at_mut(step);
            without.iter_mut().zip(with).for_each(|(x, y)| *x ^= *y);
        }
    }
}

/// Entry j goes to place j + c, for a public c below 2^k.
pub(super) fn turn(entries: &mut [u64], c: usize) {
    for (i, without) in WITHOUT.iter().enumerate().filter(|(i, _)| c >> i & 1 == 1) {
        let swap = |word: u64| (word & without) << (1 << i) | (word >> (1 << i) & without);
        entries.iter_mut().for_each(|word| *word = swap(*word));
    }
    for i in (6..usize::BITS as usize).filter(|i| c >> i & 1 == 1) {
        let step = 1 << (i - 6);
        for words in entries.chunks_exact_mut(2 * step) {
            let (without, with) = words.split_at_mut(step);
            without.swap_with_slice(with);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::{Field, Gf4, Gf64, Gf128};

    #[test]
    fn the_one_entry_of_a_turned_vector_finds_its_entry() {
        for k in 1..=9_usize {
            let table = LookupTable::new(&(0..1 << k).map(|i| Gf64(i * 77 + 3)).collect::<Vec<_>>()).unwrap();
            for r in 0..1_usize << k {
                let mut products = vec![0; words(k)];
                (1..1 << k)
                    .filter(|set| r & set == *set)
                    .for_each(|set| products[set / 64] |= 1 << (set % 64));
                let mut vector = Vec::new();
                entries(&products, k, true, &mut vector);
                let one = |vector: &[u64], j: usize| {
                    (0..1 << k).all(|i| (vector[i / 64] >> (i % 64) & 1 == 1) == (i == j))
                };
                assert!(one(&vector, r));
                let c = (r * 5 + 1) & ((1 << k) - 1);
                turn(&mut vector, c);
                assert!(one(&vector, r ^ c));
                assert_eq!(table.sum(0, k, &vector), Gf64((r ^ c) as u64 * 77 + 3));
            }
        }
    }

    #[test]
    fn tables_have_two_to_the_k_entries_and_their_width() {
        assert!(LookupTable::<Gf4>::new(&[]).is_none() && LookupTable::new(&[Gf4::ONE]).is_none());
        assert!(
            LookupTable::new(&[Gf4::ONE; 3]).is_none()
                && LookupTable::new(&vec![Gf4::ONE; 1 << 17]).is_none()
        );
        assert_eq!(LookupTable::new(&[Gf4::ZERO; 2]).unwrap().width(), 1);
        let wide = LookupTable::new(&[Gf128(1 << 100 | 5), Gf128(7)]).unwrap();
        assert_eq!((wide.width(), wide.index_bits()), (101, 1));
        assert_eq!([wide.sum(0, 1, &[1]), wide.sum(0, 1, &[2])], [Gf128(1 << 100 | 5), Gf128(7)]);
    }
}
