//! 3DES-TinyTable: does for bits what [`Tiny`](super::Tiny) does for bytes. The bits of an index are masked
//! together, and those of a table's value are opened together.

use super::Spdz;
use super::bits::{AuthBit, Stock, is_small, packed};
use crate::checks;
use crate::part::{Host, Small};
use crate::share::Auth;
use divisi_core::{Abort, Lanes, Lookup, Lookups, Misuse, Step, Table, step};
use divisi_field::{Field, Gf2};
use std::ops::Range;

const INDICES: Step = step!("tinytable.bits.e");
const ENTRIES: Step = step!("tinytable.bits.entry");
const ENTER: Step = step!("tinytable.bits.enter");
const SHAPE: Step = step!("tinytable.bits");

/// The largest number of bits of a value, which are opened together; an S-box of DES has this many.
const WIDTH: usize = 4;

/// A bit in every lane: in the run over masks its mask; in the run over values the public sum of value and
/// mask.
#[derive(Clone, Default)]
pub struct TinyBit<F: Host> {
    mask: AuthBit<F>,
    public: Vec<Gf2>,
}

/// One lookup in every lane.
struct Planned {
    table: &'static Table,
    /// The index in `loads` of the load with the lookup's tables, and their positions in it.
    load: usize,
    tables: Range<usize>,
}

/// An engine that evaluates one circuit of bits and lookups.
pub struct TinyBits<F: Host> {
    engine: Spdz<F>,
    loads: Vec<Stock<F>>,
    /// The lookups of each layer, in order.
    planned: Vec<Vec<Planned>>,
    /// Shares of s + r for each lookup in order, until they are opened.
    masked: Auth<Small<6>, F>,
    /// e = s + r for each lookup in order, once it is opened.
    e: Vec<Small<6>>,
    /// The masks of the lookups' outputs, packed as they are opened.
    o: Auth<Small<WIDTH>, F>,
    /// The numbers of layers and lookups evaluated; `None` during the run over masks.
    done: Option<(usize, usize)>,
}

impl<F: Host> Lanes for TinyBit<F> {
    fn lanes(&self) -> usize {
        self.mask.len().max(self.public.len())
    }

    #[inline(never)]
    fn gather(&self, index: &[usize]) -> Option<Self> {
        let mask = if self.mask.is_empty() { AuthBit::default() } else { self.mask.gather(index)? };
        let public = index.iter().map(|i| self.public.get(*i).copied());
        let public = if self.public.is_empty() { Some(Vec::new()) } else { public.collect() };
        Some(TinyBit { mask, public: public? })
    }
}

impl<F: Host> TinyBits<F> {
    /// An engine for one circuit, which first runs over masks.
    #[must_use]
    #[inline(never)]
    pub fn new(engine: Spdz<F>) -> Self {
        TinyBits {
            engine,
            loads: Vec::new(),
            planned: Vec::new(),
            masked: Auth::default(),
            e: Vec::new(),
            o: Auth::default(),
            done: None,
        }
    }

    /// The underlying engine.
    pub fn engine(&mut self) -> &mut Spdz<F> {
        &mut self.engine
    }

    /// The underlying engine, after the circuit was evaluated.
    #[must_use]
    #[inline(never)]
    pub fn into_engine(self) -> Spdz<F> {
        self.engine
    }

    /// Turn shared bits into inputs, as [`Tiny::enter`](super::Tiny::enter) does with bytes.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn enter(&mut self, x: &[AuthBit<F>]) -> Result<Vec<[TinyBit<F>; 2]>, Abort> {
        let lanes: usize = x.iter().map(Auth::len).sum();
        let s = self.engine.random_bits(lanes)?; // [K5]
        let (party, _) = self.engine.parts();
        let mut sum = AuthBit::with_capacity(lanes);
        x.iter().for_each(|x| sum.append(x));
        party.mask(&mut sum, &s)?;
        let opened = party.open(ENTER, &sum.x, &sum.m)?;
        let mut at = 0;
        let wire = |x: &AuthBit<F>| {
            let here = at..at + x.len();
            at = here.end;
            let public = opened.get(here.clone()).unwrap_or_default().to_vec();
            [TinyBits::mask(s.part(here)), TinyBits::masked(public)]
        };
        Ok(x.iter().map(wire).collect())
    }

    /// An input wire of the run over masks, with this mask.
    #[must_use]
    pub fn mask(mask: AuthBit<F>) -> TinyBit<F> {
        TinyBit { mask, public: Vec::new() }
    }

    /// An input wire of the run over values, with the public sum of its value and its mask.
    #[must_use]
    pub fn masked(public: Vec<Gf2>) -> TinyBit<F> {
        TinyBit { mask: AuthBit::default(), public }
    }

    /// End the run over masks: open e = s + r of all lookups, in one round \[K22\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] if it is called a second time, because tables, r and o may be used once; otherwise
    /// the abort that ends the session.
    #[inline(never)]
    pub fn open_indices(&mut self) -> Result<(), Abort> {
        if self.done.is_some() {
            return Err(self.engine.party.session.misuse(SHAPE, Misuse::UsedTwice));
        }
        let masked = std::mem::take(&mut self.masked);
        let party = &mut self.engine.party;
        self.e = party.open(INDICES, &masked.x, &masked.m)?;
        party.session.observe_each(checks::K22, self.e.len() as u64); // [K22]
        self.done = Some((0, 0));
        Ok(())
    }

    /// An output of both runs, as shares of the value, after the circuit was evaluated.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if some lookups were not evaluated, or if the two outputs are not those of one wire.
    #[inline(never)]
    pub fn output(&mut self, mask: TinyBit<F>, public: TinyBit<F>) -> Result<AuthBit<F>, Abort> {
        let complete = self.done.is_some_and(|(layers, _)| layers == self.planned.len());
        if !complete || mask.mask.len() != public.public.len() {
            return Err(self.engine.party.session.misuse(SHAPE, Misuse::NotComputed));
        }
        let mut out = mask.mask;
        self.engine.party.add_public(&mut out, &public.public)?;
        Ok(out)
    }

    fn unfit(&self) -> Abort {
        self.engine.party.session.misuse(SHAPE, Misuse::CircuitUnfit)
    }

    /// Make sure that the last load of each function has this many tables; if it does not, make a new load
    /// now.
    fn place(&mut self, wanted: &[(&'static Table, usize)]) -> Result<(), Abort> {
        let lacking: Vec<_> = wanted
            .iter()
            .filter(|(table, count)| {
                let last = self.loads.iter().rfind(|load| std::ptr::eq(load.of, *table));
                last.is_none_or(|load| load.left() < *count)
            })
            .copied()
            .collect();
        self.engine.stock(&lacking)?;
        for (table, _) in &lacking {
            let mut load = self.engine.tables.take(table);
            load.pack();
            self.loads.push(load);
        }
        Ok(())
    }

    fn plan_layer(&mut self, layer: &mut [Lookup<TinyBit<F>>]) -> Result<(), Abort> {
        let mut wanted: Vec<(&'static Table, usize)> = Vec::new();
        for Lookup { table, wires } in layer.iter() {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            match wanted.iter_mut().find(|(of, _)| std::ptr::eq(*of, *table)) {
                Some((_, count)) => *count += lanes,
                None => wanted.push((table, lanes)),
            }
        }
        self.place(&wanted)?;
        // one request for the masks of all outputs of the layer, at most
        let widths =
            layer.iter().map(|Lookup { table, wires }| table.width * wires.first().map_or(0, Lanes::lanes));
        let mut masks = self.engine.random_bits(widths.sum())?; // [K5]
        let mut planned = Vec::with_capacity(layer.len());
        for Lookup { table, wires } in layer.iter_mut() {
            let lanes = wires.first().map_or(0, Lanes::lanes);
            let Some(o) = masks.pop(table.width * lanes) else { return Err(self.unfit()) };
            self.engine.party.session.observe_each(checks::K2, lanes as u64); // [K2]
            let load = self.loads.iter().rposition(|load| std::ptr::eq(load.of, *table));
            let Some(load) = load else { return Err(self.unfit()) };
            let stock = &mut self.loads[load];
            let tables = stock.used..stock.used + lanes;
            stock.used = tables.end;
            let masks: Vec<&AuthBit<F>> = wires.iter().map(|wire| &wire.mask).collect();
            let mut masked: Auth<Small<6>, F> = packed(&masks, lanes);
            if !masked.add(&stock.s.part(tables.clone())) {
                return Err(self.unfit());
            }
            self.masked.append(&masked);
            let bits: Vec<AuthBit<F>> =
                (0..table.width).map(|k| o.part(k * lanes..(k + 1) * lanes)).collect();
            self.o.append(&packed(&bits.iter().collect::<Vec<_>>(), lanes));
            *wires = bits.into_iter().map(TinyBits::mask).collect();
            planned.push(Planned { table, load, tables });
        }
        self.planned.push(planned);
        Ok(())
    }

    /// Opens entry x + r of each lookup plus the mask of the output \[K3, K22\].
    ///
    /// Adversary: n - 1 malicious. Cost: 4 bits a lookup of DES to each peer, one round (test
    /// `counts_of_3des_tinytable`).
    fn evaluate_layer(&mut self, layer: &mut [Lookup<TinyBit<F>>]) -> Result<(), Abort> {
        let next = self.done.and_then(|(at, lookup)| Some((self.planned.get(at)?, at, lookup)));
        let Some((planned, at, from)) = next else { return Err(self.unfit()) };
        let matches = planned.len() == layer.len()
            && planned.iter().zip(layer.iter()).all(|(planned, Lookup { table, wires })| {
                std::ptr::eq(planned.table, *table)
                    && wires.iter().all(|wire| wire.public.len() == planned.tables.len())
            });
        if !matches {
            return Err(self.unfit());
        }
        let count: usize = planned.iter().map(|planned| planned.tables.len()).sum();
        let mut opened = self.o.part(from..from + count);
        let mut index: Vec<u8> = self.e[from..from + count].iter().map(|e| e.bits()).collect();
        let mut place = 0;
        for (Planned { load, tables, .. }, Lookup { wires, .. }) in planned.iter().zip(layer.iter()) {
            let here = place..place + tables.len();
            place = here.end;
            let index = &mut index[here.clone()];
            for (k, wire) in wires.iter().enumerate() {
                index.iter_mut().zip(&wire.public).for_each(|(index, x)| *index ^= (x.to_bits() as u8) << k);
            }
            let found = self.loads[*load].entries_at(tables.clone(), index.iter().copied());
            let places = opened.x[here.clone()].iter_mut().zip(&mut opened.m[here]);
            for ((x, mac), entry) in places.zip(found.iter()) {
                let (share, m) = F::parts(*entry);
                *x += Small::new(share.0);
                *mac += m;
            }
        }
        let party = &mut self.engine.party;
        party.session.observe_each(checks::K3, count as u64); // [K3]
        let values = party.open(ENTRIES, &opened.x, &opened.m)?;
        let mut values = values.as_slice();
        self.done = Some((at + 1, from + count));
        // the values go into the wires of the index, which have as many lanes
        for Lookup { table, wires } in layer.iter_mut() {
            let lanes = wires.first().map_or(0, |wire| wire.public.len());
            let (found, rest) = values.split_at(lanes.min(values.len()));
            values = rest;
            wires.resize_with(table.width, || TinyBits::masked(vec![Gf2::default(); lanes]));
            for (k, wire) in wires.iter_mut().enumerate() {
                wire.public.iter_mut().zip(found).for_each(|(x, value)| *x = Gf2::new(value.bits() >> k));
            }
        }
        Ok(())
    }
}

impl<F: Host> Lookups for TinyBits<F> {
    type Bit = TinyBit<F>;

    #[inline(never)]
    fn constant_bit(&mut self, values: &[bool]) -> TinyBit<F> {
        match self.done {
            None => TinyBits::mask(Auth::zeros(values.len())),
            Some(_) => TinyBits::masked(values.iter().map(|x| Gf2::new(u8::from(*x))).collect()),
        }
    }

    #[inline(never)]
    fn add_bit(&mut self, x: &mut TinyBit<F>, y: &TinyBit<F>) -> Result<(), Abort> {
        if self.done.is_none() {
            return if x.mask.add(&y.mask) { Ok(()) } else { Err(self.unfit()) };
        }
        match y.public.as_slice() {
            [y] => x.public.iter_mut().for_each(|x| *x += *y),
            y if y.len() == x.public.len() => x.public.iter_mut().zip(y).for_each(|(x, y)| *x += *y),
            _ => return Err(self.unfit()),
        }
        Ok(())
    }

    #[inline(never)]
    fn look_up(&mut self, layer: &mut [Lookup<TinyBit<F>>]) -> Result<(), Abort> {
        let fits = layer.iter().all(|Lookup { table, wires }| {
            let alike = wires.iter().all(|wire| wire.lanes() == wires[0].lanes());
            wires.len() == table.index && alike && is_small(table) && table.width <= WIDTH
        });
        match (fits, self.done) {
            (false, _) => Err(self.unfit()),
            (true, None) => self.plan_layer(layer),
            (true, Some(_)) => self.evaluate_layer(layer),
        }
    }

    #[inline(never)]
    fn foresee(&mut self, lookups: &[(&'static Table, usize)]) -> Result<(), Abort> {
        if self.done.is_some() {
            return Ok(());
        }
        // the masks of all outputs are drawn together, too
        let masks = lookups.iter().map(|(table, count)| table.width.saturating_mul(*count)).sum();
        self.engine.foresee_products(masks, 0);
        Lookups::foresee(&mut self.engine, lookups)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
