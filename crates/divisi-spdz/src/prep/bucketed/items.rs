//! Leaky items of a batch: the products of tables, before they are proven and put into buckets.

use super::super::rows::{self, Batches, Rows};
use super::buckets;
use super::proof::Products;
use super::shape::Shape;
use crate::part::{Mac, Shareable, Word32};
use crate::party::Party;
use crate::share::Auth;
use divisi_core::Abort;
use divisi_core::wipe::WipedVec;
use divisi_field::{Field, Gf2};
use divisi_ot::correlate::{BitVectors, PreprocessedProducts};
use divisi_ot::{Checked, MacShares, WideShares};
use std::marker::PhantomData;
use zeroize::Zeroizing;

/// The products of tables, one table in each lane: bits b, vectors v, and z = b v.
#[derive(Default)]
pub(super) struct Items<F: Mac> {
    /// b of each product.
    pub b: Vec<Auth<Gf2, F>>,
    /// v of each piece.
    pub v: Vec<Auth<Word32, F>>,
    /// z of each piece.
    pub z: Vec<Auth<Word32, F>>,
    /// The MACs of the last vector's bits, bit by bit; only for the first items of buckets.
    pub last: Vec<Packed<F>>,
}

impl<F: Mac> Items<F> {
    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.b.first().map_or(0, Auth::len)
    }

    /// The bytes of a lane of this shape; if `firsts` is true, with the MACs of the last vector's bits.
    pub fn bytes(shape: &Shape, firsts: bool) -> usize {
        let bits = shape.products() * (size_of::<Gf2>() + size_of::<F>());
        let words = 2 * shape.pieces.len() * (size_of::<Word32>() + size_of::<F>());
        bits + words + if firsts { shape.half() * F::BYTES } else { 0 }
    }

    /// Append the lanes of `other`; an empty `self` first reserves memory for `capacity` lanes.
    pub fn append(&mut self, other: &Self, capacity: usize) {
        append(&mut self.b, &other.b, capacity);
        append(&mut self.v, &other.v, capacity);
        append(&mut self.z, &other.z, capacity);
        if self.last.is_empty() {
            self.last.resize_with(other.last.len(), || Packed::with_capacity(capacity));
        }
        self.last.iter_mut().zip(&other.last).for_each(|(to, from)| to.append(from));
    }

    /// Take off the last `lanes` lanes; `None` if there are fewer.
    pub fn pop(&mut self, lanes: usize) -> Option<Self> {
        Some(Items {
            b: pop(&mut self.b, lanes)?,
            v: pop(&mut self.v, lanes)?,
            z: pop(&mut self.z, lanes)?,
            last: self.last.iter_mut().map(|plane| plane.pop(lanes)).collect::<Option<_>>()?,
        })
    }
}

/// Elements, packed: each takes only as many bytes as its encoding has.
pub(super) struct Packed<F: Mac>(WipedVec<u8>, PhantomData<fn() -> F>);

impl<F: Mac> Packed<F> {
    fn with_capacity(count: usize) -> Self {
        Packed(WipedVec::with_capacity(count * F::BYTES), PhantomData)
    }

    fn of(values: &[F]) -> Self {
        let mut made = Packed::with_capacity(values.len());
        made.0.append_by(values.len() * F::BYTES, |bytes| F::pack(values, bytes));
        made
    }

    fn append(&mut self, other: &Self) {
        self.0.reserve(other.0.len());
        self.0.extend_from_slice(&other.0);
    }

    /// Take off the last `count` elements; `None` if there are fewer.
    fn pop(&mut self, count: usize) -> Option<Self> {
        let at = self.0.len().checked_sub(count * F::BYTES)?;
        let last = Packed(WipedVec::from(&self.0[at..]), PhantomData);
        self.0.cut(at);
        Some(last)
    }

    /// All elements, unpacked.
    pub fn elements(&self) -> WipedVec<F> {
        let element = |bytes| F::from_le_bytes(bytes).unwrap_or_default();
        self.0.chunks_exact(F::BYTES).map(element).collect()
    }
}

fn append<V: Shareable, F: Mac>(to: &mut Vec<Auth<V, F>>, from: &[Auth<V, F>], capacity: usize) {
    if to.is_empty() {
        to.resize_with(from.len(), || Auth::with_capacity(capacity));
    }
    to.iter_mut().zip(from).for_each(|(to, from)| to.append(from));
}

fn pop<V: Shareable, F: Mac>(of: &mut [Auth<V, F>], lanes: usize) -> Option<Vec<Auth<V, F>>> {
    of.iter_mut().map(|plane| plane.pop(lanes)).collect()
}

/// The numbers of wide and of narrow rows that a batch of this many lanes takes. Wide rows are for the bits
/// of products; narrow ones for the bits of vectors, and for the mask of the proof.
pub(super) fn rows_of<F: Mac>(shape: &Shape, lanes: usize) -> [usize; 2] {
    [shape.products() * lanes, shape.bits() * lanes + <F as Field>::BITS]
}

/// Leaky items that are made together.
pub(super) struct Batch {
    pub lanes: usize,
    /// Whether they are the first items of buckets.
    pub first: bool,
    /// The number of all first items, or of all others, in all batches.
    pub all: usize,
}

/// Steps 1 and 2 of [`super`], batch by batch.
pub(super) struct Leaky<'s, F: Mac> {
    pub shape: &'s Shape,
    /// The batches that are not sent yet.
    pub ahead: std::slice::Iter<'s, Batch>,
    /// The first items of buckets, and the others.
    pub made: [Items<F>; 2],
}

impl<'s, F: Mac> Batches<F> for Leaky<'s, F> {
    type Sent = (&'s Batch, Sent<F>);
    type Received = (&'s Batch, Received<F>);

    fn send(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        b: WideShares,
        v: MacShares,
    ) -> Result<Self::Sent, Abort> {
        let Some(batch) = self.ahead.next() else { return Err(super::short(party)) };
        Ok((batch, send(rows, party, self.shape, batch.lanes, batch.first, (b, v))?))
    }

    fn receive(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        (batch, sent): Self::Sent,
    ) -> Result<Self::Received, Abort> {
        Ok((batch, receive(rows, party, self.shape, sent)?))
    }

    fn prove(&mut self, party: &mut Party<F>, (batch, received): Self::Received) -> Result<(), Abort> {
        self.made[usize::from(!batch.first)].append(&prove(party, received)?, batch.all);
        buckets::relieve(party)
    }
}

/// Items of a batch whose payloads we have sent.
pub(super) struct Sent<F: Mac> {
    /// The items, whose z is not made yet.
    items: Items<F>,
    /// The mask of the proof.
    mask: Auth<F, F>,
    /// For each bit, its products with the pieces of its vector.
    products: Vec<PreprocessedProducts<Checked, BitVectors>>,
}

/// Items of a batch that are not proven yet.
pub(super) struct Received<F: Mac> {
    items: Items<F>,
    mask: Auth<F, F>,
}

/// Step 1 for a batch of this many lanes, up to sending our payloads, from its rows ([`rows_of`]). For
/// `firsts` the MACs of the last vector's bits are kept, bit by bit.
///
/// Cost for each lane: (log - 1)(f' + p') bits of wide rows, W f' of narrow ones and W + P f of payloads,
/// where f' = ceil(f / k) and p' = ceil(128 / k); for the batch f narrow rows, and two tiles of rows.
fn send<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    shape: &Shape,
    lanes: usize,
    firsts: bool,
    (mut b_rows, v_rows): (WideShares, MacShares),
) -> Result<Sent<F>, Abort> {
    let (n, f) = (shape.products(), <F as Field>::BITS);
    // bits q of all lanes come after bits q - 1 of all lanes; the bits of r come last
    let width = shape.bits() * lanes;
    let plane = |q: usize| q * lanes..(q + 1) * lanes;
    let mut items = Items::<F>::default();
    for j in 0..n {
        let at = plane(j);
        let macs = rows::macs(&b_rows.macs, at.clone());
        items.b.push(Auth::new(rows::shares(b_rows.macs.bits(), at), macs));
    }
    for piece in &shape.pieces {
        let planes = piece.from..piece.from + piece.width;
        items.v.push(rows::words_of(&v_rows, planes, lanes));
    }
    if firsts {
        for q in shape.bits() - shape.half()..shape.bits() {
            items.last.push(Packed::of(&rows::macs(&v_rows, plane(q))));
        }
    }
    let mut sent = Vec::with_capacity(n);
    for j in 0..n {
        let pieces = shape.pieces_of(j);
        let bits: usize = shape.pieces[pieces.clone()].iter().map(|piece| piece.width + f).sum();
        let payload = BitVectors { width: bits };
        let values = payloads(&items.v[pieces.clone()], &shape.pieces[pieces], bits, lanes);
        let mut pads = b_rows.pads.take(lanes).ok_or_else(|| super::short(party))?;
        let begun = rows.with(party, |session, setup| {
            setup.begin_correlate(session, &mut pads, None, payload, &values)
        })?;
        sent.push(begun);
    }
    Ok(Sent { items, mask: rows::elements_of(&v_rows, width), products: sent })
}

/// The rest of step 1, with all payloads of the batch.
fn receive<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    shape: &Shape,
    sent: Sent<F>,
) -> Result<Received<F>, Abort> {
    let Sent { mut items, mask, products: sent } = sent;
    for (j, begun) in sent.into_iter().enumerate() {
        let pieces = &shape.pieces[shape.pieces_of(j)];
        let bits = pieces.iter().map(|piece| piece.width + <F as Field>::BITS).sum();
        let shares = rows.with(party, |session, setup| setup.finish_correlate(session, begun))?;
        let lanes = items.lanes();
        items.z.extend(products(&shares, pieces, bits, lanes));
    }
    Ok(Received { items, mask })
}

/// Step 2 for a batch. Cost: f bits, and a coin.
fn prove<F: Mac>(party: &mut Party<F>, received: Received<F>) -> Result<Items<F>, Abort> {
    let Received { items, mask } = received;
    let mut all = Products::with_capacity(items.z.len() * items.lanes());
    for z in &items.z {
        all.extend(z.x.iter().map(|x| F::embedded(*x)), &z.m);
    }
    all.prove(party, &mask)?;
    Ok(items)
}

/// The payload of each lane: the bits of all pieces, then our shares of their MACs.
fn payloads<F: Mac>(
    v: &[Auth<Word32, F>],
    pieces: &[super::shape::Piece],
    bits: usize,
    lanes: usize,
) -> Zeroizing<Vec<u128>> {
    let words = bits.div_ceil(128);
    let mut out = Zeroizing::new(vec![0; words * lanes]);
    for (lane, out) in out.chunks_exact_mut(words).enumerate() {
        let mut at = 0;
        for (v, piece) in v.iter().zip(pieces) {
            put(out, &mut at, v.x[lane].0.into(), piece.width);
        }
        v.iter().for_each(|v| put(out, &mut at, v.m[lane].to_bits(), <F as Field>::BITS));
    }
    out
}

/// The inverse of [`payloads`]: our shares of the products of all pieces, and of their MACs.
fn products<F: Mac>(
    shares: &WipedVec<u128>,
    pieces: &[super::shape::Piece],
    bits: usize,
    lanes: usize,
) -> Vec<Auth<Word32, F>> {
    let words = bits.div_ceil(128);
    let mut z: Vec<_> = pieces.iter().map(|_| Auth::with_capacity(lanes)).collect();
    for all in shares.chunks_exact(words) {
        let mut at = 0;
        for (z, piece) in z.iter_mut().zip(pieces) {
            z.x.push(Word32(get(all, &mut at, piece.width) as u32));
        }
        for z in &mut z {
            z.m.push(F::from_low_bits(get(all, &mut at, <F as Field>::BITS)));
        }
    }
    z
}

/// Append a value of `bits` bits to packed words, at bit `at`.
pub(super) fn put(words: &mut [u128], at: &mut usize, value: u128, bits: usize) {
    let (word, shift) = (*at / 128, *at % 128);
    words[word] |= value << shift;
    if shift + bits > 128 {
        words[word + 1] |= value >> (128 - shift);
    }
    *at += bits;
}

/// Read a value that [`put`] wrote; the bits after it belong to the next value and are cut off.
pub(super) fn get(words: &[u128], at: &mut usize, bits: usize) -> u128 {
    let (word, shift) = (*at / 128, *at % 128);
    let mut value = words[word] >> shift;
    if shift + bits > 128 {
        value |= words[word + 1] << (128 - shift);
    }
    *at += bits;
    value & (u128::MAX >> (128 - bits))
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod batches;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got() {
        for width in [1, 2, 7, 32, 40, 48, 72, 128] {
            let mut words = vec![0; 12];
            let values: Vec<u128> = (1..=9_u128)
                .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> (128 - width))
                .collect();
            let mut at = 3;
            values.iter().for_each(|value| put(&mut words, &mut at, *value, width));
            let mut from = 3;
            assert!(values.iter().all(|value| get(&words, &mut from, width) == *value));
            assert_eq!((from, at), (3 + 9 * width, at));
        }
    }

    /// What masks a proof comes from rows of its own.
    #[cfg(feature = "testing")]
    #[test]
    fn masks_are_no_bits_of_vectors() {
        let (shape, lanes) = (Shape::new(3), 70);
        let rows = rows_of::<divisi_field::Gf48>(&shape, lanes);
        rows::tests::own_masks(rows, |rows, party, wide, narrow| {
            let sent = send(rows, party, &shape, lanes, true, (wide, narrow))?;
            let planes = sent.items.v.iter().zip(&shape.pieces).flat_map(|(v, piece)| {
                (0..piece.width).flat_map(move |k| v.x.iter().map(move |v| v.0 >> k & 1 == 1))
            });
            let bits = planes.collect();
            Ok((receive(rows, party, &shape, sent)?.mask, bits))
        });
    }
}
