//! Chains of additively shared layers: what the engine keeps so that Protocol 7 can invert their linear maps.
//!
//! After a layer of such S-boxes (lut256-additive) a byte is only an additive share. Everything until the
//! next layer is linear, so a byte is `sum of m_b y_b + k` for the outputs y_b of one layer, public m_b and a
//! replicated k: its [`Link`] keeps m and k. When all bytes of that layer come together again, in the next
//! layer or at [`divisi_core::Bytes::finish`], their replicated values x are known, and `y = M^-1 (x - k)`
//! (Protocol 7, line 6) completes the layer's records. This holds for the cipher and for its inverse alike;
//! nothing here knows which.
//!
//! A layer can be verified only if all its outputs come back together, in as many independent combinations: a
//! caller that drops or copies a byte in between gets [`Abort::Misuse`], at the next layer or when the
//! computation is settled.

use super::chains::Waiting;
use super::{Rep3, pack};
use crate::checks;
use crate::lookup::scratch;
use crate::record::Record;
use crate::sbox::chained::{self, Chained, Input, Side};
use crate::sbox::{shape_of, verify_sbox};
use crate::share::{Byte, Combination, Form, Link};
use divisi_core::{Abort, Bytes, Direction, Misuse, Step, step};
use divisi_field::{Field, Gf8, Plane};
use zeroize::Zeroizing;

const CHAIN: Step = step!("chain");
const FINISH: Step = step!("finish");

impl Rep3 {
    /// One layer of S-boxes that leave additive shares.
    pub(super) fn chain_layer(
        &mut self,
        direction: Direction,
        x: &mut [&mut Byte],
        sboxes: &dyn Chained,
        vectors: Option<&Record>,
    ) -> Result<(), Abort> {
        let input = match x.iter().filter(|byte| !byte.is_replicated()).count() {
            0 => Input::Replicated,
            n if n == x.len() => Input::Additive,
            _ => {
                return Err(self.trio.session.misuse(CHAIN, Misuse::ChainUnfinished));
            }
        };
        let side = Side { direction, constant: self.constant() };
        let records = self.records();
        let links: Vec<Link> = x.iter_mut().map(|byte| byte.take_link()).collect();
        let lanes: Vec<usize> = x.iter().map(|byte| byte.lanes).collect();
        let packed = pack::pack(x.iter().map(|byte| &**byte));
        let is_packed = packed.is_some();
        let (made, c) = match packed {
            Some(mut whole) => {
                let made = sboxes.layer(&mut self.trio, &mut [&mut whole], side, input, vectors, records)?;
                pack::unpack(&whole, x.iter_mut().map(|byte| &mut **byte));
                made
            }
            None => sboxes.layer(&mut self.trio, x, side, input, vectors, records)?,
        };
        if records && input == Input::Additive {
            let all = [lanes.iter().sum()];
            let widths = if is_packed { &all[..] } else { &lanes };
            let mut inputs = sboxes.inputs(&self.trio, vectors, &c, side.constant, widths)?;
            if is_packed {
                inputs = inputs.iter().flat_map(|whole| pack::apart(whole, x.len())).collect();
            }
            self.complete(links, inputs)?;
        }
        self.chains.layers += 1;
        if records {
            let layer = self.chains.layers;
            self.chains.waiting.push(Waiting { layer, bytes: x.len(), is_packed, side, made });
            let n = x.len();
            for (b, byte) in x.iter_mut().enumerate() {
                let row = (0..n).map(|i| if i == b { Gf8::ONE } else { Gf8::ZERO }).collect();
                byte.form = Form::Additive(Link(Some(Box::new(Combination { layer, row, offset: None }))));
            }
        } else {
            x.iter_mut().for_each(|byte| byte.form = Form::Additive(Link(None)));
        }
        if lanes.iter().any(|l| *l != lanes[0]) {
            // bytes with different numbers of lanes are never combined: nothing is gained by waiting
            return self.finish(x);
        }
        Ok(())
    }

    /// Protocol 7, line 8: the end of a chain, for those of the bytes that belong to one.
    pub(super) fn finish_chain(&mut self, x: &mut [&mut Byte]) -> Result<(), Abort> {
        let mut chain: Vec<&mut Byte> =
            x.iter_mut().map(|byte| &mut **byte).filter(|byte| !byte.is_replicated()).collect();
        if chain.is_empty() {
            return Ok(());
        }
        self.packed(&mut chain, |rep, x| rep.reshare_bytes(x))?;
        let links: Vec<Link> = chain.iter_mut().map(|byte| byte.take_link()).collect();
        if self.records() {
            self.trio.session.observe(checks::A19);
            let values = chain.iter().map(|byte| Byte::clone(byte)).collect();
            self.complete(links, values)?;
        }
        Ok(())
    }

    /// Reshare of the bytes' first components.
    fn reshare_bytes(&mut self, x: &mut [&mut Byte]) -> Result<(), Abort> {
        let shape = shape_of(x);
        let mut z = scratch::<8>(&shape);
        for (z, tile) in z.iter_mut().zip(x.iter().flat_map(|byte| byte.tiles.iter())) {
            *z = tile[0];
        }
        // [A19] re-randomised by F_zero
        let second = self.trio.reshare_chain(FINISH, &mut z, &shape)?;
        let tiles = x.iter_mut().flat_map(|byte| byte.tiles.iter_mut());
        for (tile, (first, second)) in tiles.zip(z.iter().zip(second.iter())) {
            *tile = [*first, *second];
        }
        Ok(())
    }

    /// Line 6: computes a layer's outputs from the replicated values of all bytes that were made of them, and
    /// completes its records.
    fn complete(&mut self, links: Vec<Link>, mut values: Vec<Byte>) -> Result<(), Abort> {
        let misuse = |rep: &Rep3, what| Err(rep.trio.session.misuse(CHAIN, what));
        let now = self.trio.origin();
        values.iter_mut().for_each(|value| value.origin = now);
        let mut rows = Vec::new();
        let mut layer = None;
        for (link, value) in links.into_iter().zip(&mut values) {
            let Some(origin) = link.0 else {
                return misuse(self, Misuse::ChainUnfinished);
            };
            if *layer.get_or_insert(origin.layer) != origin.layer {
                return misuse(self, Misuse::ChainUnfinished);
            }
            rows.extend(&origin.row);
            if let Some(k) = &origin.offset {
                self.add(value, k)?;
            }
        }
        let at = self.chains.waiting.iter().position(|waiting| Some(waiting.layer) == layer);
        let Some(at) = at else {
            return misuse(self, Misuse::UsedTwice);
        };
        let mut waiting = self.chains.waiting.swap_remove(at);
        if waiting.bytes != values.len() {
            return misuse(self, Misuse::ChainUnfinished);
        }
        let Some(inverse) = self.chains.inverse(rows, waiting.bytes) else {
            return misuse(self, Misuse::ChainUnfinished);
        };
        apply(&inverse, &mut values);
        if waiting.is_packed {
            let Some(whole) = pack::pack(values.iter()) else {
                return misuse(self, Misuse::LanesDiffer);
            };
            values = vec![whole];
        }
        chained::bind(&mut waiting.made, &values, waiting.side);
        if self.recorded(waiting.side.direction) {
            self.owed.made.push(Record::new(&verify_sbox::KIND, waiting.made));
        }
        Ok(())
    }
}

impl Byte {
    /// Take the link out; the byte then counts as replicated.
    pub(super) fn take_link(&mut self) -> Link {
        match std::mem::replace(&mut self.form, Form::Replicated) {
            Form::Additive(link) => link,
            Form::Replicated => Link(None),
        }
    }
}

/// What linear operations do to links. `add` adds replicated bytes of any fitting lanes.
impl Link {
    /// A replicated byte was added.
    pub(super) fn add_replicated(
        &mut self,
        y: &Byte,
        add: impl FnOnce(&mut Byte, &Byte) -> Result<(), Abort>,
    ) -> Result<(), Abort> {
        let Some(origin) = &mut self.0 else { return Ok(()) };
        match &mut origin.offset {
            None => origin.offset = Some(y.clone()),
            Some(k) if k.lanes == y.lanes || y.lanes == 1 => add(k, y)?,
            Some(k) => {
                let mut wide = y.clone();
                add(&mut wide, k)?;
                *k = wide;
            }
        }
        Ok(())
    }

    /// Another byte of the chain was added.
    pub(super) fn add_link(
        &mut self,
        other: &Link,
        add: impl FnOnce(&mut Byte, &Byte) -> Result<(), Abort>,
    ) -> Result<(), Abort> {
        match (&mut self.0, &other.0) {
            (Some(x), Some(y)) if x.layer == y.layer => {
                x.row.iter_mut().zip(&y.row).for_each(|(x, y)| *x += *y);
                if let Some(k) = &y.offset {
                    self.add_replicated(k, add)?;
                }
            }
            _ => self.0 = None,
        }
        Ok(())
    }

    /// The rows of `m` times these links.
    pub(super) fn combine<const N: usize>(
        m: &[[u8; N]; N],
        links: &[Link; N],
        mut linear: impl FnMut(&mut [Byte; N]) -> Result<(), Abort>,
        lanes: usize,
        now: crate::origin::Origin,
    ) -> Result<[Link; N], Abort> {
        let none = || std::array::from_fn(|_| Link(None));
        let origins = links.each_ref().map(|link| link.0.as_ref());
        let Some(first) = origins[0] else { return Ok(none()) };
        if origins.iter().any(|o| o.is_none_or(|o| o.layer != first.layer)) {
            return Ok(none());
        }
        let offsets = origins.map(|o| o.and_then(|o| o.offset.as_ref()));
        let offsets = if offsets.iter().any(Option::is_some) {
            // offsets of one lane serve all lanes; they stay so if all of them have one
            let wide = offsets.iter().flatten().any(|k| k.lanes != 1);
            let zero = Byte::zero(if wide { lanes } else { 1 }).of(now);
            let mut offsets = offsets.map(|k| k.map_or_else(|| zero.clone(), |k| k.spread(zero.lanes)));
            linear(&mut offsets)?;
            offsets.map(Some)
        } else {
            [const { None }; N]
        };
        let mut rows = m.iter().map(|m| {
            let mut row = vec![Gf8::ZERO; first.row.len()];
            for (m, origin) in m.iter().zip(origins.iter().flatten()) {
                row.iter_mut().zip(&origin.row).for_each(|(sum, x)| *sum += Gf8(*m) * *x);
            }
            row
        });
        Ok(offsets.map(|offset| {
            let row = rows.next().unwrap_or_default();
            Link(Some(Box::new(Combination { layer: first.layer, row, offset })))
        }))
    }
}

/// `x = m x` for a public square matrix of as many rows as there are bytes, on both components.
fn apply(m: &[Gf8], x: &mut [Byte]) {
    let n = x.len();
    let tiles = x.iter().map(|byte| byte.tiles.len()).min().unwrap_or(0);
    let mut out = Zeroizing::new(vec![[Plane::ZERO; 8]; n]);
    for t in 0..tiles {
        for c in 0..2 {
            out.fill([Plane::ZERO; 8]);
            divisi_field::kernel::run(chained::Apply { m, x, t, c, out: &mut out });
            for (byte, out) in x.iter_mut().zip(out.iter()) {
                byte.tiles[t][c] = *out;
            }
        }
    }
}
