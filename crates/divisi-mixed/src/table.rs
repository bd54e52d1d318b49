//! Lookups in tables of 2 to 256 entries: GYKW, Figures 7 and 8, in the Walsh basis.
//!
//! Let That\[k\] = sum over j of (-1)^<k,j> T\[j\] be the Walsh coefficients of a table T. The table T'\[j\]
//! = T\[r xor j\] has That'\[k\] = (-1)^<k,r> That\[k\]. So in this basis masking by r multiplies by signs,
//! each party by its own, and the transforms need no messages. Therefore (deviation D8) the bits <k,r> are
//! made ahead for all k but 0. Modulo 2 each party computes its share <k,r_i>; modulo p they are made like
//! random bits in both worlds ([`crate::bits`], [`crate::cot`]). The signs do not depend on the table. So
//! they serve public tables of any values, also of vectors (one index, several tables). For a private table
//! each That\[k\] is multiplied by its sign with a triple.
//!
//! Adversary: semi-honest, all parties but one. The opened u = x xor r is uniform, because r is uniform and
//! used once \[G7\]. Cost of a lookup among M entries: M - 1 bits in both worlds. For private tables also M -
//! 1 triples for each word of the entry, and one opening more. Online m bits to one party and back, two
//! rounds (test `lookups_of_all_sizes`).

use crate::bit::{Dense, GmwBit};
use crate::bits::RandomBits;
use crate::checks;
use crate::cot;
use crate::gmw::PREPROCESSING;
use crate::mixed::Mixed;
use crate::num::Num;
use divisi_bgv::hidden::Hidden;
use divisi_core::{Abort, Lanes, Session, Step, step};
use divisi_field::zp::Modulus;
use zeroize::Zeroizing;

pub(crate) const INDEX: Step = step!("table.index");
const SIGNS: Step = step!("table.signs");

/// The largest number of bits of an index.
pub const MOST: usize = 8;

/// Masks r of m bits and their signs, for a number of lookups among 2^m entries. Using them consumes them
/// \[G7\].
///
/// ```compile_fail,E0382
/// fn twice(mixed: &mut divisi_mixed::Mixed, x: &[divisi_mixed::GmwBit], signs: divisi_mixed::table::Signs) {
///     let first = mixed.look_up(&[&[0, 1]], x, signs);
///     let second = mixed.look_up(&[&[0, 1]], x, signs);
/// }
/// ```
pub struct Signs {
    width: usize,
    count: usize,
    /// For each lookup the bits <k,r>, for k from 1 on.
    bits: RandomBits,
}

impl Signs {
    /// The number of lookups for which the signs suffice.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the signs suffice for no lookup.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bits of an index.
    pub(crate) fn width(&self) -> usize {
        self.width
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

impl Mixed {
    /// Figure 7, steps 1 to 4, for all tables of 2^width entries: makes masks and signs for `count` lookups.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if `width` is not 1 to 8, or `count` is zero; the abort that ends the session.
    pub fn signs(&mut self, width: usize, count: usize) -> Result<Signs, Abort> {
        if !(1..=MOST).contains(&width) || count == 0 {
            return Err(self
                .session()
                .misuse(SIGNS, "an index of no bits or of more than eight, or no lookup"));
        }
        let each = (1 << width) - 1;
        // by ciphertexts: as many lookups together as fit the slots of one
        let whole = self.together();
        let most = cot::most(self.session().parties());
        let batch = whole.map_or(most / each, |slots| slots / each).max(1);
        let mut all = RandomBits::default();
        for first in (0..count).step_by(batch) {
            let here = batch.min(count - first);
            let mut drawn = Zeroizing::new(vec![0; here]);
            self.own().words(&mut drawn);
            let mut bits = Hidden::zeros(whole.unwrap_or(here * each));
            // unused slots get random signs, because the bounds on noise assume random signs
            self.own().words(&mut bits);
            bits.iter_mut().for_each(|bit| *bit &= 1);
            for (bits, r) in bits.chunks_mut(each).zip(drawn.iter()) {
                for (bit, k) in bits.iter_mut().zip(1_u64..) {
                    *bit = u64::from((k & r).count_ones() & 1);
                }
            }
            // 3. and 4. shares modulo p of the same bits
            all.append(self.share_bits(bits)?.first(here * each));
        }
        Ok(Signs { width, count, bits: all })
    }

    /// [`Mixed::signs`], with costs counted as preprocessing.
    ///
    /// # Errors
    /// As [`Mixed::signs`].
    pub fn signs_ahead(&mut self, width: usize, count: usize) -> Result<Signs, Abort> {
        let place = self.session().detour(PREPROCESSING);
        let made = self.signs(width, count);
        self.session().back(place);
        made
    }
}

/// Figure 8, step 1: u = x xor r of every index, index by index; and the shares of <k,r> modulo p.
pub(crate) fn masked_index(
    session: &Session,
    x: &[GmwBit],
    signs: Signs,
) -> Result<(Dense, Hidden<u64>), Abort> {
    let Signs { width, count, bits } = signs;
    x.iter().try_for_each(|bit| bit.admit(session, INDEX))?;
    bits.admit(session, INDEX)?;
    if x.len() != width || x.iter().any(|bit| bit.lanes() != count) {
        return Err(session.misuse(INDEX, "an index whose bits or lanes are not those of the signs"));
    }
    session.observe(checks::G7); // [G7]
    let each = (1 << width) - 1;
    let (modulo_2, numbers) = bits.open();
    let mut masked = Hidden::zeros(width * count);
    for (lane, (masked, bits)) in masked.chunks_exact_mut(width).zip(modulo_2.chunks_exact(each)).enumerate()
    {
        for (j, (masked, x)) in masked.iter_mut().zip(x).enumerate() {
            // bit j of r is <2^j, r>
            *masked = x.lane(lane) ^ bits.get((1 << j) - 1).copied().unwrap_or(0);
        }
    }
    let packed = GmwBit::of(masked.iter().copied());
    Ok((Dense::of(packed.words().to_vec(), masked.len()), numbers))
}

/// The opened indices as numbers.
pub(crate) fn indices(u: &Dense, width: usize) -> Vec<usize> {
    let bit = |i: usize| (u.words().get(i / 64).map_or(0, |word| word >> (i % 64)) & 1) as usize;
    let number = |at: usize| (0..width).rev().fold(0, |number, j| number << 1 | bit(at * width + j));
    (0..u.len() / width.max(1)).map(number).collect()
}

/// Step 2 of case 1: T'\[u\] = 2^-m sum of (-1)^<k,u> That\[k\] (1 - 2 <k,r>), of each table.
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
        let mut out = Hidden::zeros(u.len());
        for ((out, bits), u) in out.iter_mut().zip(numbers.chunks_exact(each)).zip(u) {
            let mut sum = own * hat.first().copied().unwrap_or(0);
            for ((k, hat), bit) in (1_usize..).zip(hat.iter().skip(1)).zip(bits) {
                let sign = p.sub(own, p.add(*bit, *bit));
                // k and u are public
                let term = p.mul(sign, *hat);
                sum = if (k & u).count_ones() & 1 == 1 { p.sub(sum, term) } else { p.add(sum, term) };
            }
            *out = p.mul(sum, scale);
        }
        all.push(Num::new(out).made(session));
    }
    all
}

/// Private tables that wait for the products of their entries in the Walsh basis and the signs.
pub(crate) struct Private {
    width: usize,
    /// Our shares of That, table by table.
    hat: Hidden<u64>,
    /// Our shares of the signs, k from 1 on.
    signs: Hidden<u64>,
}

impl Private {
    pub(crate) fn new(p: Modulus, first: bool, width: usize, tables: &Num, numbers: &[u64]) -> Private {
        let mut hat = Hidden::from(tables.shares());
        hat.chunks_exact_mut(1 << width).for_each(|table| walsh(p, table));
        // of a number b that is 0 or 1, 1 - 2 b
        let mut signs = Hidden::zeros(numbers.len());
        let sign = |bit: &u64| p.sub(u64::from(first), p.add(*bit, *bit));
        signs.iter_mut().zip(numbers).for_each(|(sign_of, bit)| *sign_of = sign(bit));
        Private { width, hat, signs }
    }

    /// How many products these tables take.
    pub(crate) fn products(&self) -> usize {
        self.signs.len()
    }

    /// The signs; and the entries that they multiply.
    pub(crate) fn factors(&self) -> [Num; 2] {
        let mut entries = Hidden::zeros(self.signs.len());
        let terms = self.hat.chunks_exact(1 << self.width).flat_map(|table| table.iter().skip(1));
        entries.iter_mut().zip(terms).for_each(|(entry, term)| *entry = *term);
        [Num::new(self.signs.clone()), Num::new(entries)]
    }

    /// Step 2 of case 2: the same sum of their products.
    pub(crate) fn entries(&self, p: Modulus, u: &[usize], products: &Num) -> Hidden<u64> {
        let (entries, each) = (1 << self.width, (1 << self.width) - 1);
        let scale = p.invert(entries as u64);
        let mut out = Hidden::zeros(u.len());
        let tables = self.hat.chunks_exact(entries).zip(products.shares().chunks_exact(each));
        for ((out, (hat, products)), u) in out.iter_mut().zip(tables).zip(u) {
            let mut sum = hat.first().copied().unwrap_or(0);
            for (k, term) in (1_usize..).zip(products) {
                // k and u are public
                sum = if (k & u).count_ones() & 1 == 1 { p.sub(sum, *term) } else { p.add(sum, *term) };
            }
            *out = p.mul(sum, scale);
        }
        out
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
