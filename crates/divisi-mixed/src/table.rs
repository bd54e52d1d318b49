//! Tables of 2 to 256 entries in the Walsh basis, masked and looked up: the steps of GYKW's Figures 7 and 8
//! that need no messages.
//!
//! Let That\[k\] = sum over j of (-1)^<k,j> T\[j\] be the Walsh coefficients of a table T. The table T'\[j\]
//! = T\[r xor j\] has That'\[k\] = (-1)^<k,r> That\[k\]. So in this basis masking by r multiplies by signs,
//! each party by its own, and the transforms need no messages. Therefore (deviation D8) the bits <k,r> are
//! made ahead for all k but 0. Modulo 2 each party computes its share <k,r_i>; modulo p they are made like
//! random bits in both worlds ([`Mixed::prep_lut`](crate::Mixed::prep_lut)). The signs do not depend on the
//! table. So they serve public tables of any values. For a private table each That\[k\] is multiplied by its
//! sign with a triple. An entry that is a vector is several tables at one index, public or private, under one
//! mask.
//!
//! [`crate::prep_lut`] and [`crate::lut`] name the adversary, and what this costs.

use crate::bit::{Dense, GmwBit};
use crate::checks;
use crate::num::Num;
use crate::random::RandomBits;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Session, Step, step};
use divisi_field::zp::Modulus;

pub(crate) const INDEX: Step = step!("table.index");

/// The largest number of bits of an index.
pub const MOST: usize = 8;

/// Masks r of m bits and their signs, for a number of lookups among 2^m entries. Using them consumes them
/// \[G7\].
///
/// ```compile_fail,E0382
/// fn twice(mixed: &mut divisi_mixed::Mixed, x: &[divisi_mixed::GmwBit], signs: divisi_mixed::table::Signs) {
///     let first = mixed.lookup(&[&[0, 1]], x, signs);
///     let second = mixed.lookup(&[&[0, 1]], x, signs);
/// }
/// ```
/// One use compiles:
/// ```
/// fn once(mixed: &mut divisi_mixed::Mixed, x: &[divisi_mixed::GmwBit], signs: divisi_mixed::table::Signs) {
///     let first = mixed.lookup(&[&[0, 1]], x, signs);
/// }
/// ```
pub struct Signs {
    width: usize,
    /// For each lookup the bits <k,r>, for k from 1 on.
    bits: RandomBits,
}

impl Signs {
    pub(crate) fn new(width: usize, bits: RandomBits) -> Signs {
        Signs { width, bits }
    }

    /// How many bits <k,r> a lookup has.
    fn each(&self) -> usize {
        (1 << self.width) - 1
    }

    /// The number of lookups for which the signs suffice.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len() / self.each()
    }

    /// Whether the signs suffice for no lookup.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the signs for `count` lookups and returns them; `None` if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<Signs> {
        let bits = self.bits.take(count.checked_mul(self.each())?)?;
        Some(Signs { width: self.width, bits })
    }

    /// The number of bits of an index.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The indices under these masks; and the shares of <k,r> modulo p.
    pub(crate) fn mask(self, session: &Session, x: &[GmwBit]) -> Result<(Dense, WipedVec<u64>), Abort> {
        let (each, count) = (self.each(), self.len());
        let Signs { width, bits } = self;
        bits.admit(session, INDEX)?;
        let (modulo_2, numbers) = bits.open();
        // bit j of r is <2^j, r>
        let r = |lane: usize, j: usize| modulo_2.get(lane * each + (1 << j) - 1).copied().unwrap_or(0);
        Ok((masked_index(session, x, [width, count], r)?, numbers))
    }
}

/// The Walsh transform, in place: the sum of (-1)^<k,j> x\[j\] for every k. Applied twice, it multiplies by
/// the length.
pub(crate) fn walsh(p: Modulus, x: &mut [u64]) {
    let mut half = 1;
    while half < x.len() {
        for block in x.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (p.add(*low, *high), p.sub(*low, *high));
            }
        }
        half *= 2;
    }
}

/// Figure 8, step 1: u = x xor r of each of `count` indices, index by index. `r` is our share of a bit of a
/// lookup's mask: lookup first, then bit.
pub(crate) fn masked_index(
    session: &Session,
    x: &[GmwBit],
    [width, count]: [usize; 2],
    r: impl Fn(usize, usize) -> u64,
) -> Result<Dense, Abort> {
    x.iter().try_for_each(|bit| bit.admit(session, INDEX))?;
    if x.len() != width || x.iter().any(|bit| bit.lanes() != count) {
        return Err(session.misuse(INDEX, Misuse::CountsDiffer));
    }
    session.observe(checks::G7); // [G7]
    let mut masked = WipedVec::zeros(width * count);
    for (lane, masked) in masked.chunks_exact_mut(width).enumerate() {
        for (j, (masked, x)) in masked.iter_mut().zip(x).enumerate() {
            *masked = x.lane(lane) ^ r(lane, j);
        }
    }
    let packed = GmwBit::of(masked.iter().copied());
    Ok(Dense::of(packed.words().to_vec(), masked.len()))
}

/// The opened indices as numbers.
pub(crate) fn indices(u: &Dense, width: usize) -> Vec<usize> {
    let bit = |i: usize| (u.words().get(i / 64).map_or(0, |word| word >> (i % 64)) & 1) as usize;
    let number = |at: usize| (0..width).rev().fold(0, |number, j| number << 1 | bit(at * width + j));
    (0..u.len() / width.max(1)).map(number).collect()
}

/// Step 3: our share of T'\[u\] = 2^-m sum of (-1)^<k,u> That'\[k\], from our shares of That' and a public u.
pub(crate) fn entry(p: Modulus, scale: u64, hat: impl Iterator<Item = u64>, u: usize) -> u64 {
    // k and u are public, so this branch reveals nothing
    let sum = (0_usize..).zip(hat).fold(0, |sum, (k, term)| {
        if (k & u).count_ones() & 1 == 1 { p.sub(sum, term) } else { p.add(sum, term) }
    });
    p.mul(sum, scale)
}

/// Step 3 of case 1, for each table: That'\[k\] = That\[k\] (1 - 2 <k,r>).
pub(crate) fn entries(
    session: &Session,
    p: Modulus,
    tables: &[&[u64]],
    u: &[usize],
    numbers: &[u64],
) -> Vec<Num> {
    let own = u64::from(session.me().index() == 0);
    let mut all = Vec::with_capacity(tables.len());
    for table in tables {
        let (scale, each) = (p.invert(table.len() as u64), table.len() - 1);
        let mut hat = table.to_vec();
        walsh(p, &mut hat);
        let mut out = WipedVec::zeros(u.len());
        for ((out, bits), u) in out.iter_mut().zip(numbers.chunks_exact(each)).zip(u) {
            let signs = std::iter::once(own).chain(bits.iter().map(|bit| p.sub(own, p.add(*bit, *bit))));
            *out = entry(p, scale, signs.zip(&hat).map(|(sign, hat)| p.mul(sign, *hat)), *u);
        }
        all.push(Num::new(out).made(session));
    }
    all
}

/// Private tables that wait for the products of their entries in the Walsh basis and the signs.
pub(crate) struct Private {
    width: usize,
    /// For each number of an entry our shares of That, table by table.
    hat: Vec<WipedVec<u64>>,
    /// Our shares of the signs, k from 1 on.
    signs: Num,
}

impl Private {
    pub(crate) fn new(p: Modulus, first: bool, width: usize, tables: &[Num], numbers: &[u64]) -> Private {
        let hat = tables.iter().map(|tables| {
            let mut hat = WipedVec::from(tables.shares());
            hat.chunks_exact_mut(1 << width).for_each(|table| walsh(p, table));
            hat
        });
        // the sign of a bit b is 1 - 2 b
        let mut signs = WipedVec::zeros(numbers.len());
        let sign = |bit: &u64| p.sub(u64::from(first), p.add(*bit, *bit));
        signs.iter_mut().zip(numbers).for_each(|(sign_of, bit)| *sign_of = sign(bit));
        Private { width, hat: hat.collect(), signs: Num::new(signs) }
    }

    /// How many products these tables take.
    pub(crate) fn products(&self) -> usize {
        self.hat.len() * self.signs.lanes()
    }

    /// The factors of all products: the signs, repeated for each number of an entry; and the coefficients
    /// That\[k\].
    pub(crate) fn factors(&self) -> [Num; 2] {
        let mut entries = WipedVec::zeros(self.products());
        let tables = self.hat.iter().flat_map(|hat| hat.chunks_exact(1 << self.width));
        let terms = tables.flat_map(|table| table.iter().skip(1));
        entries.iter_mut().zip(terms).for_each(|(entry, term)| *entry = *term);
        [Num::join(&vec![&self.signs; self.hat.len()]), Num::new(entries)]
    }

    /// Step 3 of case 2, from the products: a value for each number of an entry.
    pub(crate) fn entries(&self, session: &Session, p: Modulus, u: &[usize], products: &Num) -> Vec<Num> {
        let scale = p.invert(1 << self.width);
        let of_word = products.shares().chunks_exact(self.signs.lanes().max(1));
        let of = |(hat, products): (&WipedVec<u64>, &[u64])| {
            let mut out = WipedVec::zeros(u.len());
            let tables = hat.chunks_exact(1 << self.width).zip(products.chunks_exact((1 << self.width) - 1));
            for ((out, (hat, products)), u) in out.iter_mut().zip(tables).zip(u) {
                *out = entry(p, scale, hat.iter().take(1).chain(products).copied(), *u);
            }
            Num::new(out).made(session)
        };
        self.hat.iter().zip(of_word).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::zp::P32;

    /// Masking a table by r multiplies its Walsh coefficients by signs, for indices of up to eight bits.
    #[test]
    fn signs_permute_in_the_walsh_basis() {
        let p = Modulus::new(P32).unwrap();
        for m in 1..=MOST {
            let table: Vec<u64> =
                (0..1_u64 << m).map(|j| (j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % P32).collect();
            for r in [0, 1, (1 << m) - 1, 0xa5 & ((1 << m) - 1)] {
                let mut hat = table.clone();
                walsh(p, &mut hat);
                for (k, hat) in hat.iter_mut().enumerate() {
                    *hat = if (k & r).count_ones() & 1 == 1 { p.neg(*hat) } else { *hat };
                }
                walsh(p, &mut hat);
                let scale = p.invert(1 << m);
                assert!((0..1 << m).all(|j| p.mul(hat[j], scale) == table[r ^ j]), "{m} {r}");
            }
        }
    }
}
