//! Masked tables of functions of few bits, and the unit vectors that become such tables.

use super::{AuthBit, packed};
use crate::pages::Pages;
use crate::part::{Mac, Small};
use crate::share::Auth;
use crate::source::Units;
use crate::table::{LANES, gather, subsets, transform};
use divisi_core::Table;
use divisi_core::wipe::{self, WipedVec};
use divisi_field::{BigField, Field, Gf8};
use std::ops::Range;

/// Masked tables of each function that was looked up, and the unit vectors that become such tables.
#[derive(Default)]
pub(in crate::engine) struct Stocks<F: Mac> {
    all: Vec<Stock<F>>,
    pub(super) waiting: Vec<Waiting<F>>,
}

/// Unit vectors, and for each function in this order how many of them become its tables.
pub(super) struct Waiting<F: Mac> {
    pub units: Units<F>,
    pub of: Vec<(&'static Table, usize)>,
}

/// Masked tables of one function, used in order, each once.
pub(in crate::engine) struct Stock<F: Mac> {
    pub of: &'static Table,
    pub s: Auth<Small<6>, F>,
    /// Bit k of entry i of table t is at (2^index t + i) width + k.
    pub entries: Pages<F::Entry>,
    pub used: usize,
    /// The number of lookups that were announced and did not happen yet.
    pub foreseen: usize,
}

impl<F: Mac> Stocks<F> {
    /// Take the stock of a function, and leave an empty one.
    pub fn take(&mut self, table: &'static Table) -> Stock<F> {
        let stock = self.of(table);
        std::mem::replace(stock, Stock::empty(table))
    }

    pub fn of(&mut self, table: &'static Table) -> &mut Stock<F> {
        let at = self.all.iter().position(|stock| std::ptr::eq(stock.of, table)).unwrap_or(self.all.len());
        if at == self.all.len() {
            self.all.push(Stock::empty(table));
        }
        &mut self.all[at]
    }

    /// Wipe the stocks of functions all of whose tables are used, before memory for new tables is allocated.
    pub fn drop_used(&mut self) {
        for stock in self.all.iter_mut().filter(|stock| stock.left() == 0) {
            *stock = Stock { foreseen: stock.foreseen, ..Stock::empty(stock.of) };
        }
    }

    /// The functions with too few tables for these lookups, and how many tables to make for each: as many as
    /// were announced, and at least those that are missing now.
    pub fn lacking(&mut self, wanted: &[(&'static Table, usize)]) -> Vec<(&'static Table, usize)> {
        let lacks = |(table, count): &(&'static Table, usize)| {
            let stock = self.of(table);
            (stock.left() < *count).then(|| (*table, stock.foreseen.max(*count)))
        };
        wanted.iter().filter_map(lacks).collect()
    }
}

impl<F: Mac> Stock<F> {
    fn empty(of: &'static Table) -> Self {
        Stock { of, s: Auth::zeros(0), entries: Pages::default(), used: 0, foreseen: 0 }
    }

    /// The number of tables left.
    pub fn left(&self) -> usize {
        self.s.len() - self.used
    }

    /// The entries of these tables at public indices, one index for each table, all words of an entry
    /// together. Entries of one and of four words, which ciphers use, have loops of their own that the
    /// compiler unrolls.
    pub fn entries_at(
        &self,
        tables: Range<usize>,
        indices: impl ExactSizeIterator<Item = u8>,
    ) -> WipedVec<F::Entry> {
        let size = 1 << self.of.index;
        let words = self.entries.len() / self.s.len().max(1) / size;
        let of_all = &self.entries[tables.start * size * words..tables.end * size * words];
        let mut found = WipedVec::zeros(tables.len() * words);
        match words {
            1 => gather::<_, 1>(of_all, size, indices, &mut found),
            4 => gather::<_, 4>(of_all, size, indices, &mut found),
            _ => {
                let tables = of_all.chunks_exact(size * words.max(1)).zip(indices);
                for (to, (table, index)) in found.chunks_exact_mut(words.max(1)).zip(tables) {
                    to.copy_from_slice(&table[(usize::from(index) & (size - 1)) * words..][..words]);
                }
            }
        }
        found
    }

    /// Put the bits of each entry, which are opened together, under one MAC: one word for each entry.
    #[inline(never)]
    pub fn pack(&mut self) {
        let width = self.of.width;
        let mut packed = Pages::zeros(self.entries.len() / width.max(1));
        let powers: Vec<F> = (0..width).map(|k| F::from_low_bits(1 << k)).collect();
        let mut planes = vec![[F::ZERO; LANES]; width];
        let mut macs = [F::ZERO; LANES];
        for (entries, packed) in self.entries.chunks(LANES * width.max(1)).zip(packed.chunks_mut(LANES)) {
            let mut bits = [0_u8; LANES];
            let count = entries.len() / width.max(1);
            for (i, entry) in entries.chunks_exact(width.max(1)).enumerate() {
                for (k, entry) in entry.iter().enumerate() {
                    let (share, m) = F::parts(*entry);
                    bits[i] |= share.0 << k;
                    planes[k][i] = m;
                }
            }
            let rows: Vec<&[F]> = planes.iter().map(|plane| &plane[..]).collect();
            F::combine(&mut macs[..count], &powers, &rows);
            for (to, (x, m)) in packed.iter_mut().zip(bits.iter().zip(&macs)) {
                *to = F::entry(Gf8(*x), *m);
            }
            wipe::words(&mut bits);
        }
        planes.iter_mut().for_each(|plane| wipe::words(plane));
        wipe::words(&mut macs);
        self.entries = packed;
    }

    /// Protocol 2, line 3, for functions of few bits: each bit of the entries is a sum of entries of the unit
    /// vectors, so only additions are needed, at most 3^index for each bit of the value. `lanes` lanes of the
    /// units are used, from `from` on.
    #[inline(never)]
    pub fn fill(&mut self, units: &Units<F>, from: usize, lanes: usize) {
        let (size, width) = (1 << self.of.index, self.of.width);
        let mut form = self.of.values.to_vec();
        transform(&mut form, |x, y| *x ^= *y);
        // the old tables are wiped before memory for the new ones is allocated
        self.entries = Pages::default();
        self.entries = Pages::zeros(size * width * lanes);
        let mut macs = vec![[F::ZERO; LANES]; size];
        let mut bits = vec![[0_u8; LANES]; size];
        let mut out_macs = vec![[F::ZERO; LANES]; size];
        let mut out_bits = vec![[0_u8; LANES]; size];
        for (block, entries) in self.entries.chunks_mut(size * width * LANES).enumerate() {
            let count = entries.len() / (size * width);
            for (j, (macs, bits)) in macs.iter_mut().zip(&mut bits).enumerate() {
                let at = j * units.lanes + from + block * LANES;
                macs[..count].copy_from_slice(&units.vector.m[at..at + count]);
                let shares = &units.vector.x[at..at + count];
                bits.iter_mut().zip(shares).for_each(|(to, bit)| *to = bit.to_bits() as u8);
            }
            transform(&mut macs, |x, y| <F as BigField>::add_assign(x, y));
            transform(&mut bits, |x, y| x.iter_mut().zip(y).for_each(|(x, y)| *x ^= y));
            for k in 0..width {
                for w in 0..size {
                    (out_macs[w], out_bits[w]) = ([F::ZERO; LANES], [0; LANES]);
                    // the function is public
                    for u in subsets(w).filter(|u| form[*u] >> k & 1 == 1) {
                        <F as BigField>::add_assign(&mut out_macs[w], &macs[w ^ u]);
                        out_bits[w].iter_mut().zip(&bits[w ^ u]).for_each(|(x, y)| *x ^= y);
                    }
                }
                transform(&mut out_macs, |x, y| <F as BigField>::add_assign(x, y));
                transform(&mut out_bits, |x, y| x.iter_mut().zip(y).for_each(|(x, y)| *x ^= y));
                for (lane, table) in entries.chunks_mut(size * width).enumerate() {
                    for (i, entry) in table.chunks_mut(width).enumerate() {
                        entry[k] = F::entry(Gf8(out_bits[i][lane]), out_macs[i][lane]);
                    }
                }
            }
        }
        macs.iter_mut().chain(&mut out_macs).for_each(|row| wipe::words(row));
        bits.iter_mut().chain(&mut out_bits).for_each(|row| wipe::words(row));
        let planes: Vec<AuthBit<F>> = (0..self.of.index)
            .map(|k| units.s.part(k * units.lanes + from..k * units.lanes + from + lanes))
            .collect();
        self.s = packed::<F, 6>(&planes.iter().collect::<Vec<_>>(), lanes);
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::Gf48;

    /// Entries are found at their index, whatever number of words they have.
    #[test]
    fn entries_of_any_width_are_found() {
        static OF: Table = Table { index: 2, width: 1, values: &[0, 1, 1, 0] };
        for words in 1..=8 {
            let mut stock = Stock::<Gf48> { s: Auth::zeros(3), ..Stock::empty(&OF) };
            stock.entries = Pages::zeros(3 * 4 * words);
            for (i, entry) in stock.entries.iter_mut().enumerate() {
                *entry = Gf48::entry(Gf8(i as u8), Gf48::ZERO);
            }
            let found = stock.entries_at(1..3, [3, 1].into_iter());
            let found: Vec<usize> = found.iter().map(|entry| Gf48::parts(*entry).0.0.into()).collect();
            let expected: Vec<usize> =
                [4 + 3, 8 + 1].iter().flat_map(|at| at * words..(at + 1) * words).collect();
            assert_eq!(found, expected, "{words}");
        }
    }
}
