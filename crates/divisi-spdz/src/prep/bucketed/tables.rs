//! Unit vectors: Protocols 2 and 3 of KOR+17, whose products come from buckets.

use super::super::rows::{self, Rows};
use super::buckets;
use super::items::{Batch, Items, Leaky, rows_of};
use super::shape::Shape;
use super::{Bucketed, short};
use crate::checks;
use crate::demux::PIECE;
use crate::multiply::times;
use crate::part::{Mac, Shareable, Word32};
use crate::party::Party;
use crate::share::Auth;
use crate::source::Units;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Step, step};
use divisi_field::{BigField, Field, Gf2};
use divisi_ot::MacShares;
use zeroize::Zeroizing;

const DIFFERENCES: Step = step!("tables.d");
const MASKED: Step = step!("tables.p+v");
const DECOMPOSE: Step = step!("tables.bitdec");

/// The binary logarithm of the largest number of entries of a table.
const LARGEST: usize = 10;

/// About how many bits of vectors are made at once.
const BITS: usize = 1 << 18;

/// The largest numbers of tables whose items are put into buckets together, for tables of more than 64
/// entries and for smaller ones: those of 2,048 blocks of AES-128, and of 1,024 blocks of triple DES. For
/// both numbers buckets of three are enough, and more tables would not make buckets smaller. If a multiple of
/// these blocks is announced, no small lot is left over.
const TOGETHER: [usize; 2] = [327_680, 393_216];

/// The most bytes of the items of a lot, however many tables are announced.
const BYTES: usize = 600_000_000;

/// A lot whose items would take more bytes is reduced by this many tables at a time.
const LESS: usize = 1 << 14;

/// The stock for tables of 2^log entries: the combined products of buckets, each used once.
pub(super) struct Stock<F: Mac> {
    shape: Shape,
    items: Items<F>,
    /// The number of tables that were announced and not taken yet.
    pub foreseen: usize,
}

impl<F: Mac> Bucketed<F> {
    /// The stock for tables of 2^log entries.
    pub(super) fn stock(&mut self, log: usize) -> &mut Stock<F> {
        let at = self.stocks.iter().position(|stock| stock.shape.log == log);
        let at = at.unwrap_or_else(|| {
            self.stocks.push(Stock { shape: Shape::new(log), items: Items::default(), foreseen: 0 });
            self.stocks.len() - 1
        });
        &mut self.stocks[at]
    }

    /// Unit vectors: KOR+17, Protocol 3 on random bits s_0, .., s_(l-1) of which all but the first are the
    /// bits of products.
    ///
    /// Line 1: p = (1 + s_0, s_0). Line 2: for j = 1 .. l - 1, line 3: t = s_j p = z_j + D s_j, where D = p +
    /// v_j is opened; line 4: p = (p + t, t). So the p of the last line is v_(l-1) + D, whose bits are
    /// authenticated one by one already; lines 5 to 7: t alone is decomposed, with random bits r_k.
    ///
    /// Adversary: n - 1 malicious; the next check detects errors in the opened values \[K17\].
    /// Cost: 2^l - 2 + 2^(l-1) bits opened, 2^(l-1) + 1 random bits; l rounds.
    pub(super) fn unit_vectors(
        &mut self,
        party: &mut Party<F>,
        log: usize,
        lanes: usize,
    ) -> Result<Units<F>, Abort> {
        if !(1..=LARGEST).contains(&log) || lanes == 0 {
            return Err(short(party));
        }
        let items = self.items(party, log, lanes)?;
        let shape = &self.stock(log).shape.clone();
        // 1.
        let s_0 = self.rows.bits(party, lanes)?;
        party.session.observe_each(checks::K5, (log * lanes) as u64); // [K5]
        let mut s = s_0.clone();
        items.b.iter().for_each(|b| s.append(b));
        if log == 1 {
            let mut vector = s_0.clone();
            party.add_constant(&mut vector, Gf2::new(1))?;
            vector.append(&s_0);
            return Ok(Units { s, vector, lanes });
        }
        let mut first = word(&s_0);
        let upper = shifted(&first, 1);
        let fits = first.add(&upper);
        debug_assert!(fits);
        party.add_constant(&mut first, Word32(1))?;
        let mut p = vec![first];
        // 2.
        let mut last = (Vec::new(), Vec::new());
        for j in 0..shape.products() {
            // 3.
            let at = shape.pieces_of(j);
            party.session.observe_each(checks::K6, (at.len() * lanes) as u64); // [K6]
            let widths: Vec<usize> = shape.pieces[at.clone()].iter().map(|piece| piece.width).collect();
            let mut masked = p.clone();
            for (p, v) in masked.iter_mut().zip(&items.v[at.clone()]) {
                party.mask(p, v)?;
            }
            let d = party.open_pieces(MASKED, &masked, &widths)?;
            let mut t = items.z[at].to_vec();
            t.iter_mut().zip(&d).for_each(|(t, d)| sum(t, &times(d, &items.b[j])));
            // 4.
            if j + 1 == shape.products() {
                last = (d, t);
                break;
            }
            p.iter_mut().zip(&t).for_each(|(p, t)| sum(p, t));
            if 4 << j <= PIECE {
                p.iter_mut().zip(&t).for_each(|(p, t)| sum(p, &shifted(t, 2 << j)));
            } else {
                p.append(&mut t);
            }
        }
        // 5. to 7.
        let (d, t) = last;
        let upper = self.decomposed(party, &t, shape, lanes)?;
        let mut vector = Auth::<Gf2, F>::with_capacity(2 * upper.len());
        // the bits of the last v
        let of_last = &items.v[shape.pieces_of(shape.products() - 1)];
        let shares: Zeroizing<Vec<_>> = Zeroizing::new(of_last.iter().map(|v| v.x.to_vec()).collect());
        vector.x = bits_of(&shares, shape.half() / shares.len().max(1)).into();
        items.last.iter().for_each(|macs| vector.m.extend_from_slice(&macs.elements()));
        let public: Vec<Gf2> = bits_of(&d, shape.half() / d.len().max(1));
        party.add_public(&mut vector, &public)?;
        sum(&mut vector, &upper);
        vector.append(&upper);
        Ok(Units { s, vector, lanes })
    }

    /// BitDec of the pieces of the last t: all their bits, one after the other.
    fn decomposed(
        &mut self,
        party: &mut Party<F>,
        t: &[Auth<Word32, F>],
        shape: &Shape,
        lanes: usize,
    ) -> Result<Auth<Gf2, F>, Abort> {
        let width = shape.half() / t.len().max(1);
        let mut r = self.rows.bits(party, shape.half() * lanes)?;
        party.session.observe_each(checks::K5, r.len() as u64); // [K5]
        let mut masked = t.to_vec();
        for (i, piece) in masked.iter_mut().enumerate() {
            let planes = i * width * lanes..(i + 1) * width * lanes;
            party.mask(piece, &side_by_side(&r, planes, lanes))?;
        }
        let opened = party.open_pieces(DECOMPOSE, &masked, &vec![width; t.len()])?;
        party.add_public(&mut r, &bits_of(&opened, width))?;
        Ok(r)
    }

    /// The combined products of this many tables, each used once.
    fn items(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Items<F>, Abort> {
        let stock = self.stock(log);
        let mut items = Items::default();
        if stock.shape.products() == 0 {
            return Ok(items);
        }
        let wanted = stock.foreseen.max(lanes);
        stock.foreseen = stock.foreseen.saturating_sub(lanes);
        let mut missing = lanes;
        while missing > 0 {
            if self.stock(log).items.lanes() == 0 {
                let shape = self.stock(log).shape.clone();
                // memory of used items is freed before more are made
                self.stock(log).items = Items::default();
                let most = together::<F>(&shape, self.rows.config().rho);
                let buckets = lot(wanted.saturating_sub(lanes - missing), missing, most);
                self.stock(log).items = combined(&mut self.rows, party, &shape, buckets)?;
            }
            let there = &mut self.stock(log).items;
            let taken = there.pop(missing.min(there.lanes()));
            let taken = taken.ok_or_else(|| short(party))?;
            missing -= taken.lanes();
            items.append(&taken, lanes);
        }
        Ok(items)
    }
}

/// The most tables of a shape whose items are in buckets together.
fn together<F: Mac>(shape: &Shape, rho: u32) -> usize {
    let [most, small] = TOGETHER;
    let mut tables = if shape.log > 6 { most } else { small };
    while tables > LESS && bytes::<F>(shape, tables, rho) > BYTES {
        tables -= LESS;
    }
    tables.min(buckets::MOST)
}

/// The bytes of the items of this many tables: of first items and of others.
fn bytes<F: Mac>(shape: &Shape, tables: usize, rho: u32) -> usize {
    let others = buckets::size(tables, rho) - 1;
    tables * (Items::<F>::bytes(shape, true) + others * Items::<F>::bytes(shape, false))
}

/// How many tables are made now: as many as are foreseen, at least as many as are missing, and at most
/// `most`.
fn lot(foreseen: usize, missing: usize, most: usize) -> usize {
    foreseen.clamp(missing.min(most), most)
}

/// The products of this many tables, out of buckets (step 3 of [`super`]): b is the sum of the b_k of a
/// bucket, v is that of its first item, and z = z_1 + sum (z_k + D_k b_k), where D_k = v_1 + v_k is opened
/// \[K16\].
///
/// Cost: B items a table, and (B - 1) W bits.
fn combined<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    shape: &Shape,
    tables: usize,
) -> Result<Items<F>, Abort> {
    let size = buckets::size(tables, rows.config().rho);
    // whole tiles, so that planes can be added up as columns
    let lanes = (BITS / shape.bits()).next_multiple_of(MacShares::TILE);
    let counts = [(tables, true), (tables * (size - 1), false)];
    let batches: Vec<Batch> = counts
        .iter()
        .flat_map(|(count, first)| {
            let of = move |from| Batch { lanes: lanes.min(count - from), first: *first, all: *count };
            (0..*count).step_by(lanes).map(of)
        })
        .collect();
    let counts = batches.iter().map(|batch| rows_of::<F>(shape, batch.lanes));
    let mut leaky = Leaky { shape, ahead: batches.iter(), made: Default::default() };
    rows.batches(party, counts, &mut leaky)?;
    gathered(party, shape, leaky.made, [tables, size], lanes)
}

/// Puts items, the first ones of their buckets and the others, into buckets, and combines those of each;
/// `lanes` others are opened together.
fn gathered<F: Mac>(
    party: &mut Party<F>,
    shape: &Shape,
    [mut firsts, others]: [Items<F>; 2],
    [tables, size]: [usize; 2],
    lanes: usize,
) -> Result<Items<F>, Abort> {
    let partition = buckets::partition(party, tables, size)?;
    let widths: Vec<usize> = shape.pieces.iter().map(|piece| piece.width).collect();
    let pairs: Vec<[usize; 2]> = partition.pairs().map(|pair| pair.map(|t| t as usize)).collect();
    for (pairs, from) in pairs.chunks(lanes).zip((0..).step_by(lanes)) {
        // the pairs have the other items in order
        let here = from..from + pairs.len();
        let differences: Vec<Auth<Word32, F>> = firsts
            .v
            .iter()
            .zip(&others.v)
            .map(|(first, other)| {
                let mut d = other.part(here.clone());
                for ((x, m), [_, first_item]) in d.x.iter_mut().zip(&mut d.m).zip(pairs) {
                    *x += first.x[*first_item];
                    *m += first.m[*first_item];
                }
                d
            })
            .collect();
        let d = party.open_pieces(DIFFERENCES, &differences, &widths)?;
        for (j, (to, from)) in firsts.b.iter_mut().zip(&others.b).enumerate() {
            let b = from.part(here.clone());
            spread(to, &b, pairs);
            for at in shape.pieces_of(j) {
                let mut z = others.z[at].part(here.clone());
                sum(&mut z, &times(&d[at], &b));
                spread(&mut firsts.z[at], &z, pairs);
            }
        }
        buckets::relieve(party)?;
    }
    Ok(firsts)
}

/// Add each lane to the lane of its bucket's first item.
pub(super) fn spread<V: Shareable, F: Mac>(to: &mut Auth<V, F>, from: &Auth<V, F>, pairs: &[[usize; 2]]) {
    for ((x, m), [_, first]) in from.x.iter().zip(&from.m).zip(pairs) {
        to.x[*first] += *x;
        to.m[*first] += *m;
    }
}

/// Add `from` to `to`, which has as many lanes.
pub(super) fn sum<V: Shareable, F: Mac>(to: &mut Auth<V, F>, from: &Auth<V, F>) {
    let fits = to.add(from);
    debug_assert!(fits);
}

/// Bits that lie plane by plane as words, the first plane lowest: sum y^k r_k.
fn side_by_side<F: Mac>(r: &Auth<Gf2, F>, planes: std::ops::Range<usize>, lanes: usize) -> Auth<Word32, F> {
    let (mut words, mut m) = (WipedVec::<Word32>::zeros(lanes), WipedVec::zeros(lanes));
    let macs: Vec<&[F]> = r.m[planes.clone()].chunks_exact(lanes.max(1)).collect();
    for (k, bits) in r.x[planes].chunks_exact(lanes.max(1)).enumerate() {
        words.iter_mut().zip(bits).for_each(|(word, bit)| word.0 |= (bit.to_bits() as u32) << k);
    }
    F::combine(&mut m, &rows::powers(macs.len()), &macs);
    Auth::new(words, m)
}

/// Each bit as the lowest bit of a word.
fn word<F: Mac>(bits: &Auth<Gf2, F>) -> Auth<Word32, F> {
    Auth::new(bits.x.iter().map(|bit| Word32(bit.to_bits() as u32)).collect(), bits.m.clone())
}

/// Words moved up by this many bits: times y^`bits`.
fn shifted<F: Mac>(words: &Auth<Word32, F>, bits: usize) -> Auth<Word32, F> {
    let mut m = words.m.clone();
    <F as BigField>::scale(&mut m, F::from_low_bits(1 << bits));
    Auth::new(words.x.iter().map(|word| Word32(word.0 << bits)).collect(), m)
}

/// The lowest bits of opened words, piece by piece, bit by bit.
fn bits_of(words: &[Vec<Word32>], width: usize) -> Vec<Gf2> {
    let count: usize = words.iter().map(|words| words.len() * width).sum();
    let mut bits = Vec::with_capacity(count);
    for words in words {
        (0..width).for_each(|k| bits.extend(words.iter().map(|word| Gf2::new((word.0 >> k) as u8))));
    }
    bits
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
