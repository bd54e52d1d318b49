//! 3DES-LT: XOR of bits, and lookups of bits in masked tables (KOR+17, section 4.4).
//!
//! Each bit has a MAC of its own, because the permutations of DES move every bit separately. The bits of an
//! index are opened together, as coefficients of 1, y, y^2, ..: an element of the field whose MAC is the same
//! combination of their MACs.

use super::{LOAD_PHASE, PREPROCESSING_PHASE, Spdz, SpdzProtocol};
use crate::part::{Embeds, Host, Mac, Small};
use crate::share::{Auth, Wiped};
use crate::source::Units;
use crate::table::{LANES, subsets, transform};
use divisi_core::{Abort, Check, Lanes, Lookup, Lookups, Step, Table, step};
use divisi_field::{BigField, Field, Gf2, Gf8};
use divisi_ot::wipe;
use std::ops::Range;

const OPEN: Step = step!("lookup.bits.2");
const UNFIT: Step = step!("lookup.bits");

/// A secret bit in every lane.
pub type AuthBit<F> = Auth<Gf2, F>;

/// The most bits of an index, and of a value.
const MOST: usize = 6;

/// Whether a table is one of those that this engine has.
pub(super) fn is_small(table: &Table) -> bool {
    let sizes = (1..=MOST).contains(&table.index) && (1..=MOST).contains(&table.width);
    sizes && table.values.len() == 1 << table.index
}

/// Masked tables of each function that was looked up.
#[derive(Default)]
pub(super) struct Stocks<F: Mac>(Vec<Stock<F>>);

/// Masked tables of one function, used in order, each once.
pub(super) struct Stock<F: Mac> {
    pub of: &'static Table,
    pub s: Auth<Small<6>, F>,
    /// Bit k of entry i of table t is at (2^index t + i) width + k.
    pub entries: Vec<F::Entry>,
    pub used: usize,
    /// The number of lookups that were announced and did not happen yet.
    foreseen: usize,
}

impl<F: Mac> Drop for Stock<F> {
    fn drop(&mut self) {
        wipe::words(&mut self.entries);
    }
}

impl<F: Mac> Stocks<F> {
    /// Take the stock of a table.
    pub fn take(&mut self, table: &'static Table) -> Stock<F> {
        let stock = self.of(table);
        std::mem::replace(stock, Stock::empty(table))
    }

    fn of(&mut self, table: &'static Table) -> &mut Stock<F> {
        let at = self.0.iter().position(|stock| std::ptr::eq(stock.of, table)).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(Stock::empty(table));
        }
        &mut self.0[at]
    }
}

impl<F: Mac> Stock<F> {
    fn empty(of: &'static Table) -> Self {
        Stock { of, s: Auth::zeros(0), entries: Vec::new(), used: 0, foreseen: 0 }
    }

    /// The number of tables left.
    pub fn left(&self) -> usize {
        self.s.len() - self.used
    }

    /// The entries of these tables at public indices, one index a table, all words of an entry together. They
    /// are copied to one place in a short loop, so that the processor fetches several distant entries at
    /// once.
    pub fn entries_at(
        &self,
        tables: Range<usize>,
        indices: impl ExactSizeIterator<Item = u8>,
    ) -> Wiped<F::Entry> {
        let size = 1 << self.of.index;
        let words = self.entries.len() / self.s.len().max(1) / size;
        let tables = self.entries[tables.start * size * words..tables.end * size * words]
            .chunks_exact(size * words.max(1));
        let mut found = Vec::with_capacity(tables.len() * words);
        for (table, index) in tables.zip(indices) {
            let from = usize::from(index) % size * words;
            found.extend_from_slice(&table[from..from + words]);
        }
        Wiped::new(found)
    }

    /// Put the bits of each entry under one MAC, in which they are opened together: one word an entry.
    #[inline(never)]
    pub fn pack(&mut self) {
        let width = self.of.width;
        let mut packed = Vec::with_capacity(self.entries.len() / width.max(1));
        let powers: Vec<F> = (0..width).map(|k| F::from_low_bits(1 << k)).collect();
        let mut planes = vec![[F::ZERO; LANES]; width];
        let mut macs = [F::ZERO; LANES];
        for entries in self.entries.chunks(LANES * width.max(1)) {
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
            packed.extend(bits.iter().zip(&macs).take(count).map(|(x, m)| F::entry(Gf8(*x), *m)));
            wipe::words(&mut bits);
        }
        planes.iter_mut().for_each(|plane| wipe::words(plane));
        wipe::words(&mut macs);
        wipe::words(&mut self.entries);
        self.entries = packed;
    }

    /// Protocol 2, line 3, for functions of few bits: each bit of the entries is a sum of entries of the unit
    /// vectors, so that all is additions, 3^index of them at most for each bit of the value. The lanes are
    /// those of the units from `from` on.
    #[inline(never)]
    fn fill(&mut self, units: &Units<F>, from: usize, lanes: usize) {
        let (size, width) = (1 << self.of.index, self.of.width);
        let mut form = self.of.values.to_vec();
        transform(&mut form, |x, y| *x ^= *y);
        wipe::words(&mut self.entries);
        self.entries.clear();
        self.entries.resize(size * width * lanes, F::Entry::default());
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

/// \[\[sum of x_k y^k\]\], local.
pub(super) fn packed<F: Mac + Embeds<Small<N>>, const N: usize>(
    bits: &[&AuthBit<F>],
    lanes: usize,
) -> Auth<Small<N>, F> {
    let mut out = Auth::<Small<N>, F>::zeros(lanes);
    for (k, bit) in bits.iter().enumerate() {
        out.x.iter_mut().zip(&bit.x).for_each(|(x, bit)| *x += Small::new((bit.to_bits() as u8) << k));
    }
    let powers: Vec<F> = (0..bits.len()).map(|k| F::from_low_bits(1 << k)).collect();
    let rows: Vec<&[F]> = bits.iter().map(|bit| bit.m.as_slice()).collect();
    F::combine(&mut out.m, &powers, &rows);
    out
}

impl<F: Host> Spdz<F> {
    /// Make masked tables of these functions ahead, with the number of each, before keys and inputs are
    /// known.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn prepare_lookups(&mut self, lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        if lookups.iter().any(|(table, _)| !is_small(table)) {
            return Err(self.party.session.misuse(UNFIT, "a table that this engine does not have"));
        }
        self.stock(lookups)
    }

    /// Make tables where there are too few for so many lookups in each function: as many as were foreseen.
    #[inline(never)]
    pub(super) fn stock(&mut self, wanted: &[(&'static Table, usize)]) -> Result<(), Abort> {
        let mut lacking = Vec::new();
        for (table, count) in wanted {
            let stock = self.tables.of(table);
            if stock.left() < *count {
                lacking.push((*table, stock.foreseen.max(*count)));
            }
        }
        for index in 1..=MOST {
            let these: Vec<_> = lacking.iter().filter(|(table, _)| table.index == index).collect();
            let lanes = these.iter().map(|(_, lanes)| lanes).sum();
            if lanes == 0 {
                continue;
            }
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let units = self.units(index, lanes);
            self.party.session.phase(LOAD_PHASE);
            let units = units.inspect(|units| {
                let mut from = 0;
                for (table, lanes) in these {
                    self.tables.of(table).fill(units, from, *lanes);
                    from += lanes;
                }
            });
            self.party.session.back(phase);
            units?;
        }
        Ok(())
    }
}

impl<F: Host> Lookups for Spdz<F> {
    type Bit = AuthBit<F>;

    #[inline(never)]
    fn constant_bit(&mut self, values: &[bool]) -> AuthBit<F> {
        let mut bit = Auth::zeros(values.len());
        let values: Vec<Gf2> = values.iter().map(|value| Gf2::new(u8::from(*value))).collect();
        // of a session that has ended nothing can be sent or settled
        let _ = self.party.add_public(&mut bit, &values);
        bit
    }

    #[inline(never)]
    fn add_bit(&mut self, x: &mut AuthBit<F>, y: &AuthBit<F>) -> Result<(), Abort> {
        if x.add(y) {
            return Ok(());
        }
        Err(self.party.session.misuse(UNFIT, "values that differ in lanes"))
    }

    #[inline(never)]
    fn look_up(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let fits = layer.iter().all(|Lookup { table, wires }| {
            wires.len() == table.index
                && wires.iter().all(|wire| wire.len() == wires[0].len())
                && is_small(table)
        });
        if !fits {
            return Err(self.party.session.misuse(UNFIT, "an index that is not one of its table"));
        }
        match self.protocol {
            SpdzProtocol::Lookup => self.masked_lookups(layer),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => self.polynomials(layer),
            SpdzProtocol::Raw => self.raw(layer),
        }
    }

    #[inline(never)]
    fn foresee(&mut self, lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        if self.protocol != SpdzProtocol::Lookup {
            // the tables' polynomials are public: they are computed and kept before the online phase, and a
            // table that has none is refused when it is looked up
            for (table, _) in lookups {
                if self.protocol == SpdzProtocol::Raw {
                    let _ = self.interpolated.find(table);
                } else {
                    let _ = self.polynomials.find(table);
                }
            }
            self.foresee_lookups(lookups.iter().map(|(_, count)| count).sum());
            return Ok(());
        }
        for (table, count) in lookups {
            let stock = self.tables.of(table);
            stock.foreseen = stock.foreseen.saturating_add(*count);
        }
        Ok(())
    }
}

impl<F: Host> Spdz<F> {
    /// Protocol 1 on every lane of all lookups.
    ///
    /// 1. A masked table for each, used once \[K2\]. 2. Open h = x + s, all bits of an index together. 3.
    ///    \[\[T(x)\]\] is entry h, bit by bit.
    ///
    /// Adversary: n - 1 malicious; a wrong h fails the next check \[K1\].
    /// Cost: 6 bits a lookup of DES to each peer, one round (test `counts_of_3des_lt`).
    fn masked_lookups(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let mut wanted: Vec<(&'static Table, usize)> = Vec::new();
        for Lookup { table, wires } in layer.iter() {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            match wanted.iter_mut().find(|(of, _)| std::ptr::eq(*of, *table)) {
                Some((_, count)) => *count += lanes,
                None => wanted.push((table, lanes)),
            }
        }
        self.stock(&wanted)?;
        // 1.
        let (mut h, mut places) = (Auth::<Small<6>, F>::zeros(0), Vec::with_capacity(layer.len()));
        let reuse = self.party.session.mutated(Check::K2);
        for Lookup { table, wires } in layer.iter() {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            let stock = self.tables.of(table);
            let from = stock.used;
            if !reuse {
                stock.used += lanes; // [K2]
            }
            stock.foreseen = stock.foreseen.saturating_sub(lanes);
            // 2.
            let mut x: Auth<Small<6>, F> = packed(&wires.iter().collect::<Vec<_>>(), lanes);
            self.party.mask(&mut x, &stock.s.part(from..from + lanes))?;
            h.append(&x);
            places.push(from..from + lanes);
        }
        self.party.session.observe_each(Check::K2, h.len() as u64);
        let opened = self.party.open(OPEN, &h.x, &h.m)?;
        let mut opened = opened.as_slice();
        // 3.
        for (Lookup { table, wires }, tables) in layer.iter_mut().zip(places) {
            let (here, rest) = opened.split_at(tables.len());
            opened = rest;
            let found = self.tables.of(table).entries_at(tables, here.iter().map(|h| h.bits()));
            let bit = |entry: &F::Entry| {
                let (share, m) = F::parts(*entry);
                (Gf2::new(share.0), m)
            };
            let plane = |k: usize| found.chunks_exact(table.width).map(|entry| bit(&entry[k])).unzip();
            *wires = (0..table.width).map(plane).map(|(x, m)| Auth::new(x, m)).collect();
        }
        Ok(())
    }
}
