//! AES-TinyTable: the variant that KOR+17 leaves to future work (section 4.1), after Damgård, Nielsen,
//! Nielsen, Ranellucci (2017).
//!
//! Every wire x of a circuit has a mask s that nobody knows, and online all parties hold x + s: linear gates
//! are computed in the clear, without MACs. A lookup's table is that of a random r, and is made ahead, so
//! that tables do not depend on the circuit. When the circuit is known, e = s + r is opened for all lookups
//! in one round; online the public x + s + e is x + r, and the entry there is \[\[T(x)\]\], to which the
//! output wire's mask o is added before it is opened. (The text prints T(x + o) for the opened T(x) + o.)
//!
//! The cipher runs twice: once over masks, and once over public values.

use super::{AuthByte, Spdz};
use crate::checks;
use crate::part::Host;
use crate::share::Auth;
use crate::table::{self, LOG, Tables, bytes, gather};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Bytes, Direction, Lanes, Matrix, Misuse, Step, step};
use divisi_field::{BigField, Field, Gf8, gf8};
use std::ops::Range;

const INDICES: Step = step!("tinytable.e");
const ENTRIES: Step = step!("tinytable.entry");
const ENTER: Step = step!("tinytable.enter");
const SHAPE: Step = step!("tinytable");

/// A byte in every lane: in the run over masks its mask; in the run over values the public sum of value and
/// mask.
#[derive(Clone, Default)]
pub struct TinyByte<F: Host> {
    mask: AuthByte<F>,
    public: Vec<Gf8>,
}

/// The lookups of one layer.
struct Layer {
    direction: Direction,
    /// The index in `loads` of the load with the layer's tables, and their positions in it.
    load: usize,
    tables: Range<usize>,
}

/// An engine that evaluates one circuit.
pub struct Tiny<F: Host> {
    engine: Spdz<F>,
    /// Tables, in the order in which they were made.
    loads: Vec<(Direction, Tables<F>)>,
    layers: Vec<Layer>,
    /// Shares of s + r for each lookup in order, until they are opened.
    masked: AuthByte<F>,
    /// e = s + r for each lookup in order, once it is opened.
    e: Vec<Gf8>,
    /// The masks of the lookups' outputs.
    o: AuthByte<F>,
    /// The numbers of layers and lookups evaluated; `None` during the run over masks.
    done: Option<(usize, usize)>,
    /// The number of lookups that were announced and did not happen yet.
    foreseen: usize,
}

impl<F: Host> Lanes for TinyByte<F> {
    fn lanes(&self) -> usize {
        self.mask.len().max(self.public.len())
    }

    #[inline(never)]
    fn gather(&self, index: &[usize]) -> Option<Self> {
        let mask = if self.mask.is_empty() { AuthByte::default() } else { self.mask.gather(index)? };
        let public = index.iter().map(|i| self.public.get(*i).copied());
        let public = if self.public.is_empty() { Some(Vec::new()) } else { public.collect() };
        Some(TinyByte { mask, public: public? })
    }
}

impl<F: Host> Tiny<F> {
    /// An engine for one circuit, which first runs over masks.
    #[must_use]
    #[inline(never)]
    pub fn new(engine: Spdz<F>) -> Self {
        Tiny {
            engine,
            loads: Vec::new(),
            layers: Vec::new(),
            masked: AuthByte::default(),
            e: Vec::new(),
            o: AuthByte::default(),
            done: None,
            foreseen: 0,
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

    /// Turn shared bytes into inputs: random bits are the mask s, and x + s is opened, all in one round. Of
    /// each pair the first is the wire for the run over masks, the second that for the run over values.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn enter(&mut self, x: &[AuthByte<F>]) -> Result<Vec<[TinyByte<F>; 2]>, Abort> {
        let lanes: usize = x.iter().map(Auth::len).sum();
        let s = bytes(&self.engine.random_bits(LOG * lanes)?, lanes); // [K5]
        let (party, _) = self.engine.parts();
        let mut sum = AuthByte::with_capacity(lanes);
        x.iter().for_each(|x| sum.append(x));
        party.mask(&mut sum, &s)?;
        let opened = party.open(ENTER, &sum.x, &sum.m)?;
        let mut at = 0;
        let wire = |x: &AuthByte<F>| {
            let here = at..at + x.len();
            at = here.end;
            let public = opened.get(here.clone()).unwrap_or_default().to_vec();
            [Tiny::mask(s.part(here)), TinyByte { mask: AuthByte::default(), public }]
        };
        Ok(x.iter().map(wire).collect())
    }

    /// An input wire of the run over masks, with this mask.
    #[must_use]
    pub fn mask(mask: AuthByte<F>) -> TinyByte<F> {
        TinyByte { mask, public: Vec::new() }
    }

    /// An input wire of the run over values, with the public sum of its value and its mask.
    #[must_use]
    pub fn masked(public: &[u8]) -> TinyByte<F> {
        TinyByte { mask: AuthByte::default(), public: public.iter().copied().map(Gf8).collect() }
    }

    /// End the run over masks: open e = s + r of all lookups, in one round. The same circuit over public
    /// bytes has to follow.
    ///
    /// Adversary: n - 1 malicious; the next check covers all e \[K22\].
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
        self.e = self.engine.party.open(INDICES, &masked.x, &masked.m)?;
        self.engine.party.session.observe_each(checks::K22, self.e.len() as u64); // [K22]
        self.done = Some((0, 0));
        Ok(())
    }

    /// An output of both runs, as shares of the value, after the circuit was evaluated.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if some lookups were not evaluated, or if the two outputs are not those of one wire.
    #[inline(never)]
    pub fn output(&mut self, mask: TinyByte<F>, public: TinyByte<F>) -> Result<AuthByte<F>, Abort> {
        let complete = self.done.is_some_and(|(layers, _)| layers == self.layers.len());
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

    /// A layer in the run over masks: takes a table for each lookup, and draws a mask for its output.
    fn foresee_layer(&mut self, d: Direction, x: &mut [&mut TinyByte<F>]) -> Result<(), Abort> {
        let count = x.iter().map(|x| x.mask.len()).sum::<usize>();
        let fits = self.loads.last().is_some_and(|(of, tables)| *of == d && tables.left() >= count);
        if !fits {
            let tables = self.engine.tables(d, self.foreseen.max(count))?;
            self.loads.push((d, tables));
        }
        self.foreseen = self.foreseen.saturating_sub(count);
        let o = bytes(&self.engine.random_bits(LOG * count)?, count); // [K5]
        let (party, _) = self.engine.parts();
        party.session.observe_each(checks::K2, count as u64); // [K2]
        let load = self.loads.len().saturating_sub(1);
        let Some((_, tables)) = self.loads.last_mut() else { return Ok(()) };
        let range = tables.used..tables.used + count;
        tables.used = range.end;
        let mut masked = tables.s.part(range.clone());
        let mut at = 0;
        for x in x.iter_mut() {
            let lanes = at..at + x.mask.len();
            masked.x[lanes.clone()].iter_mut().zip(&x.mask.x).for_each(|(r, s)| *r += *s);
            <F as BigField>::add_assign(&mut masked.m[lanes.clone()], &x.mask.m);
            x.mask = o.part(lanes.clone());
            at = lanes.end;
        }
        self.masked.append(&masked);
        self.o.append(&o);
        self.layers.push(Layer { direction: d, load, tables: range });
        Ok(())
    }

    /// A layer in the run over values: opens entry x + r plus the mask of the output.
    ///
    /// Adversary: n - 1 malicious: a wrong entry fails the check before an output mask opens \[K3, K22\].
    /// Cost: 8 bits a lookup to each peer, one round (test `counts_of_aes_tinytable`).
    fn evaluate_layer(&mut self, d: Direction, x: &mut [&mut TinyByte<F>]) -> Result<(), Abort> {
        let count = x.iter().map(|x| x.public.len()).sum::<usize>();
        let next = self.done.and_then(|(layer, lookup)| Some((self.layers.get(layer)?, layer, lookup)));
        let Some((Layer { direction, load, tables }, layer, lookup)) = next else { return Err(self.unfit()) };
        if *direction != d || tables.len() != count {
            return Err(self.unfit());
        }
        let Some((_, loaded)) = self.loads.get(*load) else { return Err(self.unfit()) };
        let entries = &loaded.entries[tables.start * table::ENTRIES..tables.end * table::ENTRIES];
        let mut opened = self.o.part(lookup..lookup + count);
        let mut index = self.e[lookup..lookup + count].to_vec();
        let mut rest = index.as_mut_slice();
        for x in x.iter() {
            let (here, more) = rest.split_at_mut(x.public.len());
            gf8::add_scaled(here, &x.public, Gf8::ONE);
            rest = more;
        }
        let places = opened.x.iter_mut().zip(&mut opened.m);
        let mut found = WipedVec::<F::Entry>::zeros(count);
        gather::<_, 1>(entries, table::ENTRIES, index.iter().map(|index| index.0), &mut found);
        for (entry, (to, mac)) in found.iter().zip(places) {
            let (share, m) = F::parts(*entry);
            *to += share;
            *mac += m;
        }
        let party = &mut self.engine.party;
        party.session.observe_each(checks::K3, count as u64); // [K3]
        let sent = party.send_shares(ENTRIES, &opened.x)?;
        let values = party.receive(sent, &opened.m)?;
        self.done = Some((layer + 1, lookup + count));
        let mut values = values.into_iter();
        for x in x.iter_mut().flat_map(|x| x.public.iter_mut()) {
            *x = values.next().unwrap_or_default();
        }
        Ok(())
    }
}

impl<F: Host> Bytes for Tiny<F> {
    type Byte = TinyByte<F>;

    #[inline(never)]
    fn public(&mut self, values: &[u8]) -> TinyByte<F> {
        match self.done {
            None => Tiny::mask(Auth::zeros(values.len())),
            Some(_) => Tiny::masked(values),
        }
    }

    #[inline(never)]
    fn add(&mut self, x: &mut TinyByte<F>, y: &TinyByte<F>) -> Result<(), Abort> {
        if self.done.is_none() {
            return if x.mask.add(&y.mask) { Ok(()) } else { Err(self.unfit()) };
        }
        match y.public.as_slice() {
            [y] => x.public.iter_mut().for_each(|x| *x += *y),
            y if y.len() == x.public.len() => gf8::add_scaled(&mut x.public, y, Gf8::ONE),
            _ => return Err(self.unfit()),
        }
        Ok(())
    }

    #[inline(never)]
    fn add_public(&mut self, x: &mut TinyByte<F>, c: &[u8]) -> Result<(), Abort> {
        if c.len() != 1 && c.len() != x.lanes() {
            return Err(self.unfit());
        }
        x.public.iter_mut().zip(c.iter().cycle()).for_each(|(x, c)| x.0 ^= c);
        Ok(())
    }

    #[inline(never)]
    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [TinyByte<F>; N]) -> Result<(), Abort> {
        if self.done.is_none() {
            let mut masks = std::array::from_fn(|i| std::mem::take(&mut x[i].mask));
            self.engine.linear(m, &mut masks)?;
            x.iter_mut().zip(masks).for_each(|(x, mask)| x.mask = mask);
            return Ok(());
        }
        let lanes = x.first().map_or(0, Lanes::lanes);
        if x.iter().any(|x| x.public.len() != lanes) {
            return Err(self.unfit());
        }
        let y = m.0.map(|row| {
            let mut y = vec![Gf8::ZERO; lanes];
            for (c, x) in row.iter().zip(x.iter()) {
                gf8::add_scaled(&mut y, &x.public, Gf8(*c));
            }
            y
        });
        x.iter_mut().zip(y).for_each(|(x, y)| x.public = y);
        Ok(())
    }

    #[inline(never)]
    fn sbox(&mut self, d: Direction, x: &mut [&mut TinyByte<F>]) -> Result<(), Abort> {
        match self.done {
            None => self.foresee_layer(d, x),
            Some(_) => self.evaluate_layer(d, x),
        }
    }

    #[inline(never)]
    fn prepare(&mut self, layers: usize, bytes: usize, lanes: usize) -> Result<(), Abort> {
        if self.done.is_none() {
            let lookups = layers.saturating_mul(bytes).saturating_mul(lanes);
            self.foreseen = self.foreseen.saturating_add(lookups);
            // the masks of all outputs are drawn together, too
            self.engine.foresee_products(lookups.saturating_mul(LOG), 0);
        }
        Ok(())
    }

    #[inline(never)]
    fn join_bytes(&mut self, parts: &[&TinyByte<F>]) -> Result<TinyByte<F>, Abort> {
        let mut all = TinyByte { mask: AuthByte::default(), public: Vec::new() };
        for part in parts {
            all.mask.append(&part.mask);
            all.public.extend_from_slice(&part.public);
        }
        Ok(all)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
