//! 3DES-LT: XOR of bits, and lookups of bits in masked tables (KOR+17, section 4.4).
//!
//! Each bit has a MAC of its own, because the permutations of DES move every bit separately. The bits of an
//! index are opened together, as coefficients of 1, y, y^2, ..: an element of the field whose MAC is the same
//! combination of their MACs.

mod stock;

use super::{LOAD_PHASE, PREPROCESSING_PHASE, Spdz, SpdzProtocol};
use crate::checks;
use crate::part::{Embeds, Host, Mac, Small};
use crate::share::Auth;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Lookup, LookupOnto, Lookups, Misuse, Step, Table, look_up_in_parts, step};
use divisi_field::{BigField, Field, Gf2};
use std::ops::Range;
use stock::Waiting;
pub(super) use stock::{Stock, Stocks};

const OPEN: Step = step!("lookup.bits.2");
const UNFIT: Step = step!("lookup.bits");

/// A secret bit in every lane.
pub type AuthBit<F> = Auth<Gf2, F>;

/// The largest number of bits of an index, and of a value.
const MOST: usize = 6;

/// Whether this engine can look up a table: its indices and values must have 1 to 6 bits.
pub(super) fn is_small(table: &Table) -> bool {
    let sizes = (1..=MOST).contains(&table.index) && (1..=MOST).contains(&table.width);
    sizes && table.values.len() == 1 << table.index
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
    /// Make and check unit vectors for this many lookups in each of these functions, before keys and inputs
    /// are known. [`Spdz::load_lookups`] makes tables of them, or the first lookup does.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn prepare_lookups(&mut self, lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        if lookups.iter().any(|(table, _)| !is_small(table)) {
            return Err(self.party.session.misuse(UNFIT, Misuse::CircuitUnfit));
        }
        self.load_lookups();
        let lacking = self.tables.lacking(lookups);
        self.make_units(&lacking)
    }

    /// Make tables of all unit vectors of [`Spdz::prepare_lookups`]; local. Tables of the same functions that
    /// are left from earlier calls are wiped.
    #[inline(never)]
    pub fn load_lookups(&mut self) {
        let phase = self.party.session.detour(LOAD_PHASE);
        for Waiting { units, of } in std::mem::take(&mut self.tables.waiting) {
            let mut from = 0;
            for (table, lanes) in of {
                self.tables.of(table).fill(&units, from, lanes);
                from += lanes;
            }
        }
        self.party.session.back(phase);
    }

    /// Make sure that there are tables for this many lookups in each function.
    #[inline(never)]
    pub(super) fn stock(&mut self, wanted: &[(&'static Table, usize)]) -> Result<(), Abort> {
        if self.tables.lacking(wanted).is_empty() {
            return Ok(());
        }
        self.load_lookups();
        let lacking = self.tables.lacking(wanted);
        self.make_units(&lacking)?;
        self.load_lookups();
        Ok(())
    }

    /// Make and check unit vectors for this many tables of each function, which wait to become tables.
    fn make_units(&mut self, lacking: &[(&'static Table, usize)]) -> Result<(), Abort> {
        self.tables.drop_used();
        for index in 1..=MOST {
            let of: Vec<_> = lacking.iter().filter(|(table, _)| table.index == index).copied().collect();
            let lanes = of.iter().map(|(_, lanes)| lanes).sum();
            if lanes == 0 {
                continue;
            }
            let phase = self.party.session.detour(PREPROCESSING_PHASE);
            let units = self.units(index, lanes);
            self.party.session.back(phase);
            self.tables.waiting.push(Waiting { units: units?, of });
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
        // this fails only in a session that has ended, in which nothing can be sent or settled any more
        let _ = self.party.add_public(&mut bit, &values);
        bit
    }

    #[inline(never)]
    fn add_bit(&mut self, x: &mut AuthBit<F>, y: &AuthBit<F>) -> Result<(), Abort> {
        if x.add(y) {
            return Ok(());
        }
        Err(self.party.session.misuse(UNFIT, Misuse::LanesDiffer))
    }

    #[inline(never)]
    fn look_up(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let fits = layer.iter().all(|Lookup { table, wires }| {
            wires.len() == table.index
                && wires.iter().all(|wire| wire.len() == wires[0].len())
                && is_small(table)
        });
        if !fits {
            return Err(self.party.session.misuse(UNFIT, Misuse::CountsDiffer));
        }
        match self.protocol {
            SpdzProtocol::Lookup => self.masked_lookups(layer),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => self.polynomials(layer),
            SpdzProtocol::Raw => self.raw(layer),
        }
    }

    /// With masked tables, the sums of an index are computed as part of its opening, and values are added
    /// directly to the state.
    #[inline(never)]
    fn look_up_onto(
        &mut self,
        layer: &[LookupOnto<'_, AuthBit<F>>],
        state: &mut [AuthBit<F>],
    ) -> Result<(), Abort> {
        if self.protocol != SpdzProtocol::Lookup {
            return look_up_in_parts(self, layer, state);
        }
        let fits = layer.iter().all(|LookupOnto { table, index, to }| {
            let lanes = index.first().map_or(0, |[bit, _]| bit.len());
            let of_index = index.iter().all(|[x, y]| x.len() == lanes && (y.len() == lanes || y.len() == 1));
            let of_value = to.iter().all(|place| state.get(*place).is_some_and(|bit| bit.len() == lanes));
            let widths = index.len() == table.index && to.len() == table.width;
            widths && of_index && of_value && is_small(table)
        });
        if !fits {
            return Err(self.party.session.misuse(UNFIT, Misuse::CircuitUnfit));
        }
        self.lookups_onto(layer, state)
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
    /// Protocol 1 on every lane of the lookups of [`Lookups::look_up`].
    fn masked_lookups(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let tables: Vec<_> = layer
            .iter()
            .map(|Lookup { table, wires }| (*table, wires.first().map_or(0, Lanes::lanes)))
            .collect();
        let mut scratch = scratch_for(&tables);
        let (places, opened) = self.open_indices(&tables, |at, h| {
            add_packed(h, layer[at].wires.iter(), &mut scratch);
        })?;
        // 3. the values go into the wires of the index, which have as many lanes
        let mut opened = opened.as_slice();
        for (Lookup { table, wires }, tables) in layer.iter_mut().zip(places) {
            let (here, rest) = opened.split_at(tables.len());
            opened = rest;
            wires.resize_with(table.width, || Auth::zeros(here.len()));
            let found = self.tables.of(table).entries_at(tables, here.iter().map(|h| h.bits()));
            for (k, wire) in wires.iter_mut().enumerate() {
                let lanes = wire.x.iter_mut().zip(&mut wire.m);
                for ((x, m), entry) in lanes.zip(found.chunks_exact(table.width)) {
                    let (share, mac) = F::parts(entry[k]);
                    (*x, *m) = (Gf2::new(share.0), mac);
                }
            }
        }
        Ok(())
    }

    /// Protocol 1 on every lane of the lookups of [`Lookups::look_up_onto`].
    fn lookups_onto(
        &mut self,
        layer: &[LookupOnto<'_, AuthBit<F>>],
        state: &mut [AuthBit<F>],
    ) -> Result<(), Abort> {
        let tables: Vec<_> = layer
            .iter()
            .map(|LookupOnto { table, index, .. }| (*table, index.first().map_or(0, |[bit, _]| bit.lanes())))
            .collect();
        let mut scratch = scratch_for(&tables);
        let (places, opened) = self.open_indices(&tables, |at, h| {
            let index = &layer[at].index;
            add_packed((&mut *h.0, &mut *h.1), index.iter().map(|[bit, _]| *bit), &mut scratch);
            add_packed(h, index.iter().map(|[_, other]| *other), &mut scratch);
        })?;
        // 3. the values are added to the state
        let mut opened = opened.as_slice();
        for (LookupOnto { table, to, .. }, tables) in layer.iter().zip(places) {
            let (here, rest) = opened.split_at(tables.len());
            opened = rest;
            let found = self.tables.of(table).entries_at(tables, here.iter().map(|h| h.bits()));
            for (k, place) in to.iter().enumerate() {
                let Some(bit) = state.get_mut(*place) else { continue };
                let lanes = bit.x.iter_mut().zip(&mut bit.m);
                for ((x, m), entry) in lanes.zip(found.chunks_exact(table.width)) {
                    let (share, mac) = F::parts(entry[k]);
                    *x += Gf2::new(share.0);
                    *m += mac;
                }
            }
        }
        Ok(())
    }

    /// Protocol 1 up to the opening, for lookups in these tables, each with this number of lanes. `add` gets
    /// the number of a lookup and the shares that are opened for it, to which it adds the shares of the
    /// index. Returns the positions of the tables that each lookup uses, and the opened values.
    ///
    /// 1. Take a masked table for each lookup, which no other lookup uses \[K2\]. 2. Open h = x + s, all bits
    ///    of an index together. 3. \[\[T(x)\]\] is entry h, bit by bit.
    ///
    /// Adversary: n - 1 malicious; a wrong h fails the next check \[K1\].
    /// Cost: 6 bits a lookup of DES to each peer, one round (test `counts_of_3des_lt`).
    fn open_indices(
        &mut self,
        tables: &[(&'static Table, usize)],
        mut add: impl FnMut(usize, Shares<'_, F>),
    ) -> Result<(Vec<Range<usize>>, Vec<Small<6>>), Abort> {
        let mut wanted: Vec<(&'static Table, usize)> = Vec::new();
        for (table, lanes) in tables {
            match wanted.iter_mut().find(|(of, _)| std::ptr::eq(*of, *table)) {
                Some((_, count)) => *count += lanes,
                None => wanted.push((table, *lanes)),
            }
        }
        self.stock(&wanted)?;
        // 1.
        let all = tables.iter().map(|(_, lanes)| lanes).sum();
        let (mut h, mut places) = (Auth::<Small<6>, F>::with_capacity(all), Vec::new());
        for (number, (table, lanes)) in tables.iter().enumerate() {
            let stock = self.tables.of(table);
            let from = stock.used;
            stock.used += lanes; // [K2]
            stock.foreseen = stock.foreseen.saturating_sub(*lanes);
            // 2. s, to which `add` adds x in place
            let at = h.len();
            h.extend(stock.s.view(from..from + lanes));
            add(number, (&mut h.x[at..], &mut h.m[at..]));
            places.push(from..from + lanes);
        }
        self.party.session.observe_each(checks::K2, h.len() as u64);
        let opened = self.party.open(OPEN, &h.x, &h.m)?;
        Ok((places, opened))
    }
}

/// Our shares of the values that are opened for the lanes of a lookup, and of their MACs.
type Shares<'a, F> = (&'a mut [Small<6>], &'a mut [F]);

/// Room for sums of MACs of the lookup with the most lanes.
fn scratch_for<F: Host>(tables: &[(&'static Table, usize)]) -> WipedVec<F> {
    WipedVec::zeros(tables.iter().map(|(_, lanes)| *lanes).max().unwrap_or(0))
}

/// Add \[\[sum of x_k y^k\]\] to x and m; local. Each bit has as many lanes as the sum, or one lane that
/// serves all of them. `scratch` has at least as many elements as the sum has lanes.
fn add_packed<'a, F: Host>(
    (x, m): Shares<'_, F>,
    bits: impl Iterator<Item = &'a AuthBit<F>>,
    scratch: &mut [F],
) {
    let lanes = x.len();
    let (mut rows, mut powers) = (Vec::<&[F]>::with_capacity(MOST), Vec::with_capacity(MOST));
    let mut of_all = Auth::<Small<6>, F>::zeros(1);
    for (k, bit) in bits.take(MOST).enumerate() {
        let (power, packed) = (F::from_low_bits(1 << k), |bit: &Gf2| Small::new((bit.to_bits() as u8) << k));
        if bit.len() == lanes {
            x.iter_mut().zip(&bit.x).for_each(|(x, bit)| *x += packed(bit));
            rows.push(&bit.m);
            powers.push(power);
        } else {
            // one lane, the same for all
            bit.x.iter().take(1).for_each(|x| of_all.x[0] += packed(x));
            bit.m.iter().take(1).for_each(|m| of_all.m[0] += power * *m);
        }
    }
    if rows.len() < MOST {
        x.iter_mut().for_each(|x| *x += of_all.x[0]);
        m.iter_mut().for_each(|m| *m += of_all.m[0]);
    }
    if !rows.is_empty() {
        let scratch = &mut scratch[..lanes];
        F::combine(scratch, &powers, &rows);
        <F as BigField>::add_assign(m, scratch);
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
